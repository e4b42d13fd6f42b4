//! Requests whose answers are documents: comparisons, file lists and file contents.

use std::collections::HashSet;
use std::error::Error;
use std::path::Path;

use ramus_app::change::ChangeKind;
use ramus_app::files_at::file_bytes;
use ramus_app::{Address, AddressError, NodeSelector, Workspace};
use ramus_core::time::Time;
use ramus_render::compare::{CompareConfig, SIDE_BY_SIDE_WIDTH, comparison_lines};
use ramus_render::files::file_list;
use ramus_render::highlight::{self, Highlight};
use ramus_render::table::{Table, cell};
use ramus_render::{Label, Line};
use ramus_store::journal::{Journal, Operation};
use ramus_store::undo::is_in_roots;

use crate::app::FileChanges;
use crate::event::{DocumentRequest, NodeAddress, SavedFiles, ScreenEvent, TextDocument};
use crate::state::ScreenClock;

/// Columns of the screen that a page leaves free.
pub(crate) const PAGE_MARGIN: usize = 4;
/// The narrowest page that a table fits into.
const MIN_WIDTH: usize = 30;

/// How pages are drawn.
#[derive(Clone, Debug)]
pub(crate) struct DocumentStyle {
    pub(crate) clock: ScreenClock,
    pub(crate) highlight: Highlight,
    /// List files that were merely read too.
    pub(crate) all: bool,
    pub(crate) usage_lines: fn(&Workspace, &Path, usize) -> Result<Vec<Line>, String>,
    pub(crate) file_changes: FileChanges,
}

/// Answers a question with a page of some columns.
pub(crate) fn answer_request(
    question: &DocumentRequest,
    workspace: &Workspace,
    width: u16,
    style: &DocumentStyle,
) -> ScreenEvent {
    let width = usize::from(width).max(MIN_WIDTH);
    let page = match question {
        DocumentRequest::Compare(a, b) => {
            compare_document(workspace, [a, b], width, style).map_err(NoDocument::Failed)
        }
        DocumentRequest::Files(at) => files_document(workspace, at, width, style),
        DocumentRequest::File(at, path) => {
            file_document(workspace, at, path).map_err(NoDocument::Failed)
        }
        DocumentRequest::FileChanges(files) => {
            changes_document(workspace, files, style).map_err(NoDocument::Failed)
        }
        DocumentRequest::Usage(file) => (style.usage_lines)(workspace, file, width)
            .map(|lines| TextDocument::new(Line::new("Tokens and cost", Label::Heading), lines))
            .map_err(|why| NoDocument::Failed(vec![Line::new(&why, Label::Error)])),
        DocumentRequest::Log | DocumentRequest::Operation(_) => {
            log_document(workspace, width, style)
        }
        DocumentRequest::Trash | DocumentRequest::Trashed(_) => {
            trash_document(workspace, width, style)
        }
    };
    match page {
        Ok(page) => ScreenEvent::Document(page),
        Err(NoDocument::Empty(why)) => ScreenEvent::Status(Line::new(why, Label::Dim)),
        Err(NoDocument::Failed(lines)) => could_not(lines),
    }
}

/// Why there is no document.
#[derive(Debug)]
enum NoDocument {
    /// It would have nothing in it, which is no failure.
    Empty(&'static str),
    Failed(Vec<Line>),
}

impl From<Vec<Line>> for NoDocument {
    fn from(lines: Vec<Line>) -> Self {
        Self::Failed(lines)
    }
}

/// Shows an error as a document, because reasons are long and come with hints.
pub(crate) fn could_not(lines: Vec<Line>) -> ScreenEvent {
    let title = Line::new("This failed", Label::Warning);
    ScreenEvent::Document(TextDocument::new(title, lines))
}

/// Returns an error with its causes.
pub(crate) fn error_text(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        message = format!("{message}: {source}");
        cause = source.source();
    }
    message
}

/// Returns an error with its causes, and what to do next.
pub(crate) fn error_lines(error: &dyn Error, hint: Option<impl AsRef<str>>) -> Vec<Line> {
    let message = error_text(error);
    let lines = message.lines().map(|line| Line::new(line, Label::Error));
    lines.chain(hint.map(|hint| Line::new(hint.as_ref(), Label::Note))).collect()
}

fn refusal_lines(error: &AddressError) -> Vec<Line> {
    error_lines(error, error.hint())
}

fn resolve_node(workspace: &Workspace, at: &NodeAddress) -> Result<Address, Vec<Line>> {
    workspace.address_in(&at.file, at.node.clone()).map_err(|error| refusal_lines(&error))
}

fn compare_document(
    workspace: &Workspace,
    sides: [&NodeAddress; 2],
    width: usize,
    style: &DocumentStyle,
) -> Result<TextDocument, Vec<Line>> {
    let open = |at| {
        workspace
            .open_conversation(resolve_node(workspace, at)?)
            .map_err(|error| refusal_lines(&error))
    };
    let (a, b) = (open(sides[0])?, open(sides[1])?);
    let comparison = workspace
        .compare_conversations([&a, &b], |_, _, _| {})
        .map_err(|error| error_lines(&error, None::<&str>))?;
    let config = CompareConfig {
        width,
        side_by_side: width >= SIDE_BY_SIDE_WIDTH - PAGE_MARGIN,
        full: false,
        totals_first: true,
        highlight: style.highlight,
        cwd: a.working_directory(),
        time: &|time| style.clock.short_time(time),
    };
    let compared = comparison.priced_comparison(&workspace.active_prices().list);
    let lines = comparison
        .read_exchanges(|exchanges| comparison_lines(&compared, exchanges, &config))
        .map_err(|error| error_lines(&error, None::<&str>))?;
    let title = Line::new("Two conversations", Label::Heading);
    Ok(TextDocument { has_stops: true, ..TextDocument::new(title, lines) })
}

/// Shows how files changed from a message to the end of its branch.
fn changes_document(
    workspace: &Workspace,
    files: &SavedFiles,
    style: &DocumentStyle,
) -> Result<TextDocument, Vec<Line>> {
    let then = resolve_node(workspace, &files.at)?;
    let history = workspace.read_history(&then.file.file);
    let history = history.map_err(|error| error_lines(&error, None::<&str>))?;
    let node = then.node.find_node(&history).map_err(|error| refusal_lines(&error))?;
    let branch = node.and_then(|node| history.conversation_of(node));
    let end = branch.map_or(NodeSelector::Resume, |one| NodeSelector::Nth(one.number as usize));
    let end = Address { node: end, ..then.clone() };
    let lines = (style.file_changes)(workspace, [&then, &end], files.only.as_deref())
        .map_err(|why| vec![Line::new(&why, Label::Error)])?;
    let what = files.only.as_deref().unwrap_or("all files");
    let title = Line::new("Changed since this message", Label::Heading);
    let title = title.with(&format!("  {what}"), Label::Dim);
    let files = Some(files.clone());
    Ok(TextDocument { has_stops: true, files, ..TextDocument::new(title, lines) })
}

/// Lists the operations on these Claude directories; each leads to its undoing.
fn log_document(
    workspace: &Workspace,
    width: usize,
    style: &DocumentStyle,
) -> Result<TextDocument, NoDocument> {
    let journal = Journal::read(workspace.state_dir());
    let journal = journal.map_err(|error| error_lines(&error, None::<&str>))?;
    let own: Vec<&Operation> = { journal.operations.iter().rev() }
        .filter(|operation| is_in_roots(operation, workspace.claude_roots()))
        .collect();
    if own.is_empty() {
        return Err(NoDocument::Empty(
            "no operations yet: nothing was changed, so there is nothing to undo",
        ));
    }
    let mut table = Table::new(&[">OP", "WHEN", "WHAT", "SESSION", "?STATE", "*"]);
    for operation in &own {
        let is_in_effect = operation.is_done() && operation.undone_by.is_none();
        let label = if is_in_effect { Label::Active } else { Label::Abandoned };
        let when = Time::parse(operation.at.as_bytes()).map(|time| style.clock.short_time(time));
        table.row(vec![
            cell(operation.op.to_string(), Label::Strong),
            cell(when.unwrap_or_default(), Label::Time),
            cell(operation.what.as_str(), Label::Branch),
            cell(workspace.short_id(&operation.session), Label::Id),
            cell(operation.state_text(), label),
            Line::plain(&operation.words),
        ]);
    }
    let links = own.iter().map(|own| DocumentRequest::Operation(own.op)).collect();
    let title = Line::new("Operations", Label::Heading);
    Ok(table_document(title.with("  Enter undoes one", Label::Dim), &table, links, width))
}

/// Lists the sessions that were put into the trash and are still there.
fn trash_document(
    workspace: &Workspace,
    width: usize,
    style: &DocumentStyle,
) -> Result<TextDocument, NoDocument> {
    let journal = Journal::read(workspace.state_dir());
    let journal = journal.map_err(|error| error_lines(&error, None::<&str>))?;
    let mut seen = HashSet::new();
    let trashed: Vec<&Operation> = { journal.operations.iter().rev() }
        .filter(|operation| is_in_roots(operation, workspace.claude_roots()))
        .filter(|operation| operation.what == ChangeKind::Trash && operation.is_done())
        .filter(|operation| operation.undone_by.is_none() && !operation.file.exists())
        .filter(|operation| seen.insert(&operation.session))
        .collect();
    if trashed.is_empty() {
        return Err(NoDocument::Empty("the trash is empty"));
    }
    let mut table = Table::new(&["WHEN", "SESSION", "*"]);
    for operation in &trashed {
        let when = Time::parse(operation.at.as_bytes()).map(|time| style.clock.short_time(time));
        table.row(vec![
            cell(when.unwrap_or_default(), Label::Time),
            cell(workspace.short_id(&operation.session), Label::Id),
            Line::plain(&operation.words),
        ]);
    }
    let links = trashed.iter().map(|own| DocumentRequest::Trashed(own.session.clone())).collect();
    let title = Line::new("Trash", Label::Heading);
    Ok(table_document(title.with("  Enter restores one", Label::Dim), &table, links, width))
}

/// Returns a table each of whose rows leads on.
fn table_document(
    title: Line,
    table: &Table,
    links: Vec<DocumentRequest>,
    width: usize,
) -> TextDocument {
    let lines = table.lines(width);
    let first = lines.len() - links.len();
    let links = links.into_iter().enumerate().map(|(n, link)| (first + n, link)).collect();
    TextDocument { links, ..TextDocument::new(title, lines) }
}

fn files_document(
    workspace: &Workspace,
    at: &NodeAddress,
    width: usize,
    style: &DocumentStyle,
) -> Result<TextDocument, NoDocument> {
    let mut files =
        workspace.files_at(&resolve_node(workspace, at)?).map_err(|error| refusal_lines(&error))?;
    files.files.retain(|file| style.all || !file.only_read);
    if files.files.is_empty() {
        let words = "no files to show: up to this message, no tool changed one";
        return Err(NoDocument::Empty(words));
    }
    let sized = files.sized_files();
    let lines = file_list(&files.moment, &sized, width, &|time| style.clock.short_time(time));
    let first = lines.len() - sized.len();
    let link = |(nth, file): (usize, &ramus_core::files::FileState)| {
        (first + nth, DocumentRequest::File(at.clone(), file.path.clone()))
    };
    let title = Line::new("Files as of this message", Label::Heading);
    Ok(TextDocument {
        links: files.files.iter().enumerate().map(link).collect(),
        files: Some(SavedFiles { at: at.clone(), only: None }),
        ..TextDocument::new(title, lines)
    })
}

fn file_document(
    workspace: &Workspace,
    at: &NodeAddress,
    path: &str,
) -> Result<TextDocument, Vec<Line>> {
    let mut files =
        workspace.files_at(&resolve_node(workspace, at)?).map_err(|error| refusal_lines(&error))?;
    let file = files.files.iter().find(|file| file.path == path).cloned();
    let gone = || vec![Line::new(&format!("{path} no longer exists"), Label::Error)];
    let bytes = file_bytes(&mut files, &file.ok_or_else(gone)?)
        .map_err(|error| error_lines(&error, None::<&str>))?;
    let lines = highlight::highlight_code(path, &String::from_utf8_lossy(&bytes));
    let files = Some(SavedFiles { at: at.clone(), only: Some(path.to_owned()) });
    Ok(TextDocument { files, ..TextDocument::new(Line::new(path, Label::Heading), lines) })
}
