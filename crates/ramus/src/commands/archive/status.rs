//! `archive status`: location, size, and files that are not archived.

use std::path::Path;

use ramus_app::{Scope, Workspace};
use ramus_archive::storage::Totals;
use ramus_archive::{Archive, LazyArchive};
use ramus_render::json::{Answer, ArchiveStatus};
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};

use super::{install, timer};
use crate::args::Global;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::table::{bytes, number};
use crate::ui::Ui;

/// Show the location and size of the archive, and how many files are not archived yet
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus archive status
  ramus archive status --json")]
pub(super) struct StatusArgs {}

pub(super) fn status(ui: &mut Ui, global: &Global) -> Result<(), CommandError> {
    let place = LazyArchive::new(env::archive_location(global));
    let archive = place.open_existing()?;
    let totals = archive.map(Archive::totals).transpose()?.unwrap_or_default();
    let shared = archive.map(Archive::shared_projects).transpose()?.unwrap_or_default();
    let workspace = env::command_workspace(ui, global).ok();
    let pending = match &workspace {
        Some(workspace) => pending_files(workspace)?,
        None => 0,
    };
    let runs = RunBy { hook: install::has_hook(global), timer: timer::has_timer(global) };
    if ui.json {
        let answer = answer(place.name(), totals, archive.is_some(), pending, runs);
        return ui.print_json(&Answer::new("ramus.archive.status/1", answer));
    }
    for line in lines(&place.name(), totals, archive.is_some(), pending, runs) {
        ui.print_line(&line)?;
    }
    if !shared.is_empty() {
        let text = format!("Shared with the team: {}", shared.join(", "));
        ui.print_line(&Line::new(&text, Label::Note))?;
    }
    Ok(())
}

/// Counts the files that are not archived as they are now.
fn pending_files(workspace: &Workspace) -> Result<u64, CommandError> {
    let archived = workspace.archived_files()?;
    let files = match workspace.archive() {
        Some(archive) => workspace.sendable_files(archive, &[Scope::All])?.files,
        None => workspace.owned_files(&Scope::All),
    };
    Ok(files.iter().filter(|file| !archived.has(&file.path, file.identity)).count() as u64)
}

/// What archives automatically.
#[derive(Clone, Copy)]
struct RunBy {
    hook: bool,
    timer: bool,
}

fn lines(name: &str, totals: Totals, exists: bool, pending: u64, runs: RunBy) -> Vec<Line> {
    let mut lines = Vec::new();
    if exists {
        let last =
            totals.last_added.map(|time| LocalClock::new().short_time(time)).unwrap_or_default();
        lines.push(
            Line::new(&count_noun(totals.sessions as usize, "session"), Label::Strong).with(
                &format!(
                    " in {}: {}, {} compressed. Last added {last}.",
                    count_noun(totals.files as usize, "file"),
                    bytes(totals.bytes),
                    bytes(totals.packed_bytes)
                ),
                Label::Plain,
            ),
        );
    } else {
        lines.push(Line::plain("Nothing is archived yet."));
    }
    lines.push(Line::new(&format!("  {name}"), Label::Dim));
    lines.push(match pending {
        0 if totals.files == 0 => Line::plain("There are no files to archive."),
        0 => Line::new("Every file on disk is archived.", Label::Active),
        1 => Line::new(
            "1 file is new or changed. Run `ramus archive add` to archive it.",
            Label::Warning,
        ),
        many => {
            let text = format!(
                "{} files are new or changed. Run `ramus archive add` to archive them.",
                number(many)
            );
            Line::new(&text, Label::Warning)
        }
    });
    if runs.hook {
        lines.push(Line::plain("A hook archives whenever a session ends."));
    }
    if runs.timer {
        lines.push(Line::plain("A timer archives every hour."));
    }
    if !runs.hook && !runs.timer {
        let text = "Sessions are not archived automatically. Run `ramus archive install` to add a hook or a timer.";
        lines.push(Line::new(text, Label::Dim));
    }
    lines
}

fn answer(
    archive: String,
    totals: Totals,
    exists: bool,
    pending_files: u64,
    runs: RunBy,
) -> ArchiveStatus {
    let file_bytes = Path::new(&archive).metadata().map_or(0, |meta| meta.len());
    ArchiveStatus {
        archive,
        exists,
        sessions: totals.sessions,
        files: totals.files,
        generations: totals.generations,
        chunks: totals.chunks,
        bytes: totals.bytes,
        packed_bytes: totals.packed_bytes,
        file_bytes,
        last_added: totals.last_added.map(|time| time.to_string()),
        pending_files,
        hook: runs.hook,
        timer: runs.timer,
    }
}
