//! What there is: first by name, then read.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant, SystemTime};

use ramus_app::survey::{ProjectSurvey, Survey, Surveyed, to_time};
use ramus_app::{Scope, Workspace};
use ramus_core::digest::Digest;
use ramus_core::link::Family;
use ramus_core::title::{Summaries, branch_title, session_title};
use ramus_store::place::{self, FileRole, HistoryFile};
use ramus_store::prompts::LostPrompts;

use crate::event::Event;
use crate::panes::branches::distinct;
use crate::panes::list::{Conversation, Project, Session};

/// Lists the Claude directories, then reads them, telling of each step.
pub(crate) fn survey(workspace: &Workspace, events: &Sender<Event>) -> Sizes {
    let roots = match workspace.existing_roots() {
        Ok(roots) => roots,
        Err(error) => {
            let _ = events.send(Event::Nothing(error.to_string()));
            return Sizes::new();
        }
    };
    let projects = workspace.list_again();
    if projects.iter().all(|project| project.sessions().all(|file| file.bytes == 0)) {
        let roots: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
        let _ = events.send(Event::Nothing(format!("no sessions in {}", roots.join(" or "))));
        return Sizes::new();
    }
    let files = projects.iter().flat_map(|project| &project.files);
    let sizes: Sizes = files.map(|file| (file.path.clone(), file.bytes)).collect();
    let bytes = sizes.values().sum();
    let all: Vec<Arc<[HistoryFile]>> =
        projects.iter().map(|project| project.files.clone().into()).collect();
    let _ = events.send(Event::Listed(listed(&projects, &all), bytes));
    let lost = LostPrompts::read(workspace.roots(), &projects);
    drop(projects);
    let progress = Mutex::new(Progress::new(events.clone()));
    let found = workspace.survey_each(&|file, digest| {
        let is_session = file.role == FileRole::Session;
        let session = digest
            .filter(|_| is_session)
            .map(|digest| session(file.clone(), digest, &Summaries::default(), 0));
        if let Ok(mut progress) = progress.lock() {
            progress.take(file.bytes, session);
        }
    });
    let problems = found.problems.iter().map(ToString::to_string).collect();
    let _ = events.send(Event::Surveyed(surveyed(found, &all), problems));
    let now = to_time(SystemTime::now());
    let due = workspace.due_files(&Scope::All, now).sentence();
    let _ = events.send(Event::Cleanup { due, gone: lost.sessions() });
    sizes
}

/// How large files were when they were listed.
pub(crate) type Sizes = HashMap<PathBuf, u64>;

/// How often is told what was read meanwhile: who draws each of thousands of files takes the time to read them.
const PACE: Duration = Duration::from_millis(60);

/// What was read and is not told yet. A sender may not be shared between threads, only handed around.
struct Progress {
    events: Sender<Event>,
    told: Instant,
    bytes: u64,
    sessions: Vec<Session>,
}

impl Progress {
    fn new(events: Sender<Event>) -> Self {
        Self { events, told: Instant::now(), bytes: 0, sessions: Vec::new() }
    }

    fn take(&mut self, bytes: u64, session: Option<Session>) {
        self.bytes += bytes;
        self.sessions.extend(session);
        if self.told.elapsed() >= PACE {
            self.told = Instant::now();
            let bytes = std::mem::take(&mut self.bytes);
            let sessions = std::mem::take(&mut self.sessions);
            let _ = self.events.send(Event::Read { bytes, sessions });
        }
    }
}

fn listed(projects: &[place::Project], files: &[Arc<[HistoryFile]>]) -> Vec<Project> {
    let session = |file: &HistoryFile| Session {
        file: file.clone(),
        unread: true,
        title: None,
        prompts: Vec::new(),
        cwd: None,
        summed_up: false,
        named: false,
        messages: 0,
        agents: 0,
        last_active: to_time(file.modified),
        hidden: file.bytes == 0,
        conversations: Vec::new(),
        family: Family::default(),
    };
    projects
        .iter()
        .zip(files)
        .map(|(project, files)| Project {
            dir: project.dir.clone(),
            label: project.name.clone(),
            repository: None,
            files: files.clone(),
            sessions: project.sessions().map(session).collect(),
        })
        .collect()
}

fn surveyed(survey: Survey, files: &[Arc<[HistoryFile]>]) -> Vec<Project> {
    let families = survey.families();
    let repositories = survey.repositories();
    survey.map(|at, project| {
        let counts = project.agent_counts();
        let count = |session: &Surveyed| counts.get(&*session.file.id).copied().unwrap_or_default();
        let agents: Vec<usize> = project.sessions.iter().map(count).collect();
        let lost = project.lost_agents().map(|(_, agent)| Session {
            family: project.family_of_agent(agent),
            ..session(agent.file.clone(), &agent.digest, &project.summaries, 0)
        });
        let lost: Vec<Session> = lost.collect();
        let ProjectSurvey { name, dir, path, sessions, summaries, .. } = project;
        let families = families[at].iter().cloned();
        let row = |((Surveyed { file, digest, .. }, agents), family)| Session {
            family,
            ..session(file, &digest, &summaries, agents as u32)
        };
        let rows = sessions.into_iter().zip(agents).zip(families).map(row);
        Project {
            files: files[at].clone(),
            sessions: rows.chain(lost).collect(),
            label: path.unwrap_or(name),
            repository: repositories[at].as_ref().map(|found| found.name.clone()),
            dir,
        }
    })
}

/// Returns what a list says of a session that has so many agents in files of their own.
pub(crate) fn session(
    file: HistoryFile,
    digest: &Digest,
    summaries: &Summaries,
    agents: u32,
) -> Session {
    let conversation = |(n, conversation)| {
        let of: &ramus_core::digest::ConversationDigest = conversation;
        let words = branch_title(digest, Some(n), summaries);
        Conversation {
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
    let mut conversations: Vec<Conversation> =
        (1..).zip(&digest.conversations).map(conversation).collect();
    let names = conversations.iter().map(|one| one.title.clone().unwrap_or_default()).collect();
    for (one, name) in conversations.iter_mut().zip(distinct(names)) {
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
    Session {
        unread: false,
        summed_up: title != session_title(digest, &Summaries::default()),
        named: digest.given_title.is_some(),
        title: title.map(str::to_owned),
        prompts,
        cwd: digest.facts.cwd.as_deref().map(str::to_owned),
        messages: digest.messages,
        agents: agents + digest.inline_agents,
        last_active: digest.facts.last_active.unwrap_or_else(|| to_time(file.modified)),
        hidden: digest.class.is_hidden(),
        conversations,
        family: Family::default(),
        file,
    }
}
