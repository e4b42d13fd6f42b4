//! Count the tool calls of a session, on all of its branches.
//!
//! `cargo run -p ramus-store --example count_tools -- SESSION.jsonl`

use std::error::Error;
use std::io::Write;
use std::path::Path;

use std::collections::{BTreeMap, BTreeSet};

use ramus_core::resume::ResumeRule;
use ramus_store::{RecordReader, from_jsonl};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("give the path of a session file")?;
    run(Path::new(&path), &mut std::io::stdout())
}

pub(crate) fn run(path: &Path, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let history = from_jsonl(path, ResumeRule::Client)?;
    let mut bodies = RecordReader::open(path)?;
    // Branches share their beginning: each message counts once.
    let mut seen = BTreeSet::new();
    let mut calls: BTreeMap<String, u32> = BTreeMap::new();
    for conversation in &history.branches.conversations {
        for message in bodies.read_messages(&history, conversation) {
            let message = message?;
            if seen.insert(message.node) {
                for call in message.tool_uses() {
                    *calls.entry(call.name.clone()).or_default() += 1;
                }
            }
        }
    }
    for (name, count) in calls {
        writeln!(out, "{name}: {count}")?;
    }
    Ok(())
}
