//! The usage of all files of a survey, and which session and project each file belongs to.

use ramus_core::ids::IdHash;
use ramus_core::title::session_title;
use ramus_core::usage::{FileOwner, LedgerFile, UsageLedger};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::agents::read_agent_meta;
use crate::survey::{ProjectSurvey, Survey, SurveyedFile};

/// The usage of a survey's files.
#[derive(Debug)]
pub struct SurveyLedger<'a> {
    /// The files, by the index that entries refer to.
    pub files: Vec<(&'a ProjectSurvey, &'a SurveyedFile)>,
    pub accounts: Vec<LedgerFile<'a>>,
    pub usage: UsageLedger,
}

impl<'a> SurveyLedger<'a> {
    /// Collects the usage of the files that `wanted` selects. With `each`, every message is kept; otherwise
    /// messages are added up where possible.
    pub fn new(survey: &'a Survey, wanted: impl Fn(&SurveyedFile) -> bool, each: bool) -> Self {
        let (mut files, mut accounts) = (Vec::new(), Vec::new());
        for project in &survey.projects {
            let all = project.sessions.iter().chain(&project.agents).chain(&project.journals);
            for file in all.filter(|file| wanted(file)) {
                let Some(account) = &file.account else { continue };
                files.push((project, file));
                accounts.push(LedgerFile {
                    usage: account,
                    digest: &file.digest,
                    id: &file.file.id,
                    created: file.lineage_entry().created,
                    session: None,
                    agent: file.parent_session().is_some(),
                    call: None,
                });
            }
        }
        link_agent_accounts(&files, &mut accounts);
        let usage = UsageLedger::new(&accounts, each);
        Self { files, accounts, usage }
    }

    /// Returns the session and project of each file.
    pub fn file_owners(&self) -> Vec<FileOwner<'a>> {
        let owner = |&(project, file): &(&'a ProjectSurvey, &'a SurveyedFile)| {
            let parent = file.parent_session();
            let own = parent.is_none();
            FileOwner {
                project: &project.name,
                path: project.path.as_deref(),
                session: parent.unwrap_or(&file.file.id),
                own,
                title: own.then(|| session_title(&file.digest, &project.summaries)).flatten(),
                last_active: file.digest.facts.last_active,
            }
        };
        self.files.iter().map(owner).collect()
    }
}

/// Finds the session of each agent, and the call that started it if only the agent's own file names it.
fn link_agent_accounts(files: &[(&ProjectSurvey, &SurveyedFile)], accounts: &mut [LedgerFile<'_>]) {
    let sessions: FxHashMap<(&str, &str), usize> = files
        .iter()
        .enumerate()
        .filter(|(_, (_, file))| file.parent_session().is_none())
        .map(|(index, (project, file))| ((&*project.name, &*file.file.id), index))
        .collect();
    let key = |text: &str| IdHash::new(text.as_bytes());
    let parents: Vec<(Option<usize>, Option<IdHash>)> = files
        .par_iter()
        .map(|(project, file)| {
            let parent = file.parent_session();
            let session = parent.and_then(|parent| sessions.get(&(&*project.name, parent)));
            let Some(&session) = session else { return (None, None) };
            let is_started = accounts[session].usage.agent_starts.contains_key(&key(&file.file.id));
            let call = if is_started { None } else { read_agent_meta(&file.file.path).call };
            (Some(session), call.map(|call| key(&call)))
        })
        .collect();
    for (account, parent) in accounts.iter_mut().zip(parents) {
        (account.session, account.call) = parent;
    }
}
