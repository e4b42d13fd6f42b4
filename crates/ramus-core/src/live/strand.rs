//! Which way a conversation goes: told from the records of a window, as they come.
//!
//! The same folding as in [`fold`](crate::fold) (R8), with what can be known when a record
//! is written: records of one message are one, results belong to their call, and
//! what says nothing only leads on. A record that says something hangs at the
//! last thing said above it. If something else was said there already, the
//! conversation forks (R9).

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::branches::ForkKind;
use crate::name::{Key, Name};
use crate::record::{Kind, Record, Voice};
use crate::session::Session;
use crate::time::Time;

/// How many records are remembered; the client hangs new ones at the last few.
pub(super) const WINDOW: usize = 512;

/// What a record does to the conversation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// It was there already (R4, R8d).
    Copy,
    /// The conversation goes on, maybe another way.
    Goes { followed: bool, switch: Option<Switch> },
}

/// The conversation goes another way than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    pub kind: SwitchKind,
    /// The record after which it goes another way, as it is spelled; the parent, where that is all
    /// that is known. `None`: it begins anew.
    pub after: Option<String>,
    /// The words of the last prompt up to there.
    pub words: Option<String>,
    /// The followed conversation was left by this, or taken up again.
    pub leaves: bool,
    pub returns: bool,
}

/// How a conversation changes its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchKind {
    /// A new branch.
    New(ForkKind),
    /// On with a branch that was left before.
    Back,
    /// A new beginning beside the first.
    Root,
    /// A new branch, at a record that is further back than is remembered.
    Beyond,
}

impl SwitchKind {
    /// Returns the stable word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::New(kind) => kind.word(),
            Self::Back => "back",
            Self::Root => "root",
            Self::Beyond => "beyond",
        }
    }
}

/// One message with its results, or one other record.
#[derive(Clone, Debug)]
struct Node {
    name: Option<Name>,
    /// The message it is part of: itself, if it begins one.
    message: u64,
    parent: Option<u64>,
    /// What was said last above it.
    above: Above,
    voice: Voice,
    content: u64,
    /// Written when the turn it hangs in was over, so that what follows continues that turn's end.
    late: bool,
    /// What was said first right after it.
    next: Option<Voice>,
    uuid: Option<Box<str>>,
    words: Option<Box<str>>,
    keys: Vec<Key>,
    copy: Option<(Time, u64, Kind)>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Strand {
    nodes: VecDeque<Node>,
    /// The number of the first node that is remembered.
    first: u64,
    names: FxHashMap<Name, u64>,
    /// Message ids and call ids.
    keys: FxHashMap<Key, u64>,
    copies: FxHashMap<(Time, u64, Kind), u64>,
    /// What was said last.
    tip: Option<u64>,
    /// The last record that is more than decoration, with its time.
    last: Option<(u64, Option<Time>)>,
    /// The last compaction that keeps messages, and the names it gives.
    kept: Option<(u64, Vec<Name>)>,
    /// The end of the followed conversation; `None` inside: nothing of it was said yet.
    followed: Option<Option<u64>>,
}

impl Strand {
    pub(super) fn follow(&mut self, uuid: &str) -> bool {
        let Some(found) = self.names.get(&Name::new(uuid.as_bytes())).copied() else {
            return false;
        };
        let mut end = self.message(found);
        // On to the end of the conversation, along what was said first.
        for number in (end + 1).max(self.first)..self.first + self.nodes.len() as u64 {
            let node = self.node(number);
            let speaks = node.message == number && node.voice.speaks();
            if speaks && node.above == Above::Said(end) {
                end = number;
            }
        }
        self.followed = Some(Some(end));
        true
    }

    pub(super) fn follow_tip(&mut self) {
        self.followed = Some(self.tip);
    }

    pub(super) fn take(
        &mut self,
        session: &Session,
        record: &Record,
        uuid: Option<&str>,
        words: Option<&str>,
    ) -> Step {
        let number = self.first + self.nodes.len() as u64;
        let linked = record.parent.map(|name| self.names.get(&name).copied());
        if self.is_copy(record, linked.flatten()) {
            return Step::Copy;
        }
        let parent = self.reading_parent(record, linked);
        let late = self.is_late(record, parent.flatten());
        if record.voice == Voice::Boundary {
            let kept = session.preserved().last();
            let kept = kept.filter(|(boundary, _)| session.record(*boundary).name == record.name);
            self.kept = kept.map(|(_, names)| (number, names.clone()));
        }
        let keys: Vec<Key> =
            record.message.iter().chain(session.tool_ids(record)).copied().collect();
        let above = match parent {
            None => Above::Nothing,
            Some(None) => Above::Unknown,
            Some(Some(parent)) => self.said(parent),
        };
        let message = self.message_of(record, &keys).unwrap_or(number);
        let speaks = record.voice.speaks();
        self.remember(
            number,
            Node {
                name: record.name,
                message,
                parent: parent.flatten().map(|parent| self.message(parent)),
                above,
                voice: record.voice,
                content: record.content,
                late,
                next: None,
                uuid: uuid.map(Into::into),
                words: words.filter(|_| record.voice == Voice::Prompt).map(Into::into),
                keys,
                copy: record
                    .time
                    .filter(|_| speaks)
                    .map(|time| (time, record.content, record.kind)),
            },
        );
        // A result that comes late goes to its call, and the conversation is further on.
        let is_late_result =
            message != number && self.last.is_some_and(|(last, _)| self.message(last) != message);
        if record.voice != Voice::Decoration && !is_late_result {
            self.last = Some((number, record.time));
        }
        let mut switch = if message == number && speaks { self.say(number, above) } else { None };
        if let Some(switch) = switch.as_mut().filter(|switch| switch.after.is_none()) {
            switch.after = record.parent.map(|parent| session.spell(parent));
        }
        let followed = match self.followed {
            None => true,
            Some(end) => end == Some(message) || end.is_some_and(|end| above == Above::Said(end)),
        };
        self.forget();
        Step::Goes { followed, switch }
    }

    /// Returns the record that a reader would expect this one to continue, as [`fold`](crate::fold) does.
    ///
    /// `None`: it begins a tree. `Some(None)`: its parent is not remembered.
    fn reading_parent(&self, record: &Record, linked: Option<Option<u64>>) -> Option<Option<u64>> {
        let last = self.last.map(|(number, _)| Some(number));
        let begins =
            matches!(record.voice, Voice::Prompt | Voice::Command | Voice::Meta | Voice::Queued);
        if let Some(anchor) = linked.flatten().and_then(|parent| self.behind_compaction(parent)) {
            return Some(Some(anchor));
        }
        match (record.voice, linked) {
            (Voice::Boundary | Voice::CompactSummary, None | Some(None)) => last,
            (_, None) if !begins => last,
            (Voice::Decoration, _) => linked,
            (Voice::Command, Some(Some(parent))) if self.is_voice(parent, Voice::Meta) => last,
            (_, Some(Some(parent))) if parent >= self.first && self.node(parent).late => last,
            _ => linked,
        }
    }

    /// Returns what a record continues whose parent was kept by the last compaction.
    fn behind_compaction(&self, parent: u64) -> Option<u64> {
        let (boundary, names) = self.kept.as_ref()?;
        let mut numbers = names.iter().filter_map(|name| self.names.get(name).copied());
        if parent >= *boundary || !numbers.any(|number| number == parent) {
            return None;
        }
        let behind = names.iter().filter_map(|name| self.names.get(name).copied());
        Some(behind.filter(|number| number > boundary).min().unwrap_or(*boundary))
    }

    fn is_voice(&self, number: u64, voice: Voice) -> bool {
        number >= self.first && self.node(number).voice == voice
    }

    /// Whether decoration is dated before the record that stands before it, and hangs above that.
    fn is_late(&self, record: &Record, parent: Option<u64>) -> bool {
        let (Some(parent), Some((last, end))) = (parent, self.last) else { return false };
        if record.voice != Voice::Decoration || parent < self.first {
            return false;
        }
        let is_dated_before = record.time.zip(end).is_some_and(|(time, end)| time < end);
        let is_remembered = |number: &u64| *number >= self.first;
        // Hook records chain below each other: the first may have been written in time.
        let mut turn = self.message(parent);
        while self.is_voice(turn, Voice::Decoration)
            && let Some(above) = self.node(turn).parent
        {
            turn = above;
        }
        let end = self.message(last);
        let mut above = std::iter::successors(Some(end).filter(is_remembered), |at| {
            self.node(*at).parent.filter(is_remembered)
        });
        self.node(parent).late || is_dated_before && turn != end && above.any(|at| at == turn)
    }

    /// Whether something else was said last than the end of the followed conversation.
    pub(super) fn has_left(&self) -> bool {
        self.followed.is_some_and(|end| end != self.tip)
    }

    /// Says something after what was said above it; tells whether that is another way than before.
    fn say(&mut self, number: u64, above: Above) -> Option<Switch> {
        let voice = self.node(number).voice;
        let tip = self.tip.replace(number);
        let kind = match above {
            // Nothing was said after what was said last, even if it is not remembered any more.
            Above::Said(before) if before < self.first => {
                (Some(before) != tip).then_some(SwitchKind::Beyond)
            }
            Above::Said(before) => {
                let first = self.node(before).next;
                if first.is_none() {
                    self.node_mut(before).next = Some(voice);
                }
                match first {
                    None if Some(before) == tip => None,
                    None => Some(SwitchKind::Back),
                    Some(first) => Some(SwitchKind::New(self.kind(before, number, first, voice))),
                }
            }
            Above::Nothing => tip.map(|_| SwitchKind::Root),
            Above::Unknown => tip.map(|_| SwitchKind::Beyond),
        };
        let before = match above {
            Above::Said(before) => Some(before),
            Above::Nothing | Above::Unknown => None,
        };
        let was_followed = self.followed.is_some_and(|end| end == tip);
        let continues = self.followed.is_some_and(|end| end == before);
        if continues && kind.is_none_or(|kind| kind == SwitchKind::Back) {
            self.followed = Some(Some(number));
        }
        Some(Switch {
            kind: kind?,
            after: before
                .filter(|before| *before >= self.first)
                .and_then(|before| self.node(before).uuid.clone())
                .map(Into::into),
            words: before.and_then(|before| self.words(before)),
            leaves: was_followed && !continues,
            returns: continues && !was_followed,
        })
    }

    fn kind(&self, before: u64, number: u64, first: Voice, voice: Voice) -> ForkKind {
        let is_answer = |voice: Voice| matches!(voice, Voice::Answer | Voice::Synthetic);
        if is_answer(first) && is_answer(voice) {
            return ForkKind::Retry;
        }
        // A prompt below the first way, beside the one that may begin it.
        let needed = if is_answer(first) { 1 } else { 2 };
        if voice == Voice::Prompt && self.prompts_below(before, number) >= needed {
            ForkKind::Rewind
        } else if is_answer(first) || is_answer(voice) {
            ForkKind::Interrupt
        } else {
            ForkKind::Edit
        }
    }

    fn prompts_below(&self, above: u64, end: u64) -> usize {
        let start = above.max(self.first);
        let mut below = vec![false; (end - start) as usize];
        let mut prompts = 0;
        for number in start + 1..end {
            let node = self.node(number);
            let place = node.parent.filter(|parent| *parent >= start);
            let is_below =
                place.is_some_and(|parent| parent == above || below[(parent - start) as usize]);
            below[(number - start) as usize] = is_below;
            prompts += usize::from(is_below && node.voice == Voice::Prompt);
        }
        prompts
    }

    /// Returns the words of the last prompt up to a node.
    fn words(&self, from: u64) -> Option<String> {
        let mut at = Some(from);
        while let Some(number) = at.filter(|number| *number >= self.first) {
            let node = self.node(number);
            if let Some(words) = &node.words {
                return Some(words.to_string());
            }
            at = node.parent;
        }
        None
    }

    /// Returns the last thing said up to a record, itself included.
    fn said(&self, number: u64) -> Above {
        let node = self.node(number);
        if node.message != number {
            Above::Said(node.message)
        } else if node.voice.speaks() {
            Above::Said(number)
        } else {
            node.above
        }
    }

    /// Whether the record was there already: under its name, beside this one, or above it.
    fn is_copy(&self, record: &Record, parent: Option<u64>) -> bool {
        let named = record.name.and_then(|name| self.names.get(&name));
        if named.is_some_and(|named| self.node(*named).content == record.content) {
            return true;
        }
        let copy = record.time.map(|time| (time, record.content, record.kind));
        let Some(original) = copy.and_then(|copy| self.copies.get(&copy)).copied() else {
            return false;
        };
        let parent = parent.map(|parent| self.message(parent));
        let mut at = parent;
        while let Some(number) = at.filter(|number| *number > original) {
            at = self.node(number).parent;
        }
        parent == self.node(original).parent || at == Some(original)
    }

    fn message_of(&self, record: &Record, keys: &[Key]) -> Option<u64> {
        let shares = matches!(record.voice, Voice::Answer | Voice::ToolResult | Voice::Synthetic);
        let by_key = || keys.iter().find_map(|key| self.keys.get(key)).copied();
        let by_source = || record.source.and_then(|name| self.names.get(&name)).copied();
        let found = if shares { by_key().or_else(by_source) } else { None };
        found.map(|found| self.message(found))
    }

    fn message(&self, number: u64) -> u64 {
        if number < self.first { number } else { self.node(number).message }
    }

    fn node(&self, number: u64) -> &Node {
        &self.nodes[(number - self.first) as usize]
    }

    fn node_mut(&mut self, number: u64) -> &mut Node {
        &mut self.nodes[(number - self.first) as usize]
    }

    fn remember(&mut self, number: u64, node: Node) {
        self.names.extend(node.name.map(|name| (name, number)));
        self.keys.extend(node.keys.iter().map(|key| (*key, number)));
        self.copies.extend(node.copy.map(|copy| (copy, number)));
        self.nodes.push_back(node);
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.nodes.len().max(self.names.len()).max(self.keys.len() / 2)
    }

    fn forget(&mut self) {
        while self.nodes.len() > WINDOW
            && let Some(node) = self.nodes.pop_front()
        {
            let number = self.first;
            self.first += 1;
            if let Some(name) = node.name {
                remove(&mut self.names, &name, number);
            }
            for key in &node.keys {
                remove(&mut self.keys, key, number);
            }
            if let Some(copy) = node.copy {
                remove(&mut self.copies, &copy, number);
            }
        }
    }
}

/// What was said last above a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Above {
    Said(u64),
    /// Nothing: it hangs at a root.
    Nothing,
    /// It is not remembered.
    Unknown,
}

fn remove<K: std::hash::Hash + Eq>(map: &mut FxHashMap<K, u64>, key: &K, number: u64) {
    if map.get(key) == Some(&number) {
        map.remove(key);
    }
}
