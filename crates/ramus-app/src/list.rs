//! Lists: which projects, sessions and conversations are shown, and in which order.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use ramus_core::annotation::Annotations;
use ramus_core::branches::BranchStatus;
use ramus_core::digest::{ListedProject, SessionDigest, SessionListing};
use ramus_core::history::AgentClass;
use ramus_core::pull_request::PullRequestName;
use ramus_core::time::Time;
use ramus_core::title::session_title;
use ramus_render::json;
use ramus_store::claude_dir::HistoryFile;
use ramus_store::cleanup::CleanupSchedule;
use ramus_store::prompt_history::{GoneSession, LostPrompts};
use ramus_store::survey::{ProjectSurvey, Survey, SurveyedFile};

use crate::address::Scope;
use crate::workspace::SurveyDetail;

/// Which rows of a list to return, and in which order.
#[derive(Clone, Debug, Default)]
pub struct ListRequest {
    pub since: Option<Time>,
    pub until: Option<Time>,
    pub sort: SortBy,
    /// A git branch, or the status of conversations: `active` or `abandoned`.
    pub branch: Option<String>,
    /// A part of a model's name, in lower case.
    pub model: Option<String>,
    pub min_cost: Option<f64>,
    pub features: Vec<SessionFeature>,
    pub pull_request: Option<PullRequestName>,
    /// Tags that a session or one of its messages must have.
    pub tags: Vec<String>,
    /// Only sessions that are pinned or have a pinned message.
    pub pinned: bool,
    /// The pins, tags and notes that rows show.
    pub annotations: Arc<Annotations>,
    pub limit: Option<usize>,
    /// Files without messages, too.
    pub includes_hidden: bool,
    /// Each row has its cost.
    pub wants_cost: bool,
    /// Find the git repository of each row. A limit of projects is then one of repositories, which the
    /// caller puts together.
    pub by_repository: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortBy {
    /// The most recently active first.
    #[default]
    Active,
    /// The most recently begun first.
    Started,
    /// Most messages first.
    Messages,
    /// Most branches first.
    Branches,
    /// The largest first.
    Size,
    /// The most expensive first.
    Cost,
    /// By title or name.
    Title,
}

/// What a session can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionFeature {
    Forks,
    Agents,
    Compaction,
    /// Errors of the model's server.
    Errors,
}

/// What rows are sorted by.
#[derive(Clone, Debug, Default)]
struct SortKey {
    active: Option<Time>,
    started: Option<Time>,
    messages: u64,
    branches: u64,
    size: u64,
    cost: f64,
    title: String,
    /// Decides between equals, so that the order is always the same.
    file: String,
}

/// The conversations of one file that match.
#[derive(Debug)]
pub struct ListedConversations<'a> {
    pub project: &'a ProjectSurvey,
    pub file: &'a SurveyedFile,
    /// Their numbers, from 1.
    pub numbers: Vec<usize>,
    /// Whether its bookmarks are listed, too.
    pub has_bookmarks: bool,
}

impl ListRequest {
    /// Whether rows can be left out because of what was asked for.
    pub fn has_filter(&self) -> bool {
        self.since.is_some()
            || self.until.is_some()
            || self.branch.is_some()
            || self.model.is_some()
            || self.min_cost.is_some()
            || !self.features.is_empty()
            || self.pull_request.is_some()
            || !self.tags.is_empty()
            || self.pinned
    }

    /// Returns how much of each file to read: costs and models only if the request needs them.
    pub fn survey_detail(&self) -> SurveyDetail {
        let needs_usage = self.wants_cost
            || self.model.is_some()
            || self.min_cost.is_some()
            || self.sort == SortBy::Cost;
        if needs_usage { SurveyDetail::Usage } else { SurveyDetail::Digests }
    }

    /// Lists projects with at least one matching session.
    pub fn list_projects(&self, survey: &Survey) -> Vec<ListedProject> {
        let rows = survey.projects.iter().zip(self.project_repositories(survey));
        let rows = rows.filter_map(|(project, repository)| {
            let (key, row) = self.project_row(project)?;
            Some((key, ListedProject { repository, ..row }))
        });
        let unlimited = Self { limit: self.limit.filter(|_| !self.by_repository), ..self.clone() };
        unlimited.sorted_rows(rows.collect())
    }

    /// Returns the repository of each project, if the request groups by repository.
    fn project_repositories(&self, survey: &Survey) -> Vec<Option<String>> {
        if !self.by_repository {
            return vec![None; survey.projects.len()];
        }
        survey
            .project_repositories()
            .into_iter()
            .map(|found| found.map(|found| found.name))
            .collect()
    }

    /// Summarizes a project. `None` if none of its sessions matches.
    fn project_row(&self, survey: &ProjectSurvey) -> Option<(SortKey, ListedProject)> {
        let shown: Vec<&SurveyedFile> = self.sessions_of(survey).collect();
        let is_empty =
            survey.sessions.is_empty() && self.includes_hidden && self.has_time(None, None);
        if shown.is_empty() && !is_empty {
            return None;
        }
        let keys = shown.iter().map(|session| session_key(survey, session, String::new()));
        let key = keys.fold(SortKey::default(), |sum, key| SortKey {
            active: sum.active.max(key.active),
            started: sum.started.max(key.started),
            messages: sum.messages + key.messages,
            branches: sum.branches + key.branches,
            size: sum.size + key.size,
            cost: sum.cost + key.cost,
            ..sum
        });
        let project = ListedProject {
            name: survey.name.clone(),
            path: survey.path.clone(),
            dir: survey.dir.display().to_string(),
            sessions: shown.len(),
            conversations: shown.iter().map(|session| session.digest.conversations.len()).sum(),
            agents: survey.agents.len(),
            bytes: survey.all_files().map(|file| file.file.bytes).sum(),
            last_active: key.active,
            repository: None,
        };
        let title = survey.path.clone().unwrap_or_else(|| survey.name.clone());
        Some((SortKey { title, file: survey.name.clone(), ..key }, project))
    }

    /// Lists the sessions of a scope; `draw` makes a row of each.
    pub fn list_sessions<T: Send>(
        &self,
        survey: &Survey,
        scope: &Scope,
        cleanup: &CleanupSchedule,
        draw: impl Fn(SessionListing<'_>) -> T + Sync,
    ) -> Vec<T> {
        let repositories = self.project_repositories(survey);
        let repositories: HashMap<&str, &str> = { survey.projects.iter().zip(&repositories) }
            .filter_map(|(project, repository)| Some((&*project.name, repository.as_deref()?)))
            .collect();
        let row = |project: &ProjectSurvey, file: &SurveyedFile, listed: SessionListing<'_>| {
            let deleted_after = (!file.file.archived).then(|| cleanup.deletion_time(&file.file));
            let repository = repositories.get(&*project.name).copied();
            let cost = self.wants_cost.then(|| total_cost(project, file));
            let id = annotated_id(file);
            let listed = SessionListing {
                deleted_after,
                repository,
                cost,
                annotation: self.annotations.session_annotation(&id),
                annotated_messages: { self.annotations.in_session(&id) }
                    .filter(|(message, _)| message.is_some())
                    .count(),
                ..listed
            };
            let title = session_title(&file.digest, &project.summaries).unwrap_or_default();
            (session_key(project, file, title.to_owned()), draw(listed))
        };
        let mut rows = survey.map_sessions(|project, session, listed| {
            let is_shown = scope.has_project(project) && self.shows_session(project, session);
            is_shown.then(|| row(project, session, listed))
        });
        // Agents that only warmed up belong to no conversation (R18).
        for project in survey.projects.iter().filter(|_| self.includes_hidden) {
            let is_warm_up = |agent: &&SurveyedFile| agent.digest.agent_class == AgentClass::Warmup;
            let agents = project.agents.iter().filter(is_warm_up);
            let wanted = agents.filter(|agent| self.has_session(project, agent));
            rows.extend(wanted.filter(|_| scope.has_project(project)).map(|agent| {
                let class = AgentClass::Warmup.as_str();
                row(project, agent, SessionListing { class, ..project.list_entry(agent) })
            }));
        }
        self.sorted_rows(rows)
    }

    /// Lists sub-agents whose session no longer has a file, newest first.
    pub fn lost_agents<T>(
        &self,
        survey: &Survey,
        scope: &Scope,
        draw: impl Fn(&str, &SessionListing<'_>) -> T,
    ) -> Vec<T> {
        let mut rows = Vec::new();
        for project in survey.projects.iter().filter(|project| scope.has_project(project)) {
            let lost = project.lost_agents();
            rows.extend(lost.filter(|(_, agent)| self.has_session(project, agent)).map(
                |(session, agent)| {
                    let key = (agent.digest.facts.last_active, &agent.file.relative);
                    (key, draw(session, &project.list_entry(agent)))
                },
            ));
        }
        rows.sort_by(|(a, _), (b, _)| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        rows.into_iter().map(|(_, row)| row).take(self.row_limit()).collect()
    }

    /// Lists the deleted sessions of which prompts are left.
    pub fn list_deleted(&self, lost: LostPrompts) -> Vec<json::Session> {
        let row = |gone: GoneSession| {
            let first = gone.prompts.first().map_or("", |prompt| &*prompt.text);
            let (project, times) = (gone.project.as_deref(), gone.first_and_last_time());
            json::gone_session(&gone.id, project, gone.prompts.len(), first, times)
        };
        self.deleted_sessions(lost).into_iter().map(row).collect()
    }

    fn deleted_sessions(&self, lost: LostPrompts) -> Vec<GoneSession> {
        // Nothing more is known of them than prompts and times.
        let asks_more = self.branch.is_some()
            || self.model.is_some()
            || self.min_cost.is_some()
            || !self.tags.is_empty()
            || self.pinned
            || !self.features.is_empty();
        let rows = lost.into_sessions().into_iter().filter(|gone| {
            let (started, ended) = gone.first_and_last_time();
            !asks_more && self.has_time(started, ended)
        });
        let key = |gone: &GoneSession| SortKey {
            active: gone.first_and_last_time().1,
            started: gone.first_and_last_time().0,
            messages: gone.prompts.len() as u64,
            title: gone.prompts.first().map(|prompt| prompt.text.clone()).unwrap_or_default(),
            file: gone.id.clone(),
            ..SortKey::default()
        };
        self.sorted_rows(rows.map(|gone| (key(&gone), gone)).collect())
    }

    /// Lists the conversations of a scope, file by file.
    pub fn list_conversations<'a>(
        &self,
        survey: &'a Survey,
        scope: &Scope,
    ) -> Vec<ListedConversations<'a>> {
        let mut files = Vec::new();
        for project in survey.projects.iter().filter(|project| scope.has_project(project)) {
            let listed = project.sessions.iter().chain(project.agents.iter().filter(|agent| {
                let is_warm_up = agent.digest.agent_class == AgentClass::Warmup;
                scope.sessions().is_some() || self.includes_hidden && is_warm_up
            }));
            for file in listed {
                let is_meant = match scope.sessions() {
                    Some(_) => scope.names_file(&file.file),
                    None => self.includes_hidden || !file.digest.class.is_hidden(),
                };
                if is_meant && self.has_session(project, file) {
                    let title = session_title(&file.digest, &project.summaries).unwrap_or_default();
                    files.push((session_key(project, file, title.to_owned()), (project, file)));
                }
            }
        }
        self.sort_rows(&mut files);
        let mut room = self.row_limit();
        let group = |(_, (project, file)): (_, (&'a ProjectSurvey, &'a SurveyedFile))| {
            let numbers: Vec<usize> = self.conversation_numbers(&file.digest).take(room).collect();
            room -= numbers.len();
            let has_bookmarks = !numbers.is_empty() || self.limit.is_none();
            ListedConversations { project, file, numbers, has_bookmarks }
        };
        files.into_iter().map(group).collect()
    }

    /// Returns the numbers of the matching conversations of a session.
    fn conversation_numbers(&self, digest: &SessionDigest) -> impl Iterator<Item = usize> {
        let status = self.branch_status();
        let conversations = (1..).zip(&digest.conversations);
        let wanted = conversations.filter(move |(_, conversation)| {
            status.is_none_or(|status| conversation.status == status)
                && self.has_time(digest.facts.started, conversation.last_active)
        });
        wanted.map(|(number, _)| number)
    }

    /// Returns the sessions of a project that are listed, in no order.
    pub fn sessions_of<'a>(
        &'a self,
        project: &'a ProjectSurvey,
    ) -> impl Iterator<Item = &'a SurveyedFile> {
        project.sessions.iter().filter(|session| self.shows_session(project, session))
    }

    /// Whether a session is listed.
    fn shows_session(&self, project: &ProjectSurvey, session: &SurveyedFile) -> bool {
        (self.includes_hidden || !session.digest.class.is_hidden())
            && self.has_session(project, session)
    }

    /// Whether a session fits the filters.
    fn has_session(&self, project: &ProjectSurvey, session: &SurveyedFile) -> bool {
        let facts = &session.digest.facts;
        self.has_time(facts.started, facts.last_active)
            && self.branch.as_ref().is_none_or(|branch| match self.branch_status() {
                Some(status) => session.digest.conversations.iter().any(|c| c.status == status),
                None => facts.git_branch.as_deref() == Some(&**branch),
            })
            && self.model.as_ref().is_none_or(|model| has_model(project, session, model))
            && self.min_cost.is_none_or(|least| total_cost(project, session) >= least)
            && self.pull_request.as_ref().is_none_or(|pr| has_pull_request(&session.digest, pr))
            && self.annotations.has_session(&annotated_id(session), &self.tags, self.pinned)
            && self.features.iter().all(|feature| has_feature(project, session, *feature))
    }

    /// Whether an interval matches. One without times matches only if the request has no times.
    fn has_time(&self, started: Option<Time>, ended: Option<Time>) -> bool {
        self.since.is_none_or(|since| ended.is_some_and(|ended| ended >= since))
            && self.until.is_none_or(|until| started.is_some_and(|started| started < until))
    }

    /// Returns the status that conversations must have.
    fn branch_status(&self) -> Option<BranchStatus> {
        self.branch.as_deref().and_then(BranchStatus::parse)
    }

    fn row_limit(&self) -> usize {
        self.limit.unwrap_or(usize::MAX)
    }

    fn sorted_rows<T>(&self, mut rows: Vec<(SortKey, T)>) -> Vec<T> {
        self.sort_rows(&mut rows);
        rows.into_iter().map(|(_, row)| row).take(self.row_limit()).collect()
    }

    fn sort_rows<T>(&self, rows: &mut [(SortKey, T)]) {
        rows.sort_by(|(a, _), (b, _)| self.compare_keys(a, b).then_with(|| a.file.cmp(&b.file)));
    }

    fn compare_keys(&self, a: &SortKey, b: &SortKey) -> Ordering {
        match self.sort {
            SortBy::Active => b.active.cmp(&a.active),
            SortBy::Started => b.started.cmp(&a.started),
            SortBy::Messages => Reverse(a.messages).cmp(&Reverse(b.messages)),
            SortBy::Branches => Reverse(a.branches).cmp(&Reverse(b.branches)),
            SortBy::Size => Reverse(a.size).cmp(&Reverse(b.size)),
            SortBy::Cost => b.cost.total_cmp(&a.cost),
            SortBy::Title => a.title.to_lowercase().cmp(&b.title.to_lowercase()),
        }
    }
}

/// Lists every session and the agents whose session is gone, project by project, the newest first. Hidden
/// files are listed too.
pub fn sessions_by_project<T: Send>(
    survey: &Survey,
    draw: impl Fn(&HistoryFile, SessionListing<'_>) -> T + Sync,
) -> Vec<Vec<T>> {
    let key =
        |file: &SurveyedFile| (Reverse(file.digest.facts.last_active), file.file.relative.clone());
    let mut rows = survey.map_sessions(|project, session, listed| {
        Some((project.dir.clone(), key(session), draw(&session.file, listed)))
    });
    for project in &survey.projects {
        rows.extend(project.lost_agents().map(|(_, agent)| {
            let relations = project.agent_family(agent);
            let listed = SessionListing { relations, ..project.list_entry(agent) };
            (project.dir.clone(), key(agent), draw(&agent.file, listed))
        }));
    }
    rows.sort_by(|(_, a, _), (_, b, _)| a.cmp(b));
    let at = survey.projects.iter().enumerate().map(|(at, project)| (&project.dir, at));
    let at: HashMap<&PathBuf, usize> = at.collect();
    let mut projects: Vec<Vec<T>> = survey.projects.iter().map(|_| Vec::new()).collect();
    for (dir, _, row) in rows {
        projects[at[&dir]].push(row);
    }
    projects
}

fn session_key(project: &ProjectSurvey, session: &SurveyedFile, title: String) -> SortKey {
    let digest = &session.digest;
    SortKey {
        active: digest.facts.last_active,
        started: digest.facts.started,
        messages: u64::from(digest.messages),
        branches: digest.conversations.len() as u64,
        size: session.file.bytes,
        cost: if session.account.is_some() { total_cost(project, session) } else { 0.0 },
        title,
        file: session.file.relative.clone(),
    }
}

/// Returns the id that annotations know a file by.
fn annotated_id(file: &SurveyedFile) -> Cow<'_, str> {
    match file.file.role.is_agent() {
        true => format!("agent-{}", file.file.id).into(),
        false => (&*file.file.id).into(),
    }
}

/// Whether a pull request was made in a session.
pub(crate) fn has_pull_request(digest: &SessionDigest, wanted: &PullRequestName) -> bool {
    digest.pull_requests.iter().any(|request| wanted.is_match(request))
}

fn with_agents<'a>(
    project: &'a ProjectSurvey,
    session: &'a SurveyedFile,
) -> impl Iterator<Item = &'a SurveyedFile> {
    std::iter::once(session).chain(project.agents_of(&session.file.id))
}

/// Returns what a session and its agents cost.
pub(crate) fn total_cost(project: &ProjectSurvey, session: &SurveyedFile) -> f64 {
    let accounts = with_agents(project, session).filter_map(|file| file.account.as_deref());
    accounts.flat_map(|account| &account.buckets).map(|bucket| bucket.total.cost).sum()
}

fn has_model(project: &ProjectSurvey, session: &SurveyedFile, wanted: &str) -> bool {
    let accounts = with_agents(project, session).filter_map(|file| file.account.as_deref());
    accounts.flat_map(|account| &account.models).any(|model| model.to_lowercase().contains(wanted))
}

fn has_feature(project: &ProjectSurvey, session: &SurveyedFile, feature: SessionFeature) -> bool {
    let digest = &session.digest;
    match feature {
        SessionFeature::Forks => !digest.forks.is_empty(),
        SessionFeature::Agents => {
            project.list_entry(session).agents > 0 || digest.inline_agents > 0
        }
        SessionFeature::Compaction => !digest.facts.compactions.is_empty(),
        SessionFeature::Errors => digest.facts.api_errors > 0,
    }
}
