//! `archive status`: how much is archived, and what is not.

use ramus_app::{Scope, Workspace};
use ramus_archive::Archive;
use ramus_archive::storage::Totals;
use ramus_render::json::{Answer, ArchiveStatus};
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};

use super::{archive_name, install};
use crate::args::Global;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::table::{bytes, number};
use crate::ui::Ui;

/// Show where the archive is, how much it holds, and what is not archived yet
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  ramus archive status\n  ramus archive status --json")]
pub(super) struct StatusArgs {}

pub(super) fn status(ui: &mut Ui, global: &Global) -> Result<(), CommandError> {
    let path = env::archive_path();
    let archive = Archive::open_existing(&path)?;
    let totals = archive.as_ref().map(Archive::totals).transpose()?.unwrap_or_default();
    let workspace = env::command_workspace(ui, global).ok();
    let pending = match &workspace {
        Some(workspace) => pending_files(workspace)?,
        None => 0,
    };
    let hook = install::has_hook(global);
    if ui.json {
        let answer = answer(totals, archive.is_some(), pending, hook);
        return ui.print_json(&Answer::new("ramus.archive.status/1", answer));
    }
    for line in lines(totals, archive.is_some(), pending, hook) {
        ui.print_line(&line)?;
    }
    Ok(())
}

/// Counts the files that are not archived as they are now.
fn pending_files(workspace: &Workspace) -> Result<u64, CommandError> {
    let archived = workspace.archived_files()?;
    let files = workspace.owned_files(&Scope::All).into_iter();
    Ok(files.filter(|file| !archived.has(&file.path, file.identity)).count() as u64)
}

fn lines(totals: Totals, exists: bool, pending: u64, hook: bool) -> Vec<Line> {
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
    lines.push(Line::new(&format!("  {}", archive_name()), Label::Dim));
    lines.push(match pending {
        0 => Line::new("Every file on disk is archived.", Label::Active),
        1 => Line::new("1 file is not archived as it is now: `ramus archive add`", Label::Warning),
        many => {
            let text = format!(
                "{} files are not archived as they are now: `ramus archive add`",
                number(many)
            );
            Line::new(&text, Label::Warning)
        }
    });
    lines.push(match hook {
        true => Line::plain("A hook archives whenever a session ends."),
        false => Line::new(
            "Nothing archives by itself: `ramus archive install` adds a hook.",
            Label::Dim,
        ),
    });
    lines
}

fn answer(totals: Totals, exists: bool, pending_files: u64, hook: bool) -> ArchiveStatus {
    let file_bytes = env::archive_path().metadata().map_or(0, |meta| meta.len());
    ArchiveStatus {
        archive: archive_name(),
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
        hook,
    }
}
