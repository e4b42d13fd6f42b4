use std::fmt::Write;

use insta::assert_snapshot;

use super::*;

/// Feeds a session line by line and writes down what is told.
#[track_caller]
fn watch(fixture: &str) -> String {
    let mut live = LiveSession::new(false);
    drawn(&mut live, &testkit::jsonl(fixture))
}

fn drawn(live: &mut LiveSession, text: &str) -> String {
    let mut at = 0;
    let mut drawing = String::new();
    for line in text.split_inclusive('\n') {
        for news in live.push_lines(at, line.as_bytes()) {
            assert!(news.offset >= at && news.offset < at + line.len() as u64);
            let uuid = news.uuid.as_deref().unwrap_or("-");
            let main_chain = if news.sidechain { "| " } else { "" };
            let left = if news.followed { "" } else { " (elsewhere)" };
            writeln!(drawing, "{main_chain}{uuid} {}{left}", told(&news.kind)).unwrap();
        }
        at += line.len() as u64;
    }
    drawing
}

fn told(told: &LiveEventKind) -> String {
    match told {
        LiveEventKind::Turn(TurnKind::Reply(answer)) => {
            format!("answer {:?}", answer.parts.iter().map(part).collect::<Vec<_>>())
        }
        LiveEventKind::Turn(TurnKind::Prompt(prompt)) => format!("prompt {:?}", prompt.text),
        LiveEventKind::Turn(other) => format!("{other:?}").chars().take(60).collect(),
        LiveEventKind::Result { call, millis } => format!("result {} {millis:?}", call.name),
        LiveEventKind::Switch(switch) => {
            let how = match (switch.leaves, switch.returns) {
                (true, _) => " leaves",
                (_, true) => " returns",
                _ => "",
            };
            format!(
                "{} after {:?} {:?}{how}",
                switch.kind.as_str(),
                switch.after,
                switch.prompt_text
            )
        }
        LiveEventKind::Ended { millis, .. } => format!("ended {millis:?}"),
        LiveEventKind::WaitsForUser(text) => format!("waits {text:?}"),
        LiveEventKind::Spent(spent) => format!("spent {} in {}", spent.tokens, spent.messages),
        LiveEventKind::Title(title) => format!("title {title:?}"),
    }
}

fn part(part: &ReplyPart) -> String {
    match part {
        ReplyPart::Text(text) => text.clone(),
        ReplyPart::Call(call) => format!("call {}", call.name),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_conversation_is_reported_as_it_is_written() {
    assert_snapshot!(watch("
        a      user          look around
        b < a  thinking #m   hm
        c < b  call:t1:Bash #m ls
        d < c  call:t2:Bash #m pwd
        e < c  result:t1     x
        f < d  result:t2     y
        g < f  assistant     done
        -      title         A walk
        h < g  system:turn_duration
        i < h  interrupt
    "), @r#"
    a prompt "look around"
    b answer ["Thinking(Text(\"hm\"))"]
    b spent 15 in 1
    c answer ["call Bash"]
    d answer ["call Bash"]
    e result Bash Some(2000)
    f result Bash Some(2000)
    g answer ["done"]
    g spent 30 in 2
    - title "A walk"
    h ended Some(8000)
    i Interrupt { for_tool_use: false }
    "#);
}

#[test]
fn branches_are_reported_when_they_are_taken() {
    assert_snapshot!(watch("
        a      user       one
        b < a  assistant  1
        c < b  user       two
        d < c  assistant  2
        e < d  user       three
        f < d  user       three, but better
        g < f  assistant  3
        h < f  assistant  3 again
        i < b  user       two, another way
        j < i  assistant  2 again
        k < h  user       on with three
        l < k  assistant  4
        m < k  user       no, stop
        n      user       a new beginning
        o < x  user       out of nowhere
    "), @r#"
    a prompt "one"
    b answer ["1"]
    b spent 15 in 1
    c prompt "two"
    d answer ["2"]
    d spent 30 in 2
    e prompt "three"
    f edit after Some("d") Some("two")
    f prompt "three, but better"
    g answer ["3"]
    g spent 45 in 3
    h retry after Some("f") Some("three, but better")
    h answer ["3 again"]
    h spent 60 in 4
    i rewind after Some("b") Some("one")
    i prompt "two, another way"
    j answer ["2 again"]
    j spent 75 in 5
    k back after Some("h") Some("three, but better")
    k prompt "on with three"
    l answer ["4"]
    l spent 90 in 6
    m interrupt after Some("k") Some("on with three")
    m prompt "no, stop"
    n root after None None
    n prompt "a new beginning"
    o beyond after Some("x") None
    o prompt "out of nowhere"
    "#);
}

#[test]
fn continuing_is_not_a_new_branch() {
    assert_snapshot!(watch("
        a      user         one
        b < a  assistant    1
        b < a  assistant    1
        c < b  progress
        d < b  attachment
        e < d  command      clear
        f < e  user         two
        g < f  assistant    2
        h < g  boundary
        i < h  compacted    in short
        j < i  user         three
        k      boundary
        l < k  compacted    shorter
    "), @r#"
    a prompt "one"
    b answer ["1"]
    b spent 15 in 1
    e Command(CommandTurn { name: "/clear", args: "", stdout: "", 
    f prompt "two"
    g answer ["2"]
    g spent 30 in 2
    h Compaction(Compaction { trigger: Some("manual"), pre_tokens:
    i Compaction(Compaction { trigger: None, pre_tokens: None, pos
    j prompt "three"
    k Compaction(Compaction { trigger: Some("manual"), pre_tokens:
    l Compaction(Compaction { trigger: None, pre_tokens: None, pos
    "#);
}

#[test]
fn a_followed_conversation_is_left_and_taken_up_again() {
    let mut live = LiveSession::new(false);
    let past = testkit::jsonl(
        "
        a      user       one
        b < a  assistant  1
        c < b  user       two
    ",
    );
    live.push_earlier_lines(past.as_bytes());
    assert!(live.follow_conversation("b"));
    assert!(!live.follow_conversation("zzz"));
    let now = testkit::jsonl(
        "
        d < c  assistant     @10 2
        e < d  call:t1:Bash  @11 ls
        f < e  result:t1     @12 x
        g < b  user          @13 two, another way
        h < g  assistant     @14 2 again
        i < f  assistant     @15 back here
        j < i  user          @16 three
    ",
    );
    assert_snapshot!(drawn(&mut live, &now), @r#"
    d answer ["2"]
    d spent 15 in 1
    e answer ["call Bash"]
    e spent 30 in 2
    f result Bash Some(1000)
    g edit after Some("b") Some("one") leaves
    g prompt "two, another way" (elsewhere)
    h answer ["2 again"] (elsewhere)
    h spent 45 in 3 (elsewhere)
    i back after Some("e") Some("two") returns
    i answer ["back here"]
    i spent 60 in 4
    j prompt "three"
    "#);
}

#[test]
fn older_clients_end_in_silence() {
    let mut live = LiveSession::new(false);
    drawn(&mut live, &testkit::jsonl("a user go\nb < a call:t1:Bash ls"));
    assert_eq!(live.end_by_silence(), None);
    assert_eq!(live.running_calls().count(), 1);
    drawn(&mut live, &testkit::jsonl("c < b result:t1 x\nd < c assistant done"));
    assert!(matches!(live.end_by_silence(), Some(LiveEventKind::Ended { millis: None, .. })));
    assert_eq!(live.end_by_silence(), None);
}

#[test]
fn sidechains_and_agents() {
    assert_snapshot!(watch("
        a      user                go
        b < a  call:t1:Task        look here
        c      side-user           look here
        d < c  side-assistant      seen
        e < b  result:t1:abc1234   found
    "), @r#"
    a prompt "go"
    b answer ["call Task"]
    b spent 15 in 1
    | c prompt "look here"
    | d answer ["seen"]
    | d spent 30 in 2
    e result Task Some(3000)
    "#);
    let mut live = LiveSession::new(true);
    live.push_earlier_lines(testkit::jsonl("a side-user Warmup").as_bytes());
    assert!(live.is_warmup());
}

#[test]
fn a_long_silence_of_progress_is_no_rewind() {
    let mut live = LiveSession::new(false);
    let mut text = testkit::jsonl("a user go\nb < a call:t1:Bash make");
    let mut parent = "b".to_owned();
    for number in 0..5_000 {
        text.push_str(&testkit::jsonl(&format!("p{number} < {parent} progress")));
        parent = format!("p{number}");
    }
    text.push_str(&testkit::jsonl(&format!("c < {parent} assistant @60 done")));
    text.push_str(&testkit::jsonl("d < a assistant @70 done otherwise"));
    let told = drawn(&mut live, &text);
    let switches: Vec<&str> = told.lines().filter(|line| line.contains(" after ")).collect();
    assert_eq!(switches, ["d beyond after Some(\"a\") None"]);
}

#[test]
fn memory_does_not_grow_with_the_file() {
    let mut live = LiveSession::new(false);
    let mut parent = "null".to_owned();
    let mut at = 0;
    for number in 0..3_000 {
        let line = format!(
            "{{\"parentUuid\":{parent},\"type\":\"assistant\",\"message\":{{\"id\":\"m{number}\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{number}\",\"name\":\"Bash\",\"input\":{{}}}}],\"usage\":{{\"input_tokens\":1}}}},\"uuid\":\"n{number}\"}}\n"
        );
        let news = live.push_lines(at, line.as_bytes());
        assert!(!news.iter().any(|news| matches!(news.kind, LiveEventKind::Switch(_))));
        at += line.len() as u64;
        parent = format!("\"n{number}\"");
    }
    assert_eq!(live.running_calls().count(), MAX_OPEN_CALLS);
    assert_eq!(live.total_spending().tokens, 3_000);
    assert!(live.branch.remembered() <= branch_tracker::MAX_RECORDS);
}

#[test]
fn a_reply_that_a_merge_wrote_twice_is_spent_once() {
    let line = |uuid: &str, id: &str, request: &str, from: &str| {
        format!(
            "{{\"parentUuid\":null,\"type\":\"assistant\",\"requestId\":{request},\"mergedFrom\":{{\"messageUuid\":\"{from}\"}},\"message\":{{\"id\":\"{id}\",\"content\":[],\"usage\":{{\"input_tokens\":7}}}},\"uuid\":\"{uuid}\"}}\n"
        )
    };
    let mut live = LiveSession::new(false);
    let mut at = 0;
    let lines = [
        line("a", "m1", "\"r1\"", "x"),
        line("b", "msg_new", "\"r1\"", "x"),
        // Without a request the record that was copied tells.
        line("c", "m2", "null", "y"),
        line("d", "msg_newer", "null", "y"),
        line("e", "m3", "null", "z"),
    ];
    for line in lines {
        live.push_lines(at, line.as_bytes());
        at += line.len() as u64;
    }
    assert_eq!((live.total_spending().tokens, live.total_spending().messages), (21, 3));
}

#[test]
fn what_a_reader_takes_for_one_line_is_no_switch() {
    for fixture in [
        // Hook records written after the turn they hang in.
        "a user one
         b < a call:t1 @1 ls
         c < b result:t1 @2 files
         d < c assistant @9 done
         h < b progress @2
         i < h progress @3
         e < i user @20 two",
        // Errors written after the reply that gave up.
        "a user one
         x < a error @30 API Error
         h < a system:api_error @5 error
         i < h system:api_error @10 error
         e < i user @60 again",
        // A caveat whose uuid was used again.
        "a user one
         b < a assistant @1 hi
         v < b meta @0 Caveat: The messages below were generated by the user while running local commands.
         k < v command @3 model
         c < k user @5 two
         d < c assistant @6 sure
         m < v command @7 cost
         e < m user @9 three",
        // A compaction that names nothing.
        "a user one
         b < a assistant hi
         s compacted in short
         c < s assistant on",
        // A compaction that keeps a message, below which the client goes on.
        "a user one
         b < a assistant @1 hi
         x < b boundary:b:y @2
         y < x compacted @3 in short
         c < b user @4 two
         d < c assistant @5 sure",
        // A turn written again as a list of blocks.
        "a user one
         b < a assistant @1 hi
         c < b user @2 two
         d < c assistant @3 #m two it is
         e < b user:list @2 two
         f < e assistant @3 #m two it is
         g < d user @9 three",
    ] {
        let drawing = watch(fixture);
        let words = ["edit", "retry", "interrupt", "rewind", "back", "root", "beyond"];
        let switched = words.iter().any(|word| drawing.contains(&format!(" {word} after ")));
        assert!(!switched, "{fixture}\n{drawing}");
    }
}

#[test]
fn what_was_there_before_a_file_was_rewritten_is_no_news() {
    let mut live = LiveSession::new(false);
    drawn(&mut live, &testkit::jsonl("a user one\nb < a assistant hi\nc < b user @10 two"));
    live.restart_rewritten();
    let text = testkit::jsonl("c user @10 two\nd < c assistant @11 2\ne < c assistant @12 3");
    let told = drawn(&mut live, &text);
    let told: Vec<&str> = told.lines().filter(|line| !line.contains(" spent ")).collect();
    assert_eq!(
        told,
        ["d answer [\"2\"]", "e retry after Some(\"c\") Some(\"two\")", "e answer [\"3\"]"]
    );
}
