use std::path::{Path, PathBuf};

use ramus_app::{Address, Scope, SurveyDetail, Workspace};
use ramus_core::edit::end_of_message;
use ramus_core::session::NodeId;
use ramus_render::text::count;
use ramus_render::{Label, Line};
use ramus_store::place::encode;
use ramus_store::plan::{self, Destination, Plan, Step};
use ramus_store::trace::trace;

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::perform::{Proposal, Site, WriteArgs, perform};
use crate::ui::Ui;

/// Copy a conversation up to a message into a session of its own
///
/// The session that is forked stays as it is. Abandoned branches, what was said before a compaction
/// and the conversations of sub-agents can be forked alike; their agents, spilled outputs and file
/// backups come along.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus fork 3f9a:81b2c3d4\n  ramus fork 3f9a@2 --title \"The other way\"\n  ramus fork latest --into ~/other/project\n  ramus fork agent-a1b2c3d"
)]
pub(crate) struct ForkArgs {
    /// A node, a conversation, or an agent
    address: String,
    #[command(flatten)]
    to: ForkTo,
    #[command(flatten)]
    write: WriteArgs,
}

/// Where a new session goes, and what it is called.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ForkTo {
    /// Another project: its path, its name or a part of it
    #[arg(long, value_name = "PROJECT", allow_hyphen_values = true)]
    pub(crate) into: Option<String>,
    /// What the new session is called
    #[arg(long)]
    pub(crate) title: Option<String>,
}

impl ForkArgs {
    /// Asks for one message.
    pub(crate) fn of(address: String) -> Self {
        Self { address, to: ForkTo::default(), write: WriteArgs::default() }
    }
}

pub(crate) fn fork(ui: &mut Ui, global: &Global, args: &ForkArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, &args.address)?;
    let Address { file: found, node: spot } = workspace.address(&args.address)?;
    let site = Site::read(&workspace, found)?;
    let node = site.node(&spot)?;
    fork_at(ui, &workspace, &site, node, &args.to, "ramus.fork/1", &args.write)
}

/// Plans a fork at a node and carries it out.
pub(crate) fn fork_at(
    ui: &mut Ui,
    workspace: &Workspace,
    site: &Site,
    node: NodeId,
    to: &ForkTo,
    schema: &'static str,
    args: &WriteArgs,
) -> Result<(), CommandError> {
    let nothing = || CommandError::user("the record is no part of a conversation");
    let end = end_of_message(&site.history, node).ok_or_else(nothing)?;
    let path = site.history.path_to(end).ok_or_else(nothing)?;
    let subject = site.subject();
    let history = site.history.clone();
    let parts = trace(subject.files, site.found.file.clone(), history, path, workspace.rule())?;
    let place = to.place(workspace, site)?;
    let title = given_title(to.title.as_deref())?;
    let title = title.unwrap_or_else(|| format!("{} (fork)", short(&site.title)));
    let destination = Destination { dir: &place.dir, cwd: place.cwd.as_deref(), title: &title };
    let (plan, new) = plan::fork(subject, &parts, destination, env::now()).map_err(|error| {
        error.explained(|refusal| CommandError::user(format!("cannot fork: {refusal}")))
    })?;
    let mut lines = vec![
        Line::plain("New session ")
            .with(&plan.session[..8], Label::Id)
            .with(&format!("  {title}"), Label::Strong),
        Line::plain(&format!("  {} up to ", count(new.messages as usize, "message")))
            .join(&site.words(node)?),
    ];
    lines.extend(comes_along(&plan));
    if new.set_back > 0 {
        let line = format!("  {} records are dated in the future and set back", new.set_back);
        lines.push(Line::new(&line, Label::Warning));
    }
    lines.push(Line::new(&format!("  goes to {}", plan.file.display()), Label::Dim));
    let facts = site.history.session.facts();
    let cwd = place.cwd.as_deref().or(facts.cwd.as_deref()).unwrap_or_default();
    let proposal = Proposal {
        plan: &plan,
        lines,
        question: "Make it?",
        resume_leaf: Some(new.leaf),
        cwd: Some(cwd),
    };
    perform(ui, schema, args, &proposal)
}

/// A directory for a new session.
pub(crate) struct NewPlace {
    pub(crate) dir: PathBuf,
    pub(crate) cwd: Option<String>,
}

impl ForkTo {
    /// Finds where the new session goes: beside the old one, or into a project that may be new.
    pub(crate) fn place(
        &self,
        workspace: &Workspace,
        site: &Site,
    ) -> Result<NewPlace, CommandError> {
        let subject = site.subject();
        let Some(into) = &self.into else {
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
        let path = Path::new(into);
        let Some(root) = subject.root.filter(|_| path.is_dir()) else {
            return Err(CommandError::user(format!("no project is or contains {into:?}"))
                .hinted("`ramus projects` lists them all; a directory on disk does, too"));
        };
        let path = path.canonicalize()?;
        let path = path.to_string_lossy().into_owned();
        Ok(NewPlace { dir: root.join("projects").join(encode(&path)), cwd: Some(path) })
    }
}

/// Tells what a new session has beside its own file.
pub(crate) fn comes_along(plan: &Plan) -> Option<Line> {
    let is_agent = |file: &Path| {
        *file != *plan.file && file.extension().is_some_and(|extension| extension == "jsonl")
    };
    let agents =
        plan.steps.iter().filter(|step| matches!(step, Step::Make { file, .. } if is_agent(file)));
    let links = plan.steps.iter().filter(|step| matches!(step, Step::Link { .. }));
    let mut parts = Vec::new();
    match agents.count() {
        0 => {}
        1 => parts.push("1 agent".to_owned()),
        many => parts.push(format!("{many} agents")),
    }
    match links.count() {
        0 => {}
        1 => parts.push("1 backup or output".to_owned()),
        many => parts.push(format!("{many} backups and outputs")),
    }
    (!parts.is_empty()).then(|| Line::plain(&format!("  with {}", parts.join(" and "))))
}

/// Returns the title that was typed, if it can be one.
pub(crate) fn given_title(typed: Option<&str>) -> Result<Option<String>, CommandError> {
    let title = typed.map(ramus_store::plan::title).transpose();
    let title = title.map_err(|error| CommandError::user(error.to_string()))?;
    Ok(title.map(str::to_owned))
}

/// Shortens a title that something is added to.
pub(crate) fn short(title: &str) -> String {
    const LONG: usize = 80;
    let one_line = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if one_line.chars().count() <= LONG {
        return one_line;
    }
    one_line.chars().take(LONG - 1).chain(['…']).collect()
}
