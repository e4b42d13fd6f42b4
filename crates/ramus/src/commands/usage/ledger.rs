//! The books of a survey, with the way back from an entry to its session and project.

use std::collections::HashMap;

use std::sync::Arc;

use ramus_core::name::Key;
use ramus_core::usage::{Books, FileAccount, Sum};
use ramus_store::agents::meta;
use ramus_store::survey::{ProjectSurvey, Survey, Surveyed};

use super::Filter;
use crate::commands::stats::in_scope;
use crate::select::Scope;

/// Books over the files of a scope.
pub(crate) struct Ledger<'a> {
    /// The files, by the numbers that the entries give.
    pub(crate) files: Vec<(&'a ProjectSurvey, &'a Surveyed)>,
    pub(crate) accounts: Vec<FileAccount<'a>>,
    pub(crate) books: Books,
    /// What each branch of each file used by itself, before charges moved into the books; if wanted.
    pub(crate) by_branch: Vec<Vec<Sum>>,
}

impl<'a> Ledger<'a> {
    /// Opens the books of a survey; its accounts move into them. `paths`: whole paths are wanted.
    pub(crate) fn new(survey: &'a mut Survey, scope: &Scope, paths: bool) -> Self {
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
            if in_scope(scope, file) {
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

    /// Leaves only the messages that are wanted.
    pub(crate) fn keep(&mut self, filter: &Filter) {
        let wanted: Vec<bool> =
            self.books.models.iter().map(|model| filter.has_model(model)).collect();
        self.books.entries.retain_mut(|entry| {
            let charge = &mut entry.charge;
            charge.more.retain(|part| wanted[usize::from(part.model)]);
            if !wanted[usize::from(charge.part.model)] {
                if charge.more.is_empty() {
                    return false;
                }
                charge.part = charge.more.remove(0);
            }
            filter.has_time(charge.time)
        });
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
