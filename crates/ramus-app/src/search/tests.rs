use std::collections::BTreeSet;
use std::fmt::Write as _;

use ramus_core::branches::BranchStatus;
use ramus_core::query::SearchHit;
use ramus_core::resume::ResumeRule;
use ramus_core::title::session_title;
use ramus_store::StateDir;
use ramus_store::claude_dir::ClaudeDirs;
use testkit::TestHome;

use super::*;
use crate::workspace::SurveyDetail;

fn test_workspace(home: &TestHome) -> Workspace {
    let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
    Workspace::new(place, ResumeRule::Client, StateDir::new(home.path().join("state")))
}

fn plain_request(text: &str) -> SearchRequest {
    SearchRequest::from_text(text).unwrap()
}

fn all_hits(workspace: &Workspace, request: &SearchRequest) -> (Vec<SearchHit>, SearchOutcome) {
    let mut hits = Vec::new();
    let flow = workspace.search_history(request, &(), |batch| {
        hits.extend((0..batch.len()).filter_map(|index| batch.read_hit(index)));
        ControlFlow::<()>::Continue(())
    });
    let ControlFlow::Continue(outcome) = flow else { panic!("nobody ended it") };
    (hits, outcome)
}

fn hit_uuids(hits: &[SearchHit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.uuid.as_deref().unwrap_or("none")).collect()
}

const FORKED: &str = "
a      user       find a harp
b < a  assistant  one harp
c < b  user       two harps
d < c  assistant  no more
e < b  user       @30 other harp
f < e  assistant  @31 nothing
";

#[test]
fn hits_have_their_branch_and_come_newest_first() {
    let home = TestHome::new();
    home.write_session("-p/aaaa1111.jsonl", FORKED);
    let workspace = test_workspace(&home);
    let mut request = plain_request("harp");
    let (found, outcome) = all_hits(&workspace, &request);
    assert_eq!(hit_uuids(&found), ["e", "c", "b", "a"]);
    assert_eq!((outcome.found, outcome.shown, outcome.is_complete), (4, 4, true));
    let branch = |hit: &SearchHit| hit.branch.map(|branch| (branch.n, branch.status));
    assert_eq!(branch(&found[0]), Some((2, BranchStatus::Active)));
    assert_eq!(branch(&found[1]), Some((1, BranchStatus::Abandoned)));
    assert_eq!(found[1].address, "aaaa1111:c");
    request.status = Some(BranchStatus::Abandoned);
    assert_eq!(hit_uuids(&all_hits(&workspace, &request).0), ["c"]);
    request.status = None;
    (request.offset, request.limit, request.counts_all) = (1, Some(2), true);
    let (found, outcome) = all_hits(&workspace, &request);
    assert_eq!(hit_uuids(&found), ["c", "b"]);
    assert_eq!((outcome.found, outcome.shown), (4, 2));
    assert_eq!(
        workspace.count_matches(&request, &()).files,
        [("projects/-p/aaaa1111.jsonl".to_owned(), 4)]
    );
}

#[test]
fn short_addresses_mean_no_other_message() {
    let id = |end: &str| format!("0a1b2c3d-0000-4000-8000-0000000000{end}");
    let home = TestHome::new();
    let session = format!("{} user a harp\n{} < {} assistant yes", id("11"), id("12"), id("11"));
    home.write_session(&format!("-p/{}.jsonl", id("01")), &session);
    home.write_session(&format!("-p/{}.jsonl", id("02")), "x user nothing");
    let workspace = test_workspace(&home);
    let request = plain_request("harp");
    let (found, _) = all_hits(&workspace, &request);
    assert_eq!(found[0].short_address, format!("{}:{}", id("01"), id("11")));
    assert_eq!(found[0].short_session, id("01"));
}

#[test]
fn prompts_of_deleted_sessions_come_last_unless_more_is_asked_of_them() {
    let home = TestHome::new();
    home.write_session("-p/aaaa1111.jsonl", "a user a harp");
    let note =
        r#"{"display":"my harp","timestamp":1767225600000,"project":"/p","sessionId":"gone"}"#;
    std::fs::write(home.claude_dir().join("history.jsonl"), format!("{note}\n")).unwrap();
    let workspace = test_workspace(&home);
    let mut request = plain_request("harp");
    let (found, _) = all_hits(&workspace, &request);
    assert_eq!(found.iter().map(|hit| hit.is_prompt_only).collect::<Vec<_>>(), [false, true]);
    request.status = Some(BranchStatus::Active);
    assert_eq!(all_hits(&workspace, &request).0.len(), 1);
}

/// Cancels from the beginning.
struct Cancelled;

impl ProgressSink for Cancelled {
    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn a_cancelled_search_hands_out_nothing() {
    let home = TestHome::new();
    home.write_session("-p/aaaa1111.jsonl", FORKED);
    let request = plain_request("harp");
    let flow =
        test_workspace(&home).search_history(&request, &Cancelled, |_| ControlFlow::Break(()));
    assert!(flow.is_continue());
}

fn best_request(text: &str) -> SearchRequest {
    SearchRequest { order: SearchOrder::Best, per_session: Some(2), ..plain_request(text) }
}

/// Returns the sessions in the order of their best hits, each with the level of its first hit.
fn best_sessions(workspace: &Workspace, text: &str) -> (String, SearchNotes) {
    let (hits, outcome) = all_hits(workspace, &best_request(text));
    let mut seen: Vec<String> = Vec::new();
    for hit in &hits {
        let level = hit.rank.as_ref().unwrap().level.as_str();
        if !seen.iter().any(|it| it.starts_with(&*hit.session)) {
            seen.push(format!("{} {level}", hit.session));
        }
    }
    (seen.join(", "), outcome.notes)
}

#[test]
fn phrases_come_before_scattered_words_and_words_in_several_messages() {
    let home = TestHome::new();
    home.write_session("-p/several.jsonl", "a user a pool\nb < a assistant with a thread");
    home.write_session("-p/phrase.jsonl", "c user where\nd < c assistant the thread pool");
    home.write_session("-p/message.jsonl", "e user why\nf < e assistant pool of one thread");
    home.write_session("-p/neither.jsonl", "g user a pool\nh < g assistant full");
    let workspace = test_workspace(&home);
    let (found, notes) = best_sessions(&workspace, "thread pool");
    assert_eq!(found, "phrase phrase, message message, several conversation");
    assert_eq!(notes, SearchNotes::default());
    let (found, notes) = best_sessions(&workspace, "pool with full");
    assert_eq!((found.as_str(), notes.is_spread), ("neither conversation", true));
    let (found, notes) = best_sessions(&workspace, "full samovar");
    assert_eq!((found.as_str(), notes.missing), ("neither partial", vec!["samovar".to_owned()]));
    // A script gets messages with all words; if there are none, sessions with all words.
    let words = |text| hit_uuids(&all_hits(&workspace, &plain_request(text)).0).join(" ");
    assert_eq!(words("thread pool"), "d f");
    assert_eq!(words("full pool"), "g h");
    assert_eq!(words("full samovar"), "");
}

#[test]
fn whole_words_prompts_and_new_sessions_are_better() {
    let home = TestHome::new();
    home.write_session("-p/part.jsonl", "a user the crate has no limit");
    home.write_session("-p/whole.jsonl", "b user what\nc < b assistant the rate is the limit");
    home.write_session("-p/prompt.jsonl", "d user the rate and the limit\ne < d assistant ok");
    let workspace = test_workspace(&home);
    let found = best_sessions(&workspace, "rate limit").0;
    assert_eq!(found, "prompt message, whole message, part message");
}

#[test]
fn a_long_session_is_hardly_worse_if_one_message_has_all_words() {
    let home = TestHome::new();
    home.write_session("-p/quoted.jsonl", "a user what was done\nb < a assistant brass valve");
    let mut long = "c user brass valve\n".to_owned();
    for n in 0..40 {
        let _ = writeln!(long, "c{n} < c user something else that is long enough to count {n}");
    }
    home.write_session("-p/meant.jsonl", &long);
    let other: String = (0..20).map(|n| format!("x{n} user something else\n")).collect();
    for n in 0..8 {
        home.write_session(&format!("-p/other{n}.jsonl"), &other);
    }
    let workspace = test_workspace(&home);
    assert_eq!(best_sessions(&workspace, "brass valve").0, "meant phrase, quoted phrase");
}

#[test]
fn a_call_and_its_result_are_one_hit_and_so_are_copies() {
    let home = TestHome::new();
    let session = "a user go\nb < a call:t1:Bash make harp\nc < b result:t1 the harp is made";
    home.write_session("-p/one.jsonl", session);
    let workspace = test_workspace(&home);
    let (found, outcome) = all_hits(&workspace, &best_request("harp"));
    assert_eq!((found.len(), outcome.found), (1, 1));
    home.write_session("-p/two.jsonl", &format!("{session}\nd < c user @50 more"));
    let (found, _) = all_hits(&test_workspace(&home), &best_request("harp"));
    assert_eq!((found.len(), found[0].copies.len()), (1, 2));
}

#[test]
fn only_the_best_messages_of_a_session_are_handed_out() {
    let home = TestHome::new();
    home.write_session("-p/many.jsonl", "a user harp\nb < a user harp\nc < b user harp here");
    let (found, outcome) = all_hits(&test_workspace(&home), &best_request("harp"));
    assert_eq!((found.len(), outcome.found, outcome.shown), (2, 3, 2));
    assert_eq!(found[1].rank.as_ref().unwrap().more, 1);
}

#[test]
fn a_search_in_one_session_hands_out_all_its_messages() {
    let home = TestHome::new();
    let calls = "a call:t1:Bash make harp\nb < a result:t1 the harp is made";
    home.write_session("-p/many.jsonl", &format!("{calls}\nc < b user harp\nd < c user harp here"));
    let mut request = best_request("harp");
    let workspace = test_workspace(&home);
    request.scope = workspace.resolve_scope(Some("many")).unwrap();
    request.per_session = Some(1);
    let (found, outcome) = all_hits(&workspace, &request);
    assert_eq!((found.len(), outcome.found), (3, 3), "a call and its result are one");
}

#[test]
fn titles_are_those_of_lists_wherever_their_summaries_are() {
    let home = TestHome::new();
    let summary = |text: &str, leaf: &str| {
        format!(r#"{{"type":"summary","summary":"{text}","leafUuid":"{leaf}"}}"#) + "\n"
    };
    home.write_session("-p/aaaa1111.jsonl", "a user a harp and a lute\nb < a assistant @50 yes");
    home.write_session("-p/bbbb2222.jsonl", "c user a harp and a lute\nd < c assistant @50 no");
    // The oldest file, which a search for the newest hits reads last.
    let oldest = home.write_file("-p/none.jsonl", summary("Without the words", "b"));
    let oldest = std::fs::File::options().write(true).open(oldest).unwrap();
    oldest.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    home.write_file("-p/one.jsonl", &(summary("A harp", "d") + &summary("A drum", "d")));
    let workspace = test_workspace(&home);
    let survey = workspace.survey_scope(Scope::All, SurveyDetail::Digests);
    let listed: BTreeSet<(String, String)> = { survey.projects[0].sessions.iter() }
        .filter(|session| session.file.bytes > 200)
        .map(|session| {
            let title = session_title(&session.digest, &survey.projects[0].summaries);
            (session.file.id.clone(), title.unwrap().to_owned())
        })
        .collect();
    assert_eq!(listed.len(), 2, "{listed:?}");
    let title = |hit: SearchHit| (hit.session, hit.title.unwrap());
    for text in ["harp", "lute", "harp lute", "harp yes", "harp lutes"] {
        for request in [best_request(text), plain_request(text)] {
            let (hits, _) = all_hits(&workspace, &request);
            let hits: Vec<SearchHit> = hits.into_iter().filter(|it| it.uuid.is_some()).collect();
            assert!(!hits.is_empty(), "{text}");
            for hit in hits {
                let hit = title(hit);
                assert!(listed.contains(&hit), "{text}: {hit:?}, {listed:?}");
            }
        }
    }
}

#[test]
fn a_quote_that_is_never_closed_is_mentioned() {
    let home = TestHome::new();
    home.write_session("-p/aaaa1111.jsonl", "a user a harp with strings");
    let notes = |text: &str| {
        let (_, outcome) = all_hits(&test_workspace(&home), &best_request(text));
        outcome.notes.sentences().join(". ")
    };
    let sentence = "The quote in `\"harp` is never closed; it was";
    assert_eq!(notes("\"harp with"), format!("{sentence} ignored"));
    assert!(notes("\"harp samovar").contains(&format!("{sentence} searched for as a character")));
    assert_eq!(notes("\"harp with\""), "");
}

#[test]
fn a_word_that_occurs_only_in_another_case_is_found_all_the_same() {
    let home = TestHome::new();
    home.write_session("-p/aaaa1111.jsonl", FORKED);
    let workspace = test_workspace(&home);
    let (found, outcome) = all_hits(&workspace, &plain_request("Harp"));
    assert_eq!((found.len(), outcome.notes.ignored_case), (4, true));
    assert!(workspace.count_matches(&plain_request("Harp"), &()).ignored_case);
    let exact = SearchRequest { is_exact: true, ..plain_request("Harp") };
    assert_eq!(all_hits(&workspace, &exact).0.len(), 0);
}

#[test]
fn filters_and_words_to_leave_out_are_typed() {
    let home = TestHome::new();
    home.write_session(
        "-p/aaaa1111.jsonl",
        "a user tune the harp
         b < a call:t1:Edit src/harp.rs
         c < b result:t1 edited 0123abc
         d < c assistant @50 the harp is in tune",
    );
    home.write_session("-q/bbbb2222.jsonl", "x user @60 another harp");
    let workspace = test_workspace(&home);
    let found = |text: &str| {
        let mut request = plain_request(text);
        workspace.resolve_search_scope(&mut request).unwrap();
        hit_uuids(&all_hits(&workspace, &request).0).join(" ")
    };
    assert_eq!(found("harp -tune"), "x b");
    assert_eq!(found("harp role:assistant"), "d b");
    assert_eq!(found("tool:Edit"), "b");
    assert_eq!(found("file:harp.rs"), "b");
    assert_eq!(found("commit:0123ab"), "c");
    assert_eq!(found("harp commit:0123abc kind:prompt"), "a");
    assert_eq!(found("since:2026-01-01T00:00:55Z"), "x");
    assert_eq!(found("in:bbbb2222 harp"), "x");
    assert_eq!(found("in:aaaa1111"), "d a");
    for (text, expected) in [
        (
            "role:robot",
            "`role:` cannot be \"robot\"; it can be user, assistant, tool, system, session",
        ),
        ("since:soon x", "invalid time \"soon\""),
        ("is:late x", "`is:` cannot be \"late\"; it can be error"),
        ("commit:xyz", "`commit:` cannot be \"xyz\"; it can be 4 to 64 hexadecimal digits"),
        ("-harp", "add a word to find; `-word` only leaves messages out"),
        ("  ", "the search text is empty"),
    ] {
        assert_eq!(SearchRequest::from_text(text).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_misspelt_word_is_offered_and_searched_for_if_asked() {
    let home = TestHome::new();
    home.write_session("-p/aaaa1111.jsonl", "a user the teapot is hot\nb < a assistant careful");
    let workspace = test_workspace(&home);
    let suggest = SearchRequest { suggests: true, ..best_request("teapt") };
    let (found, outcome) = all_hits(&workspace, &suggest);
    let similar = vec![("teapt".to_owned(), vec!["teapot".to_owned()])];
    assert_eq!((found.len(), outcome.notes.suggestions), (0, similar));
    let fuzzy = |text| {
        let request = SearchRequest { is_fuzzy: true, ..best_request(text) };
        let (found, outcome) = all_hits(&workspace, &request);
        (hit_uuids(&found).join(" "), outcome.notes.corrected.len())
    };
    assert_eq!(fuzzy("teapt"), ("a".to_owned(), 1));
    assert_eq!(fuzzy("hott teapt"), ("a".to_owned(), 2));
    // A word that occurs is not misspelt, although another is similar.
    assert_eq!(fuzzy("teapot carefull"), ("a b".to_owned(), 1));
    assert_eq!(fuzzy("samovar"), (String::new(), 0));
}

#[test]
fn active_branches_come_before_abandoned_ones() {
    let home = TestHome::new();
    home.write_session("-p/aaaa1111.jsonl", FORKED);
    let request = SearchRequest { per_session: None, ..best_request("harp") };
    let (found, _) = all_hits(&test_workspace(&home), &request);
    assert_eq!(found.last().and_then(|hit| hit.uuid.as_deref()), Some("c"));
}

#[test]
fn words_in_several_messages_are_all_shown_whatever_branch_they_are_on() {
    let home = TestHome::new();
    home.write_session(
        "-p/aaaa1111.jsonl",
        "a      user       find a harp
         b < a  assistant  one harp
         c < b  user       a lute
         d < c  assistant  no more
         e < b  user       @30 other harp
         f < e  assistant  @31 nothing",
    );
    let (found, _) = all_hits(&test_workspace(&home), &best_request("harp lute"));
    let texts: Vec<&str> = found.iter().map(|hit| &*hit.passage.text).collect();
    assert_eq!(texts, ["other harp", "a lute"]);
}

/// Writes a prompt of a session that was deleted.
fn write_deleted_prompt(home: &TestHome, prompt: &str) {
    let note = format!(
        r#"{{"display":"{prompt}","timestamp":1767225600000,"project":"/p","sessionId":"90e00001"}}"#
    );
    std::fs::write(home.claude_dir().join("history.jsonl"), format!("{note}\n")).unwrap();
}

#[test]
fn prompts_of_deleted_sessions_are_counted_like_found() {
    let home = TestHome::new();
    home.write_session("-p/aaaa1111.jsonl", "a user a harp");
    write_deleted_prompt(&home, "my harp and a lute");
    let workspace = test_workspace(&home);
    let counts = workspace.count_matches(&plain_request("harp"), &());
    assert_eq!(counts.messages, 2);
    assert_eq!(counts.files[1], ("history.jsonl".to_owned(), 1));
    assert_eq!(workspace.count_matches(&plain_request("lute"), &()).messages, 1);
    assert_eq!(workspace.count_matches(&plain_request("lute is:error"), &()).messages, 0);
    let (found, _) = all_hits(&workspace, &plain_request("lute"));
    assert_eq!((found[0].project.as_deref(), found[0].cwd.as_deref()), (Some("-p"), Some("/p")));
    let error = workspace.resolve_address("90e0").unwrap_err();
    assert_eq!(error.to_string(), "the session \"90e0\" was deleted; only its prompts are left");
}

#[test]
fn all_ways_to_ask_for_every_message_find_equally_many() {
    let home = TestHome::new();
    let session = "a user go\nb < a call:t1:Bash make harp\nc < b result:t1 the harp is made
         d < c assistant a lute";
    home.write_session("-p/one.jsonl", session);
    let workspace = test_workspace(&home);
    let every = SearchRequest { per_session: None, ..best_request("harp") };
    assert_eq!(all_hits(&workspace, &every).0.len(), 2);
    assert_eq!(all_hits(&workspace, &plain_request("harp")).0.len(), 2);
    assert_eq!(workspace.count_matches(&every, &()).messages, 2);
    // Words in several messages.
    let spread = plain_request("lute harp");
    assert_eq!(all_hits(&workspace, &spread).0.len(), 3);
    assert_eq!(workspace.count_matches(&spread, &()).messages, 3);
    assert_eq!(workspace.count_matches(&plain_request("lute samovar"), &()).messages, 0);
}

#[test]
fn a_closer_match_comes_before_a_longer_one() {
    let home = TestHome::new();
    home.write_session(
        "-p/title.jsonl",
        "a user pool thread, thread here pool\nb < a assistant ok",
    );
    let long = format!("c user what\nd < c result:t1 {} the thread pool", "x ".repeat(900));
    home.write_session("-p/phrase.jsonl", &long);
    let (found, _) = best_sessions(&test_workspace(&home), "thread pool");
    assert_eq!(found, "phrase phrase, title message");
}

#[test]
fn a_limit_leaves_no_message_uncounted() {
    let home = TestHome::new();
    home.write_session("-p/many.jsonl", "a user harp\nb < a user harp\nc < b user harp here");
    let request = SearchRequest { limit: Some(1), ..best_request("harp") };
    let (found, _) = all_hits(&test_workspace(&home), &request);
    assert_eq!((found.len(), found[0].rank.as_ref().unwrap().more), (1, 2));
}

#[test]
fn few_sessions_with_only_some_of_the_words_are_shown() {
    let home = TestHome::new();
    for n in 10..35 {
        home.write_session(&format!("-p/{n}.jsonl"), &format!("u{n} user the harp {n}"));
    }
    let (found, outcome) = all_hits(&test_workspace(&home), &best_request("harp samovar"));
    assert_eq!((found.len(), outcome.notes.partial_left_out), (20, 5));
}

#[test]
fn a_file_of_other_sessions_titles_comes_last_and_is_no_address() {
    let home = TestHome::new();
    let summary = r#"{"type":"summary","summary":"The harp","leafUuid":"b"}"#;
    home.write_file("-p/titles.jsonl", summary);
    home.write_session("-p/own.jsonl", "a user a question\nb < a assistant @50 it is a long harp");
    let workspace = test_workspace(&home);
    assert_eq!(best_sessions(&workspace, "harp").0, "own phrase, titles phrase");
    assert_eq!(workspace.resolve_address("the harp").unwrap().file.file.id, "own");
}

#[test]
fn filters_are_sets_or_given_once() {
    let home = TestHome::new();
    home.write_session(
        "-p/aaaa1111.jsonl",
        "a user go\nb < a call:t1:Edit src/harp.rs\nc < b call:t2:Bash make\nd < c call:t3:Read x",
    );
    let workspace = test_workspace(&home);
    let (found, _) = all_hits(&workspace, &plain_request("tool:Bash tool:edit"));
    assert_eq!(hit_uuids(&found), ["c", "b"]);
    assert_eq!(found[0].passage.text, "make");
    for (text, expected) in [
        ("in:a in:b x", "`in:` can be given only once, not as \"a\" and \"b\""),
        (
            "x since:2026-02-01 until:2026-01-01",
            "no message is both since \"2026-02-01\" and until \"2026-01-01\"",
        ),
        (
            "x role:user kind:answer kind:thinking",
            "no text of the kind \"thinking\" is from the role \"user\"",
        ),
        ("x since:1d after:2d", "`since:` can be given only once, not as \"1d\" and \"2d\""),
        (
            "x -tool:Bash",
            "a filter cannot be negated; remove `-tool:Bash`, or quote it to leave out its text",
        ),
    ] {
        assert_eq!(SearchRequest::from_text(text).unwrap_err().to_string(), expected);
    }
    assert!(SearchRequest::from_text("in:a in:a x").is_ok());
    assert!(SearchRequest::from_text("x since:today until:today").is_ok());
    assert!(SearchRequest::from_text("x role:user kind:answer kind:prompt").is_ok());
}

#[test]
fn a_word_that_occurs_has_no_suggestion() {
    let home = TestHome::new();
    home.write_session("-p/aaaa1111.jsonl", "a user the teapot and teapots are hot");
    let workspace = test_workspace(&home);
    let suggestions = |text| {
        let request = SearchRequest { suggests: true, ..best_request(text) };
        all_hits(&workspace, &request).1.notes.suggestions.len()
    };
    assert_eq!(suggestions("teapot since:2030-01-01"), 0);
    assert_eq!(suggestions("teapt since:2030-01-01"), 1);
}

#[test]
fn messages_without_a_text_are_no_context() {
    let home = TestHome::new();
    home.write_session(
        "-p/aaaa1111.jsonl",
        "a user first\nb < a system\nc < b user a harp\nd < c system\ne < d assistant last",
    );
    let request = SearchRequest { context: 1, ..plain_request("harp") };
    let (found, _) = all_hits(&test_workspace(&home), &request);
    let context = found[0].context.as_ref().unwrap();
    let texts = |messages: &[ramus_core::edit::MessageSummary]| {
        messages.iter().map(|message| message.text.clone()).collect::<Vec<_>>().join("|")
    };
    assert_eq!((texts(&context.before), texts(&context.after)), ("first".into(), "last".into()));
}

#[test]
fn other_forms_are_found_before_words_are_left_out() {
    let home = TestHome::new();
    home.write_session("-p/aaaa1111.jsonl", "a user a teapot with a thread_pool");
    home.write_session("-p/bbbb2222.jsonl", "b user eine Crème mit Größenänderung");
    home.write_session("-p/cccc3333.jsonl", "c user a login after 30 s");
    let workspace = test_workspace(&home);
    let found = |text: &str| {
        let (hits, outcome) = all_hits(&workspace, &best_request(text));
        let sessions: Vec<String> = hits.into_iter().map(|hit| hit.session).collect();
        (sessions.join(" "), outcome.notes.other_forms.join(" "))
    };
    let one = |session: &str, words: &str| (session.to_owned(), words.to_owned());
    assert_eq!(found("teapots"), one("aaaa1111", "teapots"));
    assert_eq!(found("teapots threadPool"), one("aaaa1111", "threadPool teapots"));
    assert_eq!(found("thread-pool"), one("aaaa1111", "thread-pool"));
    assert_eq!(found("creme"), one("bbbb2222", "creme"));
    assert_eq!(found("groessenaenderung"), one("bbbb2222", "groessenaenderung"));
    assert_eq!(found("log-in 30s"), one("cccc3333", "log-in 30s"));
    assert_eq!(found("teapot"), one("aaaa1111", ""));
    let exact = SearchRequest { is_exact: true, ..best_request("teapots") };
    assert!(all_hits(&workspace, &exact).0.is_empty(), "exact stays exact");
    let newest = all_hits(&workspace, &plain_request("teapots")).0;
    assert_eq!(newest.len(), 1, "in every order");
    assert_eq!(workspace.count_matches(&plain_request("teapots"), &()).messages, 1);
}

#[test]
fn a_session_without_a_common_word_is_listed_beside_one_that_has_all_by_chance() {
    let home = TestHome::new();
    let far = "a user the build\nb < a assistant a samovar firmware\nc < b user a kettle valve";
    home.write_session("-p/aaaa1111.jsonl", far);
    home.write_session("-p/bbbb2222.jsonl", "d user samovar firmware, kettle valve");
    for n in 0..9 {
        home.write_session(&format!("-p/cccc000{n}.jsonl"), &format!("x{n} user build a file"));
    }
    let request = best_request("build samovar firmware kettle valve");
    let (hits, outcome) = all_hits(&test_workspace(&home), &request);
    let mut sessions: Vec<&str> = hits.iter().map(|hit| &*hit.session).collect();
    sessions.dedup();
    assert!(sessions.contains(&"aaaa1111") && sessions.contains(&"bbbb2222"), "{sessions:?}");
    assert_eq!(sessions.len(), 2, "{sessions:?}");
    assert!(outcome.notes.is_spread);
}

#[test]
fn a_question_is_answered_by_a_session_that_lacks_some_of_its_words() {
    let home = TestHome::new();
    home.write_session("-p/meant000.jsonl", "a user why are the tide times late");
    let chance =
        "x user a wrong turn\ny < x assistant late\nz < y user the tide\nw < z assistant times";
    home.write_session("-p/chance00.jsonl", chance);
    for n in 0..6 {
        home.write_session(&format!("-p/other00{n}.jsonl"), "a user something else");
    }
    let (sessions, _) = best_sessions(&test_workspace(&home), "what was wrong with the tide times");
    assert!(sessions.contains("meant000 partial"), "{sessions}");
}

fn like_request(workspace: &Workspace, text: &str) -> SearchRequest {
    let mut request = best_request(&format!("like:\"{text}\""));
    workspace.load_like_model(&mut request).unwrap();
    request
}

#[test]
fn messages_are_found_by_what_they_are_about() {
    let home = TestHome::new();
    home.write_session(
        "-p/aaaa1111.jsonl",
        "a user an unstable check of credentials\nb < a assistant repaired",
    );
    home.write_session(
        "-p/bbbb2222.jsonl",
        "c user boil a kettle\nd < c assistant @30 Bash a samovar",
    );
    home.write_session("-p/cccc3333.jsonl", "e user an invoice");
    let model = home.path().join("model");
    let cache = ramus_store::cache::HistoryCache::in_dir(home.path().join("cache"));
    let open = || {
        let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap().with_cache(cache.clone());
        Workspace::new(place, ResumeRule::Client, StateDir::new(home.path().join("state")))
            .with_like_model(Some(model.clone()))
    };
    let text = "like:\"how we fixed the flaky login test\"";
    let missing = open().load_like_model(&mut best_request(text));
    assert!(matches!(missing, Err(LikeError::Model(_))), "{missing:?}");
    testkit::embedding_model::TestModel::default().write_files(&model);
    for _ in 0..2 {
        // The second time the vectors come from the cache, if files have settled.
        let workspace = open();
        let request = like_request(&workspace, "how we fixed the flaky login test");
        let (hits, _) = all_hits(&workspace, &request);
        assert_eq!(hits[0].uuid.as_deref(), Some("a"));
        assert_eq!(hits[0].rank.as_ref().unwrap().level.as_str(), "meaning");
        assert!(hits[0].passage.text.contains("unstable check"));
        let limited = SearchRequest { agents: AgentFilter::None, ..request };
        assert_eq!(all_hits(&workspace, &limited).0[0].uuid.as_deref(), Some("a"));
    }
    let workspace = open();
    let mut tool = best_request("like:kettle tool:Bash");
    assert!(matches!(workspace.load_like_model(&mut tool), Err(LikeError::Filter(_))));
    let mut unknown = best_request("like:xyzzy");
    assert!(matches!(workspace.load_like_model(&mut unknown), Err(LikeError::UnknownWords(_))));
    let workspace = test_workspace(&home);
    assert!(matches!(workspace.load_like_model(&mut best_request(text)), Err(LikeError::NoModel)));
    assert!(workspace.load_like_model(&mut best_request("kettle")).is_ok(), "no model is needed");
}
