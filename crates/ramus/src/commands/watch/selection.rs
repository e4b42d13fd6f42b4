//! Which files to watch, and which conversation.

use std::collections::HashSet;
use std::path::Path;

use ramus_app::{Address, NodeSelector, ResolvedFile, Scope, Workspace};
use ramus_core::session::NodeId;
use ramus_store::agents::{find_spawning_calls, read_agents};
use ramus_store::claude_dir::{FileRole, HistoryFile};
use ramus_store::project_name::project_dir_name;
use ramus_store::real_path::real_path;

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// What is to be watched; everything, if nothing is named.
#[derive(Debug, Default)]
pub(super) struct WatchSelection {
    targets: Vec<WatchTarget>,
}

#[derive(Debug)]
enum WatchTarget {
    /// By the name of its directory, which need not exist yet.
    Project(String),
    Session {
        id: String,
        branch: Option<FollowedBranch>,
    },
    Agent(String),
}

/// A conversation: where its last record ends, and what that is called.
#[derive(Clone, Debug)]
pub(super) struct FollowedBranch {
    pub(super) leaf: String,
    pub(super) end: u64,
    /// The names of its records.
    pub(super) names: HashSet<String>,
    /// Agents that were started somewhere else than on it (R6).
    pub(super) others: HashSet<String>,
}

impl WatchSelection {
    pub(super) fn find_selection(
        ui: &mut Ui,
        global: &Global,
        scopes: &[String],
        branch: bool,
    ) -> Result<Self, CommandError> {
        let mut targets = Vec::new();
        if branch && scopes.is_empty() {
            return Err(CommandError::user_error("--branch needs a session")
                .with_hint("`ramus watch latest --branch` follows the newest conversation"));
        }
        for scope in scopes {
            targets.push(resolve_target(ui, global, scope, branch)?);
        }
        Ok(Self { targets })
    }

    /// Whether at most one session is watched, so that rows need not name it.
    pub(super) fn is_one(&self) -> bool {
        matches!(&self.targets[..], [WatchTarget::Session { .. } | WatchTarget::Agent(_)])
    }

    /// Whether a file is selected. `None` if only its records can decide.
    pub(super) fn wants_file(&self, file: &HistoryFile, session: Option<&str>) -> Option<bool> {
        if matches!(file.role, FileRole::Journal { .. }) {
            return Some(false);
        }
        let mut unknown = false;
        for target in &self.targets {
            match target_includes(target, file, session) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => unknown = true,
            }
        }
        if unknown { None } else { Some(self.targets.is_empty()) }
    }

    /// Returns the conversation of a session that is to be followed.
    pub(super) fn followed_branch(&self, file: &HistoryFile) -> Option<&FollowedBranch> {
        self.targets.iter().find_map(|target| match target {
            WatchTarget::Session { id, branch }
                if file.role == FileRole::Session && *id == file.id =>
            {
                branch.as_ref()
            }
            _ => None,
        })
    }
}

fn target_includes(
    target: &WatchTarget,
    file: &HistoryFile,
    session: Option<&str>,
) -> Option<bool> {
    match (target, &file.role) {
        (WatchTarget::Project(name), _) => {
            Some(file.relative.split('/').nth(1).is_some_and(|project| project == name))
        }
        (WatchTarget::Agent(id), role) => Some(role.is_agent() && *id == file.id),
        (WatchTarget::Session { id, .. }, FileRole::Session) => Some(*id == file.id),
        (WatchTarget::Session { id, .. }, FileRole::NestedAgent { session }) => Some(id == session),
        (WatchTarget::Session { id, .. }, FileRole::FlatAgent) => Some(*id == *session?),
        (WatchTarget::Session { .. }, FileRole::Journal { .. }) => Some(false),
    }
}

fn resolve_target(
    ui: &mut Ui,
    global: &Global,
    scope: &str,
    branch: bool,
) -> Result<WatchTarget, CommandError> {
    let found = match env::command_workspace(ui, global) {
        Ok(workspace) => find_target(&workspace, scope, branch),
        Err(error) => Err(error),
    };
    match (found, real_path(Path::new(scope))) {
        // That directory has no sessions yet; its first session will appear.
        (Err(_), Ok(path)) if path.is_dir() => {
            Ok(WatchTarget::Project(project_dir_name(&path.to_string_lossy())))
        }
        (found, _) => found,
    }
}

fn find_target(
    workspace: &Workspace,
    scope: &str,
    branch: bool,
) -> Result<WatchTarget, CommandError> {
    let (found, selector) = match workspace.resolve_scope(Some(scope)) {
        Ok(Scope::Project(project)) if branch => {
            let name = &project.name;
            return Err(CommandError::user_error(format!(
                "`--branch` needs a session; {name} is a project"
            )));
        }
        Ok(Scope::Project(project)) => return Ok(WatchTarget::Project(project.name.clone())),
        Ok(Scope::Session(found)) => (*found, branch.then_some(NodeSelector::Resume)),
        Ok(Scope::All | Scope::Sessions(_)) => {
            return Err(CommandError::user_error("no scope given"));
        }
        Err(error) => match workspace.resolve_address(scope) {
            Ok(Address { file, node }) => (file, Some(node)),
            Err(_) => return Err(error.into()),
        },
    };
    if found.project.is_none() {
        return Err(CommandError::user_error(format!("{scope} is not in the Claude directory"))
            .with_hint("use --claude-dir DIR to choose another one"));
    }
    if found.file.role.is_agent() {
        return Ok(WatchTarget::Agent(found.file.id));
    }
    let branch = match selector {
        Some(selector) => self::find_branch(workspace, &found, &selector)?,
        None => None,
    };
    Ok(WatchTarget::Session { id: found.file.id, branch })
}

/// Finds the last record of a conversation. `None` if there is none yet.
fn find_branch(
    workspace: &Workspace,
    found: &ResolvedFile,
    selector: &NodeSelector,
) -> Result<Option<FollowedBranch>, CommandError> {
    let history = workspace.read_history(&found.file)?;
    let resuming =
        || history.branches.resuming_conversation().map(|conversation| conversation.leaf);
    let Some(leaf) = selector.find_node(&history)?.or_else(resuming) else { return Ok(None) };
    let record = history.session.record(leaf);
    let Some(name) = record.uuid else { return Ok(None) };
    let files = found.files_beside();
    // Unreadable files are reported by the follower.
    let (agents, _) = read_agents(files, &found.file.id);
    let path = match history.conversation_of(leaf) {
        Some(conversation) => history.conversation_path(conversation).nodes,
        None => history.path_to(leaf).map(|path| path.nodes).unwrap_or_default(),
    };
    let named = path.iter().filter_map(|node| history.session.record(*node).uuid);
    let names = named.map(|name| history.session.uuid_text(name)).collect();
    let path: HashSet<NodeId> = path.into_iter().collect();
    let is_other = |call: &Option<NodeId>| call.is_some_and(|call| !path.contains(&call));
    let others = find_spawning_calls(&agents, &history).into_iter().zip(agents);
    let others = others.filter(|(call, _)| is_other(call)).map(|(_, agent)| agent.file.id);
    Ok(Some(FollowedBranch {
        leaf: history.session.uuid_text(name),
        end: record.span.end_offset(),
        names,
        others: others.collect(),
    }))
}
