//! Whom a transcript is of: a conversation of a session, or an agent inside its file.

use std::collections::HashMap;

use ramus_app::NodeSelector;
use ramus_app::survey::Surveyed;
use ramus_core::agent::{AgentHint, SpawnIndex, inline_agents, inline_path};
use ramus_core::branches::{Conversation, Status};
use ramus_core::history::{History, Path};
use ramus_core::name::Key;

use super::plan::Job;
use crate::error::CommandError;

/// Finds the conversation to be written, and its path.
pub(super) fn target(
    job: &Job<'_>,
    history: &History,
    index: usize,
) -> Result<(Conversation, Path), CommandError> {
    let gone = || CommandError::user("the session changed while it was read").hinted("try again");
    if let Some(root) = job.inline.get(index) {
        let root = history.tree.find(*root).ok_or_else(gone)?;
        let path = inline_path(history, root).ok_or_else(gone)?;
        return Ok((inline_conversation(&path).ok_or_else(gone)?, path));
    }
    match &job.end {
        None => {
            let conversation = history.branches.conversations.get(index).ok_or_else(gone)?;
            Ok((conversation.clone(), history.path(conversation)))
        }
        Some(uuid) => {
            let spot = NodeSelector::Uuid(uuid.clone());
            let node = spot.node(history)?.ok_or_else(gone)?;
            let conversation = history.conversation_of(node).ok_or_else(gone)?;
            let conversation = Conversation { leaf: node, ..conversation.clone() };
            Ok((conversation, history.path_to(node).ok_or_else(gone)?))
        }
    }
}

/// Makes a conversation of the path of an agent inside the session's own file.
fn inline_conversation(path: &Path) -> Option<Conversation> {
    Some(Conversation {
        n: 1,
        leaf: *path.nodes.last()?,
        end: *path.folds.last()?,
        status: Status::Active,
        resumes: false,
        fork: None,
        messages: 0,
        records: 0,
        compactions: 0,
        draft: false,
        opening: None,
    })
}

/// Finds the calls of agents that no result names, as old clients left them, inside the session's file too (R6).
pub(super) fn unnamed_agents(
    job: &Job<'_>,
    session: &Surveyed,
    history: &History,
) -> HashMap<Key, String> {
    let records = &history.session;
    let inline = match session.digest.inline_agents {
        0 => Vec::new(),
        _ => inline_agents(history),
    };
    let inline = inline
        .into_iter()
        .filter_map(|agent| Some((agent.spawn?, records.spell(records.record(agent.root).name?))));
    let mut calls: HashMap<Key, String> = inline.collect();
    let spawns = SpawnIndex::new(records);
    let agents = job.project.agents_of(&session.file.id);
    let agents = agents.filter(|_| !records.spawns().is_empty());
    for agent in agents.filter(|agent| !spawns.names(&agent.file.id)) {
        let Ok(own) = ramus_store::read(&agent.file.path) else { continue };
        let call = ramus_store::agents::meta(&agent.file.path).call;
        let hint = AgentHint::new(&agent.file.id, &own, call.as_deref());
        if let Some(spawn) = spawns.spawn_of(&hint) {
            calls.insert(spawn.call, agent.file.id.clone());
        }
    }
    calls
}
