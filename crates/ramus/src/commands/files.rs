use std::path::PathBuf;

use ramus_app::Workspace;
use ramus_app::files_at::{file_bytes, find_file, require_content};
use ramus_core::files::FileState;
use ramus_render::json::{self, Answer};
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::completion;
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

pub(crate) mod point;

mod difference;

pub(crate) use difference::changed_lines;

mod write_into;

mod restore;

use point::Point;

/// Show files as of a message
///
/// For a prompt, shows the files before it was sent, as Claude Code would restore them. For any other
/// message, shows the files after it. Contents come from the backups that Claude Code makes for each
/// prompt, and from what tools wrote, edited and read. The list shows the source of each content, or
/// why it is unknown. A change by a command is seen only when the file is next read, changed or backed
/// up.
///
/// `--restore` replaces files on disk but leaves the conversation as it is; `ramus goto` does the
/// reverse. Both can be undone with `ramus undo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus files 7ea9                          all files at the resume point
  ramus files 7ea9:bd21                     when that prompt was sent
  ramus files 7ea9:bd21 src/main.rs         print one of them
  ramus files 7ea9:bd21 --diff 7ea9         how they changed since
  ramus files 7ea9@1 --diff 7ea9@2 --stat   compare two branches
  ramus files 7ea9:bd21 --into then         write them to a directory
  ramus files 7ea9:bd21 --restore           restore them, after showing the changes

Sources in the list:
  snapshot   Claude Code's backup for this prompt, or for the last prompt before it
  first      Claude Code's first backup, made before it changed the file
  next       Claude Code's backup for the next prompt
  write      a tool wrote the whole file
  edit       a tool changed the file, and its result has the content after the change
  read       a tool read the file
  original   a tool changed the file, and its result has the content before the change")]
pub(crate) struct FilesArgs {
    /// A session, message or conversation
    #[arg(add = completion::sessions())]
    address: String,
    /// Print this file: a path, or the end of one
    path: Option<String>,
    /// Compare with the files as of another message
    #[arg(long, value_name = "ADDRESS", conflicts_with = "into")]
    diff: Option<String>,
    /// With --diff, show only line counts
    #[arg(long, requires = "diff")]
    stat: bool,
    /// Write the files to this directory
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// With --into, allow a directory that is not empty
    #[arg(long, requires = "into")]
    force: bool,
    /// Restore the files on disk. Shows the changes and asks first
    #[arg(long, conflicts_with_all = ["diff", "into"])]
    restore: bool,
    /// With --restore, include files outside of the project
    #[arg(long, requires = "restore")]
    outside: bool,
    /// With --restore, only show what would change
    #[arg(long, requires = "restore")]
    dry_run: bool,
    /// With --restore, don't ask
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
        return Err(CommandError::nothing_found("no files were changed or backed up"));
    }
    Ok(point::point_lines(&mut point, width))
}

/// Returns the content of a file as of a message.
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
        return Err(CommandError::nothing_found("no files were changed or backed up")
            .with_hint("use --all to list files that were only read"));
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
            .with_hint("redirect it to a file: `ramus files … > FILE`"));
    };
    ui.start_pager();
    for line in text.lines() {
        ui.print_line(&Line::plain(line))?;
    }
    ui.output_writer().flush()?;
    Ok(())
}
