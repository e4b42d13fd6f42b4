//! List every branch of a session, with its first prompt.
//!
//! `cargo run -p ramus-store --example list_branches -- SESSION.jsonl`

use std::error::Error;
use std::io::Write;
use std::path::Path;

use ramus_core::resume::ResumeRule;
use ramus_store::from_jsonl;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("give the path of a session file")?;
    run(Path::new(&path), &mut std::io::stdout())
}

pub(crate) fn run(path: &Path, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let history = from_jsonl(path, ResumeRule::Client)?;
    for conversation in &history.branches.conversations {
        let prompt =
            history.first_prompt(conversation).and_then(|node| history.session.preview_text(node));
        let (status, count) = (conversation.status, conversation.messages);
        writeln!(out, "{status}, {count} messages: {}", prompt.unwrap_or("no prompt"))?;
    }
    Ok(())
}
