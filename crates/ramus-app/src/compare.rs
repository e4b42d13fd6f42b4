//! Two conversations compared: what both have, and what each did of its own.

mod ends;
mod team;

use ramus_core::compare::{Common, Compared, FilePair, Named, Side, Stretch, common, files};
use ramus_core::price::PriceList;
use ramus_core::session::{NodeId, Session};
use ramus_core::turn::Turn;
use ramus_store::PathError;

use crate::conversation::{OpenConversation, each_turn};
use crate::workspace::Workspace;
use team::Team;

/// What was found out about two conversations.
#[derive(Debug)]
pub struct Comparison {
    pub names: [Named; 2],
    pub common: Common,
    pub sides: [Side; 2],
    /// The files that either changed, as they are in the end.
    pub files: Vec<FilePair>,
}

impl Comparison {
    /// Returns it to be drawn, at some prices.
    pub fn compared<'a>(&'a self, prices: &'a PriceList) -> Compared<'a> {
        Compared {
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
    pub fn compare(
        &self,
        conversations: [&OpenConversation; 2],
        mut each_own: impl FnMut(usize, usize, &Turn),
    ) -> Result<Comparison, PathError> {
        let [a, b] = conversations;
        let common = common(&a.stretches(), &b.stretches());
        let sides = [
            read_side(self, a, &common, 0, |part, turn| each_own(0, part, turn))?,
            read_side(self, b, &common, 1, |part, turn| each_own(1, part, turn))?,
        ];
        let mut files = files(&sides[0], &sides[1]);
        ends::complete(self.roots(), &a.parts, &mut files, |pair| &mut pair.a)?;
        ends::complete(self.roots(), &b.parts, &mut files, |pair| &mut pair.b)?;
        let names = conversations.map(|conversation| self.named(conversation));
        Ok(Comparison { names, common, sides, files })
    }

    /// Returns what a conversation goes by: its number if the whole of it is meant.
    fn named(&self, open: &OpenConversation) -> Named {
        let agent = if open.file.file.role.is_agent() { "agent-" } else { "" };
        let id = format!("{agent}{}", self.short_ids().short(&open.file.file.id));
        let address = match open.number.filter(|_| open.is_whole) {
            Some(number) => format!("{id}@{number}"),
            None => {
                let leaf = open.leaf_uuid();
                let short = open.history().map_or(&*leaf, |history| history.short_uuid(&leaf));
                format!("{id}:{short}")
            }
        };
        Named { address, status: open.status, title: self.title(open) }
    }
}

impl OpenConversation {
    /// Returns the parts as a comparison takes them.
    pub fn stretches(&self) -> Vec<Stretch<'_>> {
        let parts = self.parts.iter();
        parts.map(|part| Stretch { history: &part.history, path: &part.path }).collect()
    }

    /// Returns the sessions that the path runs through, the oldest first.
    pub fn sessions(&self) -> Vec<&Session> {
        self.parts.iter().map(|part| &part.history.session).collect()
    }
}

/// Reads all turns of a conversation, and the tokens of what is its own; agents count for it.
fn read_side(
    workspace: &Workspace,
    conversation: &OpenConversation,
    common: &Common,
    which: usize,
    mut each_own: impl FnMut(usize, &Turn),
) -> Result<Side, PathError> {
    let mut side = Side::default();
    for (index, (part, own)) in conversation.parts.iter().zip(&common.own[which]).enumerate() {
        let files = conversation.file.files_beside();
        let mut team = Team::new(files, &part.file.id, workspace.rule());
        let mut started = team.started_by(&part.file, &part.history)?;
        each_turn(part, |turn| -> Result<(), PathError> {
            let is_own = turn.nodes.first().is_some_and(|first| own.contains(first));
            team.count_agents(&mut started, &turn, is_own, &mut side)?;
            if is_own {
                each_own(index, &turn);
                side.own(index, turn);
            } else {
                side.shared(&turn);
            }
            Ok(())
        })?;
        let own: Vec<NodeId> = own.iter().copied().collect();
        team::spend(part, &own, &mut side)?;
    }
    Ok(side)
}
