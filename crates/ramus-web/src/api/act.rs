//! Changes: planned, shown, and only then carried out, by the very plan that was shown.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use axum::Json;
use axum::extract::State as Extract;
use axum::http::StatusCode;
use ramus_core::edit::Refusal;
use ramus_core::history::History;
use ramus_core::name::Name;
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_store::apply::{ApplyError, apply as carry_out};
use ramus_store::journal::Journal;
use ramus_store::live::open_in;
use ramus_store::plan::{self, Destination, Plan, Step, Subject};
use ramus_store::survey::to_time;
use ramus_store::trace::trace;
use ramus_store::undo::{self, is_below};
use serde::{Deserialize, Serialize};

use super::{Answered, answer};
use crate::State;
use crate::error::ApiError;
use crate::library::Found;
use crate::token::Token;

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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    what: String,
    #[serde(default)]
    session: String,
    #[serde(default)]
    node: String,
    #[serde(default)]
    title: String,
    op: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct PlanView {
    id: String,
    what: &'static str,
    words: String,
    session: String,
    steps: Vec<String>,
    appended_bytes: u64,
    warnings: Vec<String>,
}

/// Plans what was asked for; nothing is written.
pub(crate) async fn plan(
    Extract(state): Extract<Arc<State>>,
    Json(wanted): Json<Wanted>,
) -> Answered<PlanView> {
    answer(state, move |state| {
        let plan = planned(state, &wanted)?;
        let id = Token::random().map_err(|error| ApiError::bad(error.to_string()))?;
        let open = plan.root.as_deref().and_then(|root| open_in(root, &plan.session));
        let warning = open.map(|pid| {
            format!("The session is open in Claude Code (process {pid}); close it there first.")
        });
        let view = PlanView {
            id: id.word().to_owned(),
            what: plan.what.word(),
            words: plan.words.clone(),
            session: plan.session.clone(),
            steps: plan.steps.iter().map(step).collect(),
            appended_bytes: plan.appended_bytes(),
            warnings: warning.into_iter().collect(),
        };
        let mut plans = state.plans();
        plans.retain(|shown| shown.at.elapsed() < KEPT);
        if plans.len() >= PLANS {
            plans.remove(0);
        }
        plans.push(Shown { id: view.id.clone(), plan, at: Instant::now() });
        Ok(view)
    })
    .await
}

fn planned(state: &State, wanted: &Wanted) -> Result<Plan, ApiError> {
    let now = to_time(SystemTime::now());
    let roots = &state.library.place.roots;
    match &*wanted.what {
        "undo" => {
            let journal = Journal::read(&state.own)?;
            let foreign =
                |op: u64| journal.operation(op).is_none_or(|operation| !is_below(operation, roots));
            if wanted.op.is_some_and(foreign) {
                return Err(ApiError::not_found("operation"));
            }
            undo::undo(&journal, wanted.op, roots).map_err(|error| cannot(error.to_string(), ""))
        }
        "restore" => {
            let journal = Journal::read(&state.own)?;
            undo::restore(&journal, &wanted.session, wanted.op, roots)
                .map_err(|error| cannot(error.to_string(), ""))
        }
        what => {
            let found = state.library.find(&wanted.session)?;
            let history = state.library.read(&found.file)?;
            let title = title(&found, &history);
            let subject = Subject {
                root: root_of(roots, &found),
                dir: &found.project().dir,
                files: &found.project().files,
                file: &found.file,
                history: &history,
                title: &title,
            };
            match what {
                "rename" if !wanted.title.trim().is_empty() => {
                    Ok(plan::rename(subject, wanted.title.trim(), now)?)
                }
                "rename" => Err(ApiError::bad("a title has at least one letter")),
                "trash" => Ok(plan::trash(subject)),
                "goto" => plan::goto(subject, node(&history, &wanted.node)?, now)?
                    .map_err(|refusal| refused(&refusal)),
                "fork" => fork(state, &found, subject, wanted, now),
                _ => Err(ApiError::bad("there is no such action")),
            }
        }
    }
}

fn fork(
    state: &State,
    found: &Found,
    subject: Subject<'_>,
    wanted: &Wanted,
    now: Time,
) -> Result<Plan, ApiError> {
    let history = state.library.read(&found.file)?;
    let node = node(&history, &wanted.node)?;
    let path = history.path_to(node).ok_or_else(|| ApiError::not_found("message"))?;
    let files = &found.project().files;
    let parts = trace(files, found.file.clone(), history, path, state.library.rule)?;
    let title = match wanted.title.trim() {
        "" => format!("{} (fork)", subject.title),
        title => title.to_owned(),
    };
    let to = Destination { dir: subject.dir, cwd: None, title: &title };
    let made = plan::fork(subject, &parts, to, now)?;
    made.map(|(plan, _)| plan).map_err(|refusal| refused(&refusal))
}

fn node(history: &History, name: &str) -> Result<NodeId, ApiError> {
    let node = history.tree.find(Name::new(name.as_bytes()));
    node.ok_or_else(|| ApiError::not_found("message"))
}

fn title(found: &Found, history: &History) -> String {
    let given = history.given_title().or_else(|| {
        let conversation = history.branches.resuming().or(history.branches.conversations.last())?;
        history.session.words(history.opening(conversation)?)
    });
    given.unwrap_or(&found.file.id).chars().take(200).collect()
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

/// Tells what a step does, by the names of files alone.
fn step(step: &Step) -> String {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match step {
        Step::Append { file, bytes, .. } => {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            format!("add {lines} lines to the end of {}", name(file))
        }
        Step::Make { file, .. } => format!("write the new file {}", name(file)),
        Step::Link { from, to } => format!("link {} as {}", name(from), name(to)),
        Step::Put { file, .. } => format!("put an earlier content back into {}", name(file)),
        Step::Move { from, to: None } => format!("move {} to ramus's own trash", name(from)),
        Step::Move { to: Some(to), .. } => format!("move {} back to its place", name(to)),
        Step::Cut { file, to, .. } => format!("cut {} back to {to} bytes", name(file)),
        Step::Tidy { dir } => format!("remove the empty directory {}", name(dir)),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chosen {
    plan: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct DoneView {
    op: u64,
    session: String,
    words: String,
    resume_command: Option<String>,
}

/// Carries out a plan that was shown.
pub(crate) async fn apply(
    Extract(state): Extract<Arc<State>>,
    Json(chosen): Json<Chosen>,
) -> Answered<DoneView> {
    answer(state, move |state| {
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
            resume_command: plan.resume.map(|_| format!("claude --resume {}", plan.session)),
            session: plan.session,
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

#[derive(Debug, Serialize)]
pub(crate) struct Log {
    operations: Vec<OperationView>,
}

#[derive(Debug, Serialize)]
pub(crate) struct OperationView {
    op: u64,
    at: String,
    what: &'static str,
    session: String,
    words: String,
    done: bool,
    undone_by: Option<u64>,
    undoes: Option<u64>,
    can_undo: bool,
}

/// Tells what was done to the histories that are served, the newest first.
pub(crate) async fn log(Extract(state): Extract<Arc<State>>) -> Answered<Log> {
    answer(state, |state| {
        let journal = Journal::read(&state.own)?;
        let roots = &state.library.place.roots;
        let here = journal.operations.iter().rev().filter(|operation| is_below(operation, roots));
        let operations = here.map(|operation| OperationView {
            op: operation.op,
            at: operation.at.clone(),
            what: operation.what.word(),
            session: operation.session.clone(),
            words: operation.words.clone(),
            done: operation.is_done(),
            undone_by: operation.undone_by,
            undoes: operation.undoes,
            can_undo: operation.is_done()
                && operation.undone_by.is_none()
                && operation.undoes.is_none(),
        });
        Ok(Log { operations: operations.collect() })
    })
    .await
}
