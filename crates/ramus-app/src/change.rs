//! Changes: planned, shown, and only then carried out, by the very plan that was shown.

mod files;
mod hints;
mod keeper;
mod new_session;
mod opened_session;
mod warnings;

use ramus_core::annotation::{Annotation, AnnotationTarget};
use ramus_core::edit::{
    ChangeDetail, ChangeSummary, EditRefusal, FileRestoration, ThinkingPolicy, UndoneOperation,
    WrongIds,
};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_store::apply::{AppliedOperation, ApplyError};
use ramus_store::files_at::FilesAt;
use ramus_store::journal::{Journal, Operation};
use ramus_store::plan::{self, PlanError, PlanStep, TitleError, WritePlan};
use ramus_store::undo::{self, UndoError};
use ramus_store::{PathError, StateDir};

pub use hints::apply_hint;
pub use keeper::PlanKeeper;
pub use new_session::{MergeRequest, NewSessionAt};
pub use opened_session::OpenedSession;
pub use ramus_store::plan::{OperationKind as ChangeKind, new_id, resume_command, shell_quoted};

use crate::workspace::Workspace;

/// A change that a user requests.
#[derive(Debug)]
pub enum ChangeRequest<'a> {
    /// Resume a session from a message.
    Goto {
        opened: &'a OpenedSession,
        node: NodeId,
    },
    /// Copy a conversation up to a message into a new session.
    Fork {
        opened: &'a OpenedSession,
        node: NodeId,
        to: NewSessionAt<'a>,
    },
    /// Put conversations, each up to a message, together in a new session.
    Merge(MergeRequest<'a>),
    Rename {
        opened: &'a OpenedSession,
        title: &'a str,
    },
    Trash {
        opened: &'a OpenedSession,
    },
    /// Take an operation back; without a number the last one.
    Undo {
        journal: &'a Journal,
        op: Option<u64>,
    },
    /// Restore a session to the state before an operation; without a number from the trash, else the
    /// newest version that is not there now.
    Restore {
        journal: &'a Journal,
        session: &'a str,
        at: Option<u64>,
    },
    /// Restore the files of a project to their state at a message.
    RestoreFiles {
        files: &'a mut FilesAt,
        /// The path of one file; `None`: every file that a tool changed.
        only: Option<&'a str>,
        /// Files outside of the project too.
        outside: bool,
    },
    /// Repair the conversation that Claude Code resumes, in a copy.
    Fix {
        opened: &'a OpenedSession,
        misnamed: &'a WrongIds,
        thinking: ThinkingPolicy,
    },
}

impl ChangeRequest<'_> {
    /// Returns the sessions that are written to or from.
    fn opened_sessions(&self) -> impl Iterator<Item = &OpenedSession> {
        let (one, several): (Option<&OpenedSession>, &[(&OpenedSession, NodeId)]) = match self {
            Self::Goto { opened, .. }
            | Self::Fork { opened, .. }
            | Self::Rename { opened, .. }
            | Self::Trash { opened }
            | Self::Fix { opened, .. } => (Some(*opened), &[]),
            Self::Merge(request) => (None, request.conversations),
            Self::Undo { .. } | Self::Restore { .. } | Self::RestoreFiles { .. } => (None, &[]),
        };
        one.into_iter().chain(several.iter().map(|(opened, _)| *opened))
    }
}

/// A change that can be shown, kept and carried out.
#[derive(Debug)]
pub struct PlannedChange {
    pub plan: WritePlan,
    pub detail: ChangeDetail,
    /// The start of the id of the plan's session that means no other one.
    pub(crate) short_session: String,
    /// The last message of what will be resumed.
    pub resume_leaf: Option<String>,
    /// The directory that Claude Code has to be started in, if there is something to resume.
    pub cwd: Option<String>,
    /// The user must first decide which version of conflicting files is valid.
    pub stops: bool,
    /// Why the session itself cannot go to the message. This fork does it instead (R25).
    pub instead_of: Option<EditRefusal>,
    /// Pins, tags and notes that come along with it.
    pub annotations: Vec<(AnnotationTarget, Annotation)>,
}

impl PlannedChange {
    pub(crate) fn new(workspace: &Workspace, plan: WritePlan, detail: ChangeDetail) -> Self {
        Self {
            short_session: workspace.short_id(&plan.session),
            plan,
            detail,
            resume_leaf: None,
            cwd: None,
            stops: false,
            instead_of: None,
            annotations: Vec::new(),
        }
    }

    /// Returns a summary of the change.
    pub fn change_summary(&self) -> ChangeSummary<'_> {
        let is_agent = |step: &&PlanStep| {
            matches!(step, PlanStep::CreateFile { file, .. }
                if *file != self.plan.file && file.extension().is_some_and(|end| end == "jsonl"))
        };
        let is_link = |step: &&PlanStep| matches!(step, PlanStep::HardLink { .. });
        ChangeSummary {
            detail: &self.detail,
            session: &self.plan.session,
            short_session: &self.short_session,
            file: &self.plan.file,
            appended_bytes: self.plan.appended_bytes(),
            agents: self.plan.steps.iter().filter(is_agent).count(),
            links: self.plan.steps.iter().filter(is_link).count(),
            resume_notes: self.plan.resume_notes().collect(),
        }
    }

    /// Returns the command that resumes the result, if there is something to resume.
    pub fn resume_command(&self) -> Option<String> {
        self.cwd.as_ref().map(|_| plan::resume_command(&self.plan.session))
    }
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The histories do not allow it.
    #[error("cannot {}: {refusal}", change_verb(*.what))]
    Refused { what: ChangeKind, refusal: EditRefusal },
    #[error("the session resumes there already")]
    AlreadyThere,
    /// Its file no longer exists.
    #[error("session {0} is in the archive only")]
    Archived(String),
    #[error("the session was archived on another machine and can only be read here")]
    OfOthers,
    /// Of the conversations that were named, counted from 0, this one is none.
    #[error("the record is not part of a conversation")]
    NoConversation { nth: usize },
    #[error(transparent)]
    Title(#[from] TitleError),
    #[error("no project matches {0:?}")]
    NoProject(String),
    /// The directory whose files would be restored; empty: the session does not name it.
    #[error("{}", missing_directory(.0))]
    NoDirectory(String),
    /// No file needs to be restored; the value lists what is skipped.
    #[error("all files are unchanged")]
    FilesAsTheyWere(FileRestoration),
    #[error("there is nothing to repair")]
    NothingToRepair,
    #[error("{error}")]
    Undo {
        error: UndoError,
        /// The operation that moved the session to the trash.
        trashed: Option<u64>,
        /// A copy from before the operation was kept.
        is_kept: bool,
    },
    #[error(transparent)]
    Read(#[from] PathError),
}

fn change_verb(what: ChangeKind) -> &'static str {
    match what {
        ChangeKind::Goto => "resume there",
        ChangeKind::Fix => "repair",
        other => other.as_str(),
    }
}

fn missing_directory(cwd: &str) -> String {
    match cwd {
        "" => "the session does not name its working directory".to_owned(),
        cwd => format!("the working directory {cwd} does not exist here"),
    }
}

impl ChangeError {
    pub fn unknown_operation(op: u64) -> Self {
        Self::Undo { error: UndoError::Unknown(op), trashed: None, is_kept: false }
    }

    fn from_plan_error(what: ChangeKind) -> impl FnOnce(PlanError) -> Self {
        move |error| match error {
            PlanError::Refused(refusal) => Self::Refused { what, refusal },
            PlanError::Read(error) => Self::Read(error),
        }
    }
}

impl Workspace {
    /// Returns why an archived session is not changed or packed.
    pub(crate) fn archived_error(&self, opened: &OpenedSession) -> ChangeError {
        match self.is_of_others(&opened.found.file.path) {
            true => ChangeError::OfOthers,
            false => ChangeError::Archived(opened.short_id.clone()),
        }
    }

    /// Plans a change without writing anything.
    pub fn plan_change(
        &self,
        request: ChangeRequest<'_>,
        now: Time,
    ) -> Result<PlannedChange, ChangeError> {
        if let Some(opened) = request.opened_sessions().find(|opened| opened.found.file.archived) {
            return Err(self.archived_error(opened));
        }
        match request {
            ChangeRequest::Goto { opened, node } => self.plan_goto(opened, node, now),
            ChangeRequest::Fork { opened, node, to } => self.plan_fork(opened, node, to, now),
            ChangeRequest::Merge(request) => self.plan_merge(request, now),
            ChangeRequest::Rename { opened, title } => {
                let title = plan::check_title(title)?;
                let detail =
                    ChangeDetail::Rename { now: opened.title.clone(), then: title.to_owned() };
                Ok(PlannedChange::new(
                    self,
                    plan::plan_rename(opened.edit_subject(), title, now)?,
                    detail,
                ))
            }
            ChangeRequest::Trash { opened } => plan_trash(self, opened),
            ChangeRequest::Undo { journal, op } => self.plan_undo(journal, op),
            ChangeRequest::Restore { journal, session, at } => {
                self.plan_restore(journal, session, at)
            }
            ChangeRequest::RestoreFiles { files, only, outside } => {
                files::plan_restore_files(self, files, only, outside)
            }
            ChangeRequest::Fix { opened, misnamed, thinking } => {
                self.plan_fix(opened, misnamed, thinking, now)
            }
        }
    }

    /// Plans to resume from a message, by a fork where lines at the session's end cannot do it.
    fn plan_goto(
        &self,
        opened: &OpenedSession,
        node: NodeId,
        now: Time,
    ) -> Result<PlannedChange, ChangeError> {
        let planned = plan::plan_goto(opened.edit_subject(), node, now);
        // With a date in the future the session would resume there once and then return to that record.
        let lasts = !matches!(planned, Err(PlanError::Refused(EditRefusal::Future { .. })));
        if lasts && opened.resumes_at(node) {
            return Err(ChangeError::AlreadyThere);
        }
        match planned {
            Ok(plan) => {
                let resumed = opened
                    .history
                    .branches
                    .resume
                    .map(|resume| opened.message_summary(resume.leaf));
                let detail = ChangeDetail::Goto {
                    title: opened.title.clone(),
                    now: resumed.transpose()?.flatten(),
                    then: opened.message_summary(node)?,
                };
                Ok(PlannedChange {
                    resume_leaf: Some(opened.leaf_uuid(node)),
                    cwd: Some(opened.working_directory().to_owned()),
                    ..PlannedChange::new(self, plan, detail)
                })
            }
            Err(PlanError::Refused(refusal)) if refusal.can_fork() => {
                let fork = self.plan_fork(opened, node, NewSessionAt::default(), now)?;
                Ok(PlannedChange { instead_of: Some(refusal), ..fork })
            }
            Err(error) => Err(ChangeError::from_plan_error(ChangeKind::Goto)(error)),
        }
    }

    fn plan_undo(&self, journal: &Journal, op: Option<u64>) -> Result<PlannedChange, ChangeError> {
        let plan = undo::plan_undo(journal, op, self.claude_roots())
            .map_err(|error| undo_error(error, journal, op, None))?;
        let undone = plan.undoes.and_then(|op| journal.operation(op));
        let undone = undone.map(|operation| self.undone_operation(operation));
        Ok(PlannedChange::new(self, plan, ChangeDetail::Undo(undone)))
    }

    fn plan_restore(
        &self,
        journal: &Journal,
        session: &str,
        at: Option<u64>,
    ) -> Result<PlannedChange, ChangeError> {
        let trashed = undo::find_trash_operation(journal, session, self.claude_roots());
        let plan = match trashed.filter(|_| at.is_none()) {
            // Its files are whole where `trash` put them.
            Some(op) => undo::plan_undo(journal, Some(op), self.claude_roots()),
            None => undo::plan_restore(journal, session, at, self.claude_roots()),
        };
        let plan = plan.map_err(|error| undo_error(error, journal, at, trashed))?;
        let detail = ChangeDetail::Restore { description: plan.words.clone() };
        Ok(PlannedChange::new(self, plan, detail))
    }

    fn undone_operation(&self, operation: &Operation) -> UndoneOperation {
        UndoneOperation {
            op: operation.op,
            kind: operation.what.as_str(),
            short_session: self.short_id(&operation.session),
            description: operation.words.clone(),
        }
    }
}

fn plan_trash(workspace: &Workspace, opened: &OpenedSession) -> Result<PlannedChange, ChangeError> {
    let plan = plan::plan_trash(opened.edit_subject())?;
    let conversations = &opened.history.branches.conversations;
    let moved = plan.steps.iter().filter_map(|step| match step {
        PlanStep::MoveFile { from, .. } => Some(from.clone()),
        _ => None,
    });
    let detail = ChangeDetail::Trash {
        title: opened.title.clone(),
        conversations: conversations.len(),
        longest: conversations.iter().map(|one| one.messages).max().unwrap_or(0),
        moved: moved.collect(),
    };
    Ok(PlannedChange::new(workspace, plan, detail))
}

fn undo_error(
    error: UndoError,
    journal: &Journal,
    op: Option<u64>,
    trashed: Option<u64>,
) -> ChangeError {
    let operation = op.and_then(|op| journal.operation(op));
    let is_kept = operation.is_some_and(|operation| operation.backup.is_some());
    ChangeError::Undo { error, trashed, is_kept }
}

/// Applies exactly the planned change. With `force`, an open or growing session is no obstacle.
pub fn apply_change(
    state: &StateDir,
    change: &PlannedChange,
    force: bool,
    now: Time,
) -> Result<AppliedOperation, ApplyError> {
    let mut done = ramus_store::apply::apply_plan(state, &change.plan, force, now)?;
    if !change.annotations.is_empty() {
        let written = state.change_annotations(|all| {
            let annotations = change.annotations.iter().cloned();
            annotations.for_each(|(target, annotation)| all.merge(target, annotation));
        });
        // The sessions are there; that their notes are not is no reason to take them away again.
        if let Err(error) = written {
            done.notes.push(format!("pins, tags and notes were not written: {error}"));
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ramus_core::resume::ResumeRule;
    use ramus_core::time::Time;
    use ramus_store::StateDir;
    use ramus_store::apply::ApplyError;
    use ramus_store::claude_dir::ClaudeDirs;
    use ramus_store::plan::PlanStep;
    use testkit::TestHome;

    use super::{ChangeError, ChangeRequest, OpenedSession, PlannedChange, apply_change};
    use crate::workspace::Workspace;

    const TWO: &str = "
        a      user       v=2.1.325 tune the harp
        b < a  assistant  which harp
        c < b  user       the gold one
        d < c  assistant  tuned
        e < b  user       the small one
        f < e  assistant  tuned as well
    ";
    const FILE: &str = "-home-dev-app/11111111-0000-4000-8000-000000000001.jsonl";
    fn test_time() -> Time {
        Time::from_millis(1_800_000_000_000)
    }

    fn test_workspace(home: &TestHome) -> Workspace {
        let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
        Workspace::new(place, ResumeRule::Client, StateDir::new(home.path().join("state")))
    }

    fn test_session(workspace: &Workspace) -> OpenedSession {
        OpenedSession::read_session(workspace, workspace.resolve_address("1111").unwrap().file)
            .unwrap()
    }

    fn to_d(workspace: &Workspace) -> PlannedChange {
        let opened = test_session(workspace);
        let node = opened.history.node_at("d").unwrap();
        workspace.plan_change(ChangeRequest::Goto { opened: &opened, node }, test_time()).unwrap()
    }

    #[test]
    fn what_was_planned_is_written_byte_for_byte() {
        let home = TestHome::new();
        let path = home.write_session(FILE, TWO);
        let workspace = test_workspace(&home);
        let change = to_d(&workspace);
        assert_eq!(change.resume_leaf.as_deref(), Some("d"));
        let [PlanStep::AppendLines { bytes, .. }] = &change.plan.steps[..] else {
            panic!("{change:?}")
        };
        let planned = [fs::read(&path).unwrap(), bytes.clone()].concat();
        apply_change(workspace.state_dir(), &change, false, test_time()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), planned);
    }

    #[test]
    fn a_session_that_went_on_since_the_plan_stays_as_it_is() {
        let home = TestHome::new();
        let path = home.write_session(FILE, TWO);
        let workspace = test_workspace(&home);
        let change = to_d(&workspace);
        let longer = fs::read_to_string(&path).unwrap() + "{\"type\":\"summary\"}\n";
        fs::write(&path, &longer).unwrap();
        let refused = apply_change(workspace.state_dir(), &change, false, test_time());
        assert!(matches!(refused, Err(ApplyError::Changed(_))), "{refused:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), longer);
    }

    #[test]
    fn going_where_a_session_resumes_already_needs_no_plan() {
        let home = TestHome::new();
        home.write_session(FILE, TWO);
        let workspace = test_workspace(&home);
        let opened = test_session(&workspace);
        let going = |name| {
            let node = opened.history.node_at(name).unwrap();
            workspace.plan_change(ChangeRequest::Goto { opened: &opened, node }, test_time())
        };
        assert!(matches!(going("f"), Err(ChangeError::AlreadyThere)));
        assert!(going("d").is_ok_and(|change| change.instead_of.is_none()));
    }
}
