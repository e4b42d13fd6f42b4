//! Compares two conversations: what they have in common, and what each did separately.

mod called_agents;
mod final_contents;
mod own_turns;

use ramus_core::compare::{
    ComparedConversations, ComparedSide, ConversationLabel, ExchangePair, FilePair, OwnTurn,
    PathOverlap, PathPart, changed_files, compare_paths, order_exchanges, paired_exchanges,
};
use ramus_core::price::PriceList;
use ramus_core::session::Session;
use ramus_core::turn::Turn;
use ramus_store::PathError;

use crate::conversation::{OpenConversation, each_turn};
use crate::workspace::Workspace;
use called_agents::CalledAgents;
use own_turns::{TurnBuffer, is_own_turn};

/// What was found out about two conversations.
#[derive(Debug)]
pub struct ConversationComparison<'a> {
    conversations: [&'a OpenConversation; 2],
    buffers: [TurnBuffer; 2],
    pub names: [ConversationLabel; 2],
    pub common: PathOverlap,
    pub sides: [ComparedSide; 2],
    /// The files that either changed, as they are in the end.
    pub files: Vec<FilePair>,
}

impl ConversationComparison<'_> {
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

    /// Reads the turns that only one side has, in order.
    pub fn read_own_turns<R>(
        &self,
        side: usize,
        read: impl FnOnce(&mut dyn Iterator<Item = OwnTurn>) -> R,
    ) -> Result<R, PathError> {
        match self.buffers[side].turns() {
            Some(turns) => Ok(read(&mut turns.iter().cloned())),
            None => {
                own_turns::read_own_turns(self.conversations[side], &self.common.own[side], read)
            }
        }
    }

    /// Reads the exchanges that differ, those with similar prompts next to each other.
    pub fn read_exchanges<R>(
        &self,
        read: impl FnOnce(&mut dyn Iterator<Item = ExchangePair>) -> R,
    ) -> Result<R, PathError> {
        let counts = self.sides.each_ref().map(|side| side.exchanges);
        let order = order_exchanges(counts, &mut |side, each| {
            self.read_own_turns(side, |turns| turns.for_each(|own| each(&own)))
        })?;
        self.read_own_turns(0, |a| {
            self.read_own_turns(1, |b| read(&mut paired_exchanges(&order, [a, b])))
        })?
    }
}

impl Workspace {
    /// Compares two conversations. What agents did counts for the side that called them; what files
    /// hold in the end is completed from the client's backups.
    ///
    /// `each_own` sees every turn that only one of them has, with the number of that side and of the
    /// part it lies in.
    pub fn compare_conversations<'a>(
        &self,
        conversations: [&'a OpenConversation; 2],
        mut each_own: impl FnMut(usize, usize, &Turn),
    ) -> Result<ConversationComparison<'a>, PathError> {
        let [a, b] = conversations;
        let common = compare_paths(&a.path_parts(), &b.path_parts());
        let (side_a, buffer_a) =
            read_side(self, a, &common, 0, |part, turn| each_own(0, part, turn))?;
        let (side_b, buffer_b) =
            read_side(self, b, &common, 1, |part, turn| each_own(1, part, turn))?;
        let (sides, buffers) = ([side_a, side_b], [buffer_a, buffer_b]);
        let mut files = changed_files(&sides[0], &sides[1]);
        final_contents::complete_contents(self.claude_roots(), &a.parts, &mut files, |pair| {
            &mut pair.a
        })?;
        final_contents::complete_contents(self.claude_roots(), &b.parts, &mut files, |pair| {
            &mut pair.b
        })?;
        let names = conversations.map(|conversation| self.conversation_label(conversation));
        Ok(ConversationComparison { conversations, buffers, names, common, sides, files })
    }

    /// Returns the address of a conversation: its number, if the whole of it is compared.
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

/// Reads all turns of a conversation, and the tokens of its own part, including agents.
fn read_side(
    workspace: &Workspace,
    conversation: &OpenConversation,
    common: &PathOverlap,
    which: usize,
    mut each_own: impl FnMut(usize, &Turn),
) -> Result<(ComparedSide, TurnBuffer), PathError> {
    let mut side = ComparedSide::default();
    let mut buffer = TurnBuffer::new();
    for (index, (part, own)) in conversation.parts.iter().zip(&common.own[which]).enumerate() {
        let files = conversation.file.files_beside();
        let mut team = CalledAgents::new(files, &part.file.id, workspace.resume_rule());
        let mut started = team.started_by(&part.file, &part.history)?;
        each_turn(part, |turn| -> Result<(), PathError> {
            let is_own = is_own_turn(&turn, own);
            team.count_agents(&mut started, &turn, is_own, &mut side)?;
            if is_own {
                each_own(index, &turn);
                side.add_own_turn(&turn);
                buffer.add_turn(index, &part.history.session, turn);
            } else {
                side.add_shared_turn(&turn);
            }
            Ok(())
        })?;
        called_agents::add_usage(part, own, &mut side)?;
    }
    Ok((side, buffer))
}
