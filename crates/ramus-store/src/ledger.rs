//! The books of a survey, with the way back from an entry to its session and project.

use std::collections::HashMap;

use std::sync::Arc;

use ramus_core::name::Key;
use ramus_core::title::session_title;
use ramus_core::usage::{Books, FileAccount, Owner, Sum};

use crate::agents::meta;
use crate::survey::{ProjectSurvey, Survey, Surveyed};

/// Books over the files of a survey.
#[derive(Debug)]
pub struct Ledger<'a> {
    /// The files, by the numbers that the entries give.
    pub files: Vec<(&'a ProjectSurvey, &'a Surveyed)>,
    pub accounts: Vec<FileAccount<'a>>,
    pub books: Books,
    /// What each branch of each file used by itself, before charges moved into the books; if wanted.
    pub by_branch: Vec<Vec<Sum>>,
}

impl<'a> Ledger<'a> {
    /// Opens the books of those files of a survey that are wanted; its accounts move into them.
    /// `paths`: whole paths are wanted.
    pub fn new(survey: &'a mut Survey, wanted: impl Fn(&Surveyed) -> bool, paths: bool) -> Self {
        let mut taken = Vec::new();
        for project in &mut survey.projects {
            let files =
                project.sessions.iter_mut().chain(&mut project.agents).chain(&mut project.journals);
            taken.extend(
                files.map(|file| file.account.take().map(Arc::unwrap_or_clone).unwrap_or_default()),
            );
        }
        let survey: &'a Survey = survey;
        let all = survey.projects.iter().flat_map(|project| {
            let files = project.sessions.iter().chain(&project.agents).chain(&project.journals);
            files.map(move |file| (project, file))
        });
        let (mut files, mut accounts) = (Vec::new(), Vec::new());
        for ((project, file), account) in all.zip(taken) {
            if wanted(file) {
                files.push((project, file));
                accounts.push(FileAccount {
                    account,
                    digest: &file.digest,
                    id: &file.file.id,
                    session: None,
                    agent: file.parent_session().is_some(),
                    call: None,
                });
            }
        }
        find_parents(&files, &mut accounts);
        let by_branch = match paths {
            true => accounts.iter().map(|file| file.account.by_branch()).collect(),
            false => Vec::new(),
        };
        let books = Books::new(&mut accounts);
        Self { files, accounts, books, by_branch }
    }

    /// Tells whose each file is.
    pub fn owners(&self) -> Vec<Owner<'a>> {
        let owner = |&(project, file): &(&'a ProjectSurvey, &'a Surveyed)| Owner {
            project: &project.name,
            path: project.path.as_deref(),
            session: file.parent_session().unwrap_or(&file.file.id),
            own: file.parent_session().is_none(),
            title: session_title(&file.digest, &project.summaries),
            last_active: file.digest.facts.last_active,
        };
        self.files.iter().map(owner).collect()
    }
}

/// Finds the session of each agent, and the call that its own file names where nothing else tells.
fn find_parents(files: &[(&ProjectSurvey, &Surveyed)], accounts: &mut [FileAccount<'_>]) {
    let sessions: HashMap<(&str, &str), usize> = files
        .iter()
        .enumerate()
        .filter(|(_, (_, file))| file.parent_session().is_none())
        .map(|(index, (project, file))| ((&*project.name, &*file.file.id), index))
        .collect();
    for (index, (project, file)) in files.iter().enumerate() {
        let Some(parent) = file.parent_session() else { continue };
        let session = sessions.get(&(&*project.name, parent)).copied();
        let told = session.is_some_and(|session| {
            accounts[session].account.hooks.contains_key(&Key::new(file.file.id.as_bytes()))
        });
        accounts[index].session = session;
        if !told && session.is_some() {
            let call = meta(&file.file.path).call;
            accounts[index].call = call.map(|call| Key::new(call.as_bytes()));
        }
    }
}
