//! The example programs do what they say.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "../examples/count_tools.rs"]
#[expect(dead_code, reason = "the test calls `run`, not `main`")]
mod count_tools;
#[path = "../examples/follow_live.rs"]
#[expect(dead_code, reason = "the test calls `follow_until`, which ends")]
mod follow_live;
#[path = "../examples/list_branches.rs"]
#[expect(dead_code, reason = "the test calls `run`, not `main`")]
mod list_branches;
#[path = "../examples/print_conversation.rs"]
#[expect(dead_code, reason = "the test calls `run`, not `main`")]
mod print_conversation;

use ramus_store::follow::{FollowEvent, FollowStart};
use testkit::TestHome;

const SESSION: &str = "
    a user Which files are there?
    b < a call:t1:Bash ls
    c < b result:t1 main.rs
    d < c assistant Only main.rs.
    e < c assistant There is main.rs.
    f < e call:t2:Read main.rs
    g < f result:t2 fn main() {}
";

fn printed(run: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    run(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_conversation_is_printed() {
    let home = TestHome::new();
    let path = home.write_session("-app/s.jsonl", SESSION);
    let text = printed(|out| print_conversation::run(&path, out).unwrap());
    assert!(text.starts_with("user: Which files are there?\nassistant: "), "{text}");
    assert!(text.contains("assistant: There is main.rs.\n"), "{text}");
    assert!(!text.contains("Only"), "{text}");
}

#[test]
fn branches_are_listed() {
    let home = TestHome::new();
    let path = home.write_session("-app/s.jsonl", SESSION);
    let text = printed(|out| list_branches::run(&path, out).unwrap());
    assert_eq!(text.lines().filter(|line| line.starts_with("abandoned")).count(), 1, "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("active")).count(), 1, "{text}");
}

#[test]
fn tools_are_counted_once() {
    let home = TestHome::new();
    let path = home.write_session("-app/s.jsonl", SESSION);
    assert_eq!(printed(|out| count_tools::run(&path, out).unwrap()), "Bash: 1\nRead: 1\n");
}

#[test]
fn what_is_written_is_followed() {
    let home = TestHome::new();
    home.write_session("-app/s.jsonl", SESSION);
    let is_ready = |change: &FollowEvent| matches!(change, FollowEvent::Ready);
    let text = printed(|out| {
        follow_live::follow_until(&home.claude_dir(), FollowStart::Beginning, out, is_ready)
            .unwrap();
    });
    assert!(text.contains("s: There is main.rs.\n"), "{text}");
}
