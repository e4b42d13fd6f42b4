//! Choosing what to watch: a numbered list that words make shorter.

use ramus_app::survey::{ProjectSurvey, Surveyed};
use ramus_app::{Scope, SurveyDetail};
use ramus_core::branches::Status;
use ramus_core::name::short_id;
use ramus_core::title::{branch_title, session_title};
use ramus_render::layout::truncate;
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::env::{self, Clock};
use crate::error::CommandError;
use crate::project::project_name;
use crate::ui::Ui;

/// Whether there is a person to ask.
pub(super) fn can_ask(ui: &Ui) -> bool {
    ui.terminal && !ui.json && ui.can_ask()
}

/// One thing to choose.
struct Row {
    line: Line,
    address: Option<String>,
}

/// How many rows are shown at once.
const MOST: usize = 20;

/// Asks for a project, then for its sessions or one conversation; `None`: nothing was chosen.
///
/// An empty list means everything.
pub(super) fn pick(ui: &mut Ui, global: &Global) -> Result<Option<Vec<String>>, CommandError> {
    let Ok(workspace) = env::workspace(ui, global) else { return Ok(Some(Vec::new())) };
    let survey = workspace.survey_scope(Scope::All, SurveyDetail::Digests);
    let mut projects: Vec<&ProjectSurvey> = survey
        .projects
        .iter()
        .filter(|project| shown(project, global.all).next().is_some())
        .collect();
    projects.sort_by_key(|project| std::cmp::Reverse(last_active(project)));
    if projects.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let clock = Clock::new();
    let mut rows = vec![Row { line: Line::plain("everything"), address: None }];
    rows.extend(projects.iter().map(|project| project_row(project, &clock, global.all)));
    let Some(chosen) = choose(ui, "Watch which project?", &rows)? else { return Ok(None) };
    let Some(project) = chosen.checked_sub(1).map(|at| projects[at]) else {
        return Ok(Some(Vec::new()));
    };
    let rows = session_rows(project, &clock, global.all);
    let Some(chosen) = choose(ui, "Which session?", &rows)? else { return Ok(None) };
    let address = rows[chosen].address.clone();
    Ok(Some(vec![address.unwrap_or_else(|| project.name.clone())]))
}

fn shown(project: &ProjectSurvey, all: bool) -> impl Iterator<Item = &Surveyed> {
    project.sessions.iter().filter(move |session| all || !session.digest.class.is_hidden())
}

fn last_active(project: &ProjectSurvey) -> Option<ramus_core::time::Time> {
    project.sessions.iter().filter_map(|session| session.digest.facts.last_active).max()
}

fn project_row(project: &ProjectSurvey, clock: &Clock, all: bool) -> Row {
    let mut line = Line::plain(&project_name(project.path.as_deref(), &project.name));
    let count = shown(project, all).count();
    line.push(&format!("  {count} session{}", if count == 1 { "" } else { "s" }), Label::Dim);
    if let Some(time) = last_active(project) {
        line.push(&format!("  {}", clock.short(time)), Label::Time);
    }
    Row { line, address: Some(project.name.clone()) }
}

fn session_rows(project: &ProjectSurvey, clock: &Clock, all: bool) -> Vec<Row> {
    let mut sessions: Vec<&Surveyed> = shown(project, all).collect();
    sessions.sort_by_key(|session| std::cmp::Reverse(session.digest.facts.last_active));
    let mut rows = vec![Row { line: Line::plain("all its sessions"), address: None }];
    for session in sessions {
        let (id, digest) = (&session.file.id, &session.digest);
        let title = session_title(digest, &project.summaries).unwrap_or(id);
        let mut line = Line::plain(title);
        line.push(&format!("  {}", short_id(id)), Label::Id);
        if let Some(time) = digest.facts.last_active {
            line.push(&format!("  {}", clock.short(time)), Label::Time);
        }
        rows.push(Row { line, address: Some(id.clone()) });
        if digest.conversations.len() < 2 {
            continue;
        }
        for (n, conversation) in (1..).zip(&digest.conversations) {
            let title = branch_title(digest, Some(n), &project.summaries);
            let (mark, label) = match (conversation.resumes, conversation.status) {
                (true, _) => ("▶", Label::Active),
                (_, Status::Active) => ("●", Label::Active),
                (_, Status::Abandoned) => ("○", Label::Abandoned),
            };
            let line = Line::plain("   ")
                .with(&format!("{mark} @{n} "), label)
                .with(title.unwrap_or_default(), Label::Plain);
            rows.push(Row { line, address: Some(format!("{id}@{n}")) });
        }
    }
    rows
}

/// Shows rows and asks for one; `None`: nobody chose.
fn choose(ui: &mut Ui, question: &str, rows: &[Row]) -> Result<Option<usize>, CommandError> {
    let mut words = String::new();
    loop {
        let fits = |row: &Row| {
            let text = row.line.text().to_lowercase();
            words.split_whitespace().all(|word| text.contains(word))
        };
        let found: Vec<usize> = (0..rows.len()).filter(|at| fits(&rows[*at])).collect();
        ui.line(&Line::new(question, Label::Heading))?;
        for at in found.iter().take(MOST) {
            let mut line = Line::new(&format!("{at:>4}  "), Label::Id);
            line.append(&rows[*at].line);
            ui.line(&truncate(&line, ui.width))?;
        }
        if found.len() > MOST {
            let more = format!("      … {} more; words make the list shorter", found.len() - MOST);
            ui.line(&Line::new(&more, Label::Dim))?;
        }
        ui.out().flush()?;
        let Some(answer) = ui.ask("Number, or words to narrow [0]: ") else { return Ok(None) };
        match (answer.parse::<usize>(), &found[..]) {
            _ if answer.is_empty() && words.is_empty() => return Ok(Some(0)),
            (Ok(number), _) if number < rows.len() => return Ok(Some(number)),
            (_, [only]) if answer.is_empty() => return Ok(Some(*only)),
            _ => words = answer.to_lowercase(),
        }
        let none = !rows.iter().any(|row| {
            let text = row.line.text().to_lowercase();
            words.split_whitespace().all(|word| text.contains(word))
        });
        if none {
            ui.line(&Line::new("Nothing is called that.", Label::Warning))?;
            words.clear();
        }
    }
}
