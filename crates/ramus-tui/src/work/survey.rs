//! What there is: first by name, then read.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant, SystemTime};

use ramus_app::survey::{ProjectSurvey, Survey, SurveyedFile, time_from_system};
use ramus_app::{Scope, Workspace};
use ramus_core::digest::SessionDigest;
use ramus_core::link::SessionRelations;
use ramus_core::title::{ProjectSummaries, branch_title, session_title};
use ramus_store::claude_dir::{self, FileRole, HistoryFile};
use ramus_store::prompt_history::LostPrompts;

use crate::event::ScreenEvent;
use crate::panes::branches::number_duplicates;
use crate::panes::list::{ConversationRow, ProjectRow, SessionRow};

/// Lists the Claude directories, then reads them, telling of each step.
pub(crate) fn survey_histories(workspace: &Workspace, events: &Sender<ScreenEvent>) -> FileSizes {
    let roots = match workspace.existing_roots() {
        Ok(roots) => roots,
        Err(error) => {
            let _ = events.send(ScreenEvent::NoHistory(error.to_string()));
            return FileSizes::new();
        }
    };
    let projects = workspace.list_again();
    if projects.iter().all(|project| project.session_files().all(|file| file.bytes == 0)) {
        let roots: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
        let _ =
            events.send(ScreenEvent::NoHistory(format!("no sessions in {}", roots.join(" or "))));
        return FileSizes::new();
    }
    let files = projects.iter().flat_map(|project| &project.files);
    let sizes: FileSizes = files.map(|file| (file.path.clone(), file.bytes)).collect();
    let bytes = sizes.values().sum();
    let all: Vec<Arc<[HistoryFile]>> =
        projects.iter().map(|project| project.files.clone().into()).collect();
    let _ = events.send(ScreenEvent::Listed(listed_rows(&projects, &all), bytes));
    let lost = LostPrompts::read(workspace.claude_roots(), &projects);
    drop(projects);
    let progress = Mutex::new(PendingSurvey::new(events.clone()));
    let found = workspace.survey_each(&|file, digest| {
        let is_session = file.role == FileRole::Session;
        let session = digest
            .filter(|_| is_session)
            .map(|digest| session_row(file.clone(), digest, &ProjectSummaries::default(), 0));
        if let Ok(mut progress) = progress.lock() {
            progress.add_session(file.bytes, session);
        }
    });
    let problems = found.problems.iter().map(ToString::to_string).collect();
    let _ = events.send(ScreenEvent::Surveyed(surveyed_rows(found, &all), problems));
    let now = time_from_system(SystemTime::now());
    let due = workspace.due_files(&Scope::All, now).warning_text();
    let _ = events.send(ScreenEvent::Cleanup { due, gone: lost.into_sessions() });
    sizes
}

/// How large files were when they were listed.
pub(crate) type FileSizes = HashMap<PathBuf, u64>;

/// How often is told what was read meanwhile: who draws each of thousands of files takes the time to read them.
const SEND_INTERVAL: Duration = Duration::from_millis(60);

/// What was read and is not told yet. A sender may not be shared between threads, only handed around.
struct PendingSurvey {
    events: Sender<ScreenEvent>,
    last_sent: Instant,
    bytes: u64,
    sessions: Vec<SessionRow>,
}

impl PendingSurvey {
    fn new(events: Sender<ScreenEvent>) -> Self {
        Self { events, last_sent: Instant::now(), bytes: 0, sessions: Vec::new() }
    }

    fn add_session(&mut self, bytes: u64, session: Option<SessionRow>) {
        self.bytes += bytes;
        self.sessions.extend(session);
        if self.last_sent.elapsed() >= SEND_INTERVAL {
            self.last_sent = Instant::now();
            let bytes = std::mem::take(&mut self.bytes);
            let sessions = std::mem::take(&mut self.sessions);
            let _ = self.events.send(ScreenEvent::Read { bytes, sessions });
        }
    }
}

fn listed_rows(projects: &[claude_dir::Project], files: &[Arc<[HistoryFile]>]) -> Vec<ProjectRow> {
    let session = |file: &HistoryFile| SessionRow {
        file: file.clone(),
        unread: true,
        title: None,
        prompts: Vec::new(),
        cwd: None,
        summed_up: false,
        named: false,
        messages: 0,
        agents: 0,
        last_active: time_from_system(file.modified),
        hidden: file.bytes == 0,
        conversations: Vec::new(),
        family: SessionRelations::default(),
    };
    projects
        .iter()
        .zip(files)
        .map(|(project, files)| ProjectRow {
            dir: project.dir.clone(),
            label: project.name.clone(),
            repository: None,
            files: files.clone(),
            sessions: project.session_files().map(session).collect(),
        })
        .collect()
}

fn surveyed_rows(survey: Survey, files: &[Arc<[HistoryFile]>]) -> Vec<ProjectRow> {
    let families = survey.session_families();
    let repositories = survey.project_repositories();
    survey.map_projects(|at, project| {
        let counts = project.agent_counts();
        let count =
            |session: &SurveyedFile| counts.get(&*session.file.id).copied().unwrap_or_default();
        let agents: Vec<usize> = project.sessions.iter().map(count).collect();
        let lost = project.lost_agents().map(|(_, agent)| SessionRow {
            family: project.agent_family(agent),
            ..session_row(agent.file.clone(), &agent.digest, &project.summaries, 0)
        });
        let lost: Vec<SessionRow> = lost.collect();
        let ProjectSurvey { name, dir, path, sessions, summaries, .. } = project;
        let families = families[at].iter().cloned();
        let row = |((SurveyedFile { file, digest, .. }, agents), family)| SessionRow {
            family,
            ..session_row(file, &digest, &summaries, agents as u32)
        };
        let rows = sessions.into_iter().zip(agents).zip(families).map(row);
        ProjectRow {
            files: files[at].clone(),
            sessions: rows.chain(lost).collect(),
            label: path.unwrap_or(name),
            repository: repositories[at].as_ref().map(|found| found.name.clone()),
            dir,
        }
    })
}

/// Returns what a list says of a session that has so many agents in files of their own.
pub(crate) fn session_row(
    file: HistoryFile,
    digest: &SessionDigest,
    summaries: &ProjectSummaries,
    agents: u32,
) -> SessionRow {
    let conversation = |(n, conversation)| {
        let of: &ramus_core::digest::ConversationDigest = conversation;
        let words = branch_title(digest, Some(n), summaries);
        ConversationRow {
            n,
            title: words.map(str::to_owned),
            status: of.status,
            resumes: of.resumes,
            draft: of.draft,
            messages: of.messages,
            last_active: of.last_active,
        }
    };
    let title = session_title(digest, summaries);
    let mut conversations: Vec<ConversationRow> =
        (1..).zip(&digest.conversations).map(conversation).collect();
    let names = conversations.iter().map(|one| one.title.clone().unwrap_or_default()).collect();
    for (one, name) in conversations.iter_mut().zip(number_duplicates(names)) {
        one.title = Some(name).filter(|name| !name.is_empty());
    }
    let titles = || conversations.iter().filter_map(|one| one.title.as_deref()).chain(title);
    let prompts = digest.conversations.iter().filter_map(|one| one.first_prompt.as_deref());
    let mut prompts: Vec<String> = { prompts }
        .chain(digest.first_prompt.as_deref())
        .filter(|prompt| !titles().any(|title| title == *prompt))
        .map(str::to_owned)
        .collect();
    prompts.sort_unstable();
    prompts.dedup();
    SessionRow {
        unread: false,
        summed_up: title != session_title(digest, &ProjectSummaries::default()),
        named: digest.given_title.is_some(),
        title: title.map(str::to_owned),
        prompts,
        cwd: digest.facts.cwd.as_deref().map(str::to_owned),
        messages: digest.messages,
        agents: agents + digest.inline_agents,
        last_active: digest.facts.last_active.unwrap_or_else(|| time_from_system(file.modified)),
        hidden: digest.class.is_hidden(),
        conversations,
        family: SessionRelations::default(),
        file,
    }
}
