//! Lists all sessions: first by name, then with their digests.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant, SystemTime};

use ramus_app::list::sessions_by_project;
use ramus_app::name::plain_title;
use ramus_app::survey::{Survey, time_from_system};
use ramus_app::{Scope, Workspace};
use ramus_core::digest::{SessionDigest, SessionListing};
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
    let current = workspace.current_project().map(|current| current.project.dir.clone());
    let _ = events.send(ScreenEvent::CurrentProject(current));
    let _ = events.send(ScreenEvent::Listed(listed_rows(&projects, &all), bytes));
    let lost = LostPrompts::read(workspace.claude_roots(), &projects);
    drop(projects);
    let progress = Mutex::new(PendingSurvey::new(events.clone()));
    let found = workspace.survey_each(&|file, digest| {
        let is_session = file.role == FileRole::Session;
        let session = digest.filter(|_| is_session).map(|digest| lone_session_row(file, digest, 0));
        if let Ok(mut progress) = progress.lock() {
            progress.add_session(file.bytes, session);
        }
    });
    let problems = found.problems.iter().map(ToString::to_string).collect();
    let _ = events.send(ScreenEvent::Surveyed(surveyed_rows(&found, &all), problems));
    let now = time_from_system(SystemTime::now());
    let due = workspace.due_files(&Scope::All, now).warning_text();
    // An archive that cannot be used offers nothing.
    let unarchived = workspace.count_unarchived_files(now).unwrap_or_default();
    let _ = events.send(ScreenEvent::Cleanup { due, unarchived, gone: lost.into_sessions() });
    sizes
}

/// How large files were when they were listed.
pub(crate) type FileSizes = HashMap<PathBuf, u64>;

/// How often progress is sent: drawing each of thousands of files would take longer than reading them.
const SEND_INTERVAL: Duration = Duration::from_millis(60);

/// Files that were read and not sent yet. A sender cannot be shared between threads, so it is passed around.
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
        last_prompt: None,
        cwd: None,
        summed_up: false,
        given_title: None,
        messages: 0,
        agents: 0,
        started: None,
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

fn surveyed_rows(survey: &Survey, files: &[Arc<[HistoryFile]>]) -> Vec<ProjectRow> {
    let repositories = survey.project_repositories();
    let sessions = sessions_by_project(survey, session_row);
    let projects = survey.projects.iter().zip(sessions).zip(repositories).zip(files);
    projects
        .map(|(((project, sessions), repository), files)| ProjectRow {
            files: files.clone(),
            sessions,
            label: project.path.clone().unwrap_or_else(|| project.name.clone()),
            repository: repository.map(|found| found.name),
            dir: project.dir.clone(),
        })
        .collect()
}

/// Returns the row of a session of which nothing but its own file is known.
pub(crate) fn lone_session_row(
    file: &HistoryFile,
    digest: &SessionDigest,
    agents: usize,
) -> SessionRow {
    let summaries = ProjectSummaries::default();
    let listed = SessionListing::new(&file.id, &file.relative, digest, &summaries);
    session_row(file, SessionListing { agents, ..listed })
}

/// Returns the list entry of a session.
fn session_row(file: &HistoryFile, listed: SessionListing<'_>) -> SessionRow {
    let agents = listed.agent_count() as u32;
    let SessionListing { digest, summaries, relations, .. } = listed;
    let conversation = |(n, conversation)| {
        let of: &ramus_core::digest::ConversationDigest = conversation;
        let words = branch_title(digest, Some(n), summaries);
        ConversationRow {
            n,
            title: words.map(plain_title),
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
    let shown = title.map(plain_title);
    let titles = || {
        let own = conversations.iter().filter_map(|one| one.title.as_deref());
        own.chain(shown.as_deref())
    };
    let prompts = digest.conversations.iter().filter_map(|one| one.first_prompt.as_deref());
    let mut prompts: Vec<String> = { prompts }
        .chain(digest.first_prompt.as_deref())
        .map(plain_title)
        .filter(|prompt| !titles().any(|title| title == *prompt))
        .collect();
    prompts.sort_unstable();
    prompts.dedup();
    let last_prompt = digest.last_prompt.as_deref();
    let last_prompt = last_prompt.filter(|prompt| Some(*prompt) != title).map(plain_title);
    SessionRow {
        unread: false,
        summed_up: title != session_title(digest, &ProjectSummaries::default()),
        given_title: digest.given_title.as_deref().map(str::to_owned),
        title: shown,
        last_prompt,
        prompts,
        cwd: digest.facts.cwd.as_deref().map(str::to_owned),
        messages: digest.messages,
        agents,
        started: digest.facts.started,
        last_active: digest.facts.last_active.unwrap_or_else(|| time_from_system(file.modified)),
        hidden: digest.class.is_hidden(),
        conversations,
        family: relations,
        file: file.clone(),
    }
}
