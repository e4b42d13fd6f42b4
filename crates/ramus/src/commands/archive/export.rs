//! `archive export`: plain files again.

use std::io;
use std::path::PathBuf;

use ramus_archive::{Archive, ArchivedSession, FileEntry, is_damage};
use ramus_render::json::{Answer, ArchiveExport};
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};
use ramus_store::output_tree::OutputTree;
use ramus_store::{PathError, StoredBytes};

use super::{archived_roots, open_archive, other_directories};
use crate::args::Global;
use crate::error::CommandError;
use crate::table::bytes;
use crate::ui::Ui;

/// Write archived files to a directory, byte for byte
///
/// The directory has the layout of a Claude directory; read it with `ramus --claude-dir DIR sessions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus archive export --out old-history
  ramus archive export 7ea9 --out one-session")]
pub(super) struct ExportArgs {
    /// A session [default: everything that came from the Claude directory]
    session: Option<String>,
    /// A new or empty directory
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(super) fn export(ui: &mut Ui, global: &Global, args: &ExportArgs) -> Result<(), CommandError> {
    let archive = open_archive(global)?;
    let roots = archived_roots(global);
    let sessions = match &args.session {
        Some(typed) => vec![archive.find_session(&roots, typed)?],
        None => {
            let mut sessions = archive.sessions(None)?;
            sessions.retain(|session| roots.contains(&session.root));
            sessions
        }
    };
    if sessions.is_empty() {
        other_directories(&archive)?.iter().for_each(|text| ui.print_warning(text));
    }
    let folder = OutputTree::open(&args.out, false)?;
    let bar = ui.progress_bar(sessions.iter().map(ArchivedSession::bytes).sum());
    let (mut files, mut total) = (0, 0);
    for file in sessions.iter().flat_map(|session| &session.files) {
        match write(&archive, &folder, file, &|written| bar.inc(written))? {
            Ok(bytes) => {
                total += bytes;
                files += 1;
            }
            Err(problem) => ui.warn_unreadable(&problem),
        }
    }
    bar.finish_and_clear();
    if ui.json {
        let dir = args.out.display().to_string();
        let answer = ArchiveExport { dir, sessions: sessions.len(), files, bytes: total };
        return ui.print_json(&Answer::new("ramus.archive.export/1", answer));
    }
    let text = format!(
        "{} with {}, {} in {}",
        count_noun(sessions.len(), "session"),
        count_noun(files, "file"),
        bytes(total),
        args.out.display()
    );
    Ok(ui.print_line(&Line::new(&text, Label::Active))?)
}

/// Writes a file and returns its length. A file that is damaged in the archive is left out, and the problem returned.
fn write(
    archive: &Archive,
    folder: &OutputTree,
    file: &FileEntry,
    on_write: &dyn Fn(u64),
) -> Result<Result<u64, PathError>, CommandError> {
    let content = archive.content(file, None)?;
    let place = file.key.path.to_string_lossy();
    let mut damage = None;
    let written = folder.write_file(&place, Some(content.generation.mode), &mut |out| {
        let mut n = 0;
        let mut read = |n| {
            content.piece(n).map_err(|problem| match is_damage(&problem) {
                true => {
                    damage = Some(problem);
                    io::ErrorKind::InvalidData.into()
                }
                false => problem.source,
            })
        };
        while let Some(piece) = read(n)? {
            out.write_all(&piece)?;
            on_write(piece.len() as u64);
            n += 1;
        }
        Ok(())
    });
    match damage {
        Some(problem) => Ok(Err(problem)),
        None => Ok(written.map(|_| Ok(content.generation.bytes))?),
    }
}
