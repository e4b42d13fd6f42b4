use ramus_core::digest::Digest;
use ramus_core::history::AgentClass;
use ramus_core::link::{LinkKind, links};
use ramus_core::stats::{Complexity, Flow, flows};
use ramus_core::title::session_title;
use ramus_render::json::{Answer, Link, Session, Sessions};
use ramus_render::{Label, Line};
use ramus_store::survey::{ProjectSurvey, Surveyed};

use crate::args::Global;
use crate::env::Clock;
use crate::error::CommandError;
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
    let mut sessions: Vec<Session> =
        survey.projects.iter().flat_map(|project| project_sessions(project, global.all)).collect();
    sessions.sort_by(|a, b| b.last_active.cmp(&a.last_active).then_with(|| a.file.cmp(&b.file)));
    if ui.json {
        return ui.json(&Answer::new("ramus.sessions/1", Sessions { sessions }));
    }
    if sessions.is_empty() {
        return Err(CommandError::nothing("no session here")
            .hinted("`--all` shows empty and metadata-only files")
            .hinted("no history yet? `ramus demo` writes a sample to look at"));
    }
    ui.page();
    for line in table(&sessions, &Clock::new()).lines(ui.width) {
        ui.line(&line)?;
    }
    Ok(())
}

fn table(sessions: &[Session], clock: &Clock) -> Table {
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
            None => Line::new(session.class, Label::Dim),
        };
        if session.defects > 0 {
            title = Line::new(&format!("⚠ {} ", session.defects), Label::Warning)
                .with(&title.text(), Label::Plain);
        }
        table.row(vec![
            cell(session.id.get(..8).unwrap_or(&session.id), Label::Id),
            cell(project_word(session), Label::Dim),
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

/// Returns the last part of a session's directory, short enough for a column.
fn project_word(session: &Session) -> String {
    let path = session.cwd.as_deref().unwrap_or(&session.project);
    let word = path.rsplit(['/', '\\']).next().unwrap_or(path);
    word.chars().take(16).collect()
}

fn project_sessions(project: &ProjectSurvey, all: bool) -> Vec<Session> {
    let named: Vec<(&str, &Digest)> =
        project.sessions.iter().map(|session| (&*session.file.id, &session.digest)).collect();
    let links = links(&named);
    let shown = project
        .sessions
        .iter()
        .enumerate()
        .filter(|(_, session)| all || !session.digest.class.is_hidden());
    shown
        .map(|(index, session)| {
            let own = links.iter().filter(|link| link.from == index);
            let forked =
                own.clone().any(|link| matches!(link.kind, LinkKind::Fork | LinkKind::Copy));
            let links = own
                .map(|link| Link {
                    kind: link.kind.word(),
                    session: project.sessions[link.to].file.id.clone(),
                })
                .collect();
            to_json(project, session, forked, links)
        })
        .collect()
}

fn to_json(project: &ProjectSurvey, session: &Surveyed, forked: bool, links: Vec<Link>) -> Session {
    let digest = &session.digest;
    let facts = &digest.facts;
    let agents = project
        .agents_of(&session.file.id)
        .filter(|agent| agent.digest.agent_class != AgentClass::Warmup)
        .count();
    let forked = forked || facts.forked_from.is_some();
    Session {
        id: session.file.id.clone(),
        file: session.file.relative.clone(),
        project: project.name.clone(),
        class: digest.class.word(),
        title: session_title(digest, &project.summaries).map(str::to_owned),
        version: facts.version.as_ref().map(|version| version.text.to_string()),
        records: digest.records(),
        lines: digest.counts.lines(),
        messages: digest.messages,
        conversations: digest.conversations.len(),
        forks: digest.forks.values().sum(),
        compactions: facts.compactions.len(),
        agents: agents + digest.inline_agents as usize,
        defects: session.defects().count(),
        bytes: session.file.bytes,
        started: facts.started.map(|time| time.to_string()),
        last_active: facts.last_active.map(|time| time.to_string()),
        resume_leaf: digest.resume.as_ref().map(|resume| resume.leaf.to_string()),
        cwd: facts.cwd.as_deref().map(str::to_owned),
        git_branch: facts.git_branch.as_deref().map(str::to_owned),
        flow: flows(digest, agents as u32, forked).into_iter().map(Flow::word).collect(),
        complexity: Complexity::new(digest, agents as u32, forked).score(),
        links,
    }
}
