//! Lists: which projects, sessions and conversations are shown, and in which order.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

use ramus_core::branches::Status;
use ramus_core::digest::{Digest, Listed, ListedProject};
use ramus_core::history::AgentClass;
use ramus_core::pull_request::PullRequestName;
use ramus_core::time::Time;
use ramus_core::title::session_title;
use ramus_store::cleanup::Cleanup;
use ramus_store::prompts::{GoneSession, LostPrompts};
use ramus_store::survey::{ProjectSurvey, Survey, Surveyed};

use crate::address::Scope;
use crate::workspace::SurveyDetail;

/// Which rows of a list are wanted, and in which order.
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
    pub features: Vec<Feature>,
    pub pull_request: Option<PullRequestName>,
    pub limit: Option<usize>,
    /// Files without messages, too.
    pub includes_hidden: bool,
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
pub enum Feature {
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

/// The conversations of one file that are wanted.
#[derive(Debug)]
pub struct ListedConversations<'a> {
    pub project: &'a ProjectSurvey,
    pub file: &'a Surveyed,
    /// Their numbers, from 1.
    pub numbers: Vec<usize>,
    /// Whether its bookmarks are listed, too.
    pub has_bookmarks: bool,
}

impl ListRequest {
    /// Returns what has to be read of each file: costs and models only if they are asked for.
    pub fn detail(&self) -> SurveyDetail {
        let needs_usage =
            self.model.is_some() || self.min_cost.is_some() || self.sort == SortBy::Cost;
        if needs_usage { SurveyDetail::Usage } else { SurveyDetail::Digests }
    }

    /// Lists the projects that have a wanted session.
    pub fn projects(&self, survey: &Survey) -> Vec<ListedProject> {
        let rows = survey.projects.iter().zip(self.repositories(survey));
        let rows = rows.filter_map(|(project, repository)| {
            let (key, row) = self.project(project)?;
            Some((key, ListedProject { repository, ..row }))
        });
        let unlimited = Self { limit: self.limit.filter(|_| !self.by_repository), ..self.clone() };
        unlimited.arranged(rows.collect())
    }

    /// Returns the repository of each project, if repositories are wanted.
    fn repositories(&self, survey: &Survey) -> Vec<Option<String>> {
        if !self.by_repository {
            return vec![None; survey.projects.len()];
        }
        survey.repositories().into_iter().map(|found| found.map(|found| found.name)).collect()
    }

    /// Sums up a project; `None`: none of its sessions is wanted.
    fn project(&self, survey: &ProjectSurvey) -> Option<(SortKey, ListedProject)> {
        let shown: Vec<&Surveyed> = self.sessions_of(survey).collect();
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
            bytes: survey.files().map(|file| file.file.bytes).sum(),
            last_active: key.active,
            repository: None,
        };
        let title = survey.path.clone().unwrap_or_else(|| survey.name.clone());
        Some((SortKey { title, file: survey.name.clone(), ..key }, project))
    }

    /// Lists the sessions of a scope; `draw` makes a row of each.
    pub fn sessions<T: Send>(
        &self,
        survey: &Survey,
        scope: &Scope,
        cleanup: &Cleanup,
        draw: impl Fn(Listed<'_>) -> T + Sync,
    ) -> Vec<T> {
        let repositories = self.repositories(survey);
        let repositories: HashMap<&str, &str> = { survey.projects.iter().zip(&repositories) }
            .filter_map(|(project, repository)| Some((&*project.name, repository.as_deref()?)))
            .collect();
        let row = |project: &ProjectSurvey, file: &Surveyed, listed: Listed<'_>| {
            let deleted_after = Some(cleanup.end(&file.file));
            let repository = repositories.get(&*project.name).copied();
            let listed = Listed { deleted_after, repository, ..listed };
            let title = session_title(&file.digest, &project.summaries).unwrap_or_default();
            (session_key(project, file, title.to_owned()), draw(listed))
        };
        let mut rows = survey.list(|project, session, listed| {
            let is_shown = scope.has_project(project) && self.shows_session(project, session);
            is_shown.then(|| row(project, session, listed))
        });
        // Agents that only warmed up belong to no conversation (R18).
        for project in survey.projects.iter().filter(|_| self.includes_hidden) {
            let is_warm_up = |agent: &&Surveyed| agent.digest.agent_class == AgentClass::Warmup;
            let agents = project.agents.iter().filter(is_warm_up);
            let wanted = agents.filter(|agent| self.has_session(project, agent));
            rows.extend(wanted.filter(|_| scope.has_project(project)).map(|agent| {
                let class = AgentClass::Warmup.word();
                row(project, agent, Listed { class, ..project.listed(agent) })
            }));
        }
        self.arranged(rows)
    }

    /// Lists the sub-agents whose session has no file any more, the newest first.
    pub fn lost_agents<T>(
        &self,
        survey: &Survey,
        scope: &Scope,
        draw: impl Fn(&str, &Listed<'_>) -> T,
    ) -> Vec<T> {
        let mut rows = Vec::new();
        for project in survey.projects.iter().filter(|project| scope.has_project(project)) {
            let lost = project.lost_agents();
            rows.extend(lost.filter(|(_, agent)| self.has_session(project, agent)).map(
                |(session, agent)| {
                    let key = (agent.digest.facts.last_active, &agent.file.relative);
                    (key, draw(session, &project.listed(agent)))
                },
            ));
        }
        rows.sort_by(|(a, _), (b, _)| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        rows.into_iter().map(|(_, row)| row).take(self.limit()).collect()
    }

    /// Lists the deleted sessions of which prompts are left.
    pub fn gone_sessions(&self, lost: LostPrompts) -> Vec<GoneSession> {
        // Nothing more is known of them than prompts and times.
        let asks_more = self.branch.is_some()
            || self.model.is_some()
            || self.min_cost.is_some()
            || !self.features.is_empty();
        let rows = lost.sessions().into_iter().filter(|gone| {
            let (started, ended) = gone.times();
            !asks_more && self.has_time(started, ended)
        });
        let key = |gone: &GoneSession| SortKey {
            active: gone.times().1,
            started: gone.times().0,
            messages: gone.prompts.len() as u64,
            title: gone.prompts.first().map(|prompt| prompt.text.clone()).unwrap_or_default(),
            file: gone.id.clone(),
            ..SortKey::default()
        };
        self.arranged(rows.map(|gone| (key(&gone), gone)).collect())
    }

    /// Lists the conversations of a scope, file by file.
    pub fn conversations<'a>(
        &self,
        survey: &'a Survey,
        scope: &Scope,
    ) -> Vec<ListedConversations<'a>> {
        let mut files = Vec::new();
        for project in survey.projects.iter().filter(|project| scope.has_project(project)) {
            let listed = project.sessions.iter().chain(project.agents.iter().filter(|agent| {
                let is_warm_up = agent.digest.agent_class == AgentClass::Warmup;
                matches!(scope, Scope::Session(_)) || self.includes_hidden && is_warm_up
            }));
            for file in listed {
                let is_meant = match scope {
                    Scope::Session(found) => found.file.path == file.file.path,
                    _ => self.includes_hidden || !file.digest.class.is_hidden(),
                };
                if is_meant && self.has_session(project, file) {
                    let title = session_title(&file.digest, &project.summaries).unwrap_or_default();
                    files.push((session_key(project, file, title.to_owned()), (project, file)));
                }
            }
        }
        self.arrange(&mut files);
        let mut room = self.limit();
        let group = |(_, (project, file)): (_, (&'a ProjectSurvey, &'a Surveyed))| {
            let numbers: Vec<usize> = self.numbers(&file.digest).take(room).collect();
            room -= numbers.len();
            let has_bookmarks = !numbers.is_empty() || self.limit.is_none();
            ListedConversations { project, file, numbers, has_bookmarks }
        };
        files.into_iter().map(group).collect()
    }

    /// Returns the numbers of the conversations of a session that are wanted.
    fn numbers(&self, digest: &Digest) -> impl Iterator<Item = usize> {
        let status = self.status();
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
    ) -> impl Iterator<Item = &'a Surveyed> {
        project.sessions.iter().filter(|session| self.shows_session(project, session))
    }

    /// Whether a session is listed.
    fn shows_session(&self, project: &ProjectSurvey, session: &Surveyed) -> bool {
        (self.includes_hidden || !session.digest.class.is_hidden())
            && self.has_session(project, session)
    }

    /// Whether a session fits the filters.
    fn has_session(&self, project: &ProjectSurvey, session: &Surveyed) -> bool {
        let facts = &session.digest.facts;
        self.has_time(facts.started, facts.last_active)
            && self.branch.as_ref().is_none_or(|branch| match self.status() {
                Some(status) => session.digest.conversations.iter().any(|c| c.status == status),
                None => facts.git_branch.as_deref() == Some(&**branch),
            })
            && self.model.as_ref().is_none_or(|model| has_model(project, session, model))
            && self.min_cost.is_none_or(|least| cost(project, session) >= least)
            && self.pull_request.as_ref().is_none_or(|pr| has_pull_request(&session.digest, pr))
            && self.features.iter().all(|feature| has_feature(project, session, *feature))
    }

    /// Whether something that went on between two times is wanted; what has no time is, unless times are asked for.
    fn has_time(&self, started: Option<Time>, ended: Option<Time>) -> bool {
        self.since.is_none_or(|since| ended.is_some_and(|ended| ended >= since))
            && self.until.is_none_or(|until| started.is_some_and(|started| started < until))
    }

    /// Returns the status that conversations must have.
    fn status(&self) -> Option<Status> {
        self.branch.as_deref().and_then(Status::parse)
    }

    fn limit(&self) -> usize {
        self.limit.unwrap_or(usize::MAX)
    }

    fn arranged<T>(&self, mut rows: Vec<(SortKey, T)>) -> Vec<T> {
        self.arrange(&mut rows);
        rows.into_iter().map(|(_, row)| row).take(self.limit()).collect()
    }

    fn arrange<T>(&self, rows: &mut [(SortKey, T)]) {
        rows.sort_by(|(a, _), (b, _)| self.compare(a, b).then_with(|| a.file.cmp(&b.file)));
    }

    fn compare(&self, a: &SortKey, b: &SortKey) -> Ordering {
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

fn session_key(project: &ProjectSurvey, session: &Surveyed, title: String) -> SortKey {
    let digest = &session.digest;
    SortKey {
        active: digest.facts.last_active,
        started: digest.facts.started,
        messages: u64::from(digest.messages),
        branches: digest.conversations.len() as u64,
        size: session.file.bytes,
        cost: if session.account.is_some() { cost(project, session) } else { 0.0 },
        title,
        file: session.file.relative.clone(),
    }
}

/// Whether a pull request was made in a session.
pub(crate) fn has_pull_request(digest: &Digest, wanted: &PullRequestName) -> bool {
    digest.pull_requests.iter().any(|request| wanted.is_meant(request))
}

fn with_agents<'a>(
    project: &'a ProjectSurvey,
    session: &'a Surveyed,
) -> impl Iterator<Item = &'a Surveyed> {
    std::iter::once(session).chain(project.agents_of(&session.file.id))
}

/// Returns what a session and its agents cost.
fn cost(project: &ProjectSurvey, session: &Surveyed) -> f64 {
    let accounts = with_agents(project, session).filter_map(|file| file.account.as_deref());
    accounts.flat_map(|account| &account.stretches).map(|stretch| stretch.sum.cost).sum()
}

fn has_model(project: &ProjectSurvey, session: &Surveyed, wanted: &str) -> bool {
    let accounts = with_agents(project, session).filter_map(|file| file.account.as_deref());
    accounts.flat_map(|account| &account.models).any(|model| model.to_lowercase().contains(wanted))
}

fn has_feature(project: &ProjectSurvey, session: &Surveyed, feature: Feature) -> bool {
    let digest = &session.digest;
    match feature {
        Feature::Forks => !digest.forks.is_empty(),
        Feature::Agents => project.listed(session).agents > 0 || digest.inline_agents > 0,
        Feature::Compaction => !digest.facts.compactions.is_empty(),
        Feature::Errors => digest.facts.api_errors > 0,
    }
}
