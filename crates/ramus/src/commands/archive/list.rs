//! `archive list`: which sessions are archived, and in which generations.

use ramus_app::archive::SessionTitles;
use ramus_archive::{Archive, ArchivedSession, Generation};
use ramus_core::ids::ShortIds;
use ramus_core::time::Time;
use ramus_render::json::{Answer, ArchiveGeneration, ArchiveList, ArchiveSession};
use ramus_render::{Label, Line};
use ramus_store::plan::FileTime;

use super::{archived_roots, open_archive, other_directories};
use crate::args::Global;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::project::project_end;
use crate::table::{Table, bytes, cell, number};
use crate::ui::Ui;

/// List archived sessions, or the generations of one session
///
/// A generation is a version of the file: a rewritten session has several. "deleted" marks sessions
/// whose file no longer exists; `ramus archive restore` brings them back.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus archive list
  ramus archive list --deleted
  ramus archive list 7ea9")]
pub(super) struct ListArgs {
    /// Show the generations of this session
    session: Option<String>,
    /// Only sessions whose file no longer exists
    #[arg(long)]
    deleted: bool,
}

pub(super) fn list(ui: &mut Ui, global: &Global, args: &ListArgs) -> Result<(), CommandError> {
    let archive = open_archive(global)?;
    let roots = archived_roots(global);
    let mut sessions = match &args.session {
        Some(typed) => vec![archive.find_session(&roots, typed)?],
        None => {
            let mut sessions = archive.sessions(None)?;
            // Another Claude directory was named, so only its sessions are listed.
            sessions.retain(|session| roots.contains(&session.root));
            sessions
        }
    };
    let is_any_archived = !sessions.is_empty();
    sessions.retain(|session| !args.deleted || !is_on_disk(session));
    sessions.sort_by_key(|session| std::cmp::Reverse(modified(session).map(Time::as_millis)));
    let titles = match sessions.is_empty() {
        true => SessionTitles::default(),
        false => env::workspace_to_fill(ui, global).session_titles(),
    };
    if ui.json {
        let rows = sessions.iter().map(|session| answer(&archive, session, &titles));
        let sessions = rows.collect::<Result<_, _>>()?;
        return ui.print_json(&Answer::new("ramus.archive.list/1", ArchiveList { sessions }));
    }
    if sessions.is_empty() && is_any_archived {
        let text = "the files of all archived sessions are still on disk";
        return Err(CommandError::nothing_found(text));
    }
    if sessions.is_empty() {
        let nothing = CommandError::nothing_found("no session is archived");
        return Err(other_directories(&archive)?
            .into_iter()
            .fold(nothing, CommandError::with_hint));
    }
    ui.start_pager();
    for line in table(&sessions, &archive.short_ids()?, &titles, ui.width).lines(ui.width) {
        ui.print_line(&line)?;
    }
    if args.session.is_some() {
        for line in generation_lines(&archive, &sessions[0])? {
            ui.print_line(&line)?;
        }
    }
    Ok(())
}

/// Whether the session's own file is there.
pub(super) fn is_on_disk(session: &ArchivedSession) -> bool {
    session.transcript().is_some_and(|file| file.key.full_path().symlink_metadata().is_ok())
}

fn modified(session: &ArchivedSession) -> Option<Time> {
    let newest = session.files.iter().map(|file| file.newest.modified);
    newest.max_by_key(|moment| (moment.0, moment.1)).map(to_time)
}

fn to_time(FileTime(seconds, nanos): FileTime) -> Time {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    Time::from_millis(seconds.saturating_mul(1000).saturating_add(i64::from(nanos / 1_000_000)))
}

fn table(
    sessions: &[ArchivedSession],
    short_ids: &ShortIds,
    titles: &SessionTitles,
    width: usize,
) -> Table {
    let clock = LocalClock::new();
    let room = (width / 5).clamp(12, 32);
    let mut table =
        Table::new(&["SESSION", "STATE", ">?FILES", ">SIZE", "LAST CHANGE", "?PROJECT", "*TITLE"]);
    for session in sessions {
        let (state, label) = match is_on_disk(session) {
            true => ("on disk", Label::Dim),
            false => ("deleted", Label::Note),
        };
        let when = modified(session).map(|time| clock.short_time(time)).unwrap_or_default();
        table.row(vec![
            cell(short_ids.shorten_id(&session.id), Label::Id),
            cell(state, label),
            cell(number(session.files.len() as u64), Label::Plain),
            cell(bytes(session.bytes()), Label::Dim),
            cell(when, Label::Time),
            cell(project_end(&session.project().unwrap_or_default(), room), Label::Heading),
            Line::plain(titles.title_of(session).unwrap_or_default()),
        ]);
    }
    table
}

fn generation_lines(
    archive: &Archive,
    session: &ArchivedSession,
) -> Result<Vec<Line>, CommandError> {
    let clock = LocalClock::new();
    let generations = generations(archive, session)?;
    Ok(generations
        .iter()
        .map(|generation| {
            Line::plain(&format!("  generation {}", generation.number))
                .with(&format!("  {}", bytes(generation.bytes)), Label::Dim)
                .with(&format!("  {}", clock.short_time(to_time(generation.modified))), Label::Time)
                .with(&format!("  {}", &generation.hash.to_string()[..16]), Label::Dim)
                .with(if generation.redacted { "  redacted" } else { "" }, Label::Warning)
        })
        .collect())
}

fn generations(
    archive: &Archive,
    session: &ArchivedSession,
) -> Result<Vec<Generation>, CommandError> {
    match session.transcript() {
        Some(file) => Ok(archive.generations(&file.key)?),
        None => Ok(Vec::new()),
    }
}

fn answer(
    archive: &Archive,
    session: &ArchivedSession,
    titles: &SessionTitles,
) -> Result<ArchiveSession, CommandError> {
    let transcript = session.transcript();
    let generation = |generation: &Generation| ArchiveGeneration {
        number: generation.number,
        bytes: generation.bytes,
        blake3: generation.hash.to_string(),
        modified: to_time(generation.modified).to_string(),
        added: generation.added.to_string(),
        redacted: generation.redacted,
    };
    let added = session.files.iter().map(|file| file.newest.added).max();
    Ok(ArchiveSession {
        id: session.id.clone(),
        title: titles.title_of(session).map(str::to_owned),
        project: session.project(),
        root: session.root.display().to_string(),
        file: transcript.map(|file| file.key.path.display().to_string()),
        on_disk: is_on_disk(session),
        files: session.files.len(),
        bytes: session.bytes(),
        modified: modified(session).map(|time| time.to_string()),
        added: added.map(|time| time.to_string()),
        generations: generations(archive, session)?.iter().map(generation).collect(),
    })
}
