//! Forks and merges: new sessions, where they go and what they are called.

use std::path::{Path, PathBuf};

use ramus_core::edit::{
    ChangeDetail, Merge, MergeBrief, Misnamed, Policy, Strategy, Thinking, end_of_message, to_fix,
};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_core::title::short_title;
use ramus_store::PathError;
use ramus_store::place::encode;
use ramus_store::plan::{self, Conversation, Destination};
use ramus_store::trace::{Part, trace};

use super::{ChangeError, ChangeKind, PlannedChange, Site};
use crate::address::Scope;
use crate::workspace::{SurveyDetail, Workspace};

/// Where a new session goes, and what it is called.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewSessionAt<'a> {
    /// Another project: its path, its name or a part of it.
    pub into: Option<&'a str>,
    pub title: Option<&'a str>,
}

/// Conversations, each up to a message, and how to put them together.
#[derive(Debug)]
pub struct MergeRequest<'a> {
    pub conversations: &'a [(&'a Site, NodeId)],
    pub strategy: Strategy,
    /// They may have nothing in common, and what they have is not looked for.
    pub no_base: bool,
    /// What holds where several changed a file with different results.
    pub policy: Policy,
    pub to: NewSessionAt<'a>,
}

/// A directory for a new session.
struct NewPlace {
    dir: PathBuf,
    cwd: Option<String>,
}

impl NewSessionAt<'_> {
    /// Finds where the new session goes: beside the old one, or into a project that may be new.
    fn place(&self, workspace: &Workspace, site: &Site) -> Result<NewPlace, ChangeError> {
        let subject = site.subject();
        let Some(into) = self.into else {
            return Ok(NewPlace { dir: subject.dir.to_owned(), cwd: None });
        };
        if let Ok(project) = workspace.project(into) {
            let dir = project.dir.clone();
            let survey = workspace.survey_scope(Scope::Project(project), SurveyDetail::Digests);
            let path = survey.projects.first().and_then(|project| project.path.clone());
            if let Some(path) = path {
                return Ok(NewPlace { dir, cwd: Some(path) });
            }
        }
        let path = Path::new(into).canonicalize().ok().filter(|path| path.is_dir());
        let Some((root, path)) = subject.root.zip(path) else {
            return Err(ChangeError::NoProject(into.to_owned()));
        };
        let path = path.to_string_lossy().into_owned();
        Ok(NewPlace { dir: root.join("projects").join(encode(&path)), cwd: Some(path) })
    }

    /// Returns the title that was typed if it can be one, else the usual one.
    fn title(&self, usual: impl FnOnce() -> String) -> Result<String, ChangeError> {
        Ok(match self.title {
            Some(typed) => plan::title(typed)?.to_owned(),
            None => usual(),
        })
    }
}

impl Workspace {
    pub(super) fn plan_fork(
        &self,
        site: &Site,
        node: NodeId,
        to: NewSessionAt<'_>,
        now: Time,
    ) -> Result<PlannedChange, ChangeError> {
        let parts = self.parts(site, node)?.ok_or(ChangeError::NoConversation { nth: 0 })?;
        let place = to.place(self, site)?;
        let title = to.title(|| format!("{} (fork)", short_title(&site.title)))?;
        let to = Destination { dir: &place.dir, cwd: place.cwd.as_deref(), title: &title };
        let (plan, new) = plan::fork(site.subject(), &parts, to, now)
            .map_err(ChangeError::of(ChangeKind::Fork))?;
        Ok(PlannedChange {
            resume_leaf: Some(new.leaf.clone()),
            cwd: Some(place.cwd.unwrap_or_else(|| site.cwd().to_owned())),
            ..PlannedChange::new(self, plan, ChangeDetail::Fork { new, up_to: site.message(node)? })
        })
    }

    pub(super) fn plan_merge(
        &self,
        request: MergeRequest<'_>,
        now: Time,
    ) -> Result<PlannedChange, ChangeError> {
        let Some((first, _)) = request.conversations.first() else {
            return Err(ChangeError::NoConversation { nth: 0 });
        };
        let parts = self.parts_of_all(request.conversations)?;
        let place = request.to.place(self, first)?;
        let title = request.to.title(|| merged_title(request.conversations))?;
        let digest = match &request.strategy {
            Strategy::Assisted(text) if !text.is_empty() => Some(text.clone()),
            _ => None,
        };
        let merge = Merge {
            strategy: request.strategy,
            no_base: request.no_base,
            policy: request.policy,
            title: &title,
            cwd: place.cwd.as_deref(),
        };
        let conversations = conversations(request.conversations, &parts);
        let (plan, merged) = plan::merge(&conversations, &merge, &place.dir, now)
            .map_err(ChangeError::of(ChangeKind::Merge))?;
        let policy = request.policy;
        Ok(PlannedChange {
            resume_leaf: Some(merged.new.leaf.clone()),
            cwd: Some(place.cwd.unwrap_or_else(|| first.cwd().to_owned())),
            stops: policy == Policy::Stop && !merged.conflicts.is_empty(),
            ..PlannedChange::new(
                self,
                plan,
                ChangeDetail::Merge { merged: Box::new(merged), policy, digest },
            )
        })
    }

    pub(super) fn plan_fix(
        &self,
        site: &Site,
        misnamed: &Misnamed,
        thinking: Thinking,
        now: Time,
    ) -> Result<PlannedChange, ChangeError> {
        let detail = |repairs, is_copy| ChangeDetail::Fix {
            of: site.found.file.id.clone(),
            short_of: site.short_id.clone(),
            title: site.title.clone(),
            repairs,
            is_copy,
        };
        let target = to_fix(&site.history, now);
        let parts = target.map(|target| self.parts(site, target)).transpose()?.flatten();
        if let Some(parts) = parts {
            let title = format!("{} (repaired)", short_title(&site.title));
            let fixed = plan::fix(site.subject(), &parts, misnamed, &title, thinking, now)
                .map_err(ChangeError::of(ChangeKind::Fix))?;
            if let Some((plan, fixed)) = fixed {
                return Ok(PlannedChange {
                    resume_leaf: Some(fixed.new.leaf),
                    cwd: Some(site.cwd().to_owned()),
                    ..PlannedChange::new(self, plan, detail(fixed.repairs.words(), true))
                });
            }
        }
        let plan = plan::end_line(site.subject())?.ok_or(ChangeError::NothingToRepair)?;
        let words =
            "the last line broke off: it is ended, so that the next one is not lost with it";
        Ok(PlannedChange::new(self, plan, detail(vec![words.to_owned()], false)))
    }

    /// Writes what somebody needs to know who writes the digest of a merge.
    pub fn merge_brief(
        &self,
        chosen: &[(&Site, NodeId)],
        no_base: bool,
    ) -> Result<MergeBrief, ChangeError> {
        let parts = self.parts_of_all(chosen)?;
        plan::merge_brief(&conversations(chosen, &parts), no_base)
            .map_err(ChangeError::of(ChangeKind::Merge))
    }

    fn parts_of_all(&self, chosen: &[(&Site, NodeId)]) -> Result<Vec<Vec<Part>>, ChangeError> {
        let parts = chosen.iter().enumerate().map(|(nth, (site, node))| {
            self.parts(site, *node)?.ok_or(ChangeError::NoConversation { nth })
        });
        parts.collect()
    }

    /// Reads the path to the end of a node's message; `None`: it is no part of a conversation.
    pub(crate) fn parts(&self, site: &Site, node: NodeId) -> Result<Option<Vec<Part>>, PathError> {
        let end = end_of_message(&site.history, node);
        let Some(path) = end.and_then(|end| site.history.path_to(end)) else { return Ok(None) };
        let (file, history) = (site.found.file.clone(), site.history.clone());
        trace(site.found.files_beside(), file, history, path, self.rule()).map(Some)
    }
}

fn conversations<'a>(
    chosen: &[(&'a Site, NodeId)],
    parts: &'a [Vec<Part>],
) -> Vec<Conversation<'a>> {
    let pairs = chosen.iter().zip(parts);
    pairs.map(|((site, _), parts)| Conversation { subject: site.subject(), parts }).collect()
}

fn merged_title(chosen: &[(&Site, NodeId)]) -> String {
    let mut titles: Vec<String> = chosen.iter().map(|(site, _)| short_title(&site.title)).collect();
    titles.dedup();
    match &titles[..] {
        [one] => format!("{one} (merge)"),
        several => short_title(&several.join(" + ")),
    }
}
