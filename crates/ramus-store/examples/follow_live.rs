//! Print what people and the model say in a Claude directory, as it is written.
//!
//! `cargo run -p ramus-store --example follow_live -- ~/.claude`

use std::error::Error;
use std::io::Write;
use std::path::Path;

use ramus_core::body::{Body, plain_text};
use ramus_store::follow::{Change, FollowConfig, Start, follow};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("give the path of a Claude directory")?;
    run(Path::new(&path), &mut std::io::stdout())
}

pub(crate) fn run(path: &Path, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    follow_until(path, Start::End, out, |_| false)
}

/// Follows until `is_enough` says so of a change.
pub(crate) fn follow_until(
    path: &Path,
    start: Start,
    out: &mut impl Write,
    is_enough: impl Fn(&Change) -> bool,
) -> Result<(), Box<dyn Error>> {
    let config = FollowConfig { start, ..FollowConfig::default() };
    for change in follow(vec![path.to_owned()], &config)? {
        if let Change::Grew { file, lines } = &change {
            for line in lines.bytes.split_inclusive(|byte| *byte == b'\n') {
                let text = Body::parse(line).map(|body| plain_text(body.blocks()));
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
