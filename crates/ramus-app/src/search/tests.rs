use ramus_core::query::SearchHit;
use ramus_core::resume::ResumeRule;
use ramus_store::StateDir;
use ramus_store::claude_dir::ClaudeDirs;
use testkit::TestHome;

use super::*;

fn test_workspace(home: &TestHome) -> Workspace {
    let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
    Workspace::new(place, ResumeRule::Client, StateDir::new(home.path().join("state")))
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
    let mut request = SearchRequest::for_text("harp", false).unwrap();
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
    let request = SearchRequest::for_text("harp", false).unwrap();
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
    let mut request = SearchRequest::for_text("harp", false).unwrap();
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
    let request = SearchRequest::for_text("harp", false).unwrap();
    let flow =
        test_workspace(&home).search_history(&request, &Cancelled, |_| ControlFlow::Break(()));
    assert!(flow.is_continue());
}
