use std::collections::HashMap;

use ramus_render::json::{self, Answer, Session, Sessions};
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::env::Clock;
use crate::error::CommandError;
use crate::project::{project_end, project_name};
use crate::select::{Library, Scope};
use crate::table::{Table, bytes, cell, number};
use crate::ui::Ui;

/// List the sessions, the most recently active first
///
/// BRANCHES counts the conversations of a session: one for every end that an edit, a retry or a
/// rewind left behind.
#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus sessions\n  ramus sessions .\n  ramus sessions --json | jq '.sessions[] | select(.forks > 0)'"
)]
pub(crate) struct SessionsArgs {
    /// Only those of one project
    #[arg(allow_hyphen_values = true)]
    project: Option<String>,
}

pub(crate) fn sessions(
    ui: &mut Ui,
    global: &Global,
    args: &SessionsArgs,
) -> Result<(), CommandError> {
    let library = Library::open(ui, global)?;
    let scope = match &args.project {
        Some(project) => Scope::Project(library.project(project)?),
        None => Scope::All,
    };
    let survey = library.survey(ui, &scope);
    let mut sessions: Vec<Session> = survey.list(|listed| {
        let is_shown = global.all || !listed.digest.class.is_hidden();
        is_shown.then(|| json::session(listed))
    });
    let paths: HashMap<String, Option<String>> = { &survey.projects }
        .iter()
        .map(|project| (project.name.clone(), project.path.clone()))
        .collect();
    ui.let_go(survey);
    sessions.sort_by(|a, b| b.last_active.cmp(&a.last_active).then_with(|| a.file.cmp(&b.file)));
    let nothing = sessions.is_empty().then(|| {
        CommandError::nothing("no session here")
            .hinted("`--all` shows empty and metadata-only files")
            .hinted("no history yet? `ramus demo` writes a sample to look at")
    });
    if ui.json {
        ui.json(&Answer::new("ramus.sessions/1", Sessions { sessions }))?;
        return nothing.map_or(Ok(()), Err);
    }
    if let Some(nothing) = nothing {
        return Err(nothing);
    }
    ui.page();
    let room = (ui.width / 5).clamp(12, 32);
    let name = |session: &Session| {
        let path = paths.get(&session.project).and_then(Option::as_deref);
        project_end(&project_name(path, &session.project), room)
    };
    for line in table(&sessions, &name, &Clock::new()).lines(ui.width) {
        ui.line(&line)?;
    }
    Ok(())
}

fn table(sessions: &[Session], name: &dyn Fn(&Session) -> String, clock: &Clock) -> Table {
    let mut table = Table::new(&[
        "ID",
        "?PROJECT",
        "?LAST ACTIVE",
        ">?MESSAGES",
        ">BRANCHES",
        ">?AGENTS",
        ">?SIZE",
        "*TITLE",
    ]);
    for session in sessions {
        let branches = match session.conversations {
            0 | 1 => cell("·", Label::Dim),
            n => cell(number(n as u64), Label::Branch),
        };
        let agents =
            if session.agents == 0 { String::new() } else { number(session.agents as u64) };
        let mut title = match &session.title {
            Some(title) => Line::plain(title),
            None if session.class == "conversation" => Line::new(&session.id, Label::Dim),
            None => Line::new(session.class, Label::Dim),
        };
        if session.defects > 0 {
            title = Line::new(&format!("! {} ", session.defects), Label::Warning)
                .with(&title.text(), Label::Plain);
        }
        table.row(vec![
            cell(session.id.get(..8).unwrap_or(&session.id), Label::Id),
            cell(name(session), Label::Dim),
            cell(clock.short_text(session.last_active.as_deref()), Label::Time),
            cell(number(u64::from(session.messages)), Label::Plain),
            branches,
            cell(agents, Label::Dim),
            cell(bytes(session.bytes), Label::Dim),
            title,
        ]);
    }
    table
}
