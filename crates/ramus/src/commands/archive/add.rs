//! `archive add`: everything that is new.

use std::process::{Command, Stdio};

use ramus_archive::Archive;
use ramus_archive::add::AddReport;
use ramus_render::json::{Answer, ArchiveAdd};
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};

use super::archive_name;
use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::table::{bytes, number};
use crate::ui::Ui;

/// Archive what is new: sessions, sub-agents, large tool outputs, file backups
///
/// Files that have not changed cost a look; of a file that grew only the new part is stored. Sessions may be
/// written to meanwhile, and several `add` may run at once. After an interruption the next one goes on.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus archive add\n  ramus archive add .\n  ramus archive add 3f9a"
)]
pub(super) struct AddArgs {
    /// A project or a session [default: everything]
    #[arg(allow_hyphen_values = true)]
    scope: Option<String>,
    /// Print nothing unless something goes wrong
    #[arg(long, short)]
    quiet: bool,
    /// Return at once and archive in the background
    #[arg(long)]
    background: bool,
}

pub(super) fn add(ui: &mut Ui, global: &Global, args: &AddArgs) -> Result<(), CommandError> {
    if args.background {
        return add_in_background(global, args);
    }
    let scope = args.scope.as_deref();
    let workspace = env::workspace_for(ui, global, scope.unwrap_or_default())?;
    let files = workspace.owned_files(&workspace.resolve_scope(scope)?);
    let archive = Archive::open(&env::archive_path())?;
    let bar = ui.progress_bar(files.iter().map(|file| file.bytes).sum());
    let sink = ui.progress_sink();
    let report = archive.add(&files, env::current_time(), &|read| bar.inc(read), &|problem| {
        sink.report_problem(problem);
    });
    bar.finish_and_clear();
    let report = report?;
    if ui.json {
        return ui.print_json(&Answer::new("ramus.archive.add/1", answer(report)));
    }
    if !args.quiet {
        ui.print_line(&summary(report))?;
    }
    Ok(())
}

/// Starts another process that archives, so that nobody waits for it.
fn add_in_background(global: &Global, args: &AddArgs) -> Result<(), CommandError> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["archive", "add", "--quiet"]).args(&args.scope);
    if let Some(dir) = &global.claude_dir {
        command.arg("--claude-dir").arg(dir);
    }
    // The client ends the process group of its hooks.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    Ok(())
}

fn summary(report: AddReport) -> Line {
    let AddReport { new, grown, rewritten, unchanged, skipped, .. } = report;
    if new + grown + rewritten + skipped == 0 {
        let text = format!("Everything is archived: {}.", count_noun(unchanged as usize, "file"));
        return Line::new(&text, Label::Active);
    }
    let mut parts = Vec::new();
    for (files, word) in [(new, "new"), (grown, "grown"), (rewritten, "rewritten")] {
        if files > 0 {
            parts.push(format!("{} {word}", number(files)));
        }
    }
    if parts.is_empty() {
        parts.push("nothing new".to_owned());
    }
    let sizes =
        format!("{} ({} compressed)", bytes(report.added_bytes), bytes(report.stored_bytes));
    let mut line = Line::new("Archived: ", Label::Active)
        .with(&format!("{}, {sizes}; ", parts.join(", ")), Label::Plain)
        .with(&format!("{} unchanged", number(unchanged)), Label::Plain);
    if skipped > 0 {
        line = line.with(&format!(", {} skipped", number(skipped)), Label::Warning);
    }
    line
}

fn answer(report: AddReport) -> ArchiveAdd {
    ArchiveAdd {
        archive: archive_name(),
        files: report.files,
        unchanged: report.unchanged,
        new: report.new,
        grown: report.grown,
        rewritten: report.rewritten,
        skipped: report.skipped,
        added_bytes: report.added_bytes,
        stored_bytes: report.stored_bytes,
    }
}
