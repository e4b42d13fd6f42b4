//! Print what people and the model say in a Claude directory, as it is written.
//!
//! `cargo run -p ramus-store --example follow_live -- ~/.claude`

use std::error::Error;
use std::io::Write;
use std::path::Path;

use ramus_core::body::{RecordBody, plain_text};
use ramus_store::follow::{FollowConfig, FollowEvent, FollowStart, follow_files};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("give the path of a Claude directory")?;
    run(Path::new(&path), &mut std::io::stdout())
}

pub(crate) fn run(path: &Path, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    follow_until(path, FollowStart::End, out, |_| false)
}

/// Follows until `is_enough` says so of a change.
pub(crate) fn follow_until(
    path: &Path,
    start: FollowStart,
    out: &mut impl Write,
    is_enough: impl Fn(&FollowEvent) -> bool,
) -> Result<(), Box<dyn Error>> {
    let config = FollowConfig { start, ..FollowConfig::default() };
    for change in follow_files(vec![path.to_owned()], &config)? {
        if let FollowEvent::Grew { file, lines } = &change {
            for line in lines.bytes.split_inclusive(|byte| *byte == b'\n') {
                let text = RecordBody::parse(line).map(|body| plain_text(body.content_blocks()));
                if let Some(text) = text.ok().filter(|text| !text.is_empty()) {
                    writeln!(out, "{}: {text}", file.id)?;
                }
            }
        }
        if is_enough(&change) {
            break;
        }
    }
    Ok(())
}
