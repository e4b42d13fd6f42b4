use std::path::PathBuf;

use ramus_app::Workspace;
use ramus_app::files_at::{file_bytes, find_file, require_content};
use ramus_core::files::FileState;
use ramus_render::json::{self, Answer};
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

pub(crate) mod point;

mod difference;

mod write_into;

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

/// Returns the list of files at a message.
pub(crate) fn file_list_lines(
    workspace: &Workspace,
    address: &str,
    width: usize,
) -> Result<Vec<Line>, CommandError> {
    let mut point = workspace.files_at(&workspace.resolve_address(address)?)?;
    point.files.retain(|file| !file.only_read);
    if point.files.is_empty() {
        return Err(CommandError::nothing_found("no tool changed a file, and none was backed up"));
    }
    Ok(point::point_lines(&mut point, width))
}

/// Returns what a file held at a message.
pub(crate) fn file_content(
    workspace: &Workspace,
    address: &str,
    path: &str,
) -> Result<Vec<u8>, CommandError> {
    let mut point = workspace.files_at(&workspace.resolve_address(address)?)?;
    let file = find_named_file(&point, path)?;
    Ok(file_bytes(&mut point, &file)?)
}

pub(crate) fn files(ui: &mut Ui, global: &Global, args: &FilesArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, &args.address)?;
    let mut point = workspace.files_at(&workspace.resolve_address(&args.address)?)?;
    if let Some(other) = &args.diff {
        let mut other = workspace.files_at(&workspace.resolve_address(other)?)?;
        return difference::show_difference(ui, args, &mut point, &mut other);
    }
    if let Some(dir) = &args.into {
        return write_into::write_files(ui, args, &mut point, dir);
    }
    if args.restore {
        return restore::put_back(ui, &workspace, args, &mut point);
    }
    if let Some(path) = &args.path {
        return print_file(ui, &mut point, path);
    }
    let all = global.all;
    point.files.retain(|file| all || !file.only_read);
    if ui.json {
        let files = point.sized_files();
        let files = files.iter().map(|(file, size)| json::from_file_state(file, *size)).collect();
        let body = json::Files { point: json::files_point(&point.session, &point.moment), files };
        ui.print_json(&Answer::new("ramus.files/1", body))?;
    }
    if point.files.is_empty() {
        return Err(CommandError::nothing_found("no tool changed a file, and none was backed up")
            .with_hint("`--all` lists files that were only read"));
    }
    if ui.json {
        return Ok(());
    }
    ui.start_pager();
    for line in point::point_lines(&mut point, ui.width) {
        ui.print_line(&line)?;
    }
    Ok(())
}

/// Finds the file that a person means.
fn find_named_file(point: &Point, wanted: &str) -> Result<FileState, CommandError> {
    let here = std::env::current_dir().unwrap_or_default();
    Ok(find_file(point, wanted, &here.to_string_lossy())?)
}

/// Prints one file: its bytes, or on a terminal its text.
fn print_file(ui: &mut Ui, point: &mut Point, wanted: &str) -> Result<(), CommandError> {
    let file = find_named_file(point, wanted)?;
    if ui.json {
        let mut answer = json::from_file_state(&file, point.file_size(&file));
        answer.content = point.file_bytes(&file).and_then(|bytes| String::from_utf8(bytes).ok());
        let body = json::Files {
            point: json::files_point(&point.session, &point.moment),
            files: vec![answer],
        };
        ui.print_json(&Answer::new("ramus.files/1", body))?;
    }
    require_content(&file)?;
    if ui.json {
        return Ok(());
    }
    let note = file.doubt_note();
    if !note.is_empty() {
        ui.print_message(&Line::new("Note: ", Label::Note).with(&note, Label::Plain));
    }
    if !ui.terminal {
        return point::copy_content(point, &file, ui.output_writer());
    }
    let bytes = point.file_bytes(&file);
    let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return Err(CommandError::user_error(format!("{} is not text", file.path))
            .with_hint("send it somewhere: `ramus files … > FILE`"));
    };
    ui.start_pager();
    for line in text.lines() {
        ui.print_line(&Line::plain(line))?;
    }
    ui.output_writer().flush()?;
    Ok(())
}
