use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::ValueEnum;
use jiff::Zoned;
use ramus_app::time_text::{TimeEdge, parse_time};
use ramus_app::{Address, NodeSelector, Scope, SurveyDetail, Workspace};
use ramus_core::ids::short_id;
use ramus_render::export::ToolDetail;
use ramus_render::json::{Answer, Exported, ExportedPath};
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};
use ramus_store::export::{ExportDir, ExportError};

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

mod part;
mod picture;
mod plan;
mod site;
mod sums;
mod target;
mod transcripts;

use plan::{ExportPlan, ExportRequest};
use transcripts::{ExportSite, Exporter, WrittenTranscript};

/// Write transcripts: one for each path that is unique
///
/// A path runs from the beginning to the end of one branch, through compactions and through the
/// sessions it continues; what resumed and forked sessions repeat is written once. One path goes to
/// stdout; several need `--out`, where they become a site that opens from disk.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus export latest > talk.md\n  ramus export . --format html --out site\n  ramus export --format jsonl --paths active --out backup\n  ramus export 3f9a@2 --tools full --thinking --redact"
)]
pub(crate) struct ExportArgs {
    /// A project, a session, or a conversation of it [default: everything]
    #[arg(allow_hyphen_values = true)]
    scope: Option<String>,
    /// What to write
    #[arg(long, default_value = "md")]
    format: ExportFormat,
    /// Which paths
    #[arg(long, default_value = "all", value_name = "WHICH")]
    paths: PathsOption,
    /// The directory to write to
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Tell what the model thought, where it is kept
    #[arg(long)]
    thinking: bool,
    /// How much of tool calls
    #[arg(long, default_value = "brief", value_name = "HOW")]
    tools: ToolsOption,
    /// Only what was active since: a date, a time, or how long ago (`7d`, `12h`, `4w`)
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Leave out passwords, keys, tokens, e-mail addresses and home directories
    #[arg(long)]
    redact: bool,
    /// Whether to write what agents did, each into a file that its call points to
    #[arg(long, default_value = "all", value_name = "WHICH")]
    agents: AgentsOption,
    /// Where pictures go [default: inline for html, files beside md]
    #[arg(long, value_name = "WHERE")]
    images: Option<ImagesOption>,
    /// Write into a directory that holds other files
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    Md,
    Html,
    Json,
    Jsonl,
    Txt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PathsOption {
    All,
    Active,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AgentsOption {
    All,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ToolsOption {
    None,
    Brief,
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ImagesOption {
    Inline,
    Files,
    None,
}

impl ExportFormat {
    fn file_extension(self) -> &'static str {
        match self {
            Self::Md => "md",
            Self::Html => "html",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Txt => "txt",
        }
    }
}

impl ToolsOption {
    fn text_tools(self) -> ToolDetail {
        match self {
            Self::None => ToolDetail::None,
            Self::Brief => ToolDetail::Brief,
            Self::Full => ToolDetail::Full,
        }
    }
}

impl ExportArgs {
    fn image_option(&self) -> ImagesOption {
        let usual = match (self.format, &self.out) {
            (ExportFormat::Html, _) => ImagesOption::Inline,
            (ExportFormat::Md, Some(_)) => ImagesOption::Files,
            _ => ImagesOption::None,
        };
        self.images.unwrap_or(usual)
    }
}

/// Exports one conversation to a directory of its own in the working directory; returns what to tell.
pub(crate) fn export_conversation(
    workspace: &Workspace,
    address: Address,
    format: &str,
) -> Result<String, CommandError> {
    let format = ExportFormat::from_str(format, true).map_err(CommandError::user_error)?;
    let n = match address.node {
        NodeSelector::Nth(n) => n,
        _ => 1,
    };
    let id = short_id(&address.file.file.id).to_owned();
    let dir = PathBuf::from(format!("ramus-export-{id}-{n}"));
    let args = ExportArgs {
        scope: None,
        format,
        paths: PathsOption::All,
        out: Some(dir.clone()),
        thinking: true,
        tools: ToolsOption::Brief,
        since: None,
        redact: false,
        images: None,
        force: false,
        agents: AgentsOption::All,
    };
    let wanted = ExportRequest {
        selector: address.node,
        active_only: false,
        agents: true,
        all: false,
        since: None,
        redacts: false,
    };
    let scope = Scope::Session(Box::new(address.file));
    let survey = workspace.survey_scope(scope.clone(), SurveyDetail::Digests);
    let plan = ExportPlan::new(
        &survey,
        &scope,
        &wanted,
        format.file_extension(),
        workspace.resume_rule(),
    )?;
    if plan.transcript_count() == 0 {
        return Err(CommandError::nothing_found("there is no conversation to export"));
    }
    let (exporter, folder) = (Exporter::new(&plan, &args), ExportDir::open(&dir, false)?);
    write_folder(&exporter, &folder, !survey.problems.is_empty(), &|_| {})?;
    Ok(format!("exported {id}@{n} to {}", dir.display()))
}

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
    let (scope, spot) = export_scope(workspace, wanted)?;
    let rule = workspace.resume_rule();
    let detail = match scope {
        // Of all the sessions of its project only this one is read again.
        Scope::Session(_) => SurveyDetail::Digests,
        _ => SurveyDetail::Histories,
    };
    let survey = workspace.survey_scope(scope.clone(), detail);
    let wanted = ExportRequest {
        selector: spot,
        active_only: args.paths == PathsOption::Active,
        // On stdout there is no place for them.
        agents: args.agents == AgentsOption::All && args.out.is_some(),
        all: global.all,
        since,
        redacts: args.redact,
    };
    let plan = ExportPlan::new(&survey, &scope, &wanted, args.format.file_extension(), rule)?;
    let count = plan.transcript_count();
    if count == 0 {
        if ui.json {
            print_summary(ui, &Exporter::new(&plan, args), ExportSite::default())?;
        }
        return Err(CommandError::nothing_found("there is no conversation to export")
            .with_hint("`ramus conversations` lists what there is"));
    }
    let exporter = Exporter::new(&plan, args);
    match &args.out {
        Some(dir) => to_folder(ui, &exporter, &ExportDir::open(dir, args.force)?),
        None if count == 1 => to_stdout(ui, &exporter),
        None => Err(CommandError::user_error(format!("{count} transcripts need a directory"))
            .with_hint("give one with `--out DIR`, or one conversation such as `latest@1`")),
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
    Ok((workspace.resolve_scope(text)?, NodeSelector::Resume))
}

fn to_stdout(ui: &mut Ui, exporter: &Exporter<'_>) -> Result<(), CommandError> {
    if ui.json {
        let written = exporter.write_single(&mut std::io::sink())?;
        return print_summary(
            ui,
            exporter,
            ExportSite { transcripts: vec![written], ..ExportSite::default() },
        );
    }
    exporter.write_single(ui.output_writer())?;
    print_redactions(ui, exporter);
    Ok(())
}

/// From how many bytes on, and how many times what is read, it is said how much will be written.
const LARGE_EXPORT_BYTES: u64 = 64 * 1024 * 1024;
const LARGE_EXPORT_FACTOR: u64 = 8;

fn to_folder(ui: &mut Ui, exporter: &Exporter<'_>, folder: &ExportDir) -> Result<(), CommandError> {
    let (read, expected) = (exporter.plan.total_bytes(), exporter.plan.expected_bytes());
    if expected > LARGE_EXPORT_BYTES && expected > read.saturating_mul(LARGE_EXPORT_FACTOR) {
        let (read, expected) = (crate::table::bytes(read), crate::table::bytes(expected));
        ui.print_warning(&format!(
            "every transcript repeats the beginning that it shares with others: {read} become about \
             {expected}. `--paths active`, or one branch such as `SESSION@2`, takes less"
        ));
    }
    let bar = ui.progress_bar(exporter.plan.total_bytes());
    let written = write_folder(exporter, folder, ui.is_incomplete(), &|bytes| bar.inc(bytes));
    bar.finish_and_clear();
    let (site, removed) = written?;
    let written = site.transcripts.iter().chain(&site.agents);
    let bytes: u64 = written.map(|path| path.bytes).sum();
    if ui.json {
        return print_summary(ui, exporter, site);
    }
    let mut told = format!("Wrote {}", count_noun(site.transcripts.len(), "transcript"));
    if !site.agents.is_empty() {
        told = format!("{told} and {}", count_noun(site.agents.len(), "agent"));
    }
    told = format!("{told}, {}, to {}", crate::table::bytes(bytes), folder.dir.display());
    ui.print_message(&Line::plain(&told));
    if removed > 0 {
        let told = format!("Removed {} of an earlier export", count_noun(removed, "file"));
        ui.print_message(&Line::new(&told, Label::Note));
    }
    print_redactions(ui, exporter);
    Ok(())
}

/// Writes all transcripts and their index; returns them, and how many files of an earlier export went.
fn write_folder(
    exporter: &Exporter<'_>,
    folder: &ExportDir,
    is_incomplete: bool,
    on_read: &(dyn Fn(u64) + Sync),
) -> Result<(ExportSite, usize), CommandError> {
    let index = transcripts::site_name(exporter.args.format);
    folder.claim_files(exporter.plan.file_names().chain(index))?;
    let site = exporter.write_all(folder, on_read)?;
    if let Some((name, text)) = site::site_index(exporter.args.format, &site) {
        folder.write_file(name, text.as_bytes())?;
    }
    let written = site.transcripts.iter().chain(&site.agents);
    let names = written.map(|path| path.file.as_str());
    let names = names.chain(site.pictures.iter().map(String::as_str)).chain(index).collect();
    // A session that cannot be read for a moment is no reason to remove its earlier transcript.
    let removed = match is_incomplete {
        true => folder.keep_earlier_files(&names).map(|()| 0)?,
        false => folder.remove_stale_files(&names)?,
    };
    Ok((site, removed))
}

/// Tells what was taken out, by rule.
fn print_redactions(ui: &Ui, exporter: &Exporter<'_>) {
    let Some(found) = exporter.redaction_counts() else { return };
    if found.is_empty() {
        ui.print_message(&Line::new("Redacted: nothing was found", Label::Note));
    }
    for (rule, times) in found {
        let line = Line::new("Redacted: ", Label::Note);
        ui.print_message(&line.with(&format!("{rule} {times}×"), Label::Plain));
    }
}

fn print_summary(
    ui: &mut Ui,
    exporter: &Exporter<'_>,
    site: ExportSite,
) -> Result<(), CommandError> {
    let told = |written: Vec<WrittenTranscript>| written.into_iter().map(exported_path).collect();
    let exported = Exported {
        transcripts: told(site.transcripts),
        agents: told(site.agents),
        redactions: exporter.redaction_counts(),
    };
    ui.print_json(&Answer::new("ramus.export/1", exported))
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
        let foreign = matches!(error, ExportError::NotAnExport(_));
        let error =
            Self { kind: crate::error::ErrorKind::User, error: error.into(), hints: Vec::new() };
        if foreign {
            return error
                .with_hint("choose another directory, or write there all the same with `--force`");
        }
        error
    }
}

/// What was taken out, by rule.
type Redactions = BTreeMap<&'static str, u64>;
