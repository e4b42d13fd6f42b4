//! What a transcript is exported from: a conversation of a session, or an agent inside its file.

use std::collections::HashMap;

use crate::survey::SurveyedFile;
use ramus_core::agent::{AgentHint, SpawnIndex, inline_agent_path, inline_agents};
use ramus_core::branches::{BranchStatus, Conversation};
use ramus_core::history::{ConversationPath, History};
use ramus_core::ids::IdHash;

use super::ExportError;
use super::plan::ExportJob;

/// Finds the conversation to be written, and its path.
pub(super) fn find_target(
    job: &ExportJob<'_>,
    history: &History,
    index: usize,
) -> Result<(Conversation, ConversationPath), ExportError> {
    let gone = || ExportError::Changed;
    if let Some(root) = job.inline.get(index) {
        let root = history.node_by_uuid(*root).ok_or_else(gone)?;
        let path = inline_agent_path(history, root).ok_or_else(gone)?;
        return Ok((inline_conversation(&path).ok_or_else(gone)?, path));
    }
    match &job.end {
        None => {
            let conversation = history.branches.conversations.get(index).ok_or_else(gone)?;
            Ok((conversation.clone(), history.conversation_path(conversation)))
        }
        Some(end) => {
            let node = end.find_node(history)?.ok_or_else(gone)?;
            let path = history.path_to(node).ok_or_else(gone)?;
            // An agent inside the session's own file is on no conversation.
            let conversation = history.conversation_of(node).cloned();
            let conversation = conversation.or_else(|| inline_conversation(&path));
            let conversation = Conversation { leaf: node, ..conversation.ok_or_else(gone)? };
            Ok((conversation, path))
        }
    }
}

/// Makes a conversation of the path of an agent inside the session's own file.
fn inline_conversation(path: &ConversationPath) -> Option<Conversation> {
    Some(Conversation {
        number: 1,
        leaf: *path.nodes.last()?,
        end: *path.messages.last()?,
        status: BranchStatus::Active,
        resumes: false,
        fork_index: None,
        messages: 0,
        records: 0,
        compactions: 0,
        draft: false,
        opening: None,
    })
}

/// Finds the calls of agents that no result names, as old clients left them, inside the session's file too (R6).
pub(super) fn unnamed_agents(
    job: &ExportJob<'_>,
    session: &SurveyedFile,
    history: &History,
) -> HashMap<IdHash, String> {
    let records = &history.session;
    let inline = match session.digest.inline_agents {
        0 => Vec::new(),
        _ => inline_agents(history),
    };
    let inline = inline.into_iter().filter_map(|agent| {
        Some((agent.spawn?, records.uuid_text(records.record(agent.root).uuid?)))
    });
    let mut calls: HashMap<IdHash, String> = inline.collect();
    let spawns = SpawnIndex::new(records);
    let agents = job.project.agents_of(&session.file.id);
    let agents = agents.filter(|_| !records.spawns().is_empty());
    for agent in agents.filter(|agent| !spawns.names_agent(&agent.file.id)) {
        let Ok(own) = ramus_store::read_session(&agent.file.path) else { continue };
        let call = ramus_store::agents::read_agent_meta(&agent.file.path).call;
        let hint = AgentHint::new(&agent.file.id, &own, call.as_deref());
        if let Some(spawn) = spawns.spawn_of(&hint) {
            calls.insert(spawn.call, agent.file.id.clone());
        }
    }
    calls
}
