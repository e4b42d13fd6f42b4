mod charts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use ramus_app::survey::{Counted, Survey, count};
use ramus_app::{Scope, SurveyDetail};
use ramus_core::name::short_id;
use ramus_render::json::{self, Answer};
use ramus_render::layout::wrap;
use ramus_render::pictures::{Picture, lines as draw, page};
use ramus_render::{Label, Line, text};
use ramus_store::new::write_all;

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::table::{bytes, number};
use crate::ui::Ui;

/// Count what there is: records, forks, branches, agents
///
/// Every number about branches is given twice: by ramus's rules, which tell real forks from
/// recording artefacts, and raw, by parent links alone.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus stats\n  ramus stats . --json\n  ramus stats latest --charts\n  ramus stats --html stats.html"
)]
pub(crate) struct StatsArgs {
    /// A project or a session [default: everything]
    #[arg(allow_hyphen_values = true)]
    scope: Option<String>,
    /// Draw pictures too: tools, hours, context, the longest and the most complex sessions
    #[arg(long)]
    charts: bool,
    /// Write the pictures as a page of their own (`-`: to stdout)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(crate) fn stats(ui: &mut Ui, global: &Global, args: &StatsArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, args.scope.as_deref().unwrap_or_default())?;
    let scope = workspace.scope(args.scope.as_deref())?;
    let drawn = args.charts || args.html.is_some();
    let detail = match drawn {
        true => SurveyDetail::Activity,
        false => SurveyDetail::Digests,
    };
    let survey = workspace.survey_scope(scope.clone(), detail);
    let stats = told(&survey, &scope);
    let pictures = match drawn {
        true => charts::pictures(&survey, &scope, &stats, &TimeZone::system()),
        false => Vec::new(),
    };
    if let Some(file) = &args.html {
        let page = html(args.scope.as_deref(), &stats, &pictures);
        if file.as_os_str() == "-" && ui.json {
            let error = CommandError::user("`--html -` and `--json` both write to stdout");
            return Err(error.hinted("give `--html` a file"));
        }
        if file.as_os_str() == "-" {
            return Ok(ui.out().write_all(page.as_bytes())?);
        }
        write_page(file, page)?;
    }
    ui.let_go(survey);
    if ui.json {
        return ui.json(&Answer::new("ramus.stats/1", stats));
    }
    ui.page();
    for line in lines(&stats) {
        for line in wrap(&line, ui.width, NOTES) {
            ui.line(&line)?;
        }
    }
    if args.charts {
        ui.line(&Line::default())?;
        for line in draw(&pictures, ui.width) {
            ui.line(&line)?;
        }
    }
    if let Some(file) = &args.html {
        ui.say(&Line::plain(&format!("The pictures are in {}", file.display())));
    }
    Ok(())
}

fn html(scope: Option<&str>, stats: &json::Stats, pictures: &[Picture]) -> String {
    let title = format!("Statistics of {}", scope.unwrap_or("all projects"));
    let about = format!(
        "{} in {}, {}, {}",
        text::count(stats.sessions as usize, "session"),
        text::count(stats.projects, "project"),
        text::count(stats.records as usize, "record"),
        bytes(stats.bytes),
    );
    page(&title, &about, pictures)
}

/// Writes the page, if nothing else is there.
fn write_page(file: &Path, page: String) -> Result<(), CommandError> {
    let (dir, name) = (file.parent().unwrap_or(Path::new("")), file.file_name());
    let name = name.ok_or_else(|| CommandError::user(format!("{} is no file", file.display())))?;
    write_all(dir, &[(name.to_string_lossy().into_owned(), page.into_bytes())]).map_err(|error| {
        let exists = error.source.kind() == std::io::ErrorKind::AlreadyExists;
        let error = CommandError::from(error);
        if exists {
            error.hinted("nothing is written over; give another name, or delete it first")
        } else {
            error
        }
    })
}

fn told(survey: &Survey, scope: &Scope) -> json::Stats {
    let Counted { stats, most_complex } = count(&survey.projects, |file| scope.has(file));
    let most = most_complex.map(|most| json::most_complex(most.id, most.title, &most.complexity));
    json::stats(&stats, survey.projects.len(), most)
}

fn lines(stats: &json::Stats) -> Vec<Line> {
    let mut out = Out(Vec::new());
    out.heading("History");
    out.row("projects", stats.projects as u64, "");
    out.row(
        "sessions",
        stats.sessions,
        &format!("in {} files, {}", number(stats.files), bytes(stats.bytes)),
    );
    out.row("records", stats.records, &share_of_types(stats));
    out.row("messages", stats.messages, "");
    if stats.damaged > 0 {
        out.row("damaged lines", stats.damaged, "`ramus check` shows where");
    }
    out.heading("Branches");
    out.row(
        "conversations",
        stats.conversations,
        &format!("{} active, {} abandoned", number(stats.active), number(stats.abandoned)),
    );
    out.row("unique paths", stats.unique_paths, "without what resumed and forked sessions repeat");
    out.row("forks", stats.forks, &counted(&stats.forks_by_kind));
    out.row("drafts", stats.drafts, "ways that were never answered");
    out.row(
        "sessions with forks",
        stats.sessions_with_forks,
        &branching(stats.largest_branching, stats.mean_branching),
    );
    out.row("not forks", stats.artefacts.values().sum(), &counted(&stats.artefacts));
    out.heading("By parent links alone");
    out.row(
        "forks",
        stats.raw.forks,
        &branching(stats.raw.largest_branching, stats.raw.mean_branching),
    );
    out.row("leaves", stats.raw.leaves, &format!("from {} roots", number(stats.raw.roots)));
    out.row(
        "sessions with forks",
        stats.raw.sessions_with_forks,
        &format!("{} linear", number(stats.raw.linear_sessions)),
    );
    out.heading("Shape");
    for (flow, count) in &stats.flow {
        out.row(flow, *count, "");
    }
    out.row("compactions", stats.compactions, "");
    out.row("agents", stats.agents.values().sum(), &counted(&stats.agents));
    out.row("sidechain records", stats.sidechain_records, "");
    if let Some(most) = &stats.most_complex {
        let title = most.title.as_deref().unwrap_or("untitled");
        let id = short_id(&most.session);
        let parts: Vec<String> = most
            .parts
            .iter()
            .filter(|(_, n)| **n > 0)
            .map(|(part, n)| format!("{part} {n}"))
            .collect();
        out.row(
            "most complex",
            u64::from(most.score),
            &format!("{id} “{title}”: {}", parts.join(" + ")),
        );
    }
    out.0
}

/// Where the notes behind the numbers begin.
const NOTES: usize = 36;

struct Out(Vec<Line>);

impl Out {
    fn heading(&mut self, text: &str) {
        if !self.0.is_empty() {
            self.0.push(Line::default());
        }
        self.0.push(Line::new(text, Label::Heading));
    }

    fn row(&mut self, name: &str, value: u64, note: &str) {
        let line = Line::plain(&format!("  {name:<20}{:>12}", number(value)));
        self.0.push(line.with("  ", Label::Plain).with(note, Label::Dim));
    }
}

fn counted(counts: &BTreeMap<&'static str, u64>) -> String {
    let parts: Vec<String> = counts
        .iter()
        .filter(|(_, n)| **n > 0)
        .map(|(name, n)| format!("{} {name}", number(*n)))
        .collect();
    parts.join(", ")
}

fn branching(largest: u32, mean: f64) -> String {
    if largest == 0 { String::new() } else { format!("up to {largest} ways, {mean:.1} on average") }
}

fn share_of_types(stats: &json::Stats) -> String {
    let mut types: Vec<_> = stats.by_type.iter().collect();
    types.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let share = |n: u64| 100.0 * n as f64 / stats.records.max(1) as f64;
    let parts: Vec<String> =
        types.iter().take(4).map(|(name, n)| format!("{name} {:.0}%", share(**n))).collect();
    parts.join(", ")
}
