//! Changes: planned, shown, and only then carried out, by the very plan that was shown.

mod files;
mod hints;
mod keeper;
mod new_session;
mod site;
mod words;

use ramus_core::edit::{
    ChangeDetail, ChangeSummary, FileRestoration, Misnamed, Refusal, Thinking, UndoneOperation,
};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_store::apply::{ApplyError, Done};
use ramus_store::files_at::FilesAt;
use ramus_store::journal::{Journal, Operation};
use ramus_store::plan::{self, Plan, PlanError, Step, TitleError};
use ramus_store::undo::{self, UndoError};
use ramus_store::{PathError, State};

pub use hints::apply_hint;
pub use keeper::PlanKeeper;
pub use new_session::{MergeRequest, NewSessionAt};
pub use ramus_store::plan::{What as ChangeKind, new_id, quoted, resume_command};
pub use site::Site;

use crate::workspace::Workspace;

/// What somebody wants to be done.
#[derive(Debug)]
pub enum ChangeRequest<'a> {
    /// Resume a session from a message.
    Goto {
        site: &'a Site,
        node: NodeId,
    },
    /// Copy a conversation up to a message into a new session.
    Fork {
        site: &'a Site,
        node: NodeId,
        to: NewSessionAt<'a>,
    },
    /// Put conversations, each up to a message, together in a new session.
    Merge(MergeRequest<'a>),
    Rename {
        site: &'a Site,
        title: &'a str,
    },
    Trash {
        site: &'a Site,
    },
    /// Take an operation back; without a number the last one.
    Undo {
        journal: &'a Journal,
        op: Option<u64>,
    },
    /// Bring a session back as it was before an operation; without a number out of the trash, else the
    /// newest version that is not there now.
    Restore {
        journal: &'a Journal,
        session: &'a str,
        at: Option<u64>,
    },
    /// Put the files of a project back as they were at a message.
    RestoreFiles {
        files: &'a mut FilesAt,
        /// The path of one file; `None`: every file that a tool changed.
        only: Option<&'a str>,
        /// Files outside of the project too.
        outside: bool,
    },
    /// Repair the conversation that Claude Code resumes, in a copy.
    Fix {
        site: &'a Site,
        misnamed: &'a Misnamed,
        thinking: Thinking,
    },
}

/// A change that can be shown, kept and carried out.
#[derive(Debug)]
pub struct PlannedChange {
    pub plan: Plan,
    pub detail: ChangeDetail,
    /// The start of the id of the plan's session that means no other one.
    pub(crate) short_session: String,
    /// The last message of what will be resumed.
    pub resume_leaf: Option<String>,
    /// The directory that Claude Code has to be started in, if there is something to resume.
    pub cwd: Option<String>,
    /// Somebody must decide first what holds where merged conversations conflict.
    pub stops: bool,
    /// Why the session itself cannot go to the message. This fork does it instead (R25).
    pub instead_of: Option<Refusal>,
}

impl PlannedChange {
    pub(crate) fn new(workspace: &Workspace, plan: Plan, detail: ChangeDetail) -> Self {
        Self {
            short_session: workspace.short_id(&plan.session),
            plan,
            detail,
            resume_leaf: None,
            cwd: None,
            stops: false,
            instead_of: None,
        }
    }

    /// Returns what it comes down to.
    pub fn summary(&self) -> ChangeSummary<'_> {
        let is_agent = |step: &&Step| {
            matches!(step, Step::Make { file, .. }
                if *file != self.plan.file && file.extension().is_some_and(|end| end == "jsonl"))
        };
        let is_link = |step: &&Step| matches!(step, Step::Link { .. });
        ChangeSummary {
            detail: &self.detail,
            session: &self.plan.session,
            short_session: &self.short_session,
            file: &self.plan.file,
            appended_bytes: self.plan.appended_bytes(),
            agents: self.plan.steps.iter().filter(is_agent).count(),
            links: self.plan.steps.iter().filter(is_link).count(),
            resume_notes: self.plan.resume_words().collect(),
        }
    }

    /// Returns what to type to go on, if there is something to resume.
    pub fn resume_command(&self) -> Option<String> {
        self.cwd.as_ref().map(|_| plan::resume_command(&self.plan.session))
    }
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The histories do not allow it.
    #[error("cannot {}: {refusal}", verb(*.what))]
    Refused { what: ChangeKind, refusal: Refusal },
    #[error("the session resumes there already")]
    AlreadyThere,
    /// Of the conversations that were named, counted from 0, this one is none.
    #[error("the record is no part of a conversation")]
    NoConversation { nth: usize },
    #[error(transparent)]
    Title(#[from] TitleError),
    #[error("no project is or contains {0:?}")]
    NoProject(String),
    /// The directory whose files are wanted back.
    #[error("the session ran in {0}, which is not here")]
    NoDirectory(String),
    /// Nothing is to be put back; what is left alone.
    #[error("the files are as they were then")]
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

fn verb(what: ChangeKind) -> &'static str {
    match what {
        ChangeKind::Goto => "go there",
        ChangeKind::Fix => "repair",
        other => other.word(),
    }
}

impl ChangeError {
    pub fn unknown_operation(op: u64) -> Self {
        Self::Undo { error: UndoError::Unknown(op), trashed: None, is_kept: false }
    }

    fn of(what: ChangeKind) -> impl FnOnce(PlanError) -> Self {
        move |error| match error {
            PlanError::Refused(refusal) => Self::Refused { what, refusal },
            PlanError::Read(error) => Self::Read(error),
        }
    }
}

impl Workspace {
    /// Plans what was asked for; nothing is written.
    pub fn plan(
        &self,
        request: ChangeRequest<'_>,
        now: Time,
    ) -> Result<PlannedChange, ChangeError> {
        match request {
            ChangeRequest::Goto { site, node } => self.plan_goto(site, node, now),
            ChangeRequest::Fork { site, node, to } => self.plan_fork(site, node, to, now),
            ChangeRequest::Merge(request) => self.plan_merge(request, now),
            ChangeRequest::Rename { site, title } => {
                let title = plan::title(title)?;
                let detail =
                    ChangeDetail::Rename { now: site.title.clone(), then: title.to_owned() };
                Ok(PlannedChange::new(self, plan::rename(site.subject(), title, now)?, detail))
            }
            ChangeRequest::Trash { site } => plan_trash(self, site),
            ChangeRequest::Undo { journal, op } => self.plan_undo(journal, op),
            ChangeRequest::Restore { journal, session, at } => {
                self.plan_restore(journal, session, at)
            }
            ChangeRequest::RestoreFiles { files, only, outside } => {
                files::plan_restore_files(self, files, only, outside)
            }
            ChangeRequest::Fix { site, misnamed, thinking } => {
                self.plan_fix(site, misnamed, thinking, now)
            }
        }
    }

    /// Plans to resume from a message, by a fork where lines at the session's end cannot do it.
    fn plan_goto(
        &self,
        site: &Site,
        node: NodeId,
        now: Time,
    ) -> Result<PlannedChange, ChangeError> {
        let planned = plan::goto(site.subject(), node, now);
        // At a date in the future the session would go on once, and then go back there.
        let lasts = !matches!(planned, Err(PlanError::Refused(Refusal::Future { .. })));
        if lasts && site.resumes_at(node) {
            return Err(ChangeError::AlreadyThere);
        }
        match planned {
            Ok(plan) => {
                let resumed = site.history.branches.resume.map(|resume| site.message(resume.leaf));
                let detail = ChangeDetail::Goto {
                    title: site.title.clone(),
                    now: resumed.transpose()?.flatten(),
                    then: site.message(node)?,
                };
                Ok(PlannedChange {
                    resume_leaf: Some(site.leaf(node)),
                    cwd: Some(site.cwd().to_owned()),
                    ..PlannedChange::new(self, plan, detail)
                })
            }
            Err(PlanError::Refused(refusal)) if refusal.can_fork() => {
                let fork = self.plan_fork(site, node, NewSessionAt::default(), now)?;
                Ok(PlannedChange { instead_of: Some(refusal), ..fork })
            }
            Err(error) => Err(ChangeError::of(ChangeKind::Goto)(error)),
        }
    }

    fn plan_undo(&self, journal: &Journal, op: Option<u64>) -> Result<PlannedChange, ChangeError> {
        let plan = undo::undo(journal, op, self.roots())
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
        let trashed = undo::trashed(journal, session, self.roots());
        let plan = match trashed.filter(|_| at.is_none()) {
            // Its files are whole where `trash` put them.
            Some(op) => undo::undo(journal, Some(op), self.roots()),
            None => undo::restore(journal, session, at, self.roots()),
        };
        let plan = plan.map_err(|error| undo_error(error, journal, at, trashed))?;
        let detail = ChangeDetail::Restore { words: plan.words.clone() };
        Ok(PlannedChange::new(self, plan, detail))
    }

    fn undone_operation(&self, operation: &Operation) -> UndoneOperation {
        UndoneOperation {
            op: operation.op,
            kind: operation.what.word(),
            short_session: self.short_id(&operation.session),
            words: operation.words.clone(),
        }
    }
}

fn plan_trash(workspace: &Workspace, site: &Site) -> Result<PlannedChange, ChangeError> {
    let plan = plan::trash(site.subject())?;
    let conversations = &site.history.branches.conversations;
    let moved = plan.steps.iter().filter_map(|step| match step {
        Step::Move { from, .. } => Some(from.clone()),
        _ => None,
    });
    let detail = ChangeDetail::Trash {
        title: site.title.clone(),
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

/// Carries out what was planned, and nothing else. With `force` an open or growing session is no obstacle.
pub fn apply(
    state: &State,
    change: &PlannedChange,
    force: bool,
    now: Time,
) -> Result<Done, ApplyError> {
    ramus_store::apply::apply(state, &change.plan, force, now)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ramus_core::resume::Rule;
    use ramus_core::time::Time;
    use ramus_store::State;
    use ramus_store::apply::ApplyError;
    use ramus_store::place::Place;
    use ramus_store::plan::Step;
    use testkit::Home;

    use super::{ChangeError, ChangeRequest, PlannedChange, Site, apply};
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
    fn now() -> Time {
        Time::from_millis(1_800_000_000_000)
    }

    fn workspace(home: &Home) -> Workspace {
        let place = Place::open(vec![home.claude()]).unwrap();
        Workspace::new(place, Rule::Client, State::new(home.path().join("state")))
    }

    fn site(workspace: &Workspace) -> Site {
        Site::read(workspace, workspace.address("1111").unwrap().file).unwrap()
    }

    fn to_d(workspace: &Workspace) -> PlannedChange {
        let site = site(workspace);
        let node = site.history.node_at("d").unwrap();
        workspace.plan(ChangeRequest::Goto { site: &site, node }, now()).unwrap()
    }

    #[test]
    fn what_was_planned_is_written_byte_for_byte() {
        let home = Home::new();
        let path = home.session(FILE, TWO);
        let workspace = workspace(&home);
        let change = to_d(&workspace);
        assert_eq!(change.resume_leaf.as_deref(), Some("d"));
        let [Step::Append { bytes, .. }] = &change.plan.steps[..] else { panic!("{change:?}") };
        let planned = [fs::read(&path).unwrap(), bytes.clone()].concat();
        apply(workspace.state(), &change, false, now()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), planned);
    }

    #[test]
    fn a_session_that_went_on_since_the_plan_stays_as_it_is() {
        let home = Home::new();
        let path = home.session(FILE, TWO);
        let workspace = workspace(&home);
        let change = to_d(&workspace);
        let longer = fs::read_to_string(&path).unwrap() + "{\"type\":\"summary\"}\n";
        fs::write(&path, &longer).unwrap();
        let refused = apply(workspace.state(), &change, false, now());
        assert!(matches!(refused, Err(ApplyError::Changed(_))), "{refused:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), longer);
    }

    #[test]
    fn going_where_a_session_resumes_already_needs_no_plan() {
        let home = Home::new();
        home.session(FILE, TWO);
        let workspace = workspace(&home);
        let site = site(&workspace);
        let going = |name| {
            let node = site.history.node_at(name).unwrap();
            workspace.plan(ChangeRequest::Goto { site: &site, node }, now())
        };
        assert!(matches!(going("f"), Err(ChangeError::AlreadyThere)));
        assert!(going("d").is_ok_and(|change| change.instead_of.is_none()));
    }
}
