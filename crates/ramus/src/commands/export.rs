use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use ramus_render::export::Tools;
use ramus_render::json::{Answer, Exported, ExportedPath};
use ramus_render::{Label, Line};
use ramus_store::export::{Draft, ExportError, Folder};

use crate::args::Global;
use crate::error::CommandError;
use crate::select::{Library, Scope, Spot};
use crate::ui::Ui;

mod part;
mod path;
mod picture;
mod plan;
mod site;
mod sums;
mod when;

use path::Exporter;
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
    /// Only what was active since: a date, a time, or `7d`, `12h`, `4w` ago
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Take out keys, tokens, passwords, e-mail addresses and the home directory
    #[arg(long)]
    redact: bool,
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

/// Exports one conversation to a directory of its own beside where one is, and tells so.
pub(crate) fn export_one(
    global: &Global,
    address: &str,
    format: &str,
) -> Result<String, CommandError> {
    let format = Format::from_str(format, true).map_err(CommandError::user)?;
    let (file, n) = address.rsplit_once('@').unwrap_or((address, "1"));
    let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
    let id: String = stem.chars().take(8).collect();
    let dir = PathBuf::from(format!("ramus-export-{id}-{n}"));
    let args = ExportArgs {
        scope: Some(address.to_owned()),
        format,
        paths: Paths::All,
        out: Some(dir.clone()),
        thinking: true,
        tools: HowMuch::Brief,
        since: None,
        redact: false,
        images: None,
        force: false,
    };
    export(&mut Ui::behind(global, Box::new(|_, _| false)), global, &args)?;
    Ok(format!("exported {id}@{n} to {}", dir.display()))
}

pub(crate) fn export(ui: &mut Ui, global: &Global, args: &ExportArgs) -> Result<(), CommandError> {
    let since = args.since.as_deref().map(when::when).transpose()?;
    let library = Library::open(ui, global)?;
    let (scope, spot) = scope(ui, &library, args.scope.as_deref())?;
    let survey = library.survey(ui, &scope);
    let wanted = Wanted { spot, active_only: args.paths == Paths::Active, since };
    let plan = Plan::new(&survey, &scope, &wanted, args.format.ending(), library.rule)?;
    let count = plan.transcripts();
    if count == 0 {
        return Err(CommandError::nothing("there is no conversation to export")
            .hinted("`ramus conversations` lists what there is"));
    }
    let exporter = Exporter::new(&plan, args);
    match &args.out {
        Some(dir) => to_folder(ui, args, &exporter, &Folder::open(dir, args.force)?),
        None if count == 1 => to_stdout(ui, &exporter),
        None => Err(CommandError::user(format!("{count} transcripts need a directory"))
            .hinted("give one with `--out DIR`, or one conversation such as `latest@1`")),
    }
}

fn scope(
    ui: &mut Ui,
    library: &Library,
    text: Option<&str>,
) -> Result<(Scope, Spot), CommandError> {
    if let Some(text) = text.filter(|text| text.contains([':', '@']))
        && let Ok((found, spot)) = library.address(ui, text)
    {
        return Ok((Scope::Session(Box::new(found)), spot));
    }
    Ok((library.scope(ui, text)?, Spot::Resume))
}

fn to_stdout(ui: &mut Ui, exporter: &Exporter<'_>) -> Result<(), CommandError> {
    let mut draft = Draft::new(&std::env::temp_dir());
    let written = exporter.only(&mut draft)?;
    if ui.json {
        return summary(ui, exporter, vec![written]);
    }
    draft.copy(written.head.as_bytes(), ui.out())?;
    report(ui, exporter);
    Ok(())
}

fn to_folder(
    ui: &mut Ui,
    args: &ExportArgs,
    exporter: &Exporter<'_>,
    folder: &Folder,
) -> Result<(), CommandError> {
    let bar = ui.progress(exporter.plan.bytes());
    let written = exporter.all(folder, &|bytes| bar.inc(bytes));
    bar.finish_and_clear();
    let written = written?;
    if let Some((name, text)) = site::index(args.format, &written) {
        folder.write(name, text.as_bytes())?;
    }
    if ui.json {
        return summary(ui, exporter, written);
    }
    let bytes: u64 = written.iter().map(|path| path.bytes).sum();
    let what = if written.len() == 1 { "transcript" } else { "transcripts" };
    let told = format!(
        "Wrote {} {what}, {}, to {}",
        crate::table::number(written.len() as u64),
        crate::table::bytes(bytes),
        folder.dir.display()
    );
    ui.say(&Line::plain(&told));
    report(ui, exporter);
    Ok(())
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

fn summary(
    ui: &mut Ui,
    exporter: &Exporter<'_>,
    written: Vec<path::Written>,
) -> Result<(), CommandError> {
    let transcripts: Vec<ExportedPath> = written
        .into_iter()
        .map(|path| ExportedPath {
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
        })
        .collect();
    let redactions = exporter.redactions();
    ui.json(&Answer::new("ramus.export/1", Exported { transcripts, redactions }))
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
