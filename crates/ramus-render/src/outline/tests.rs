use std::fmt::Write;

use insta::assert_snapshot;
use ramus_core::ids::RecordUuid;
use ramus_core::resume::ResumeRule;
use ramus_core::session::Session;

use super::*;
use crate::span::Label;

/// Draws a short-form session; the one place here that knows how that is done.
fn drawn(short: &str, change: impl FnOnce(&History, &mut OutlineConfig<'_>)) -> String {
    let history = history(&testkit::jsonl(short));
    let mut config = config();
    change(&history, &mut config);
    let rows = outline_rows(&history, &config);
    if config.around.is_none() && config.agents.is_empty() {
        let shown: u32 = rows.iter().map(|row| row.records).sum();
        assert_eq!(shown as usize, history.session.nodes().count(), "each node is on one row");
    }
    let lines = draw_rows(&rows, &config);
    for line in &lines {
        assert!(line.width() <= config.width, "`{}` is too wide", line.to_text());
    }
    lines.iter().map(Line::to_text).collect::<Vec<_>>().join("\n")
}

fn check(short: &str) -> String {
    drawn(short, |_, _| {})
}

fn history(jsonl: &str) -> History {
    let mut session = Session::default();
    session.push(jsonl.as_bytes());
    session.finish_last_line();
    History::new(session, ResumeRule::Client)
}

fn config() -> OutlineConfig<'static> {
    OutlineConfig {
        records: false,
        around: None,
        depth: 0,
        width: 80,
        agents: Vec::new(),
        reverts: RevertOutcomes::default(),
        time: &|time| time.to_string()[14..19].to_owned(),
    }
}

fn node(history: &History, name: &str) -> NodeId {
    history.node_by_uuid(RecordUuid::new(name.as_bytes())).unwrap()
}

const EDIT: &str = "
    a      user       How do I parse this?
    b < a  assistant  Like so.
    c < b  user       Use a regular expression
    d < c  assistant  Done.
    e < b  user       Use a parser
    f < e  assistant  Done.
";

const REDOS: &str = "
    start          user       Start
    t1   < start   assistant  Turn 1
    t2   < t1      user       Turn 2
    t3   < t2      assistant  Turn 3
    t4a  < t3      user       Turn 4 - Original
    t5a  < t4a     assistant  Turn 5 - Original
    t4b  < t3      user       Turn 4 - Redo 1
    t5b  < t4b     assistant  Turn 5 - After Redo
    t6b  < t5b     user       Turn 6
    t6b2 < t6b     assistant  Turn 6, answered
    t7b1 < t6b2    user       Turn 7 - Path 1
    t8b1 < t7b1    assistant  Sure.
    t7b2 < t6b2    user       Turn 7 - Redo 2
    t8b2 < t7b2    assistant  Sure.
";

const SPAWN: &str = "
    a      user                 Look into it
    b < a  call:t1:Task         Find the parser
    s      side-user            Find the parser
    t < s  side-assistant       It is in src.
    c < b  result:t1            It is in src.
    d < c  assistant            Found.
";

#[test]
fn a_linear_session_is_one_row() {
    assert_snapshot!(check("
        a      user       Hello\\n   there
        b < a  assistant  Hi.
        c < b  user       Bye
        d < c  assistant  Bye.
    "), @"◉ Hello there  ← resumes here  4 messages  00:00  d");
}

#[test]
fn an_edit_leaves_the_first_prompt_beside() {
    assert_snapshot!(check(EDIT), @"
    ● How do I parse this?          2 messages  00:00  b
    ┬ edited prompt: 2 branches                 00:04  b
    ├─○ Use a regular expression    2 messages  00:02  d
    ◉ Use a parser  ← resumes here  2 messages  00:04  f
    ");
}

#[test]
fn a_retry_names_answers() {
    assert_snapshot!(check("
        a      user       Hello
        b < a  assistant  Hi.
        c < a  assistant  Good day.
        d < c  user       How are you?
        e < d  assistant  Well.
    "), @"
    ● Hello                          1 message  00:00  a
    ┬ retry: 2 branches                         00:02  a
    ├─○ reply                        1 message  00:01  b
    ◉ How are you?  ← resumes here  3 messages  00:02  e
    ");
}

#[test]
fn an_interrupt_leaves_the_answer_beside() {
    assert_snapshot!(check("
        a      user       Hello
        b < a  assistant  Hi. Let me
        c < b  interrupt
        d < a  user       Hello, but shorter
        e < d  assistant  Hi.
    "), @"
    ● Hello                                1 message  00:00  a
    ┬ interrupted reply: 2 branches                   00:03  a
    ├─○ reply  ⊘                           1 message  00:01  c
    ◉ Hello, but shorter  ← resumes here  2 messages  00:03  e
    ");
}

#[test]
fn forks_nest_beside_the_main_line() {
    assert_snapshot!(check("
        a      user       Start
        b < a  assistant  Sure.
        c < b  user       First way
        d < c  assistant  Sure.
        e < d  user       First way goes on
        f < e  assistant  Sure.
        g < d  user       First way, other end
        h < g  assistant  Sure.
        i < b  user       Second way
        j < i  assistant  Sure.
        k < j  user       Second way goes on
        l < b  user       Third way
        m < l  assistant  Sure.
    "), @"
    ● Start                        2 messages  00:00  b
    ┬ rewind: 3 branches                       00:11  b
    ├─○ First way                  2 messages  00:02  d
    │ ┬ edited prompt: 2 branches              00:06  d
    │ ├─○ First way goes on        2 messages  00:04  f
    │ ○ First way, other end       2 messages  00:06  h
    ├─○ Second way                 3 messages  00:08  k
    ◉ Third way  ← resumes here    2 messages  00:11  m
    ");
}

#[test]
fn drafts_have_their_own_sign() {
    assert_snapshot!(check("
        a      user       Hello
        b < a  assistant  Hi.
        c < b  user       Fix teh parser
        d < b  user       Fix the parser
        e < d  assistant  Fixed.
    "), @"
    ● Hello                           2 messages  00:00  b
    ┬ edited prompt: 2 branches                   00:03  b
    ├─◌ Fix teh parser                     draft  00:02  c
    ◉ Fix the parser  ← resumes here  2 messages  00:03  e
    ");
}

#[test]
fn multiple_redos() {
    assert_snapshot!(check(REDOS), @"
    ● Start                            4 messages  00:00  t3
    ┬ edited prompt: 2 branches                    00:06  t3
    ├─○ Turn 4 - Original              2 messages  00:04  t5a
    ● Turn 4 - Redo 1                  4 messages  00:06  t6b2
    ┬ edited prompt: 2 branches                    00:12  t6b2
    ├─○ Turn 7 - Path 1                2 messages  00:10  t8b1
    ◉ Turn 7 - Redo 2  ← resumes here  2 messages  00:12  t8b2
    ");
}

#[test]
fn several_roots_are_several_trees() {
    assert_snapshot!(check("
        a      user       One
        b < a  assistant  1
        c      user       Two
        d < c  assistant  2
        x      system     @0
        y < x  boundary   @0
    "), @"
    ╷ tree 1 of 2
    ● One                  2 messages  00:00  b
    ╷ tree 2 of 2
    ◉ Two  ← resumes here  2 messages  00:02  d
    ");
}

#[test]
fn a_compaction_is_a_row() {
    assert_snapshot!(check("
        a      user       Hello
        b < a  assistant  Hi.
        c < b  boundary
        d < c  compacted  They greeted.
        e < d  assistant  Where were we?
        f < e  boundary
        g < f  compacted  They greeted again.
        h < g  user       Go on
        i < h  assistant  Yes.
    "), @"
    ● Hello                       2 messages  00:00  b
    ◇ compacted                               00:02  c
    ● continues after compaction   1 message  00:04  e
    ◇ compacted                               00:05  f
    ◉ Go on  ← resumes here       2 messages  00:07  i
    ");
}

#[test]
fn a_compaction_without_a_boundary_is_a_row() {
    assert_snapshot!(check("
        a      user       Hello
        b < a  assistant  Hi.
        c      compacted  They greeted.
        d < c  assistant  Where were we?
        e < d  user       Go on
        f < e  assistant  Yes.
    "), @"
    ● Hello                  2 messages  00:00  b
    ◇ compacted                          00:02  c
    ◉ Go on  ← resumes here  3 messages  00:03  f
    ");
}

#[test]
fn a_compaction_may_come_last() {
    assert_snapshot!(check("
        a      user        Hello
        b < a  assistant   Hi.
        c < b  attachment
        d < b  boundary    @1
        e < d  attachment  @2
    "), @"
    ◉ Hello  ← resumes here  2 messages  00:00  b
    ◇ compacted                          00:01  e
    ");
}

#[test]
fn commands_interrupts_and_errors_are_marks() {
    assert_snapshot!(check("
        a      command    model
        b < a  stdout     Set model
        c < b  user       Hello
        d < c  error      API Error
        e < d  user       Hello?
        f < e  assistant  Hi.
        g < f  interrupt
        h < g  command    cost
    "), @"◉ Hello  ⊘  ×  /model +1  ← resumes here  4 messages  00:02  h");
}

#[test]
fn labels_say_what_counts() {
    let history = history(&testkit::jsonl(EDIT));
    let lines = draw_rows(&outline_rows(&history, &config()), &config());
    let said = |line: &Line| line.0.iter().map(|span| span.label).collect::<Vec<_>>();
    assert_eq!(said(&lines[2])[..4], [Label::Active, Label::Dim, Label::Abandoned, Label::Plain]);
    assert!(said(&lines[1]).contains(&Label::Branch));
    assert!(!said(&lines[3]).contains(&Label::Abandoned));
    assert_eq!(said(&lines[3]).last(), Some(&Label::Id));
}

#[test]
fn a_run_without_text_is_labelled_by_its_command() {
    assert_snapshot!(check("a command clear"), @"◉ /clear  ← resumes here  1 record  00:00  a");
}

#[test]
fn an_inline_sidechain_hangs_at_its_call() {
    assert_snapshot!(check(SPAWN), @"
    ◉ Look into it  ← resumes here  3 messages  00:00  d
    ╰─▸ agent  Find the parser       2 records  00:02  t
    ");
}

#[test]
fn agents_hang_at_their_calls() {
    let agents = |history: &History, config: &mut OutlineConfig<'_>| {
        let agent = |node, id: &str, label: &str, depth| AgentEntry {
            node,
            id: id.to_owned(),
            short_id: id.to_owned(),
            label: label.to_owned(),
            records: 12,
            depth,
        };
        config.agents = vec![
            agent(Some(node(history, "b")), "a1b2c3d", "Find the parser", 0),
            agent(Some(node(history, "b")), "d1b2c3d", "Look in src", 1),
            agent(Some(node(history, "d")), "b1b2c3d", "Read the parser", 0),
            agent(None, "c1b2c3d", "Who knows", 0),
        ];
    };
    assert_snapshot!(drawn(EDIT, agents), @"
    ● How do I parse this?          2 messages  00:00  b
    ├─▸ agent  Find the parser      12 records  00:01  a1b2c3d
    │ ╰─▸ agent  Look in src        12 records  00:01  d1b2c3d
    ┬ edited prompt: 2 branches                 00:04  b
    ├─○ Use a regular expression    2 messages  00:02  d
    │ ╰─▸ agent  Read the parser    12 records  00:03  b1b2c3d
    ◉ Use a parser  ← resumes here  2 messages  00:04  f
    ▸ agent  Who knows              12 records         c1b2c3d
    ");
}

#[test]
fn parallel_tools_are_no_fork() {
    assert_snapshot!(check("
        a      user            Look
        b < a  call:t1     #m  ls
        c < b  call:t2     #m  pwd
        d < b  result:t1       src
        e < c  result:t2       /
        f < e  assistant       Seen.
    "), @"◉ Look  ← resumes here  3 messages  00:00  f");
}

#[test]
fn what_follows_the_resume_point_is_apart() {
    assert_snapshot!(check("
        a      user       v=2.1.140  Hello
        b < a  assistant  v=2.1.140  Hi.
        c < b  user       v=2.1.140  Go on
        d < c  assistant  v=2.1.140  Yes.
        -      last-prompt:b:explicit  Hello
    "), @"
    ◉ Hello  ← resumes here  2 messages  00:00  b
    ● Go on                  2 messages  00:02  d
    ");
}

#[test]
fn around_keeps_what_is_near() {
    let near = |history: &History, config: &mut OutlineConfig<'_>| {
        config.around = Some(node(history, "t5a"));
        config.depth = 2;
    };
    assert_snapshot!(drawn(REDOS, near), @"
    ● Start                      4 messages  00:00  t3
    ┬ edited prompt: 2 branches              00:06  t3
    ├─○ Turn 4 - Original        2 messages  00:04  t5a
    ● Turn 4 - Redo 1            4 messages  00:06  t6b2
    ┆ 3 rows hidden
    ");
}

#[test]
fn around_itself_is_one_row() {
    let near = |history: &History, config: &mut OutlineConfig<'_>| {
        config.around = Some(node(history, "t7b1"));
    };
    assert_snapshot!(drawn(REDOS, near), @"
    ┆ 5 rows hidden
    ├─○ Turn 7 - Path 1  2 messages  00:10  t8b1
    ┆ 1 row hidden
    ");
}

#[test]
fn records_are_rows() {
    assert_snapshot!(drawn(&format!("{SPAWN}\n x < d whatever"), |_, config| config.records = true), @"
    ● user prompt  Look into it       00:00  a
    ● assistant                       00:01  b
    ● user tool result                00:04  c
    ├─▸ user prompt  Find the parser  00:02  s
    │ ▸ assistant                     00:03  t
    ◉ assistant  ← resumes here       00:05  d
    ● unknown  whatever               00:06  x
    ");
    assert_snapshot!(drawn(EDIT, |_, config| config.records = true), @"
    ● user prompt  How do I parse this?        00:00  a
    ● assistant                                00:01  b
    ┬ edited prompt: 2 branches                00:04  b
    ├─○ user prompt  Use a regular expression  00:02  c
    │ ○ assistant                              00:03  d
    ● user prompt  Use a parser                00:04  e
    ◉ assistant  ← resumes here                00:05  f
    ");
}

#[test]
fn narrow_trees_drop_counts_first_and_words_last() {
    assert_snapshot!(drawn(REDOS, |_, config| config.width = 40), @"
    ● Start                      00:00  t3
    ┬ edited prompt: 2 branches  00:06  t3
    ├─○ Turn 4 - Original        00:04  t5a
    ● Turn 4 - Redo 1            00:06  t6b2
    ┬ edited prompt: 2 branches  00:12  t6b2
    ├─○ Turn 7 - Path 1          00:10  t8b1
    ◉ Turn 7 -…  ← resumes here  00:12  t8b2
    ");
    assert_snapshot!(drawn(REDOS, |_, config| config.width = 24), @"
    ● Start             t3
    ┬ edited prompt: …  t3
    ├─○ Turn 4 - Orig…  t5a
    ● Turn 4 - Redo 1   t6b2
    ┬ edited prompt: …  t6b2
    ├─○ Turn 7 - Path…  t8b1
    ◉ Turn 7 - Redo 2   t8b2
    ");
    drawn(REDOS, |_, config| config.width = 0);
}

#[test]
fn deep_nesting_shows_its_depth() {
    // Each prompt is asked anew, the last one first, so that each fork was left at the one before.
    let mut short = String::from("u0 user 0\na0 < u0 assistant 0\n");
    for n in 1..=7 {
        writeln!(short, "u{n} < a{} user {n}\na{n} < u{n} assistant {n}", n - 1).unwrap();
    }
    for n in (1..=7).rev() {
        writeln!(short, "v{n} < a{} user {n} again\nb{n} < v{n} assistant {n}", n - 1).unwrap();
    }
    assert_snapshot!(check(&short), @"
    ● 0                                     2 messages  00:00  a0
    ┬ rewind: 2 branches                                00:28  a0
    ├─○ 1                                   2 messages  00:02  a1
    │ ┬ rewind: 2 branches                              00:26  a1
    │ ├─○ 2                                 2 messages  00:04  a2
    │ │ ┬ rewind: 2 branches                            00:24  a2
    │ │ ├─○ 3                               2 messages  00:06  a3
    │ │ │ ┬ rewind: 2 branches                          00:22  a3
    │ │ │ ├─○ 4                             2 messages  00:08  a4
    │ │ │ │ ┬ rewind: 2 branches                        00:20  a4
    │ │ │ │ +1 ○ 5                          2 messages  00:10  a5
    │ │ │ │ +1 ┬ rewind: 2 branches                     00:18  a5
    │ │ │ │ +2 ○ 6                          2 messages  00:12  a6
    │ │ │ │ +2 ┬ edited prompt: 2 branches              00:16  a6
    │ │ │ │ +3 ○ 7                          2 messages  00:14  a7
    │ │ │ │ +2 ○ 7 again                    2 messages  00:16  b7
    │ │ │ │ +1 ○ 6 again                    2 messages  00:18  b6
    │ │ │ │ ○ 5 again                       2 messages  00:20  b5
    │ │ │ ○ 4 again                         2 messages  00:22  b4
    │ │ ○ 3 again                           2 messages  00:24  b3
    │ ○ 2 again                             2 messages  00:26  b2
    ◉ 1 again  ← resumes here               2 messages  00:28  b1
    ");
}

#[test]
fn a_long_session_gives_few_rows() {
    let history = history(&chain(5_000));
    assert_snapshot!(draw_rows(&outline_rows(&history, &config()), &config())[0].to_text(), @"◉ Number 0  ← resumes here  5000 messages  00:00  n4999");
    assert_eq!(outline_rows(&history, &config()).len(), 1);
}

#[test]
fn depth_is_no_danger() {
    let history = history(&chain(100_000));
    assert_eq!(draw_rows(&outline_rows(&history, &config()), &config()).len(), 1);
    let records =
        OutlineConfig { records: true, around: Some(NodeId(50_000)), depth: 60_000, ..config() };
    assert_eq!(draw_rows(&outline_rows(&history, &records), &records).len(), 100_000);
}

#[test]
fn an_empty_session_has_no_rows() {
    assert_eq!(outline_rows(&history(""), &config()), []);
}

#[test]
fn the_legend_names_the_signs() {
    let signs = |short: &str| {
        let history = history(&testkit::jsonl(short));
        drawing_legend(&draw_rows(&outline_rows(&history, &config()), &config())).to_text()
    };
    assert_snapshot!(signs("a user what does × mean\nb < a assistant no"), @"◉ resumes here");
    let forked = "a user 1\nb < a assistant x\nc < b user 2\nd < c assistant y\ne < b user 3\nf < e error no";
    assert_snapshot!(signs(forked), @"● active  ○ abandoned  ◉ resumes here  ┬ fork  × API error");
}

/// Prompts and answers in one line, each a second after the one before.
fn chain(length: usize) -> String {
    let mut jsonl = String::new();
    for n in 0..length {
        let kind = if n % 2 == 0 { "user" } else { "assistant" };
        let parent = n.checked_sub(1).map_or("null".to_owned(), |n| format!("\"n{n}\""));
        let time = ramus_core::time::Time::from_millis(n as i64 * 1000);
        writeln!(
            jsonl,
            r#"{{"parentUuid":{parent},"type":"{kind}","message":{{"id":"m{n}","role":"{kind}","content":"Number {n}"}},"uuid":"n{n}","timestamp":"{time}"}}"#
        )
        .unwrap();
    }
    jsonl
}

#[test]
fn rows_without_words_are_called_by_what_they_hold() {
    let jsonl = testkit::jsonl(
        "
        a      user:only-picture
        b < a  thinking           hm
        c < a  call:t:Read        #m x
        ",
    );
    let history = history(&jsonl);
    let config = config();
    let mut rows = outline_rows(&history, &config);
    fill_reply_words(&history, &mut rows, &mut |node| {
        let span = history.session.record(node).span;
        RecordBody::parse(&jsonl.as_bytes()[span.offset as usize..span.end_offset() as usize]).ok()
    });
    let lines: Vec<String> = draw_rows(&rows, &config).iter().map(Line::to_text).collect();
    for (line, label) in [(0, "a picture"), (2, "reply: thinking only"), (3, "reply: Read")] {
        assert!(lines[line].contains(label), "{lines:#?}");
    }
}
