use std::path::{Path, PathBuf};

use jiff::Zoned;
use ramus_app::export::{ExportReport, ImagePlacement, ToolDetail, WrittenTranscript};
use ramus_app::time_text::{TimeEdge, parse_time};
use ramus_app::{
    Address, ExportError, ExportFormat, ExportRequest, Exporter, NodeSelector, Scope, Workspace,
};
use ramus_core::redact::RedactionCounts;
use ramus_render::json::{Answer, AnswerScope, Exported, ExportedPath};
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};
use ramus_store::export::ExportDirError;

use crate::args::{Global, choices};
use crate::completion;
use crate::env;
use crate::error::{CommandError, ErrorKind};
use crate::scope;
use crate::ui::Ui;

/// Export transcripts, one for each unique path
///
/// A path is a conversation with the earlier sessions that it continues. Copies in resumed and forked
/// sessions are exported once, in the session that goes furthest. A single path is written to stdout;
/// several paths need `--out`. With `--format html` they become a website that you can open from disk.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus export latest > talk.md
  ramus export teapot --format html --out site
  ramus export --format jsonl --paths active --out backup
  ramus export 7ea9@2 --tools full --thinking --redact")]
pub(crate) struct ExportArgs {
    /// A project, a session, or a conversation of it; `-` reads sessions from standard input
    /// [default: the project of the current directory]
    #[arg(allow_hyphen_values = true, add = completion::scopes())]
    scope: Option<String>,
    /// Output format
    #[arg(long, default_value = "md", value_parser = choices(&FORMATS))]
    format: ExportFormat,
    /// Which paths to export
    #[arg(long, default_value = "all", value_name = "WHICH")]
    #[arg(value_parser = ["all", "active"])]
    paths: String,
    /// The directory to write to
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Include thinking, if it was recorded
    #[arg(long)]
    thinking: bool,
    /// How much of tool calls to include
    #[arg(long, default_value = "brief", value_name = "HOW", value_parser = choices(&TOOLS))]
    tools: ToolDetail,
    /// Only sessions active since a date, a time, or an age (`7d`, `12h`, `4w`)
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Remove passwords, keys, tokens, e-mail addresses and home directories
    #[arg(long)]
    redact: bool,
    /// Whether to export sub-agents, as separate linked files
    #[arg(long, default_value = "all", value_name = "WHICH")]
    #[arg(value_parser = ["all", "none"])]
    agents: String,
    /// Where to put images [default: inline for html, files for md]
    #[arg(long, value_name = "WHERE", value_parser = choices(&IMAGES))]
    images: Option<ImagePlacement>,
    /// Write to a directory that is not empty, and replace files in it
    #[arg(long)]
    force: bool,
}

const FORMATS: [(&str, ExportFormat); 5] = [
    ("md", ExportFormat::Markdown),
    ("html", ExportFormat::Html),
    ("json", ExportFormat::Json),
    ("jsonl", ExportFormat::Jsonl),
    ("txt", ExportFormat::Text),
];
const TOOLS: [(&str, ToolDetail); 3] =
    [("none", ToolDetail::None), ("brief", ToolDetail::Brief), ("full", ToolDetail::Full)];
const IMAGES: [(&str, ImagePlacement); 3] = [
    ("inline", ImagePlacement::Inline),
    ("files", ImagePlacement::Files),
    ("none", ImagePlacement::None),
];

pub(crate) fn export(ui: &mut Ui, global: &Global, args: &ExportArgs) -> Result<(), CommandError> {
    let now = Zoned::now();
    let since =
        args.since.as_deref().map(|text| parse_time(text, TimeEdge::Start, &now)).transpose()?;
    let source = match &args.scope {
        Some(scope) => Some(env::read_source(ui, global, scope)?),
        None => None,
    };
    let everything;
    let (workspace, wanted) = match &source {
        Some(source) => (&source.workspace, source.address.as_deref()),
        None => {
            everything = env::command_workspace(ui, global)?;
            (&everything, None)
        }
    };
    let (scope, selector) = export_scope(workspace, wanted)?;
    scope::print_scope_note(ui, workspace, args.scope.as_deref());
    let answer_scope = scope::answer_scope(workspace, &scope, args.scope.as_deref());
    let request = ExportRequest {
        scope,
        selector,
        format: args.format,
        into_directory: args.out.is_some(),
        active_only: args.paths == "active",
        since,
        // On stdout there is only one transcript.
        agents: args.agents == "all" && args.out.is_some(),
        includes_hidden: global.all,
        thinking: args.thinking,
        tools: args.tools,
        images: args.images,
        redact: args.redact,
    };
    let survey = workspace.survey_export(&request);
    let export = workspace.plan_export(&survey, &request)?;
    if export.transcript_count() == 0 && ui.json {
        let redactions = export.redaction_counts();
        print_summary(ui, ExportReport { redactions, ..ExportReport::default() }, answer_scope)?;
        return Err(ExportError::Nothing.into());
    }
    match &args.out {
        Some(dir) => to_folder(ui, &export, dir, args.force, answer_scope),
        None => to_stdout(ui, &export, answer_scope),
    }
}

fn export_scope(
    workspace: &Workspace,
    text: Option<&str>,
) -> Result<(Scope, NodeSelector), CommandError> {
    if let Some(text) = text.filter(|text| text.contains([':', '@']))
        && let Ok(Address { file, node }) = workspace.resolve_address(text)
    {
        return Ok((Scope::Session(Box::new(file)), node));
    }
    Ok((scope::resolve_scope(workspace, text)?, NodeSelector::Resume))
}

fn to_stdout(ui: &mut Ui, export: &Exporter<'_>, scope: AnswerScope) -> Result<(), CommandError> {
    if ui.json {
        let report = export.write_document(&mut std::io::sink())?;
        return print_summary(ui, report, scope);
    }
    let report = export.write_document(ui.output_writer())?;
    print_redactions(ui, report.redactions);
    Ok(())
}

fn to_folder(
    ui: &mut Ui,
    export: &Exporter<'_>,
    dir: &Path,
    force: bool,
    scope: AnswerScope,
) -> Result<(), CommandError> {
    if let Some((read, expected)) = export.large_output() {
        let (read, expected) = (crate::table::bytes(read), crate::table::bytes(expected));
        ui.print_warning(&format!(
            "transcripts repeat the messages that they share: {read} become about {expected}. Use \
             --paths active, or one branch such as `SESSION@2`, to export less"
        ));
    }
    let report = export.write_directory(dir, force)?;
    if ui.json {
        return print_summary(ui, report, scope);
    }
    let written = report.transcripts.iter().chain(&report.agents);
    let bytes: u64 = written.map(|path| path.bytes).sum();
    let mut told = format!("Wrote {}", count_noun(report.transcripts.len(), "transcript"));
    if !report.agents.is_empty() {
        told = format!("{told} and {}", count_noun(report.agents.len(), "agent"));
    }
    told = format!("{told}, {}, to {}", crate::table::bytes(bytes), dir.display());
    ui.print_message(&Line::plain(&told));
    if report.removed > 0 {
        let told = format!("Removed {} of an earlier export", count_noun(report.removed, "file"));
        ui.print_message(&Line::new(&told, Label::Note));
    }
    print_redactions(ui, report.redactions);
    Ok(())
}

/// Prints the redactions, by rule.
fn print_redactions(ui: &Ui, redactions: Option<RedactionCounts>) {
    let Some(found) = redactions else { return };
    if found.is_empty() {
        ui.print_message(&Line::new("Redacted: nothing", Label::Note));
    }
    for (rule, times) in found {
        let line = Line::new("Redacted: ", Label::Note);
        ui.print_message(&line.with(&format!("{rule} {times}×"), Label::Plain));
    }
}

fn print_summary(
    ui: &mut Ui,
    report: ExportReport,
    scope: AnswerScope,
) -> Result<(), CommandError> {
    let told = |written: Vec<WrittenTranscript>| written.into_iter().map(exported_path).collect();
    let exported = Exported {
        transcripts: told(report.transcripts),
        agents: told(report.agents),
        redactions: report.redactions,
    };
    ui.print_json(&Answer::new("ramus.export/1", exported).with_scope(scope))
}

fn exported_path(path: WrittenTranscript) -> ExportedPath {
    ExportedPath {
        file: path.file,
        session: path.header.session,
        leaf: path.header.leaf,
        path: path.header.path,
        paths: path.header.paths,
        status: path.header.status,
        resumes: path.header.resumes,
        messages: path.header.messages,
        records: path.header.records,
        bytes: path.bytes,
    }
}

impl From<ExportError> for CommandError {
    fn from(error: ExportError) -> Self {
        let hint = match &error {
            ExportError::Nothing => "`ramus conversations` lists conversations",
            ExportError::NeedsDirectory(_) => {
                "use --out DIR, or export one conversation such as `latest@1`"
            }
            ExportError::Changed => "try again",
            ExportError::Directory(ExportDirError::NotAnExport(_)) => {
                "choose another directory, or use --force"
            }
            ExportError::Directory(ExportDirError::ForeignFile(_)) => {
                "move that file, or use --force to replace it"
            }
            _ => "",
        };
        match error {
            ExportError::Nothing => Self::nothing_found(error).with_hint(hint),
            ExportError::Write(error) => error.into(),
            ExportError::Read(error) => error.into(),
            ExportError::Address(error) => error.into(),
            error => {
                let hints = Some(hint.to_owned()).filter(|hint| !hint.is_empty());
                let hints = hints.into_iter().collect();
                Self { kind: ErrorKind::User, error: error.into(), hints }
            }
        }
    }
}
