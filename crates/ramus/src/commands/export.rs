use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::ValueEnum;
use jiff::Zoned;
use ramus_app::when::{Edge, parse_time};
use ramus_app::{Address, NodeSelector, Scope, SurveyDetail, Workspace};
use ramus_core::name::short_id;
use ramus_render::export::Tools;
use ramus_render::json::{Answer, Exported, ExportedPath};
use ramus_render::text::count;
use ramus_render::{Label, Line};
use ramus_store::export::{ExportError, Folder};

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

mod part;
mod path;
mod picture;
mod plan;
mod site;
mod sums;
mod whom;

use path::{Exporter, Site, Written};
use plan::{Plan, Wanted};

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
    format: Format,
    /// Which paths
    #[arg(long, default_value = "all", value_name = "WHICH")]
    paths: Paths,
    /// The directory to write to
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Tell what the model thought, where it is kept
    #[arg(long)]
    thinking: bool,
    /// How much of tool calls
    #[arg(long, default_value = "brief", value_name = "HOW")]
    tools: HowMuch,
    /// Only what was active since: a date, a time, or how long ago (`7d`, `12h`, `4w`)
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Leave out passwords, keys, tokens, e-mail addresses and home directories
    #[arg(long)]
    redact: bool,
    /// Whether to write what agents did, each into a file that its call points to
    #[arg(long, default_value = "all", value_name = "WHICH")]
    agents: Agents,
    /// Where pictures go [default: inline for html, files beside md]
    #[arg(long, value_name = "WHERE")]
    images: Option<Images>,
    /// Write into a directory that holds other files
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Md,
    Html,
    Json,
    Jsonl,
    Txt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Paths {
    All,
    Active,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Agents {
    All,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HowMuch {
    None,
    Brief,
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Images {
    Inline,
    Files,
    None,
}

impl Format {
    fn ending(self) -> &'static str {
        match self {
            Self::Md => "md",
            Self::Html => "html",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Txt => "txt",
        }
    }
}

impl HowMuch {
    fn tools(self) -> Tools {
        match self {
            Self::None => Tools::None,
            Self::Brief => Tools::Brief,
            Self::Full => Tools::Full,
        }
    }
}

impl ExportArgs {
    fn images(&self) -> Images {
        let usual = match (self.format, &self.out) {
            (Format::Html, _) => Images::Inline,
            (Format::Md, Some(_)) => Images::Files,
            _ => Images::None,
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
    let format = Format::from_str(format, true).map_err(CommandError::user)?;
    let n = match address.node {
        NodeSelector::Nth(n) => n,
        _ => 1,
    };
    let id = short_id(&address.file.file.id).to_owned();
    let dir = PathBuf::from(format!("ramus-export-{id}-{n}"));
    let args = ExportArgs {
        scope: None,
        format,
        paths: Paths::All,
        out: Some(dir.clone()),
        thinking: true,
        tools: HowMuch::Brief,
        since: None,
        redact: false,
        images: None,
        force: false,
        agents: Agents::All,
    };
    let wanted = Wanted {
        spot: address.node,
        active_only: false,
        agents: true,
        all: false,
        since: None,
        redacts: false,
    };
    let scope = Scope::Session(Box::new(address.file));
    let survey = workspace.survey_scope(scope.clone(), SurveyDetail::Digests);
    let plan = Plan::new(&survey, &scope, &wanted, format.ending(), workspace.rule())?;
    if plan.transcripts() == 0 {
        return Err(CommandError::nothing("there is no conversation to export"));
    }
    let (exporter, folder) = (Exporter::new(&plan, &args), Folder::open(&dir, false)?);
    write_folder(&exporter, &folder, !survey.problems.is_empty(), &|_| {})?;
    Ok(format!("exported {id}@{n} to {}", dir.display()))
}

pub(crate) fn export(ui: &mut Ui, global: &Global, args: &ExportArgs) -> Result<(), CommandError> {
    let now = Zoned::now();
    let since =
        args.since.as_deref().map(|text| parse_time(text, Edge::Start, &now)).transpose()?;
    let source = match &args.scope {
        Some(scope) => Some(env::read_source(ui, global, scope)?),
        None => None,
    };
    let everything;
    let (workspace, wanted) = match &source {
        Some(source) => (&source.workspace, source.address.as_deref()),
        None => {
            everything = env::workspace(ui, global)?;
            (&everything, None)
        }
    };
    let (scope, spot) = scope(workspace, wanted)?;
    let rule = workspace.rule();
    let detail = match scope {
        // Of all the sessions of its project only this one is read again.
        Scope::Session(_) => SurveyDetail::Digests,
        _ => SurveyDetail::Histories,
    };
    let survey = workspace.survey_scope(scope.clone(), detail);
    let wanted = Wanted {
        spot,
        active_only: args.paths == Paths::Active,
        // On stdout there is no place for them.
        agents: args.agents == Agents::All && args.out.is_some(),
        all: global.all,
        since,
        redacts: args.redact,
    };
    let plan = Plan::new(&survey, &scope, &wanted, args.format.ending(), rule)?;
    let count = plan.transcripts();
    if count == 0 {
        if ui.json {
            summary(ui, &Exporter::new(&plan, args), Site::default())?;
        }
        return Err(CommandError::nothing("there is no conversation to export")
            .hinted("`ramus conversations` lists what there is"));
    }
    let exporter = Exporter::new(&plan, args);
    match &args.out {
        Some(dir) => to_folder(ui, &exporter, &Folder::open(dir, args.force)?),
        None if count == 1 => to_stdout(ui, &exporter),
        None => Err(CommandError::user(format!("{count} transcripts need a directory"))
            .hinted("give one with `--out DIR`, or one conversation such as `latest@1`")),
    }
}

fn scope(workspace: &Workspace, text: Option<&str>) -> Result<(Scope, NodeSelector), CommandError> {
    if let Some(text) = text.filter(|text| text.contains([':', '@']))
        && let Ok(Address { file, node }) = workspace.address(text)
    {
        return Ok((Scope::Session(Box::new(file)), node));
    }
    Ok((workspace.scope(text)?, NodeSelector::Resume))
}

fn to_stdout(ui: &mut Ui, exporter: &Exporter<'_>) -> Result<(), CommandError> {
    if ui.json {
        let written = exporter.only(&mut std::io::sink())?;
        return summary(ui, exporter, Site { transcripts: vec![written], ..Site::default() });
    }
    exporter.only(ui.out())?;
    report(ui, exporter);
    Ok(())
}

/// From how many bytes on, and how many times what is read, it is said how much will be written.
const LARGE: u64 = 64 * 1024 * 1024;
const REPEATED: u64 = 8;

fn to_folder(ui: &mut Ui, exporter: &Exporter<'_>, folder: &Folder) -> Result<(), CommandError> {
    let (read, expected) = (exporter.plan.bytes(), exporter.plan.expected_bytes());
    if expected > LARGE && expected > read.saturating_mul(REPEATED) {
        let (read, expected) = (crate::table::bytes(read), crate::table::bytes(expected));
        ui.complain(&format!(
            "every transcript repeats the beginning that it shares with others: {read} become about \
             {expected}. `--paths active`, or one branch such as `SESSION@2`, takes less"
        ));
    }
    let bar = ui.progress(exporter.plan.bytes());
    let written = write_folder(exporter, folder, ui.is_incomplete(), &|bytes| bar.inc(bytes));
    bar.finish_and_clear();
    let (site, removed) = written?;
    let written = site.transcripts.iter().chain(&site.agents);
    let bytes: u64 = written.map(|path| path.bytes).sum();
    if ui.json {
        return summary(ui, exporter, site);
    }
    let mut told = format!("Wrote {}", count(site.transcripts.len(), "transcript"));
    if !site.agents.is_empty() {
        told = format!("{told} and {}", count(site.agents.len(), "agent"));
    }
    told = format!("{told}, {}, to {}", crate::table::bytes(bytes), folder.dir.display());
    ui.say(&Line::plain(&told));
    if removed > 0 {
        let told = format!("Removed {} of an earlier export", count(removed, "file"));
        ui.say(&Line::new(&told, Label::Note));
    }
    report(ui, exporter);
    Ok(())
}

/// Writes all transcripts and their index; returns them, and how many files of an earlier export went.
fn write_folder(
    exporter: &Exporter<'_>,
    folder: &Folder,
    is_incomplete: bool,
    on_read: &(dyn Fn(u64) + Sync),
) -> Result<(Site, usize), CommandError> {
    let index = path::site_name(exporter.args.format);
    folder.claim(exporter.plan.names().chain(index))?;
    let site = exporter.all(folder, on_read)?;
    if let Some((name, text)) = site::index(exporter.args.format, &site) {
        folder.write(name, text.as_bytes())?;
    }
    let written = site.transcripts.iter().chain(&site.agents);
    let names = written.map(|path| path.file.as_str());
    let names = names.chain(site.pictures.iter().map(String::as_str)).chain(index).collect();
    // A session that cannot be read for a moment is no reason to remove its earlier transcript.
    let removed = match is_incomplete {
        true => folder.keep_earlier(&names).map(|()| 0)?,
        false => folder.settle(&names)?,
    };
    Ok((site, removed))
}

/// Tells what was taken out, by rule.
fn report(ui: &Ui, exporter: &Exporter<'_>) {
    let Some(found) = exporter.redactions() else { return };
    if found.is_empty() {
        ui.say(&Line::new("Redacted: nothing was found", Label::Note));
    }
    for (rule, times) in found {
        let line = Line::new("Redacted: ", Label::Note);
        ui.say(&line.with(&format!("{rule} {times}×"), Label::Plain));
    }
}

fn summary(ui: &mut Ui, exporter: &Exporter<'_>, site: Site) -> Result<(), CommandError> {
    let told = |written: Vec<Written>| written.into_iter().map(exported).collect();
    let exported = Exported {
        transcripts: told(site.transcripts),
        agents: told(site.agents),
        redactions: exporter.redactions(),
    };
    ui.json(&Answer::new("ramus.export/1", exported))
}

fn exported(path: Written) -> ExportedPath {
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
        let foreign = matches!(error, ExportError::Foreign(_));
        let error =
            Self { kind: crate::error::ErrorKind::User, error: error.into(), hints: Vec::new() };
        if foreign {
            return error
                .hinted("choose another directory, or write there all the same with `--force`");
        }
        error
    }
}

/// What was taken out, by rule.
type Redactions = BTreeMap<&'static str, u64>;
