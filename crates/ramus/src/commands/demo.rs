use std::path::PathBuf;

use ramus_render::json::{Answer, DemoWritten};
use ramus_render::{Label, Line};

use crate::demo::{demo_files, write_demo};
use crate::error::CommandError;
use crate::ui::Ui;

/// Write a sample history and say how to look at it
///
/// A small project with every pattern: edits, retries, rewinds, an interrupt, a compaction, agents,
/// a fork in a new session, file checkpoints. Your own history is not touched.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  ramus demo\n  ramus demo /tmp/sample")]
pub(crate) struct DemoArgs {
    /// A directory that does not exist yet
    #[arg(default_value = "ramus-demo")]
    pub(crate) dir: PathBuf,
}

/// The session that has a bit of everything.
pub(crate) const SHOWCASE: &str = "7ea9";

pub(crate) fn demo(ui: &mut Ui, args: &DemoArgs) -> Result<(), CommandError> {
    let dir = args.dir.display();
    write_demo(&args.dir).map_err(|error| {
        let exists = error.source.kind() == std::io::ErrorKind::AlreadyExists;
        let error = CommandError::from(error);
        if exists {
            error.with_hint(format!(
                "look at it with `ramus --claude-dir {dir} sessions`, or give another directory"
            ))
        } else {
            error
        }
    })?;
    if ui.json {
        let written = DemoWritten { directory: dir.to_string(), files: demo_files().len() };
        return ui.print_json(&Answer::new("ramus.demo/1", written));
    }
    let say = |text: &str, label| Line::new(text, label);
    ui.print_line(&say(&format!("Wrote a sample history to {dir}. Look at it:"), Label::Plain))?;
    ui.print_line(&Line::default())?;
    for (command, what) in [
        ("sessions", "all sessions, with how many branches each has"),
        ("tree 7ea9", "where a conversation forked, and where it would resume"),
        ("conversations 7ea9", "its branches, the active and the abandoned ones"),
        ("show 7ea9", "read the one that would be resumed"),
        ("stats", "what there is in all"),
    ] {
        ui.print_line(
            &say(&format!("  ramus --claude-dir {dir} {command:<24}"), Label::Strong)
                .with(what, Label::Dim),
        )?;
    }
    Ok(())
}
