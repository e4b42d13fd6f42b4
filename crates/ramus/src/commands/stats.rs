mod charts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use ramus_app::survey::{Survey, SurveyCounts, count_survey};
use ramus_app::{Scope, SurveyDetail};
use ramus_core::ids::ShortIds;
use ramus_render::json::{self, Answer};
use ramus_render::layout::wrap_line;
use ramus_render::report_charts::{ReportChart, chart_document, draw_charts as draw};
use ramus_render::text::{agent_class_name, artefact_name, shape_name};
use ramus_render::{Label, Line, text};
use ramus_store::new_files::write_new_files;

use crate::args::Global;
use crate::completion;
use crate::env;
use crate::error::CommandError;
use crate::scope;
use crate::table::{bytes, number};
use crate::ui::Ui;

/// Count records, forks, branches and agents
///
/// Forks are counted twice. The first count leaves out recording artefacts, such as parallel tool calls
/// and hooks. The count named "raw" takes every record with several children as a fork.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus stats
  ramus stats teapot --json
  ramus stats latest --charts
  ramus stats --html stats.html")]
pub(crate) struct StatsArgs {
    /// A project or a session [default: the project of the current directory, else everything]
    #[arg(allow_hyphen_values = true, add = completion::scopes())]
    scope: Option<String>,
    /// Add charts: tools, hours, context, longest and most complex sessions
    #[arg(long)]
    charts: bool,
    /// Write the charts to an HTML file (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(crate) fn stats(ui: &mut Ui, global: &Global, args: &StatsArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, args.scope.as_deref().unwrap_or_default())?;
    let asked = args.scope.as_deref();
    let scope = scope::resolve_scope(&workspace, asked)?;
    let answer_scope = scope::answer_scope(&workspace, &scope, asked);
    scope::print_scope_note(ui, &workspace, asked);
    let drawn = args.charts || args.html.is_some();
    let detail = match drawn {
        true => SurveyDetail::Activity,
        false => SurveyDetail::Digests,
    };
    let short_ids = workspace.short_ids();
    let survey = workspace.survey_scope(scope.clone(), detail);
    let stats = stats_json(&survey, &scope);
    let pictures = match drawn {
        true => charts::stats_charts(&survey, &scope, &stats, &short_ids, &TimeZone::system()),
        false => Vec::new(),
    };
    if let Some(file) = &args.html {
        let current = workspace.current_project().filter(|_| asked.is_none());
        let current = current.map(|current| scope::current_name(&current));
        let page = stats_html(asked.or(current.as_deref()), &stats, &pictures);
        if file.as_os_str() == "-" && ui.json {
            let error = CommandError::user_error("`--html -` and `--json` both write to stdout");
            return Err(error.with_hint("give --html a file name"));
        }
        if file.as_os_str() == "-" {
            return Ok(ui.output_writer().write_all(page.as_bytes())?);
        }
        write_html(file, page)?;
    }
    ui.let_go(survey);
    if ui.json {
        return ui.print_json(&Answer::new("ramus.stats/1", stats).with_scope(answer_scope));
    }
    ui.start_pager();
    for line in stats_lines(&stats, &short_ids) {
        for line in wrap_line(&line, ui.width, NOTE_COLUMN) {
            ui.print_line(&line)?;
        }
    }
    if args.charts {
        ui.print_line(&Line::default())?;
        for line in draw(&pictures, ui.width) {
            ui.print_line(&line)?;
        }
    }
    if let Some(file) = &args.html {
        ui.print_message(&Line::plain(&format!("Wrote charts to {}", file.display())));
    }
    Ok(())
}

fn stats_html(scope: Option<&str>, stats: &json::Stats, pictures: &[ReportChart]) -> String {
    let title = format!("Statistics of {}", scope.unwrap_or("all projects"));
    let about = format!(
        "{} in {}, {}, {}",
        text::count_noun(stats.sessions as usize, "session"),
        text::count_noun(stats.projects, "project"),
        text::count_noun(stats.records as usize, "record"),
        bytes(stats.bytes),
    );
    chart_document(&title, &about, pictures)
}

/// Writes the HTML file unless something else exists at its path.
fn write_html(file: &Path, page: String) -> Result<(), CommandError> {
    let (dir, name) = (file.parent().unwrap_or(Path::new("")), file.file_name());
    let name = name.ok_or_else(|| {
        CommandError::user_error(format!("{} is not a regular file", file.display()))
    })?;
    write_new_files(dir, &[(name.to_string_lossy().into_owned(), page.into_bytes())]).map_err(
        |error| {
            let exists = error.source.kind() == std::io::ErrorKind::AlreadyExists;
            let error = CommandError::from(error);
            if exists { error.with_hint("choose another name, or delete it first") } else { error }
        },
    )
}

fn stats_json(survey: &Survey, scope: &Scope) -> json::Stats {
    let SurveyCounts { stats, most_complex } =
        count_survey(&survey.projects, |file| scope.includes_file(file));
    let most =
        most_complex.map(|most| json::from_most_complex(most.id, most.title, &most.complexity));
    json::from_stats(&stats, survey.projects.len(), most)
}

fn stats_lines(stats: &json::Stats, short_ids: &ShortIds) -> Vec<Line> {
    let mut out = StatsOutput(Vec::new());
    out.push_heading("History");
    out.push_row("projects", stats.projects as u64, "");
    out.push_row(
        "sessions",
        stats.sessions,
        &format!("in {} files, {}", number(stats.files), bytes(stats.bytes)),
    );
    out.push_row("records", stats.records, &share_of_types(stats));
    out.push_row("messages", stats.messages, "");
    if stats.damaged > 0 {
        out.push_row("damaged lines", stats.damaged, "run `ramus check` for details");
    }
    out.push_heading("Branches");
    out.push_row(
        "conversations",
        stats.conversations,
        &format!("{} active, {} abandoned", number(stats.active), number(stats.abandoned)),
    );
    out.push_row(
        "unique paths",
        stats.unique_paths,
        "copies in resumed and forked sessions not counted",
    );
    out.push_row("forks", stats.forks, &count_list(&stats.forks_by_kind, |kind| kind));
    out.push_row("drafts", stats.drafts, "branches without a reply");
    out.push_row(
        "sessions with forks",
        stats.sessions_with_forks,
        &branching_note(stats.largest_branching, stats.mean_branching),
    );
    out.push_row(
        "not forks",
        stats.artefacts.values().sum(),
        &count_list(&stats.artefacts, artefact_name),
    );
    out.push_heading("By parent links alone");
    out.push_row(
        "forks",
        stats.raw.forks,
        &branching_note(stats.raw.largest_branching, stats.raw.mean_branching),
    );
    out.push_row("leaves", stats.raw.leaves, &format!("from {} roots", number(stats.raw.roots)));
    out.push_row(
        "sessions with forks",
        stats.raw.sessions_with_forks,
        &format!("{} linear", number(stats.raw.linear_sessions)),
    );
    out.push_heading("Shape");
    for (flow, count) in &stats.flow {
        out.push_row(shape_name(flow), *count, "");
    }
    out.push_row("compactions", stats.compactions, "");
    out.push_row(
        "agents",
        stats.agents.values().sum(),
        &count_list(&stats.agents, agent_class_name),
    );
    out.push_row("sub-agent records", stats.sidechain_records, "");
    if let Some(most) = &stats.most_complex {
        let title = most.title.as_deref().unwrap_or("untitled");
        let id = short_ids.shorten_id(&most.session);
        let parts: Vec<String> = most
            .parts
            .iter()
            .filter(|(_, n)| **n > 0)
            .map(|(part, n)| format!("{part} {n}"))
            .collect();
        out.push_row(
            "most complex",
            u64::from(most.score),
            &format!("{id} “{title}”: {}", parts.join(" + ")),
        );
    }
    out.0
}

/// The column in which the notes after the numbers begin.
const NOTE_COLUMN: usize = 36;

struct StatsOutput(Vec<Line>);

impl StatsOutput {
    fn push_heading(&mut self, text: &str) {
        if !self.0.is_empty() {
            self.0.push(Line::default());
        }
        self.0.push(Line::new(text, Label::Heading));
    }

    fn push_row(&mut self, name: &str, value: u64, note: &str) {
        let line = Line::plain(&format!("  {name:<20}{:>12}", number(value)));
        self.0.push(line.with("  ", Label::Plain).with(note, Label::Dim));
    }
}

fn count_list(counts: &BTreeMap<&'static str, u64>, name: fn(&str) -> &str) -> String {
    let parts: Vec<String> = counts
        .iter()
        .filter(|(_, n)| **n > 0)
        .map(|(stable, n)| format!("{} {}", number(*n), name(stable)))
        .collect();
    parts.join(", ")
}

fn branching_note(largest: u32, mean: f64) -> String {
    if largest == 0 {
        String::new()
    } else {
        format!("up to {largest} branches, {mean:.1} on average")
    }
}

fn share_of_types(stats: &json::Stats) -> String {
    let mut types: Vec<_> = stats.by_type.iter().collect();
    types.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let share = |n: u64| 100.0 * n as f64 / stats.records.max(1) as f64;
    let parts: Vec<String> =
        types.iter().take(4).map(|(name, n)| format!("{name} {:.0}%", share(**n))).collect();
    parts.join(", ")
}
