//! Statistics as pictures.

use std::collections::{BTreeMap, HashSet};

use jiff::tz::TimeZone;
use ramus_app::Scope;
use ramus_app::survey::{ProjectSurvey, Survey, SurveyedFile};
use ramus_core::history::{AgentClass, SessionClass};
use ramus_core::ids::{IdHash, ShortIds};
use ramus_core::lineage::Lineage;
use ramus_core::stats::{Complexity, Descent};
use ramus_core::time::Time;
use ramus_core::title::session_title;
use ramus_render::json;
use ramus_render::report_charts::{BarRow, ReportChart};
use ramus_render::text::{agent_class_name, shape_name};

use crate::table::number;

/// How many rows a ranking has.
const RANKING_ROWS: usize = 12;

/// Makes all pictures of a scope.
pub(super) fn stats_charts(
    survey: &Survey,
    scope: &Scope,
    stats: &json::Stats,
    short_ids: &ShortIds,
    zone: &TimeZone,
) -> Vec<ReportChart> {
    let files: Vec<(&ProjectSurvey, &SurveyedFile)> = survey
        .projects
        .iter()
        .flat_map(|project| {
            let all = project.sessions.iter().chain(&project.agents).chain(&project.journals);
            all.filter(|file| scope.includes_file(file)).map(move |file| (project, file))
        })
        .collect();
    let sessions: Vec<(&ProjectSurvey, &SurveyedFile)> = files
        .iter()
        .copied()
        .filter(|(_, file)| {
            file.parent_session().is_none() && file.digest.class == SessionClass::Conversation
        })
        .collect();
    let mut pictures = vec![types_chart(stats), branching_chart(stats), shapes_chart(stats)];
    let tools = tool_times(&files);
    pictures.push(tool_use(&tools));
    pictures.push(tool_time(&tools));
    pictures.push(ReportChart::Week {
        title: "Busiest hours".into(),
        hours: hours_by_weekday(&files, zone),
    });
    pictures.push(longest_chart(&sessions, short_ids));
    pictures.push(complexity_chart(&sessions, short_ids));
    pictures.extend(context_charts(&sessions, short_ids));
    pictures
        .retain(|picture| !matches!(picture, ReportChart::Bars { rows, .. } if rows.is_empty()));
    pictures
}

fn bar_row(name: impl Into<String>, value: u64, text: String) -> BarRow {
    BarRow { name: name.into(), value: value as f64, text }
}

fn types_chart(stats: &json::Stats) -> ReportChart {
    let mut types: Vec<(&String, u64)> = stats.by_type.iter().map(|(name, n)| (name, *n)).collect();
    types.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let share = |n: u64| 100.0 * n as f64 / stats.records.max(1) as f64;
    let rows = types
        .iter()
        .take(RANKING_ROWS)
        .map(|(name, n)| bar_row(*name, *n, format!("{}  {:.1}%", number(*n), share(*n))));
    ReportChart::Bars {
        title: "Records by type".into(),
        note: format!("{} in all", number(stats.records)),
        rows: rows.collect(),
    }
}

fn branching_chart(stats: &json::Stats) -> ReportChart {
    let forks = stats.forks_by_kind.iter().map(|(kind, n)| (format!("{kind} forks"), *n));
    let more = [
        ("active conversations".to_owned(), stats.active),
        ("abandoned conversations".to_owned(), stats.abandoned),
        ("drafts".to_owned(), stats.drafts),
        ("compactions".to_owned(), stats.compactions),
    ];
    let rows = forks.chain(more).map(|(name, n)| bar_row(name, n, number(n)));
    let note = format!(
        "{} of {} sessions have forks",
        number(stats.sessions_with_forks),
        number(stats.sessions)
    );
    ReportChart::Bars { title: "Branching".into(), note, rows: rows.collect() }
}

fn shapes_chart(stats: &json::Stats) -> ReportChart {
    let flows = stats.flow.iter().map(|(flow, n)| (format!("sessions: {}", shape_name(flow)), *n));
    let agents =
        stats.agents.iter().map(|(class, n)| (format!("agents: {}", agent_class_name(class)), *n));
    let rows =
        flows.chain(agents).filter(|(_, n)| *n > 0).map(|(name, n)| bar_row(name, n, number(n)));
    let note = format!("{} records of sub-agents", number(stats.sidechain_records));
    ReportChart::Bars { title: "Sessions and sub-agents".into(), note, rows: rows.collect() }
}

#[derive(Default)]
struct ToolTimes {
    calls: u64,
    answered: u64,
    failed: u64,
    millis: Vec<u64>,
}

impl ToolTimes {
    /// Returns the time that this share of the calls took at most.
    fn time_quantile(&self, share: f64) -> u64 {
        let last = self.millis.len().saturating_sub(1);
        self.millis.get((last as f64 * share).round() as usize).copied().unwrap_or(0)
    }
}

/// Counts the uses of each tool; a call that was copied along with its session once.
fn tool_times<'a>(files: &[(&ProjectSurvey, &'a SurveyedFile)]) -> Vec<(&'a str, ToolTimes)> {
    let mut seen: HashSet<IdHash> = HashSet::new();
    let mut tools: BTreeMap<&str, ToolTimes> = BTreeMap::new();
    for activity in files.iter().filter_map(|(_, file)| file.activity.as_ref()) {
        for call in activity.calls.iter().filter(|call| seen.insert(call.id)) {
            let tool = tools.entry(&activity.tools[usize::from(call.tool)]).or_default();
            tool.calls += 1;
            tool.answered += u64::from(call.failed.is_some());
            tool.failed += u64::from(call.failed == Some(true));
            tool.millis.extend(call.millis);
        }
    }
    let mut tools: Vec<(&str, ToolTimes)> = tools.into_iter().collect();
    tools.iter_mut().for_each(|(_, tool)| tool.millis.sort_unstable());
    tools.sort_by_key(|(_, tool)| std::cmp::Reverse(tool.calls));
    tools.truncate(RANKING_ROWS);
    tools
}

fn tool_use(tools: &[(&str, ToolTimes)]) -> ReportChart {
    let text = |tool: &ToolTimes| {
        let rate = 100.0 * tool.failed as f64 / tool.answered.max(1) as f64;
        let failed = if tool.failed > 0 { format!("  {rate:.1}% failed") } else { String::new() };
        format!("{}{failed}", number(tool.calls))
    };
    let rows = tools.iter().map(|(name, tool)| bar_row(*name, tool.calls, text(tool))).collect();
    ReportChart::Bars { title: "Tools".into(), note: "calls and failures".into(), rows }
}

fn tool_time(tools: &[(&str, ToolTimes)]) -> ReportChart {
    let timed = tools.iter().filter(|(_, tool)| !tool.millis.is_empty());
    let rows = timed.map(|(name, tool)| {
        let [half, most] = [0.5, 0.9].map(|share| tool.time_quantile(share));
        bar_row(*name, half, format!("{}  p90 {}", format_seconds(half), format_seconds(most)))
    });
    ReportChart::Bars {
        title: "Tool durations".into(),
        note: "median of all calls, including permission prompts".into(),
        rows: rows.collect(),
    }
}

fn format_seconds(millis: u64) -> String {
    match millis {
        0..10_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        10_000..120_000 => format!("{} s", millis / 1000),
        _ => format!("{} min", millis / 60_000),
    }
}

fn hours_by_weekday(
    files: &[(&ProjectSurvey, &SurveyedFile)],
    zone: &TimeZone,
) -> Box<[[u64; 24]; 7]> {
    let mut hours = Box::new([[0; 24]; 7]);
    for activity in files.iter().filter_map(|(_, file)| file.activity.as_ref()) {
        for (hour, count) in &activity.hours {
            let time = Time::from_millis(hour.saturating_mul(3_600_000)).to_timestamp();
            let local = zone.to_datetime(time);
            let day = local.date().weekday().to_monday_zero_offset() as usize;
            hours[day][local.hour() as usize] += u64::from(*count);
        }
    }
    hours
}

/// Number of characters of a title that identify a session.
const TITLE_CHARS: usize = 48;

fn session_name((project, file): &(&ProjectSurvey, &SurveyedFile), short_ids: &ShortIds) -> String {
    let id = short_ids.shorten_id(&file.file.id);
    let title = session_title(&file.digest, &project.summaries).unwrap_or("untitled");
    match title.char_indices().nth(TITLE_CHARS) {
        Some((end, _)) => format!("{id} {}…", title[..end].trim_end()),
        None => format!("{id} {title}"),
    }
}

fn longest_chart(
    sessions: &[(&ProjectSurvey, &SurveyedFile)],
    short_ids: &ShortIds,
) -> ReportChart {
    let mut ranked: Vec<_> =
        sessions.iter().map(|session| (session, session.1.digest.messages)).collect();
    ranked.sort_by_key(|(_, messages)| std::cmp::Reverse(*messages));
    let rows = ranked.iter().take(RANKING_ROWS).map(|(session, messages)| {
        let facts = &session.1.digest.facts;
        let span =
            facts.started.zip(facts.last_active).map_or(0, |(a, b)| b.as_millis() - a.as_millis());
        let text = format!("{} messages  {}", number(u64::from(*messages)), format_duration(span));
        bar_row(session_name(session, short_ids), u64::from(*messages), text)
    });
    ReportChart::Bars {
        title: "Longest sessions".into(),
        note: "by messages".into(),
        rows: rows.collect(),
    }
}

fn format_duration(millis: i64) -> String {
    match millis / 60_000 {
        minutes @ 0..120 => format!("{minutes} min"),
        minutes @ 120..2880 => format!("{} h", minutes / 60),
        minutes => format!("{} days", minutes / 1440),
    }
}

fn complexity_chart(
    sessions: &[(&ProjectSurvey, &SurveyedFile)],
    short_ids: &ShortIds,
) -> ReportChart {
    let entries: Vec<_> = sessions.iter().map(|(_, session)| session.lineage_entry()).collect();
    let lineage = Lineage::new(&entries);
    let mut ranked: Vec<_> = sessions
        .iter()
        .enumerate()
        .map(|(index, session)| {
            let agents = session.0.agents_of(&session.1.file.id);
            let agents = agents
                .filter(|agent| agent.digest.agent_class != AgentClass::Warmup)
                .count() as u32;
            let kinds = lineage.origins_of(index).iter().map(|(_, kind)| *kind);
            let descent = Descent::new(&session.1.digest, kinds);
            (session, Complexity::new(&session.1.digest, agents, descent))
        })
        .filter(|(_, complexity)| complexity.score() > 0)
        .collect();
    ranked.sort_by_key(|(_, complexity)| std::cmp::Reverse(complexity.score()));
    let rows = ranked.iter().take(RANKING_ROWS).map(|(session, complexity)| {
        let parts = complexity.named_parts();
        let parts = parts.iter().filter(|(_, n)| *n > 0);
        let parts: Vec<String> = parts.map(|(part, n)| format!("{part} {n}")).collect();
        let score = complexity.score();
        bar_row(
            session_name(session, short_ids),
            u64::from(score),
            format!("{score} = {}", parts.join(" + ")),
        )
    });
    ReportChart::Bars {
        title: "Most complex sessions".into(),
        note: "score and its parts".into(),
        rows: rows.collect(),
    }
}

/// How many sessions show their context.
const CONTEXT_CHARTS: usize = 3;

fn context_charts(
    sessions: &[(&ProjectSurvey, &SurveyedFile)],
    short_ids: &ShortIds,
) -> Vec<ReportChart> {
    let mut ranked: Vec<_> = sessions
        .iter()
        .filter_map(|session| Some((session, session.1.activity.as_deref()?)))
        .filter(|(_, activity)| activity.context.len() > 1)
        .collect();
    ranked.sort_by_key(|(_, activity)| {
        std::cmp::Reverse((activity.compactions.len(), activity.context.iter().max().copied()))
    });
    let picture = |(session, activity): &(
        &(&ProjectSurvey, &SurveyedFile),
        &ramus_core::activity::Activity,
    )| {
        let compactions = activity.compactions.len();
        let marked = match compactions {
            0 => String::new(),
            1 => ", compacted once".to_owned(),
            n => format!(", compacted {n} times"),
        };
        ReportChart::Series {
            title: format!("Context of {}", session_name(session, short_ids)),
            note: format!(
                "tokens before each of {} replies{marked}",
                number(activity.context.len() as u64)
            ),
            values: activity.context.clone(),
            marks: activity.compactions.clone(),
        }
    };
    ranked.iter().take(CONTEXT_CHARTS).map(picture).collect()
}
