//! Changes: planned, shown, and only then carried out, by the very plan that was shown.

mod files;
mod log;
mod merge;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use axum::Json;
use axum::extract::State as Extract;
use axum::http::StatusCode;
use ramus_core::edit::{Refusal, end_of_message};
use ramus_core::history::History;
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_render::text::count;
use ramus_store::apply::{ApplyError, apply as carry_out};
use ramus_store::journal::Journal;
use ramus_store::live::open_in;
use ramus_store::plan::{self, Content, Destination, Plan, Step, Subject, What};
use ramus_store::survey::to_time;
use ramus_store::trace::{Part, trace};
use ramus_store::undo::{self, UndoError, is_below};
use serde::{Deserialize, Serialize};

use super::{Answered, answer};
use crate::State;
use crate::error::ApiError;
use crate::library::Found;
use crate::token::Token;
use crate::work::Task;
use files::FilesView;
#[cfg(test)]
pub(super) use log::Log;
pub(crate) use log::log;
use merge::MergedView;

/// How long a plan may be looked at, and how many there may be.
const KEPT: Duration = Duration::from_secs(15 * 60);
const PLANS: usize = 32;

/// A plan that somebody looks at.
#[derive(Debug)]
pub(crate) struct Shown {
    id: String,
    plan: Plan,
    at: Instant,
}

/// What the page can ask for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
enum Action {
    Fork,
    Goto,
    Merge,
    Rename,
    Restore,
    RestoreFiles,
    Trash,
    Undo,
    /// Any other word.
    #[serde(other)]
    #[cfg_attr(test, ts(skip))]
    Unknown,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    what: Action,
    #[serde(default)]
    session: String,
    #[serde(default)]
    node: String,
    #[serde(default)]
    title: String,
    op: Option<u64>,
    /// The conversations to merge, by their last messages, and how.
    #[serde(default)]
    leaves: Vec<String>,
    #[serde(default)]
    strategy: String,
    #[serde(default)]
    on_conflict: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PlanView {
    /// Empty: it cannot be carried out as it is.
    id: String,
    what: &'static str,
    words: String,
    session: String,
    steps: Vec<String>,
    appended_bytes: u64,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    merged: Option<MergedView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    files: Option<FilesView>,
}

/// A plan and what a person wants to see of it.
struct Planned {
    plan: Plan,
    merged: Option<MergedView>,
    files: Option<FilesView>,
}

impl From<Plan> for Planned {
    fn from(plan: Plan) -> Self {
        Self { plan, merged: None, files: None }
    }
}

/// Plans what was asked for; nothing is written.
pub(crate) async fn plan(
    Extract(state): Extract<Arc<State>>,
    Json(wanted): Json<Wanted>,
) -> Answered<PlanView> {
    answer(state, Task::Changes, move |state| {
        let Planned { plan, merged, files } = planned(state, &wanted)?;
        let open = plan.root.as_deref().and_then(|root| open_in(root, &plan.session));
        let warning = open.map(|pid| {
            format!("The session is open in Claude Code (process {pid}); close it there first.")
        });
        let can = merged.as_ref().is_none_or(|merged| !merged.stops);
        let view = PlanView {
            id: if can { new_id()? } else { String::new() },
            what: plan.what.word(),
            words: plan.words.clone(),
            session: plan.session.clone(),
            steps: steps(&plan),
            appended_bytes: plan.appended_bytes(),
            warnings: warning
                .into_iter()
                .chain(left_behind(&plan))
                .chain(plan.left_out_words())
                .collect(),
            merged,
            files,
        };
        if can {
            keep(state, view.id.clone(), plan);
        }
        Ok(view)
    })
    .await
}

fn new_id() -> Result<String, ApiError> {
    let id = Token::random().map_err(|error| ApiError::bad(error.to_string()))?;
    Ok(id.word().to_owned())
}

fn keep(state: &State, id: String, plan: Plan) {
    let mut plans = state.plans();
    plans.retain(|shown| shown.at.elapsed() < KEPT);
    if plans.len() >= PLANS {
        plans.remove(0);
    }
    plans.push(Shown { id, plan, at: Instant::now() });
}

fn planned(state: &State, wanted: &Wanted) -> Result<Planned, ApiError> {
    match wanted.what {
        Action::Undo | Action::Restore => back(state, wanted).map(Planned::from),
        Action::RestoreFiles => files::restore(state, wanted),
        _ => with_session(state, wanted),
    }
}

/// Plans the way back from something that was done.
fn back(state: &State, wanted: &Wanted) -> Result<Plan, ApiError> {
    let roots = &state.library.place.roots;
    let journal = Journal::read(&state.own)?;
    let operation = wanted.op.and_then(|op| journal.operation(op));
    if wanted.op.is_some() && operation.is_none_or(|operation| !is_below(operation, roots)) {
        return Err(ApiError::not_found("operation"));
    }
    let plan = match wanted.what {
        Action::Restore if operation.is_none_or(|operation| operation.what != What::Trash) => {
            undo::restore(&journal, &wanted.session, wanted.op, roots)
        }
        // Out of the trash a session comes back with all that went there with it.
        _ => undo::undo(&journal, wanted.op, roots),
    };
    plan.map_err(|error| {
        let is_kept = operation.is_some_and(|operation| operation.backup.is_some());
        let hint = match error {
            UndoError::WentOn { .. } if is_kept => {
                "bring the session back as it was before that, or fork from an earlier message"
            }
            _ => "",
        };
        cannot(error.to_string(), hint)
    })
}

/// Tells what a plan leaves behind that is there now.
fn left_behind(plan: &Plan) -> Option<String> {
    let [Step::Put { before: Some(now), content: Content::Beginning { stamp: then, .. }, .. }] =
        &plan.steps[..]
    else {
        return None;
    };
    let more = now.len.checked_sub(then.len).filter(|more| *more > 0)?;
    Some(format!("The session has {more} bytes more by now. They are kept; undo brings them back."))
}

fn with_session(state: &State, wanted: &Wanted) -> Result<Planned, ApiError> {
    let now = to_time(SystemTime::now());
    let found = state.library.find(&wanted.session)?;
    let history = state.library.read(&found.file)?;
    let title = title(state, &found, &history);
    let subject = Subject {
        root: root_of(&state.library.place.roots, &found),
        dir: &found.project().dir,
        files: &found.project().files,
        file: &found.file,
        history: &history,
        title: &title,
    };
    let plan = match wanted.what {
        Action::Rename => plan::rename(subject, given_title(&wanted.title)?, now)?,
        Action::Trash => plan::trash(subject)?,
        Action::Goto => plan::goto(subject, node(&history, &wanted.node)?, now)
            .map_err(|error| error.explained(refused))?,
        Action::Fork => fork(state, &found, subject, wanted, now)?,
        Action::Merge => return merge::merge(state, &found, subject, wanted, now),
        Action::Undo | Action::Restore | Action::RestoreFiles | Action::Unknown => {
            return Err(ApiError::bad("there is no such action"));
        }
    };
    Ok(plan.into())
}

fn fork(
    state: &State,
    found: &Found,
    subject: Subject<'_>,
    wanted: &Wanted,
    now: Time,
) -> Result<Plan, ApiError> {
    let parts = parts_to(state, found, &wanted.node)?;
    let title = match wanted.title.trim() {
        "" => format!("{} (fork)", subject.title),
        title => given_title(title)?.to_owned(),
    };
    let to = Destination { dir: subject.dir, cwd: None, title: &title };
    let made = plan::fork(subject, &parts, to, now);
    made.map(|(plan, _)| plan).map_err(|error| error.explained(refused))
}

/// Returns a title that was typed, if it can be one.
fn given_title(typed: &str) -> Result<&str, ApiError> {
    plan::title(typed).map_err(|error| ApiError::bad(error.to_string()))
}

/// Returns the path to the end of a message.
fn parts_to(state: &State, found: &Found, name: &str) -> Result<Vec<Part>, ApiError> {
    let nothing = || ApiError::not_found("message");
    let history = state.library.read(&found.file)?;
    let end = end_of_message(&history, node(&history, name)?).ok_or_else(nothing)?;
    let path = history.path_to(end).ok_or_else(nothing)?;
    let files = &found.project().files;
    Ok(trace(files, found.file.clone(), history, path, state.library.rule)?)
}

fn node(history: &History, name: &str) -> Result<NodeId, ApiError> {
    history.node_at(name).ok_or_else(|| ApiError::not_found("message"))
}

fn title(state: &State, found: &Found, history: &History) -> String {
    let title = state.library.title(found, history, None);
    title.as_ref().unwrap_or(&found.file.id).chars().take(200).collect()
}

fn root_of<'a>(roots: &'a [std::path::PathBuf], found: &Found) -> Option<&'a Path> {
    roots.iter().find(|root| found.file.path.starts_with(root)).map(|root| &**root)
}

fn refused(refusal: &Refusal) -> ApiError {
    let hint = if refusal.can_fork() { "fork from this message instead" } else { "" };
    cannot(refusal.to_string(), hint)
}

fn cannot(message: String, hint: &'static str) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, message, hint)
}

/// Tells what is done; what goes along with a new session is told as one.
fn steps(plan: &Plan) -> Vec<String> {
    let is_link = |step: &&Step| matches!(step, Step::Link { .. });
    let mut told: Vec<String> = plan.steps.iter().filter(|step| !is_link(step)).map(step).collect();
    match plan.steps.iter().filter(is_link).count() {
        0 => {}
        1 => told.push("take along 1 file backup or output".to_owned()),
        n => told.push(format!("take along {n} file backups and outputs")),
    }
    told
}

/// Tells what a step does, by the names of files alone.
fn step(step: &Step) -> String {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match step {
        Step::Append { file, bytes, .. } => {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            format!("add {} to the end of {}", count(lines, "line"), name(file))
        }
        Step::Make { file, .. } => format!("write the new file {}", name(file)),
        Step::Link { to, .. } => format!("take along {}", name(to)),
        Step::Put { file, .. } => format!("put an earlier content back into {}", name(file)),
        Step::Move { from, to: None, .. } => format!("move {} to ramus's own trash", name(from)),
        Step::Join { file, .. } => {
            format!("bring {} back, and add the lines that are there now", name(file))
        }
        Step::Move { to: Some(to), .. } => format!("move {} back to its place", name(to)),
        Step::Cut { file, wanted, .. } => {
            format!("cut {} back to {} bytes", name(file), wanted.len)
        }
        Step::Tidy { dir } => format!("remove the empty directory {}", name(dir)),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chosen {
    plan: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct DoneView {
    op: u64,
    session: String,
    words: String,
    resume_command: Option<String>,
    /// What else happened, such as lines of other programs that were carried over.
    notes: Vec<String>,
}

/// Carries out a plan that was shown.
pub(crate) async fn apply(
    Extract(state): Extract<Arc<State>>,
    Json(chosen): Json<Chosen>,
) -> Answered<DoneView> {
    answer(state, Task::Changes, move |state| {
        let shown = {
            let mut plans = state.plans();
            let at = plans.iter().position(|shown| shown.id == chosen.plan);
            at.map(|at| plans.remove(at)).ok_or_else(|| ApiError::not_found("plan"))?
        };
        let plan = shown.plan;
        let now = to_time(SystemTime::now());
        let done = carry_out(&state.own, &plan, false, now).map_err(|error| failed(&error))?;
        state.library.forget();
        Ok(DoneView {
            op: done.op,
            words: format!("{} {}", plan.what.word(), plan.words).trim().to_owned(),
            resume_command: plan.resume.map(|_| plan::resume_command(&plan.session)),
            session: plan.session,
            notes: done.notes,
        })
    })
    .await
}

fn failed(error: &ApplyError) -> ApiError {
    let hint = match error {
        ApplyError::Open { .. } | ApplyError::Growing(_) => {
            "close the session in Claude Code first"
        }
        ApplyError::Changed(_) => "look at it again, and plan again",
        _ => "",
    };
    cannot(error.to_string(), hint)
}
