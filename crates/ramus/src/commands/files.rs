use std::path::PathBuf;

use ramus_app::Workspace;
use ramus_core::files::place::named;
use ramus_core::files::{FileState, Held};
use ramus_render::json::{self, Answer};
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::env::{self, Clock};
use crate::error::CommandError;
use crate::ui::Ui;

pub(crate) mod point;

mod list;

mod difference;

mod into;

mod restore;

use point::Point;

/// Show files as they were at a message
///
/// The address of a prompt means the moment it was sent: what Claude Code itself would restore
/// there. The address of any other message means the moment after it. The contents come from the
/// backups that Claude Code makes for each prompt, and from what tools wrote, edited and read; the
/// list says which, and what cannot be known. What commands did to a file shows only when the file
/// is next read, changed or backed up.
///
/// `--restore` changes files and nothing else; `ramus goto` moves the conversation. Each can be
/// taken back by `ramus undo`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus files latest                      every file at the end\n  ramus files 3f9a:81b2                   as they were when that prompt was sent\n  ramus files 3f9a:81b2 src/main.rs       print one of them\n  ramus files 3f9a:81b2 --diff 3f9a       what became of them since\n  ramus files 3f9a@1 --diff 3f9a@2 --stat two branches\n  ramus files 3f9a:81b2 --into /tmp/then  write them out\n  ramus files 3f9a:81b2 --restore         put them back, after showing what would change\n\nSources:\n  snapshot   the backup of that prompt, or of the last one before\n  first      the first backup, made before the file was ever changed\n  next       the backup of the next prompt\n  write, edit, read, original   what a tool wrote, changed, read, or found before it changed it"
)]
pub(crate) struct FilesArgs {
    /// A message: a session, a node or a conversation of it
    address: String,
    /// Print this file: a path, or the end of one
    path: Option<String>,
    /// Show how the files differ at another message
    #[arg(long, value_name = "ADDRESS", conflicts_with = "into")]
    diff: Option<String>,
    /// With `--diff`: how many lines, not which
    #[arg(long, requires = "diff")]
    stat: bool,
    /// Write the files out into this directory
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// With `--into`: also into a directory that holds something
    #[arg(long, requires = "into")]
    force: bool,
    /// Put the files back where they were, after showing the difference and asking
    #[arg(long, conflicts_with_all = ["diff", "into"])]
    restore: bool,
    /// With `--restore`: files outside of the project too
    #[arg(long, requires = "restore")]
    outside: bool,
    /// With `--restore`: show what would be done, and do nothing
    #[arg(long, requires = "restore")]
    dry_run: bool,
    /// With `--restore`: do it without asking
    #[arg(long, short, requires = "restore")]
    yes: bool,
}

/// Returns the list of files at a message, and their paths: the last lines, in order.
pub(crate) fn listed(
    workspace: &Workspace,
    address: &str,
    all: bool,
    width: usize,
) -> Result<(Vec<Line>, Vec<String>), CommandError> {
    let mut point = workspace.files_at(&workspace.address(address)?)?;
    point.files.retain(|file| all || !file.only_read);
    let paths: Vec<String> = point.files.iter().map(|file| file.path.clone()).collect();
    if paths.is_empty() {
        return Err(CommandError::nothing("no tool changed a file, and none was backed up"));
    }
    Ok((list::lines(&mut point, width, &Clock::new()), paths))
}

/// Returns what a file held at a message.
pub(crate) fn held(
    workspace: &Workspace,
    address: &str,
    path: &str,
) -> Result<Vec<u8>, CommandError> {
    let mut point = workspace.files_at(&workspace.address(address)?)?;
    let file = one(&point, path)?;
    is_held(&file)?;
    let gone = || CommandError::nothing(format!("the backup of {} is gone", file.path));
    point.bytes(&file).ok_or_else(gone)
}

/// Says why it cannot be told what a file held.
fn is_held(file: &FileState) -> Result<(), CommandError> {
    match &file.held {
        Held::Backup(_) | Held::Bytes(_) => Ok(()),
        Held::Absent => Err(CommandError::nothing(format!("{} did not exist", file.path))),
        Held::Unknown => {
            let note = list::note(file);
            let why = if note.is_empty() { "nobody wrote it down".to_owned() } else { note };
            let path = &file.path;
            Err(CommandError::nothing(format!("cannot tell what {path} held: {why}")))
        }
    }
}

pub(crate) fn files(ui: &mut Ui, global: &Global, args: &FilesArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, &args.address)?;
    let mut point = workspace.files_at(&workspace.address(&args.address)?)?;
    if let Some(other) = &args.diff {
        let mut other = workspace.files_at(&workspace.address(other)?)?;
        return difference::show(ui, args, &mut point, &mut other);
    }
    if let Some(dir) = &args.into {
        return into::write(ui, args, &mut point, dir);
    }
    if args.restore {
        return restore::put_back(ui, args, &mut point);
    }
    if let Some(path) = &args.path {
        return print(ui, &mut point, path);
    }
    let all = global.all;
    point.files.retain(|file| all || !file.only_read);
    if ui.json {
        let files = point.files.clone();
        let files = files.iter().map(|file| json::file(file, point.size(file))).collect();
        let body = json::Files { point: point::json(&point), files };
        ui.json(&Answer::new("ramus.files/1", body))?;
    }
    if point.files.is_empty() {
        return Err(CommandError::nothing("no tool changed a file, and none was backed up")
            .hinted("`--all` lists files that were only read"));
    }
    if ui.json {
        return Ok(());
    }
    ui.page();
    for line in list::lines(&mut point, ui.width, &Clock::new()) {
        ui.line(&line)?;
    }
    Ok(())
}

/// Finds the file that a person means.
fn one(point: &Point, wanted: &str) -> Result<FileState, CommandError> {
    let here = std::env::current_dir().unwrap_or_default();
    let bases = [point.cwd.as_str(), &here.to_string_lossy()];
    let paths = point.files.iter().map(|file| file.path.as_str());
    let found = named(paths, wanted, &bases);
    match found[..] {
        [path] => {
            Ok(point.files.iter().find(|file| file.path == path).cloned().unwrap_or_else(|| {
                unreachable!("because the path was taken from one of the files")
            }))
        }
        [] => Err(CommandError::nothing(format!("no tool of this conversation knew {wanted:?}"))
            .hinted("`ramus files ADDRESS --all` lists the files it knew")),
        ref several => {
            let mut message = format!("{wanted:?} could be {} files:", several.len());
            for path in several.iter().take(12) {
                message.push_str("\n  ");
                message.push_str(path);
            }
            Err(CommandError::user(message).hinted("give more of the path"))
        }
    }
}

/// Prints one file: its bytes, or on a terminal its text.
fn print(ui: &mut Ui, point: &mut Point, wanted: &str) -> Result<(), CommandError> {
    let file = one(point, wanted)?;
    if ui.json {
        let mut answer = json::file(&file, point.size(&file));
        answer.content = point.bytes(&file).and_then(|bytes| String::from_utf8(bytes).ok());
        let body = json::Files { point: point::json(point), files: vec![answer] };
        ui.json(&Answer::new("ramus.files/1", body))?;
    }
    is_held(&file)?;
    if ui.json {
        return Ok(());
    }
    let note = list::note(&file);
    if !note.is_empty() {
        ui.say(&Line::new("Note: ", Label::Note).with(&note, Label::Plain));
    }
    if !ui.terminal {
        return point::copy(point, &file, ui.out());
    }
    let bytes = point.bytes(&file);
    let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return Err(CommandError::user(format!("{} is not text", file.path))
            .hinted("send it somewhere: `ramus files … > FILE`"));
    };
    ui.page();
    for line in text.lines() {
        ui.line(&Line::plain(line))?;
    }
    ui.out().flush()?;
    Ok(())
}
