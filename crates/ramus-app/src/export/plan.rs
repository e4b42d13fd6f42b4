//! Plans an export: which paths to write, and their file names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::NodeSelector;
use crate::survey::{ProjectSurvey, Survey, SurveyedFile};

use super::{ExportError, ExportRequest};
use ramus_core::agent::inline_agents;
use ramus_core::digest::{ConversationDigest, SessionDigest};
use ramus_core::history::AgentClass;
use ramus_core::ids::RecordUuid;
use ramus_core::lineage::{Lineage, SessionEntry};
use ramus_core::redact::{RedactionCounts, redact_text};
use ramus_core::resume::ResumeRule;
use ramus_core::unique::unique_paths;
use ramus_store::from_jsonl;

/// All that is to be written.
pub(super) struct ExportPlan<'a> {
    pub(super) jobs: Vec<ExportJob<'a>>,
    /// The agents of the sessions that are written.
    pub(super) agents: Vec<ExportJob<'a>>,
    /// The transcript of an agent, by its project and id.
    agent_files: BTreeMap<(usize, String), String>,
    /// Whole sessions are written, and so are all of their agents.
    pub(super) is_whole: bool,
    /// Which session contains a record that another one continues.
    homes: BTreeMap<(usize, u128), &'a SurveyedFile>,
    pub(super) rule: ResumeRule,
}

/// A session with the paths of it that are written.
pub(super) struct ExportJob<'a> {
    pub(super) project: &'a ProjectSurvey,
    project_index: usize,
    pub(super) session: &'a SurveyedFile,
    /// The file of each conversation. `None`: it is not written.
    pub(super) files: Vec<Option<String>>,
    /// The record to end at, where one was asked for.
    pub(super) end: Option<NodeSelector>,
    /// The agents inside its file whose transcripts `files` are, by their first records; none where
    /// they are those of its conversations.
    pub(super) inline: Vec<RecordUuid>,
}

impl ExportJob<'_> {
    /// Whether it writes what agents did.
    pub(super) fn is_agent(&self) -> bool {
        is_agent(self.session) || !self.inline.is_empty()
    }
}

impl<'a> ExportPlan<'a> {
    pub(super) fn new(
        survey: &'a Survey,
        wanted: &ExportRequest,
        rule: ResumeRule,
    ) -> Result<Self, ExportError> {
        let scope = &wanted.scope;
        let projects = survey.projects.iter().filter(|project| scope.has_project(project));
        let projects: Vec<&ProjectSurvey> = projects.collect();
        let mut sessions: Vec<(usize, &ProjectSurvey, &SurveyedFile)> = Vec::new();
        for (index, &project) in projects.iter().enumerate() {
            let agents = project.agents.iter().filter(|_| scope.sessions().is_some());
            let files = project.sessions.iter().chain(agents);
            let files = files.filter(|file| scope.names_file(&file.file));
            sessions.extend(files.map(|file| (index, project, file)));
        }
        sort_by_age(&mut sessions);
        let digests: Vec<&SessionDigest> =
            sessions.iter().map(|(_, _, file)| &*file.digest).collect();
        let paths = unique_by_file(&digests, |session, conversation| {
            let digest = &digests[session].conversations[conversation];
            wanted.includes_conversation(conversation, digest)
        });
        let several = projects.len() > 1;
        let (ending, redacts) = (wanted.format.as_str(), wanted.redact);
        let mut names = FileNames { taken: BTreeSet::new(), ending, redacts };
        // In the order of their names, so that new sessions do not move old ones.
        let dirs: Vec<String> = projects.iter().map(|project| names.project_dir(project)).collect();
        let mut jobs = Vec::new();
        for (index, conversations) in paths {
            let (project_index, project, session) = sessions[index];
            let dir = if several { &*dirs[project_index] } else { "" };
            let files = (0..session.digest.conversations.len())
                .map(|n| conversations.contains(&n).then(|| names.session_file(dir, session, n)))
                .collect();
            let inline = Vec::new();
            jobs.push(ExportJob { project, project_index, session, files, end: None, inline });
        }
        if let end @ (NodeSelector::Uuid(_) | NodeSelector::Place(_)) = &wanted.selector {
            keep_single_path(&mut jobs, &sessions, end, &mut names);
        }
        let mut plan = Self {
            jobs,
            agents: Vec::new(),
            agent_files: BTreeMap::new(),
            is_whole: matches!(wanted.selector, NodeSelector::Resume)
                && !wanted.active_only
                && wanted.since.is_none(),
            homes: continued_records(&projects),
            rule,
        };
        if wanted.agents {
            let dirs = dirs.iter().map(|dir| if several { dir } else { "" }).collect::<Vec<_>>();
            plan.add_agents(&sessions, wanted, &dirs, &mut names);
            plan.add_inline_agents(&sessions, wanted, &dirs, &mut names)?;
        }
        Ok(plan)
    }

    /// Plans the agents of all sessions of the scope: those whose paths are unique, too (R14).
    fn add_agents(
        &mut self,
        sessions: &[(usize, &'a ProjectSurvey, &'a SurveyedFile)],
        wanted: &ExportRequest,
        dirs: &[&str],
        names: &mut FileNames<'_>,
    ) {
        let mut agents: Vec<(usize, &ProjectSurvey, &SurveyedFile)> = Vec::new();
        for &(index, project, session) in sessions.iter().filter(|(.., file)| !is_agent(file)) {
            let own = project.agents_of(&session.file.id);
            let own = own.filter(|agent| wanted.includes_hidden || !is_warmup(agent));
            agents.extend(own.map(|agent| (index, project, agent)));
        }
        sort_by_age(&mut agents);
        let digests: Vec<&SessionDigest> =
            agents.iter().map(|(_, _, file)| &*file.digest).collect();
        for (index, conversations) in unique_by_file(&digests, |_, _| true) {
            let (project_index, project, session) = agents[index];
            let files: Vec<Option<String>> = (0..session.digest.conversations.len())
                .map(|n| {
                    let is_kept = conversations.contains(&n);
                    is_kept.then(|| names.agent_file(dirs[project_index], session, n))
                })
                .collect();
            let resuming = session.digest.conversations.iter().position(|end| end.resumes);
            let main = resuming.and_then(|n| files[n].as_ref()).or(files.iter().flatten().next());
            if let Some(main) = main {
                let key = (project_index, session.file.id.clone());
                self.agent_files.entry(key).or_insert_with(|| main.clone());
            }
            let inline = Vec::new();
            self.agents.push(ExportJob {
                project,
                project_index,
                session,
                files,
                end: None,
                inline,
            });
        }
    }

    /// Plans the agents inside the sessions' own files; what resumed sessions repeat of them once.
    fn add_inline_agents(
        &mut self,
        sessions: &[(usize, &'a ProjectSurvey, &'a SurveyedFile)],
        wanted: &ExportRequest,
        dirs: &[&str],
        names: &mut FileNames<'_>,
    ) -> Result<(), ExportError> {
        for &(project_index, project, session) in sessions {
            if session.digest.inline_agents == 0 {
                continue;
            }
            let history = match &session.history {
                Some(history) => Arc::clone(history),
                None => Arc::new(from_jsonl(&session.file.path, self.rule)?),
            };
            let records = &history.session;
            let (mut files, mut inline) = (Vec::new(), Vec::new());
            for agent in inline_agents(&history) {
                let Some(name) = records.record(agent.root).uuid else { continue };
                let is_warmup = records.preview_text(agent.root) == Some("Warmup");
                let id = records.uuid_text(name);
                let key = (project_index, id.clone());
                if is_warmup && !wanted.includes_hidden || self.agent_files.contains_key(&key) {
                    continue;
                }
                let stem = format!("{}agents/agent_{}", dirs[project_index], names.clean_name(&id));
                let file = names.with_free_number(&stem);
                self.agent_files.insert(key, file.clone());
                files.push(Some(file));
                inline.push(name);
            }
            if !inline.is_empty() {
                self.agents.push(ExportJob {
                    project,
                    project_index,
                    session,
                    files,
                    end: None,
                    inline,
                });
            }
        }
        Ok(())
    }

    pub(super) fn transcript_count(&self) -> usize {
        self.jobs.iter().map(|job| job.files.iter().flatten().count()).sum()
    }

    /// Returns the names of all files that may be written.
    pub(super) fn file_names(&self) -> impl Iterator<Item = &str> {
        let jobs = self.jobs.iter().chain(&self.agents);
        jobs.flat_map(|job| job.files.iter().flatten()).map(String::as_str)
    }

    pub(super) fn total_bytes(&self) -> u64 {
        self.jobs.iter().chain(&self.agents).map(|job| job.session.file.bytes).sum()
    }

    /// Returns about how many bytes of records are written, if each takes its part of its file.
    pub(super) fn expected_bytes(&self) -> u64 {
        let expected = |job: &ExportJob<'_>| {
            let digest = &job.session.digest;
            let written =
                digest.conversations.iter().zip(&job.files).filter(|(_, file)| file.is_some());
            let records: u64 = written.map(|(path, _)| u64::from(path.records)).sum();
            job.session.file.bytes.saturating_mul(records) / digest.readable_records().max(1)
        };
        self.jobs.iter().map(expected).sum()
    }

    /// Returns the transcript of an agent of the same project.
    pub(super) fn agent_file(&self, job: &ExportJob<'_>, id: &str) -> Option<&str> {
        self.agent_files.get(&(job.project_index, id.to_owned())).map(String::as_str)
    }

    /// Returns the session of the same project that contains a record.
    pub(super) fn home_session(
        &self,
        job: &ExportJob<'_>,
        name: RecordUuid,
    ) -> Option<&'a SurveyedFile> {
        self.homes.get(&(job.project_index, name.to_bits())).copied()
    }
}

impl ExportRequest {
    fn includes_conversation(&self, index: usize, conversation: &ConversationDigest) -> bool {
        let right_one = match &self.selector {
            NodeSelector::Nth(n) => index + 1 == *n,
            NodeSelector::Resume | NodeSelector::Uuid(_) | NodeSelector::Place(_) => true,
        };
        right_one
            && (!self.active_only || conversation.resumes)
            && self.since.is_none_or(|since| conversation.last_active >= Some(since))
    }
}

/// Returns the wanted conversations of each file whose paths are in no other one (R14).
fn unique_by_file(
    digests: &[&SessionDigest],
    is_wanted: impl Fn(usize, usize) -> bool,
) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut paths: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (file, conversation) in unique_paths(digests) {
        if is_wanted(file, conversation) {
            paths.entry(file).or_default().insert(conversation);
        }
    }
    paths
}

fn is_agent(file: &SurveyedFile) -> bool {
    file.file.role.is_agent()
}

fn is_warmup(agent: &SurveyedFile) -> bool {
    agent.digest.agent_class == AgentClass::Warmup
}

/// Leaves one path, to the record that was asked for.
fn keep_single_path<'a>(
    jobs: &mut Vec<ExportJob<'a>>,
    sessions: &[(usize, &'a ProjectSurvey, &'a SurveyedFile)],
    end: &NodeSelector,
    names: &mut FileNames<'_>,
) {
    jobs.clear();
    if let [(project_index, project, session)] = *sessions {
        let files = vec![Some(names.session_file("", session, 0))];
        let end = Some(end.clone());
        jobs.push(ExportJob { project, project_index, session, files, end, inline: Vec::new() });
    }
}

/// Finds the records that are continued in another file (R5).
fn continued_records<'a>(
    projects: &[&'a ProjectSurvey],
) -> BTreeMap<(usize, u128), &'a SurveyedFile> {
    let mut homes = BTreeMap::new();
    for (index, &project) in projects.iter().enumerate() {
        let wanted: BTreeSet<u128> = project
            .sessions
            .iter()
            .flat_map(|session| session.digest.missing_parents.iter())
            .map(|missing| missing.parent.to_bits())
            .collect();
        if wanted.is_empty() {
            continue;
        }
        for session in &project.sessions {
            for name in &session.digest.chain.uuids {
                if wanted.contains(&name.to_bits()) {
                    homes.entry((index, name.to_bits())).or_insert(session);
                }
            }
        }
    }
    homes
}

/// Puts originals before their copies: of equal paths the first is written (R14).
fn sort_by_age(files: &mut Vec<(usize, &ProjectSurvey, &SurveyedFile)>) {
    let entries: Vec<SessionEntry<'_>> =
        files.iter().map(|(.., file)| file.lineage_entry()).collect();
    let lineage = Lineage::new(&entries);
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|index| {
        let (.., file) = files[*index];
        let facts = &file.digest.facts;
        (facts.started, lineage.generation_of(*index), facts.last_active, &file.file.relative)
    });
    *files = order.into_iter().map(|index| files[index]).collect();
}

/// Names for files, none of them twice.
struct FileNames<'a> {
    taken: BTreeSet<String>,
    ending: &'a str,
    redacts: bool,
}

impl FileNames<'_> {
    /// Returns the directory for a project: the last part of its path, unless another has that.
    fn project_dir(&mut self, project: &ProjectSurvey) -> String {
        let path = project.path.as_deref().unwrap_or(&project.name);
        let last = path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next();
        let stem = self.clean_name(last.unwrap_or_default().trim_start_matches('-'));
        let numbered = (2..).map(|n| format!("{stem}_{n}/"));
        std::iter::once(format!("{stem}/"))
            .chain(numbered)
            .find(|dir| self.taken.insert(dir.to_lowercase()))
            .unwrap_or_default()
    }

    fn session_file(&mut self, dir: &str, session: &SurveyedFile, index: usize) -> String {
        let id = self.clean_name(&session.file.id);
        self.unique_name(&format!("{dir}transcript_{id}"), session, index)
    }

    fn agent_file(&mut self, dir: &str, agent: &SurveyedFile, index: usize) -> String {
        let id = self.clean_name(&agent.file.id);
        self.unique_name(&format!("{dir}agents/agent_{id}"), agent, index)
    }

    fn unique_name(&mut self, stem: &str, session: &SurveyedFile, index: usize) -> String {
        let conversation = &session.digest.conversations[index];
        let mut stem = stem.to_owned();
        if session.digest.conversations.len() > 1 {
            stem = format!("{stem}_path{}", index + 1);
            if conversation.status == ramus_core::branches::BranchStatus::Abandoned {
                stem.push_str("_abandoned");
            }
        }
        self.with_free_number(&stem)
    }

    /// Makes a name that is one on every system, without secrets if there must be none.
    fn clean_name(&self, name: &str) -> String {
        match self.redacts {
            true => portable_name(&redact_text(name, &mut RedactionCounts::default())),
            false => portable_name(name),
        }
    }

    fn with_free_number(&mut self, stem: &str) -> String {
        let mut name = format!("{stem}.{}", self.ending);
        let mut copy = 2;
        // File names of some systems do not tell capitals.
        while !self.taken.insert(name.to_lowercase()) {
            name = format!("{stem}_copy{copy}.{}", self.ending);
            copy += 1;
        }
        name
    }
}

/// Makes a name that is one on every system.
fn portable_name(name: &str) -> String {
    let keep = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    let clean: String =
        name.chars().take(120).map(|char| if keep(char) { char } else { '_' }).collect();
    match clean.trim_start_matches('.') {
        "" => "_".to_owned(),
        kept => kept.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::portable_name;

    #[test]
    fn names_are_names_everywhere() {
        assert_eq!(portable_name("3f9a-b"), "3f9a-b");
        assert_eq!(portable_name("../../etc/passwd"), "_.._etc_passwd");
        assert_eq!(portable_name("<img onerror=x>"), "_img_onerror_x_");
        assert_eq!(portable_name(".."), "_");
    }
}
