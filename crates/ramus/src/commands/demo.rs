use std::path::PathBuf;

use ramus_render::json::{Answer, DemoWritten};
use ramus_render::{Label, Line};

use crate::demo::{demo_files, write_demo};
use crate::error::CommandError;
use crate::ui::Ui;

/// Write a sample history to try ramus on
///
/// A small project with every pattern: edits, retries, rewinds, an interrupt, a compaction, agents,
/// a fork in a new session, file checkpoints. Your own history is not changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus demo
  ramus --claude-dir ramus-demo sessions")]
pub(crate) struct DemoArgs {
    /// A new or empty directory
    #[arg(default_value = "ramus-demo")]
    pub(crate) dir: PathBuf,
}

/// The session that has a bit of everything.
pub(crate) const SHOWCASE: &str = "7ea9";

pub(crate) fn demo(ui: &mut Ui, args: &DemoArgs) -> Result<(), CommandError> {
    let dir = args.dir.display();
    write_demo(&args.dir).map_err(|error| {
        let is_taken = error.source.kind() == std::io::ErrorKind::DirectoryNotEmpty;
        let error = CommandError::from(error);
        match is_taken {
            // The sample of an earlier run.
            true if args.dir.join("projects").is_dir() => {
                error.with_hint(format!("use it with `ramus --claude-dir {dir} sessions`"))
            }
            true => error.with_hint("choose another directory: `ramus demo DIR`"),
            false => error,
        }
    })?;
    if ui.json {
        let written = DemoWritten { directory: dir.to_string(), files: demo_files().len() };
        return ui.print_json(&Answer::new("ramus.demo/1", written));
    }
    let say = |text: &str, label| Line::new(text, label);
    ui.print_line(&say(&format!("Wrote a sample history to {dir}. Try:"), Label::Plain))?;
    ui.print_line(&Line::default())?;
    for (command, what) in [
        ("sessions", "list all sessions and their number of branches"),
        ("tree 7ea9", "show where it forked, and where Claude Code resumes"),
        ("conversations 7ea9", "list its branches, active and abandoned"),
        ("show 7ea9", "read the branch that Claude Code resumes"),
        ("stats", "show statistics"),
    ] {
        ui.print_line(
            &say(&format!("  ramus --claude-dir {dir} {command:<24}"), Label::Strong)
                .with(what, Label::Dim),
        )?;
    }
    Ok(())
}
