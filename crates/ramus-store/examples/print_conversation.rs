//! Print the conversation that Claude Code would resume.
//!
//! `cargo run -p ramus-store --example print_conversation -- SESSION.jsonl`

use std::error::Error;
use std::io::Write;
use std::path::Path;

use ramus_core::resume::ResumeRule;
use ramus_store::{RecordReader, from_jsonl};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("give the path of a session file")?;
    run(Path::new(&path), &mut std::io::stdout())
}

pub(crate) fn run(path: &Path, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let history = from_jsonl(path, ResumeRule::Client)?;
    let conversation =
        history.branches.resuming_conversation().ok_or("there is nothing to resume")?;
    for message in RecordReader::open(path)?.read_messages(&history, conversation) {
        let message = message?;
        writeln!(out, "{}: {}", message.role.as_str(), message.text())?;
    }
    Ok(())
}
