//! What forks, conversations and the active branch are: one case per sentence of the rules.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fmt::Write;

use ramus_core::branches::Artefact;
use ramus_core::history::History;
use ramus_core::resume::ResumeRule;
use ramus_core::session::{NodeId, Session};

mod lived;
mod reading;
mod shapes;
mod variants;

fn history(short: &str) -> History {
    let mut session = Session::default();
    session.push(testkit::jsonl(short).as_bytes());
    session.finish_last_line();
    History::new(session, ResumeRule::Client)
}

fn name(history: &History, id: NodeId) -> String {
    history.session.uuid_text(history.session.record(id).uuid.unwrap())
}

/// Writes down forks, artefacts, conversations and defects of a short-form session.
fn describe(history: &History) -> String {
    let mut out = String::new();
    let branches = &history.branches;
    for fork in &branches.forks {
        let ways: Vec<String> = fork
            .branches
            .iter()
            .map(|branch| {
                let mark = if branch.current { "*" } else { "" };
                let draft = if branch.draft { "?" } else { "" };
                format!(
                    "{}{mark}{draft}",
                    name(history, history.message_tree.message(branch.message).head)
                )
            })
            .collect();
        writeln!(out, "{} at {}: {}", fork.kind, name(history, fork.node), ways.join(" ")).unwrap();
    }
    for kind in Artefact::ALL {
        if let Some(count) = branches.artefacts.get(&kind) {
            writeln!(out, "{} {count}", kind.as_str()).unwrap();
        }
    }
    for conversation in &branches.conversations {
        let mark = if conversation.resumes { " resumes" } else { "" };
        let nodes: Vec<String> = history
            .conversation_path(conversation)
            .nodes
            .iter()
            .map(|id| name(history, *id))
            .collect();
        writeln!(
            out,
            "{}{mark} {}: {}",
            conversation.status,
            conversation.messages,
            nodes.join(" ")
        )
        .unwrap();
    }
    for defect in history.session.defects().iter().chain(history.record_tree.defects()) {
        writeln!(out, "line {}: {}", defect.line, defect.kind.as_str()).unwrap();
    }
    out
}

#[track_caller]
fn check(short: &str, expected: &str) {
    let lines = |text: &str| {
        text.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(lines(&describe(&history(short))), lines(expected));
}

#[test]
fn a_line_is_one_active_conversation() {
    check(
        "a user hello
         b < a assistant hi
         c < b user bye",
        "active resumes 3: a b c",
    );
}

#[test]
fn r9_an_edited_prompt_is_an_edit_and_an_unanswered_branch_a_draft() {
    check(
        "a user hello
         b < a assistant hi
         c < b user first try
         d < b user second try
         e < d assistant yes",
        "edit at b: c? d*
         abandoned 3: a b c
         active resumes 4: a b d e",
    );
}

#[test]
fn r9_another_answer_to_one_prompt_is_a_retry() {
    check(
        "a user hello
         b < a assistant hi
         c < a assistant good day",
        "retry at a: b c*
         abandoned 2: a b
         active resumes 2: a c",
    );
}

#[test]
fn r9_a_prompt_beside_an_answer_is_an_interrupt() {
    check(
        "a user hello
         b < a assistant hi, I
         c < a user stop
         d < c assistant ok",
        "interrupt at a: b c*
         abandoned 2: a b
         active resumes 3: a c d",
    );
}

#[test]
fn r9_going_back_past_a_prompt_is_a_rewind() {
    check(
        "a user one
         b < a assistant 1
         c < b user two
         d < c assistant 2
         e < d user three
         f < e assistant 3
         g < b user other two
         h < g assistant 2b",
        "rewind at b: c g*
         abandoned 6: a b c d e f
         active resumes 4: a b g h",
    );
}

#[test]
fn r9_versions_of_one_uuid_are_a_retry_and_copies_are_one_node() {
    check(
        "a user hello
         b < a assistant #m1 hi
         b < a assistant #m1 hi
         c < b user go on",
        "active resumes 3: a b c",
    );
    check(
        "a user hello
         b < a assistant #m1 hi
         b < a assistant #m2 hello there
         c < b user go on",
        "retry at a: b b*
         abandoned 2: a b
         active resumes 3: a b c
         line 3: version",
    );
}

#[test]
fn r8_parallel_tools_are_no_fork_and_all_lie_on_the_path() {
    check(
        "a user go
         b < a thinking #m hmm
         c < b call:t1:Bash #m ls
         d < c call:t2:Bash #m pwd
         e < d result:t2 /home
         f < c result:t1 Cargo.toml
         g < f assistant done",
        "parallel-tools 1
         active resumes 3: a b c d e f g",
    );
}

#[test]
fn r8_a_result_belongs_to_its_call_whatever_its_parent() {
    check(
        "a user go
         b < a call:t1:Bash ls
         c < a result:t1 Cargo.toml
         d < c assistant done",
        "decoration 1
         active resumes 3: a b c d",
    );
}

#[test]
fn r8_dialogue_in_between_keeps_a_late_result_in_its_place() {
    check(
        "a user go
         b < a call:t1:Bash sleep
         c < b user meanwhile
         d < c assistant yes?
         e < d result:t1 done
         f < e assistant it is done",
        "active resumes 5: a b c d e f",
    );
}

#[test]
fn r8_decoration_does_not_fork_and_chains_run_through_it() {
    check(
        "a user go
         p < a progress
         b < p assistant hi
         s < b system:turn_duration
         x < b attachment:hook_success
         c < s user next",
        "decoration 1
         active resumes 3: a p b x s c",
    );
}

#[test]
fn r8_replays_with_the_same_time_and_content_are_one() {
    check(
        "a user @1 hello
         b < a assistant #m1 @2 hi
         c < b user @3 more
         c2 < b user @3 more
         d < c2 assistant @4 sure",
        "replay 1
         active resumes 4: a b c c2 d",
    );
}

#[test]
fn r9_commands_meta_and_markers_continue_a_line() {
    check(
        "a user hello
         b < a assistant hi
         m < b meta caveat
         k < m command cost
         o < k stdout nothing
         c < b user next
         i < c interrupt",
        "decoration 1
         active resumes 3: a b m k o c i",
    );
}

#[test]
fn r9_a_prompt_behind_a_command_forks_all_the_same() {
    check(
        "a user hello
         b < a assistant hi
         c < b user one
         m < b meta caveat
         k < m command model
         d < k user two",
        "edit at b: c? m*?
         abandoned 3: a b c
         active resumes 3: a b m k d",
    );
}

#[test]
fn r7_paths_run_through_a_compaction() {
    check(
        "a user hello
         b < a assistant hi
         s < b boundary
         t < s compacted what was said
         c < t user go on",
        "active resumes 3: a b s t c",
    );
}

#[test]
fn r6_inline_sidechains_never_branch_the_conversation() {
    check(
        "a user go
         b < a call:t1:Task look around
         x side-user look around
         y < x side-assistant I looked
         c < b result:t1 found it
         d < c assistant done
         z < b side-user stray",
        "sidechain 1
         active resumes 3: a b c d",
    );
}

#[test]
fn r5_a_cycle_is_cut_and_lost_prompts_that_nothing_follows_stay_by_themselves() {
    check(
        "a user one
         b < gone user two
         c < c user three
         d < e user four
         e < d user five",
        "active 1: a
         active 1: b
         active resumes 3: c e d
         line 3: self-parent
         line 5: cycle",
    );
}

#[test]
fn r4_a_child_belongs_to_the_nearest_earlier_bearer_of_its_parents_name() {
    check(
        "a user root
         b < a assistant #m1 first
         c < b user below the first
         b < a assistant #m2 second
         d < b user below the second",
        "retry at a: b b*
         abandoned 3: a b c
         active resumes 3: a b d
         line 4: version",
    );
}

#[test]
fn parents_may_come_after_their_children() {
    check(
        "c < b user last
         b < a assistant #m hi
         a user first",
        // The newest timestamp is that of the first prompt, and an old client resumes there.
        "active resumes 3: a b c",
    );
}

#[test]
fn r12_forks_off_the_resume_path_prefer_what_was_written_later() {
    check(
        "a user root
         b < a assistant 1
         c < b user x
         d < c assistant y1
         e < c assistant y2
         f < b user other
         g < f assistant z",
        "edit at b: c f*
         retry at c: d e*
         abandoned 4: a b c d
         abandoned 4: a b c e
         active resumes 4: a b f g",
    );
}

#[test]
fn seed_002_worked_example_gives_its_three_paths() {
    check(
        "start user Start
         t1 < start assistant T1
         t2 < t1 user T2
         t3 < t2 assistant T3
         t4a < t3 user T4 original
         t5a < t4a assistant T5 original
         t4b < t3 user T4 redo
         t5b < t4b assistant T5 after redo
         t6b < t5b user T6
         t7b1 < t6b assistant T7 path 1
         t7b2 < t6b assistant T7 redo 2",
        "edit at t3: t4a t4b*
         retry at t6b: t7b1 t7b2*
         abandoned 6: start t1 t2 t3 t4a t5a
         abandoned 8: start t1 t2 t3 t4b t5b t6b t7b1
         active resumes 8: start t1 t2 t3 t4b t5b t6b t7b2",
    );
}

#[test]
fn seed_000_visual_model_and_seed_001_branching() {
    check(
        "root user hello
         msg2b < root assistant B
         msg6 < msg2b user six
         msg7 < msg6 assistant seven
         msg2a < root assistant A
         retry < msg2a user abandoned
         msg3 < msg2a user three
         msg4 < msg3 assistant four
         msg5 < msg4 user five
         - summary:msg5 the active one",
        "retry at root: msg2b msg2a*
         edit at msg2a: retry? msg3*
         abandoned 4: root msg2b msg6 msg7
         abandoned 3: root msg2a retry
         active resumes 5: root msg2a msg3 msg4 msg5",
    );
    check(
        "msg-1 user 1
         msg-2 < msg-1 assistant 2
         msg-3 < msg-2 user 3
         msg-4 < msg-3 assistant 4
         msg-5 < msg-2 user 5
         msg-6 < msg-5 assistant 6",
        "edit at msg-2: msg-3 msg-5*
         abandoned 4: msg-1 msg-2 msg-3 msg-4
         active resumes 4: msg-1 msg-2 msg-5 msg-6",
    );
}

#[test]
fn seed_000_ten_edits_of_one_prompt_are_one_fork_of_ten() {
    let mut short = String::from("p user start\nq < p assistant ok\n");
    for i in 0..10 {
        writeln!(short, "e{i} < q user try {i}\nr{i} < e{i} assistant no {i}").unwrap();
    }
    let history = history(&short);
    assert_eq!(history.branches.forks.len(), 1);
    assert_eq!(history.branches.forks[0].branches.len(), 10);
    assert_eq!(history.branches.conversations.len(), 10);
}

#[test]
fn several_roots_are_several_conversations() {
    check(
        "a user one
         b < a assistant 1
         k command resume
         c < k user two
         h attachment:hook_success",
        "active 2: a b
         active resumes 1: k c h",
    );
}

#[test]
fn r2_glued_records_are_read_and_their_line_counts_as_damaged() {
    let lines = testkit::jsonl("a user one\nb < a assistant 1\nc < b user two\nd < c assistant 2");
    let lines: Vec<&str> = lines.lines().collect();
    let glued = format!("{}\n{}{}\n{}\n", lines[0], lines[1], lines[2], lines[3]);
    let mut session = Session::default();
    session.push(glued.as_bytes());
    session.finish_last_line();
    assert_eq!(session.line_counts().damaged, 1);
    assert_eq!(session.line_counts().known, 2);
    let history = History::new(session, ResumeRule::Client);
    assert_eq!(describe(&history), "active resumes 4: a b c d\nline 2: glued\n");
}

#[test]
fn r2_a_record_with_bad_utf8_holds_its_children_but_is_no_branch_by_itself() {
    let lines = testkit::jsonl(
        "a user one\nb < a assistant 1\nc < b user caf\u{e9}\nd < c assistant 2\ne < b user leaf\u{e9}",
    );
    let mut bytes = lines.replace('\u{e9}', "\u{1}").into_bytes();
    for byte in &mut bytes {
        if *byte == 1 {
            *byte = 0xe9;
        }
    }
    let mut session = Session::default();
    session.push(&bytes);
    session.finish_last_line();
    assert_eq!(session.line_counts().damaged, 2);
    let history = History::new(session, ResumeRule::Client);
    assert_eq!(
        describe(&history),
        "decoration 1\nactive resumes 4: a b e c d\nline 3: not-utf8\nline 5: not-utf8\n"
    );
}

#[test]
fn an_id_that_repeats_on_another_branch_stays_there() {
    // The same message id in another tree.
    check(
        "p1 user one
         a1 < p1 assistant #m 1
         p2 < a1 user two
         q1 user one again
         b1 < q1 assistant #m 1 again
         q2 < b1 user two again",
        "active 3: p1 a1 p2
         active resumes 3: q1 b1 q2",
    );
    // The same call id on two branches, as proxies that count from zero write.
    check(
        "p user go
         x < p assistant which way
         p1 < x user left
         c1 < p1 call:call_0 ls
         r1 < c1 result:call_0 one
         p2 < x user right
         c2 < p2 call:call_0 ls
         r2 < c2 result:call_0 two
         e2 < r2 assistant there",
        "edit at x: p1 p2*
         abandoned 4: p x p1 c1 r1
         active resumes 5: p x p2 c2 r2 e2",
    );
}

#[test]
fn r16_a_message_that_continues_after_a_prompt_is_counted_once() {
    check(
        "a user go
         b < a assistant #m half
         c < b user meanwhile
         d < c assistant #m the other half",
        "active resumes 3: a b c d",
    );
}

#[test]
fn r9_a_draft_before_the_line_that_went_on_does_not_hide_a_rewind() {
    check(
        "a user one
         b < a assistant 1
         c < b user draft
         d < b user two
         e < d assistant 2
         f < e user three
         g < b user other",
        "rewind at b: c? d g*?
         abandoned 3: a b c
         abandoned 5: a b d e f
         active resumes 3: a b g",
    );
}

#[test]
fn r12_what_resumes_is_active_even_if_the_point_lies_beside() {
    check(
        "p user go
         a1 < p assistant 1
         a2 < p assistant 2
         u < a1 user more
         h system:informational hook",
        "retry at p: a1* a2
         abandoned 2: p a2
         active resumes 3: p a1 u h",
    );
}
