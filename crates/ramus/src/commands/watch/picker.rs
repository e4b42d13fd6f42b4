//! Lets the user choose what to watch from a numbered list with a filter.

use ramus_app::survey::{ProjectSurvey, SurveyedFile};
use ramus_app::{Scope, SurveyDetail};
use ramus_core::branches::BranchStatus;
use ramus_core::ids::ShortIds;
use ramus_core::title::{branch_title, session_title};
use ramus_render::layout::truncate_line;
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::project::project_name;
use crate::ui::Ui;

/// Whether there is a person to ask.
pub(super) fn can_ask(ui: &Ui) -> bool {
    ui.terminal && !ui.json && ui.can_ask()
}

/// One thing to choose.
struct PickerRow {
    line: Line,
    address: Option<String>,
}

/// How many rows are shown at once.
const MAX_ROWS: usize = 20;

/// Asks for a project, then for its sessions or one conversation; `None`: nothing was chosen.
///
/// An empty list means everything.
pub(super) fn pick_scope(
    ui: &mut Ui,
    global: &Global,
) -> Result<Option<Vec<String>>, CommandError> {
    let Ok(workspace) = env::command_workspace(ui, global) else { return Ok(Some(Vec::new())) };
    let short_ids = workspace.short_ids();
    let survey = workspace.survey_scope(Scope::All, SurveyDetail::Digests);
    let mut projects: Vec<&ProjectSurvey> = survey
        .projects
        .iter()
        .filter(|project| visible_sessions(project, global.all).next().is_some())
        .collect();
    projects.sort_by_key(|project| std::cmp::Reverse(last_active(project)));
    if projects.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let clock = LocalClock::new();
    let mut rows = vec![PickerRow { line: Line::plain("everything"), address: None }];
    rows.extend(projects.iter().map(|project| project_row(project, &clock, global.all)));
    let Some(chosen) = choose_row(ui, "Watch which project?", &rows)? else { return Ok(None) };
    let Some(project) = chosen.checked_sub(1).map(|at| projects[at]) else {
        return Ok(Some(Vec::new()));
    };
    let rows = session_rows(project, &clock, &short_ids, global.all);
    let Some(chosen) = choose_row(ui, "Which session?", &rows)? else { return Ok(None) };
    let address = rows[chosen].address.clone();
    Ok(Some(vec![address.unwrap_or_else(|| project.name.clone())]))
}

fn visible_sessions(project: &ProjectSurvey, all: bool) -> impl Iterator<Item = &SurveyedFile> {
    project.sessions.iter().filter(move |session| all || !session.digest.class.is_hidden())
}

fn last_active(project: &ProjectSurvey) -> Option<ramus_core::time::Time> {
    project.sessions.iter().filter_map(|session| session.digest.facts.last_active).max()
}

fn project_row(project: &ProjectSurvey, clock: &LocalClock, all: bool) -> PickerRow {
    let mut line = Line::plain(&project_name(project.path.as_deref(), &project.name));
    let count = visible_sessions(project, all).count();
    line.push(&format!("  {count} session{}", if count == 1 { "" } else { "s" }), Label::Dim);
    if let Some(time) = last_active(project) {
        line.push(&format!("  {}", clock.short_time(time)), Label::Time);
    }
    PickerRow { line, address: Some(project.name.clone()) }
}

fn session_rows(
    project: &ProjectSurvey,
    clock: &LocalClock,
    short_ids: &ShortIds,
    all: bool,
) -> Vec<PickerRow> {
    let mut sessions: Vec<&SurveyedFile> = visible_sessions(project, all).collect();
    sessions.sort_by_key(|session| std::cmp::Reverse(session.digest.facts.last_active));
    let mut rows = vec![PickerRow { line: Line::plain("all its sessions"), address: None }];
    for session in sessions {
        let (id, digest) = (&session.file.id, &session.digest);
        let title = session_title(digest, &project.summaries).unwrap_or(id);
        let mut line = Line::plain(title);
        line.push(&format!("  {}", short_ids.shorten_id(id)), Label::Id);
        if let Some(time) = digest.facts.last_active {
            line.push(&format!("  {}", clock.short_time(time)), Label::Time);
        }
        rows.push(PickerRow { line, address: Some(id.clone()) });
        if digest.conversations.len() < 2 {
            continue;
        }
        for (n, conversation) in (1..).zip(&digest.conversations) {
            let title = branch_title(digest, Some(n), &project.summaries);
            let (mark, label) = match (conversation.resumes, conversation.status) {
                (true, _) => ("◉", Label::Active),
                (_, BranchStatus::Active) => ("●", Label::Active),
                (_, BranchStatus::Abandoned) => ("○", Label::Abandoned),
            };
            let line = Line::plain("   ")
                .with(&format!("{mark} @{n} "), label)
                .with(title.unwrap_or_default(), Label::Plain);
            rows.push(PickerRow { line, address: Some(format!("{id}@{n}")) });
        }
    }
    rows
}

/// Shows rows and asks for one. `None` if the user chose none.
fn choose_row(
    ui: &mut Ui,
    question: &str,
    rows: &[PickerRow],
) -> Result<Option<usize>, CommandError> {
    let mut words = String::new();
    loop {
        let fits = |row: &PickerRow| {
            let text = row.line.to_text().to_lowercase();
            words.split_whitespace().all(|word| text.contains(word))
        };
        let found: Vec<usize> = (0..rows.len()).filter(|at| fits(&rows[*at])).collect();
        ui.print_line(&Line::new(question, Label::Heading))?;
        for at in found.iter().take(MAX_ROWS) {
            let mut line = Line::new(&format!("{at:>4}  "), Label::Id);
            line.append(&rows[*at].line);
            ui.print_line(&truncate_line(&line, ui.width))?;
        }
        if found.len() > MAX_ROWS {
            let more =
                format!("      … {} more; type words to narrow the list", found.len() - MAX_ROWS);
            ui.print_line(&Line::new(&more, Label::Dim))?;
        }
        ui.output_writer().flush()?;
        let Some(answer) = ui.ask_line("Number, or words to filter [0]: ") else { return Ok(None) };
        match (answer.parse::<usize>(), &found[..]) {
            _ if answer.is_empty() && words.is_empty() => return Ok(Some(0)),
            (Ok(number), _) if number < rows.len() => return Ok(Some(number)),
            (_, [only]) if answer.is_empty() => return Ok(Some(*only)),
            _ => words = answer.to_lowercase(),
        }
        let none = !rows.iter().any(|row| {
            let text = row.line.to_text().to_lowercase();
            words.split_whitespace().all(|word| text.contains(word))
        });
        if none {
            ui.print_line(&Line::new("No matches.", Label::Warning))?;
            words.clear();
        }
    }
}
