//! Changes: planned, shown, and only then carried out, by the very plan that was shown.

mod keeper;
mod new_session;
mod site;

use ramus_core::edit::{Merged, NewSession, Refusal};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_store::apply::{ApplyError, Done};
use ramus_store::journal::Journal;
use ramus_store::live::open_in;
use ramus_store::plan::{self, Content, Plan, PlanError, Step, TitleError, What};
use ramus_store::undo::{self, UndoError};
use ramus_store::{PathError, State};

pub use keeper::PlanKeeper;
pub use new_session::{MergeRequest, NewSessionAt, short_title};
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
}

/// A change that can be shown, kept and carried out.
#[derive(Debug)]
pub struct PlannedChange {
    pub plan: Plan,
    /// The last message of what will be resumed.
    pub resume_leaf: Option<String>,
    /// The directory that Claude Code has to be started in, if there is something to resume.
    pub cwd: Option<String>,
    /// What a fork makes.
    pub new: Option<NewSession>,
    /// What a merge makes.
    pub merged: Option<Merged>,
    /// Somebody must decide first what holds where merged conversations conflict.
    pub stops: bool,
}

impl From<Plan> for PlannedChange {
    fn from(plan: Plan) -> Self {
        Self { plan, resume_leaf: None, cwd: None, new: None, merged: None, stops: false }
    }
}

impl PlannedChange {
    /// Lists what to know before it is carried out.
    pub fn warnings(&self) -> Vec<String> {
        let root = self.plan.root.as_deref();
        let open = root.and_then(|root| open_in(root, &self.plan.session)).map(|pid| {
            format!("The session is open in Claude Code (process {pid}); close it there first.")
        });
        let others = [open, self.bytes_set_aside()];
        others.into_iter().flatten().chain(self.plan.resume_words()).collect()
    }

    /// Tells what is there now and will not be part of the session.
    fn bytes_set_aside(&self) -> Option<String> {
        let [
            Step::Put {
                before: Some(now), content: Content::Beginning { stamp: then, .. }, ..
            },
        ] = &self.plan.steps[..]
        else {
            return None;
        };
        let more = now.len.checked_sub(then.len).filter(|more| *more > 0)?;
        Some(format!(
            "The session has {more} bytes more by now. They are kept; undo brings them back."
        ))
    }
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The histories do not allow it.
    #[error("cannot {}: {refusal}", verb(*.what))]
    Refused { what: What, refusal: Refusal },
    /// Of the conversations that were named, counted from 0, this one is none.
    #[error("the record is no part of a conversation")]
    NoConversation { nth: usize },
    #[error(transparent)]
    Title(#[from] TitleError),
    #[error("no project is or contains {0:?}")]
    NoProject(String),
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

fn verb(what: What) -> &'static str {
    match what {
        What::Goto => "go there",
        other => other.word(),
    }
}

impl ChangeError {
    pub fn unknown_operation(op: u64) -> Self {
        Self::Undo { error: UndoError::Unknown(op), trashed: None, is_kept: false }
    }

    fn of(what: What) -> impl FnOnce(PlanError) -> Self {
        move |error| match error {
            PlanError::Refused(refusal) => Self::Refused { what, refusal },
            PlanError::Read(error) => Self::Read(error),
        }
    }
}

/// How a session gets to a message.
#[derive(Debug)]
pub enum Going {
    /// It resumes there already.
    There,
    /// By lines at its end.
    Here(PlannedChange),
    /// Only in a new session (R25), if that can be made.
    Forked { refusal: Refusal, change: Result<PlannedChange, ChangeError> },
}

impl Workspace {
    /// Plans what was asked for; nothing is written.
    pub fn plan(
        &self,
        request: &ChangeRequest<'_>,
        now: Time,
    ) -> Result<PlannedChange, ChangeError> {
        match *request {
            ChangeRequest::Goto { site, node } => {
                let plan = plan::goto(site.subject(), node, now);
                let plan = plan.map_err(ChangeError::of(What::Goto))?;
                Ok(PlannedChange {
                    resume_leaf: Some(site.leaf(node)),
                    cwd: Some(site.cwd().to_owned()),
                    ..plan.into()
                })
            }
            ChangeRequest::Fork { site, node, to } => self.plan_fork(site, node, to, now),
            ChangeRequest::Merge(ref request) => self.plan_merge(request, now),
            ChangeRequest::Rename { site, title } => {
                Ok(plan::rename(site.subject(), plan::title(title)?, now)?.into())
            }
            ChangeRequest::Trash { site } => Ok(plan::trash(site.subject())?.into()),
            ChangeRequest::Undo { journal, op } => undo::undo(journal, op, self.roots())
                .map(PlannedChange::from)
                .map_err(|error| undo_error(error, journal, op, None)),
            ChangeRequest::Restore { journal, session, at } => {
                let trashed = undo::trashed(journal, session, self.roots());
                let plan = match trashed.filter(|_| at.is_none()) {
                    // Its files are whole where `trash` put them.
                    Some(op) => undo::undo(journal, Some(op), self.roots()),
                    None => undo::restore(journal, session, at, self.roots()),
                };
                plan.map(PlannedChange::from)
                    .map_err(|error| undo_error(error, journal, at, trashed))
            }
        }
    }

    /// Plans to resume from a message, by a fork where lines at the session's end cannot do it.
    pub fn plan_going(&self, site: &Site, node: NodeId, now: Time) -> Result<Going, ChangeError> {
        let planned = self.plan(&ChangeRequest::Goto { site, node }, now);
        // At a date in the future the session would go on once, and then go back there.
        let lasts =
            !matches!(planned, Err(ChangeError::Refused { refusal: Refusal::Future { .. }, .. }));
        if lasts && site.resumes_at(node) {
            return Ok(Going::There);
        }
        match planned {
            Ok(change) => Ok(Going::Here(change)),
            Err(ChangeError::Refused { refusal, .. }) if refusal.can_fork() => {
                let change = self.plan_fork(site, node, NewSessionAt::default(), now);
                Ok(Going::Forked { refusal, change })
            }
            Err(error) => Err(error),
        }
    }
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

    use super::{ChangeRequest, Going, PlannedChange, Site, apply};
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
        workspace.plan(&ChangeRequest::Goto { site: &site, node }, now()).unwrap()
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
            workspace.plan_going(&site, node, now()).unwrap()
        };
        assert!(matches!(going("f"), Going::There));
        assert!(matches!(going("d"), Going::Here(_)));
    }
}
