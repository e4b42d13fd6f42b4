//! Plans new sessions by fork and merge: their project, title and content.

use std::path::{Path, PathBuf};

use ramus_core::edit::{
    ChangeDetail, ConflictPolicy, MergeBrief, MergeOptions, MergeStrategy, ThinkingPolicy,
    WrongIds, end_of_message, node_to_repair,
};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_core::title::short_title;
use ramus_store::PathError;
use ramus_store::plan::{self, ForkDestination, MergeInput};
use ramus_store::project_name::project_dir_name;
use ramus_store::real_path::real_path;
use ramus_store::trace::{LinkedPathPart, trace_path};

use super::{ChangeError, ChangeKind, OpenedSession, PlannedChange};
use crate::address::Scope;
use crate::workspace::{SurveyDetail, Workspace};

/// Project and title of a new session.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewSessionAt<'a> {
    /// Another project: its path, its name or a part of it.
    pub into: Option<&'a str>,
    pub title: Option<&'a str>,
}

/// Conversations, each up to a message, and how to put them together.
#[derive(Debug)]
pub struct MergeRequest<'a> {
    pub conversations: &'a [(&'a OpenedSession, NodeId)],
    pub strategy: MergeStrategy,
    /// They may have nothing in common; common messages are not searched for.
    pub no_base: bool,
    /// Which version is valid where several conversations changed a file differently.
    pub policy: ConflictPolicy,
    pub to: NewSessionAt<'a>,
}

/// A directory for a new session.
struct NewSessionLocation {
    dir: PathBuf,
    cwd: Option<String>,
}

impl NewSessionAt<'_> {
    /// Finds the project of the new session: that of the old one, or another one that may not exist yet.
    fn resolve_location(
        &self,
        workspace: &Workspace,
        opened: &OpenedSession,
    ) -> Result<NewSessionLocation, ChangeError> {
        let subject = opened.edit_subject();
        let Some(into) = self.into else {
            return Ok(NewSessionLocation { dir: subject.dir.to_owned(), cwd: None });
        };
        if let Ok(project) = workspace.resolve_own_project(into) {
            let dir = project.dir.clone();
            let survey = workspace.survey_scope(Scope::Project(project), SurveyDetail::Digests);
            let path = survey.projects.first().and_then(|project| project.path.clone());
            if let Some(path) = path {
                return Ok(NewSessionLocation { dir, cwd: Some(path) });
            }
        }
        let path = real_path(Path::new(into)).ok().filter(|path| path.is_dir());
        let Some((root, path)) = subject.root.zip(path) else {
            return Err(ChangeError::NoProject(into.to_owned()));
        };
        let path = path.to_string_lossy().into_owned();
        Ok(NewSessionLocation {
            dir: root.join("projects").join(project_dir_name(&path)),
            cwd: Some(path),
        })
    }

    /// Returns the title that was typed if it can be one, else the usual one.
    fn title_or_default(&self, usual: impl FnOnce() -> String) -> Result<String, ChangeError> {
        Ok(match self.title {
            Some(typed) => plan::check_title(typed)?.to_owned(),
            None => usual(),
        })
    }
}

impl Workspace {
    pub(super) fn plan_fork(
        &self,
        opened: &OpenedSession,
        node: NodeId,
        to: NewSessionAt<'_>,
        now: Time,
    ) -> Result<PlannedChange, ChangeError> {
        let parts = self.path_parts(opened, node)?.ok_or(ChangeError::NoConversation { nth: 0 })?;
        let place = to.resolve_location(self, opened)?;
        let title = to.title_or_default(|| format!("{} (fork)", short_title(&opened.title)))?;
        let to = ForkDestination { dir: &place.dir, cwd: place.cwd.as_deref(), title: &title };
        let (plan, new) = plan::plan_fork(opened.edit_subject(), &parts, to, now)
            .map_err(ChangeError::from_plan_error(ChangeKind::Fork))?;
        Ok(PlannedChange {
            resume_leaf: Some(new.leaf.clone()),
            cwd: Some(place.cwd.unwrap_or_else(|| opened.working_directory().to_owned())),
            ..PlannedChange::new(
                self,
                plan,
                ChangeDetail::Fork { new, up_to: opened.message_summary(node)? },
            )
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
        let parts = self.all_path_parts(request.conversations)?;
        let place = request.to.resolve_location(self, first)?;
        let title = request.to.title_or_default(|| merged_title(request.conversations))?;
        let digest = match &request.strategy {
            MergeStrategy::Assisted(text) if !text.is_empty() => Some(text.clone()),
            _ => None,
        };
        let merge = MergeOptions {
            strategy: request.strategy,
            no_base: request.no_base,
            policy: request.policy,
            title: &title,
            cwd: place.cwd.as_deref(),
        };
        let conversations = merge_inputs(request.conversations, &parts);
        let (plan, merged) = plan::plan_merge(&conversations, &merge, &place.dir, now)
            .map_err(ChangeError::from_plan_error(ChangeKind::Merge))?;
        let policy = request.policy;
        Ok(PlannedChange {
            resume_leaf: Some(merged.new.leaf.clone()),
            cwd: Some(place.cwd.unwrap_or_else(|| first.working_directory().to_owned())),
            stops: policy == ConflictPolicy::Stop && !merged.conflicts.is_empty(),
            ..PlannedChange::new(
                self,
                plan,
                ChangeDetail::Merge { plan: Box::new(merged), policy, digest },
            )
        })
    }

    pub(super) fn plan_fix(
        &self,
        opened: &OpenedSession,
        misnamed: &WrongIds,
        thinking: ThinkingPolicy,
        now: Time,
    ) -> Result<PlannedChange, ChangeError> {
        let detail = |repairs, is_copy| ChangeDetail::Repair {
            of: opened.found.file.id.clone(),
            short_of: opened.short_id.clone(),
            title: opened.title.clone(),
            repairs,
            is_copy,
        };
        let target = node_to_repair(&opened.history, now);
        let parts = target.map(|target| self.path_parts(opened, target)).transpose()?.flatten();
        if let Some(parts) = parts {
            let title = format!("{} (repaired)", short_title(&opened.title));
            let fixed =
                plan::plan_fix(opened.edit_subject(), &parts, misnamed, &title, thinking, now)
                    .map_err(ChangeError::from_plan_error(ChangeKind::Fix))?;
            if let Some((plan, fixed)) = fixed {
                return Ok(PlannedChange {
                    resume_leaf: Some(fixed.new.leaf),
                    cwd: Some(opened.working_directory().to_owned()),
                    ..PlannedChange::new(self, plan, detail(fixed.repairs.descriptions(), true))
                });
            }
        }
        let plan =
            plan::plan_line_end(opened.edit_subject())?.ok_or(ChangeError::NothingToRepair)?;
        let words =
            "the last line is incomplete: it gets a newline, so that the next record is not lost";
        Ok(PlannedChange::new(self, plan, detail(vec![words.to_owned()], false)))
    }

    /// Writes the brief for the command that writes the digest of a merge.
    pub fn merge_brief(
        &self,
        chosen: &[(&OpenedSession, NodeId)],
        no_base: bool,
    ) -> Result<MergeBrief, ChangeError> {
        let parts = self.all_path_parts(chosen)?;
        plan::write_merge_brief(&merge_inputs(chosen, &parts), no_base)
            .map_err(ChangeError::from_plan_error(ChangeKind::Merge))
    }

    fn all_path_parts(
        &self,
        chosen: &[(&OpenedSession, NodeId)],
    ) -> Result<Vec<Vec<LinkedPathPart>>, ChangeError> {
        let parts = chosen.iter().enumerate().map(|(nth, (opened, node))| {
            self.path_parts(opened, *node)?.ok_or(ChangeError::NoConversation { nth })
        });
        parts.collect()
    }

    /// Reads the path to the end of a node's message; `None`: it is no part of a conversation.
    pub(crate) fn path_parts(
        &self,
        opened: &OpenedSession,
        node: NodeId,
    ) -> Result<Option<Vec<LinkedPathPart>>, PathError> {
        let end = end_of_message(&opened.history, node);
        let Some(path) = end.and_then(|end| opened.history.path_to(end)) else { return Ok(None) };
        let (file, history) = (opened.found.file.clone(), opened.history.clone());
        trace_path(opened.found.files_beside(), file, history, path, self.resume_rule()).map(Some)
    }
}

fn merge_inputs<'a>(
    chosen: &[(&'a OpenedSession, NodeId)],
    parts: &'a [Vec<LinkedPathPart>],
) -> Vec<MergeInput<'a>> {
    let pairs = chosen.iter().zip(parts);
    pairs.map(|((opened, _), parts)| MergeInput { subject: opened.edit_subject(), parts }).collect()
}

fn merged_title(chosen: &[(&OpenedSession, NodeId)]) -> String {
    let mut titles: Vec<String> =
        chosen.iter().map(|(opened, _)| short_title(&opened.title)).collect();
    titles.dedup();
    match &titles[..] {
        [one] => format!("{one} (merge)"),
        several => short_title(&several.join(" + ")),
    }
}
