//! Two conversations compared: what both have, and what each did of its own.

mod called_agents;
mod final_contents;

use ramus_core::compare::{
    ComparedConversations, ComparedSide, ConversationLabel, FilePair, PathOverlap, PathPart,
    changed_files, compare_paths,
};
use ramus_core::price::PriceList;
use ramus_core::session::{NodeId, Session};
use ramus_core::turn::Turn;
use ramus_store::PathError;

use crate::conversation::{OpenConversation, each_turn};
use crate::workspace::Workspace;
use called_agents::CalledAgents;

/// What was found out about two conversations.
#[derive(Debug)]
pub struct ConversationComparison {
    pub names: [ConversationLabel; 2],
    pub common: PathOverlap,
    pub sides: [ComparedSide; 2],
    /// The files that either changed, as they are in the end.
    pub files: Vec<FilePair>,
}

impl ConversationComparison {
    /// Returns it to be drawn, at some prices.
    pub fn priced_comparison<'a>(&'a self, prices: &'a PriceList) -> ComparedConversations<'a> {
        ComparedConversations {
            common: &self.common,
            names: self.names.each_ref(),
            sides: self.sides.each_ref(),
            files: &self.files,
            prices,
        }
    }
}

impl Workspace {
    /// Compares two conversations. What agents did counts for the side that called them; what files
    /// hold in the end is completed from the client's backups.
    ///
    /// `each_own` sees every turn that only one of them has, with the number of that side and of the
    /// part it lies in.
    pub fn compare_conversations(
        &self,
        conversations: [&OpenConversation; 2],
        mut each_own: impl FnMut(usize, usize, &Turn),
    ) -> Result<ConversationComparison, PathError> {
        let [a, b] = conversations;
        let common = compare_paths(&a.path_parts(), &b.path_parts());
        let sides = [
            read_side(self, a, &common, 0, |part, turn| each_own(0, part, turn))?,
            read_side(self, b, &common, 1, |part, turn| each_own(1, part, turn))?,
        ];
        let mut files = changed_files(&sides[0], &sides[1]);
        final_contents::complete_contents(self.claude_roots(), &a.parts, &mut files, |pair| {
            &mut pair.a
        })?;
        final_contents::complete_contents(self.claude_roots(), &b.parts, &mut files, |pair| {
            &mut pair.b
        })?;
        let names = conversations.map(|conversation| self.conversation_label(conversation));
        Ok(ConversationComparison { names, common, sides, files })
    }

    /// Returns what a conversation goes by: its number if the whole of it is meant.
    fn conversation_label(&self, open: &OpenConversation) -> ConversationLabel {
        let agent = if open.file.file.role.is_agent() { "agent-" } else { "" };
        let id = format!("{agent}{}", self.short_ids().shorten_id(&open.file.file.id));
        let address = match open.number.filter(|_| open.is_whole) {
            Some(number) => format!("{id}@{number}"),
            None => {
                let leaf = open.leaf_uuid();
                let short = open.own_history().map_or(&*leaf, |history| history.short_uuid(&leaf));
                format!("{id}:{short}")
            }
        };
        ConversationLabel { address, status: open.status, title: self.conversation_title(open) }
    }
}

impl OpenConversation {
    /// Returns the parts as a comparison takes them.
    pub fn path_parts(&self) -> Vec<PathPart<'_>> {
        let parts = self.parts.iter();
        parts.map(|part| PathPart { history: &part.history, path: &part.path }).collect()
    }

    /// Returns the sessions that the path runs through, the oldest first.
    pub fn path_sessions(&self) -> Vec<&Session> {
        self.parts.iter().map(|part| &part.history.session).collect()
    }
}

/// Reads all turns of a conversation, and the tokens of what is its own; agents count for it.
fn read_side(
    workspace: &Workspace,
    conversation: &OpenConversation,
    common: &PathOverlap,
    which: usize,
    mut each_own: impl FnMut(usize, &Turn),
) -> Result<ComparedSide, PathError> {
    let mut side = ComparedSide::default();
    for (index, (part, own)) in conversation.parts.iter().zip(&common.own[which]).enumerate() {
        let files = conversation.file.files_beside();
        let mut team = CalledAgents::new(files, &part.file.id, workspace.resume_rule());
        let mut started = team.started_by(&part.file, &part.history)?;
        each_turn(part, |turn| -> Result<(), PathError> {
            let is_own = turn.nodes.first().is_some_and(|first| own.contains(first));
            team.count_agents(&mut started, &turn, is_own, &mut side)?;
            if is_own {
                each_own(index, &turn);
                side.add_own_turn(index, turn);
            } else {
                side.add_shared_turn(&turn);
            }
            Ok(())
        })?;
        let own: Vec<NodeId> = own.iter().copied().collect();
        called_agents::add_usage(part, &own, &mut side)?;
    }
    Ok(side)
}
