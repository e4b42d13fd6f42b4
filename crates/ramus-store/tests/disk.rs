//! What the disk can do to a reader, and what a transcript cannot.

use std::fs::{self, OpenOptions};

use ramus_core::agent::SpawnIndex;
use ramus_core::resume::ResumeRule;
use ramus_store::agents::{find_spawning_calls, read_agents};
use ramus_store::claude_dir::{ClaudeDirs, FileRole};
use ramus_store::trace::trace_path;
use ramus_store::{RecordReader, from_jsonl, read_session, read_spilled_output};
use testkit::TestHome;

const ID: &str = "-home-dev-app/11111111-0000-4000-8000-000000000000.jsonl";

#[test]
fn a_file_that_shrinks_or_vanishes_gives_an_error_that_names_it() {
    let home = TestHome::new();
    let path = home.write_session(ID, "a user hello\nb < a assistant hi");
    let session = read_session(&path).unwrap();
    let mut bodies = RecordReader::open(&path).unwrap();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(10).unwrap();
    let error = bodies.read_record(session.records()[1].span).unwrap_err();
    assert!(error.to_string().contains("11111111"), "{error}");
    fs::remove_file(&path).unwrap();
    assert!(read_session(&path).unwrap_err().to_string().contains("11111111"));
}

#[test]
fn bodies_come_back_byte_for_byte() {
    let home = TestHome::new();
    let path = home.write_session(ID, "a user caf\u{e9} \u{1f680}\nb < a assistant hi");
    let text = fs::read_to_string(&path).unwrap();
    let session = read_session(&path).unwrap();
    let mut bodies = RecordReader::open(&path).unwrap();
    for (record, line) in session.records().iter().zip(text.lines()) {
        assert_eq!(bodies.read_record(record.span).unwrap(), line.as_bytes());
    }
}

#[test]
fn a_spilled_output_is_read_from_the_sessions_own_directory_only() {
    let home = TestHome::new();
    let path = home.write_session(ID, "a user hello");
    home.write_file(
        "-home-dev-app/11111111-0000-4000-8000-000000000000/tool-results/toolu_1.txt",
        "the whole output",
    );
    home.write_file("-home-dev-app/secret.txt", "not yours");
    assert_eq!(
        read_spilled_output(&path, "/elsewhere/tool-results/toolu_1.txt".as_ref()).as_deref(),
        Some("the whole output")
    );
    assert_eq!(
        read_spilled_output(
            &path,
            home.claude_dir().join("projects/-home-dev-app/secret.txt").as_ref()
        ),
        None
    );
    assert_eq!(read_spilled_output(&path, "../../secret.txt".as_ref()), None);
    assert_eq!(read_spilled_output(&path, "gone.txt".as_ref()), None);
    let outside = home.path().join("tool-results");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("outside.txt"), "not yours either").unwrap();
    assert_eq!(read_spilled_output(&path, "outside.txt".as_ref()), None);
}

#[test]
fn agents_are_found_flat_and_nested_and_hang_at_their_calls() {
    let home = TestHome::new();
    let path = home.write_session(
        ID,
        "a user go
         b < a call:t1:Task look here
         c < b result:t1:abc1234 found
         d < c call:t2:Task look there
         e < d call:t3:Agent look everywhere",
    );
    let agent = |prompt: &str| format!("x side-user {prompt}\ny < x side-assistant seen");
    home.write_session(
        "-home-dev-app/agent-abc1234.jsonl",
        &agent("whatever").replace("session", "s"),
    );
    home.write_session(
        "-home-dev-app/11111111-0000-4000-8000-000000000000/subagents/agent-by-prompt.jsonl",
        &agent("look there"),
    );
    home.write_session(
        "-home-dev-app/11111111-0000-4000-8000-000000000000/subagents/agent-by-meta.jsonl",
        &agent("x"),
    );
    home.write_file(
        "-home-dev-app/11111111-0000-4000-8000-000000000000/subagents/agent-by-meta.meta.json",
        r#"{"agentType":"Explore","description":"Everywhere","toolUseId":"t3"}"#,
    );
    let listing = ClaudeDirs::open(vec![home.claude_dir()]).unwrap().list_projects();
    let history = from_jsonl(&path, ResumeRule::Client).unwrap();
    let spawns = SpawnIndex::new(&history.session);
    let files = &listing.projects[0].files;
    assert_eq!(files.iter().filter(|file| file.role == FileRole::FlatAgent).count(), 1);
    // Flat files name their session inside; the short form calls it `session`.
    let flat = read_agents(files, "session").0;
    let nested = read_agents(files, "11111111-0000-4000-8000-000000000000").0;
    let calls: Vec<(String, Option<u32>)> = flat
        .iter()
        .chain(&nested)
        .map(|agent| (agent.file.id.clone(), spawns.call_of(&agent.hint).map(|node| node.0)))
        .collect();
    assert_eq!(
        calls,
        [("abc1234".into(), Some(1)), ("by-meta".into(), Some(4)), ("by-prompt".into(), Some(3))]
    );
    assert_eq!(nested[0].meta.description.as_deref(), Some("Everywhere"));
}

#[test]
fn an_agent_of_an_agent_hangs_where_that_one_does() {
    let home = TestHome::new();
    let path = home.write_session(
        ID,
        "a user go
         b < a call:t1:Task look here
         c < a user other
         d < c call:t2:Task look there",
    );
    let dir = "-home-dev-app/11111111-0000-4000-8000-000000000000/subagents";
    home.write_session(&format!("{dir}/agent-a1.jsonl"), "x side-user look here");
    // Its prompt was given on another branch, too; its own file says who called it.
    home.write_session(&format!("{dir}/agent-a2.jsonl"), "y side-user look there");
    home.write_file(
        &format!("{dir}/agent-a2.meta.json"),
        r#"{"toolUseId":"t9","parentAgentId":"a1"}"#,
    );
    // Two that name each other belong to nobody.
    for (one, other) in [("a3", "a4"), ("a4", "a3")] {
        home.write_session(&format!("{dir}/agent-{one}.jsonl"), "z side-user nobody asked");
        let meta = format!(r#"{{"parentAgentId":"{other}"}}"#);
        home.write_file(&format!("{dir}/agent-{one}.meta.json"), meta);
    }
    let listing = ClaudeDirs::open(vec![home.claude_dir()]).unwrap().list_projects();
    let history = from_jsonl(&path, ResumeRule::Client).unwrap();
    let (agents, _) =
        read_agents(&listing.projects[0].files, "11111111-0000-4000-8000-000000000000");
    let found =
        find_spawning_calls(&agents, &history).into_iter().map(|call| call.map(|node| node.0));
    assert_eq!(found.collect::<Vec<_>>(), [Some(1), Some(1), None, None]);
}

#[test]
fn sessions_that_continue_each_other_in_a_circle_end() {
    let home = TestHome::new();
    let one = home.write_session(ID, "a < c user one\nb < a assistant 1");
    home.write_session(
        "-home-dev-app/22222222-0000-4000-8000-000000000000.jsonl",
        "c < b user two",
    );
    let listing = ClaudeDirs::open(vec![home.claude_dir()]).unwrap().list_projects();
    let files = &listing.projects[0].files;
    let file = files.iter().find(|file| file.path == one).unwrap().clone();
    let history = from_jsonl(&one, ResumeRule::Client).unwrap();
    let path = history.conversation_path(&history.branches.conversations[0]);
    assert_eq!(trace_path(files, file, history, path, ResumeRule::Client).unwrap().len(), 2);
}
