//! Plans a new session out of several conversations (R27).
//!
//! What they have in common is copied once. The first conversation, or the common part, is the trunk: its
//! records keep their uuids, as in a fork. What is added to it gets new ones. Exchanges are never split:
//! if two conversations diverge within an exchange, the later one includes the prompt again.
//!
//! A compaction hides earlier messages from the model. On the trunk it stays, because that is what the
//! client did. Elsewhere it would hide the other conversations, so its summary is quoted as a user message
//! in place of the exchanges that it summarizes.

mod brief;
mod conflict;
mod element;
mod pick;
mod quote;
mod strategy;

#[cfg(test)]
mod tests;

use std::ops::Range;

use rustc_hash::FxHashSet;

pub use self::brief::{DigestTextError, LONGEST_DIGEST_TEXT, MergeBrief, digest_text, merge_brief};
pub use self::conflict::{Conflict, End, Policy};
use self::element::{Element, Shape};
pub use self::pick::{Pick, PickError};
use super::fork::Origin;
use super::splice::Provenance;
use super::weave::{Bodies, Finished, Mended, Names, Thinking, Weave, WeaveConfig};
use super::{NewSession, Refusal, Writer};
use crate::compare::{Common, Stretch, common};
use crate::history::Path;
use crate::name::Name;
use crate::session::NodeId;
use crate::time::Time;

/// What is merged: the files that the conversations run through.
#[derive(Debug)]
pub struct Sources<'a> {
    pub origins: Vec<Origin<'a>>,
    /// The path in each of them.
    pub paths: Vec<&'a Path>,
    /// Which of them a conversation runs through, the oldest first.
    pub branches: Vec<Range<usize>>,
}

/// What a merge is to be like.
#[derive(Clone, Debug)]
pub struct Merge<'a> {
    pub strategy: Strategy,
    /// They may have nothing in common, and what they have is not looked for.
    pub no_base: bool,
    pub policy: Policy,
    pub title: &'a str,
    /// The working directory of the project it goes to; `None`: it stays where it was.
    pub cwd: Option<&'a str>,
}

/// How conversations are put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// One after the other.
    Append,
    /// Exchange by exchange, as they were written.
    Interleave,
    /// These exchanges, in this order.
    Pick(Vec<Pick>),
    /// The first one, then the others in short as one message.
    Digest,
    /// The first one, then this text as one message: a merge digest that somebody wrote after reading a
    /// [`MergeBrief`].
    Assisted(String),
}

/// A merge that was planned.
#[derive(Clone, Debug)]
pub struct Merged {
    pub new: NewSession,
    /// Displayable messages that all have.
    pub common: u32,
    /// The exchanges that only one conversation has: first those taken, in order, then the rest.
    pub exchanges: Vec<Exchange>,
    /// Files that were changed differently.
    pub conflicts: Vec<Conflict>,
    pub mended: Mended,
}

/// An exchange that only one conversation has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The conversation, from 1.
    pub branch: usize,
    /// Its number within the conversation, from 1.
    pub n: usize,
    /// The uuid of its first record.
    pub uuid: String,
    /// The beginning of the prompt.
    pub words: Option<String>,
    pub time: Option<Time>,
    pub messages: u32,
    pub fate: Fate,
}

/// What becomes of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Copied,
    /// A compaction; its summary is quoted, with what follows it.
    Quoted,
    /// Covered by a quoted summary or a merge digest.
    Summarized,
    LeftOut,
}

impl Fate {
    /// Returns the stable word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Copied => "copied",
            Self::Quoted => "quoted",
            Self::Summarized => "summarized",
            Self::LeftOut => "left-out",
        }
    }
}

/// Plans a new session out of several conversations.
///
/// Conflicts are part of the result; the caller decides by `request.policy` whether they stop the
/// merge.
pub fn merge(
    sources: &Sources<'_>,
    request: &Merge<'_>,
    writer: &mut Writer<'_>,
    bodies: &mut Bodies<'_>,
) -> Result<Merged, Refusal> {
    let branches = branches(sources, request.no_base)?;
    let order = strategy::order(sources, &branches, &request.strategy)?;
    let taken = order.taken(sources, &branches);
    let conflicts = conflict::conflicts(sources, &taken, bodies);
    let config = WeaveConfig {
        provenance: Provenance::MergedFrom,
        cwd: request.cwd,
        thinking: Thinking::Unsigned,
    };
    let mut weave = Weave::new(&sources.origins, config, writer);
    for element in &order.trunk {
        copy(&mut weave, &element.all(), Names::Kept, bodies);
    }
    for element in &order.grafts {
        graft(sources, &mut weave, element, bodies);
    }
    match &request.strategy {
        Strategy::Digest => {
            let text = quote::digest(sources, &taken[1..], bodies);
            weave.say(text, quote::digest_origin(sources, &taken[1..]), None);
        }
        Strategy::Assisted(text) => {
            let text = quote::assisted(text);
            weave.say(text, quote::digest_origin(sources, &taken[1..]), None);
        }
        Strategy::Append | Strategy::Interleave | Strategy::Pick(_) => {}
    }
    if let Some(note) = conflict::note(&conflicts, request.policy) {
        weave.say(note, conflict::origin(sources), None);
    }
    let mut finished = weave.finish().ok_or(Refusal::Empty)?;
    finished.close(request.title, &order.last_prompt(sources), writer.session);
    let Finished { lines, resume, messages, mended } = finished;
    Ok(Merged {
        new: NewSession {
            id: writer.session.to_owned(),
            title: request.title.to_owned(),
            lines,
            resume: Name::new(resume.as_bytes()),
            leaf: resume,
            messages,
            left_out: order.left_out(),
            set_back: mended.set_back,
        },
        common: order.common(),
        exchanges: order.exchanges(sources),
        conflicts,
        mended,
    })
}

/// Splits each conversation into common and own exchanges.
fn branches(sources: &Sources<'_>, no_base: bool) -> Result<Vec<Vec<Element>>, Refusal> {
    let stretches: Vec<Vec<Stretch<'_>>> =
        sources.branches.iter().map(|parts| stretches(sources, parts)).collect();
    let mut branches = Vec::new();
    for (branch, parts) in sources.branches.iter().enumerate() {
        if is_sidechain(sources, parts) {
            return Err(Refusal::Sidechain);
        }
        let own = if no_base {
            parts.clone().map(|part| sources.paths[part].nodes.iter().copied().collect()).collect()
        } else {
            own(&stretches, branch)?
        };
        let elements = element::elements(sources, branch, &own);
        if !elements.iter().any(|element| element.n > 0) {
            return Err(Refusal::NothingOwn { n: branch + 1 });
        }
        branches.push(elements);
    }
    Ok(branches)
}

/// Returns the records of a conversation that the ones before it have not; of the first, those that some other has not.
fn own(stretches: &[Vec<Stretch<'_>>], branch: usize) -> Result<Vec<FxHashSet<NodeId>>, Refusal> {
    let count = |own: &[FxHashSet<NodeId>]| own.iter().map(FxHashSet::len).sum::<usize>();
    if branch == 0 {
        let others = stretches[1..].iter().map(|other| common(&stretches[0], other));
        let owns = others.map(|Common { own: [own, _], .. }| own);
        return owns.max_by_key(|own| count(own)).ok_or(Refusal::Empty);
    }
    let before = stretches[..branch].iter().map(|other| common(other, &stretches[branch]));
    let shared = before.filter(|common| common.messages > 0);
    let owns = shared.map(|Common { own: [_, own], .. }| own);
    owns.min_by_key(|own| count(own)).ok_or(Refusal::NoCommonPart { n: branch + 1 })
}

fn stretches<'a>(sources: &'a Sources<'_>, parts: &Range<usize>) -> Vec<Stretch<'a>> {
    let stretch =
        |part: usize| Stretch { history: sources.origins[part].history, path: sources.paths[part] };
    parts.clone().map(stretch).collect()
}

fn is_sidechain(sources: &Sources<'_>, parts: &Range<usize>) -> bool {
    parts.clone().any(|part| {
        let folds = &sources.origins[part].history.folds;
        sources.paths[part].folds.first().is_some_and(|fold| folds.fold(*fold).sidechain)
    })
}

/// Copies records that may lie in several files.
fn copy(
    weave: &mut Weave<'_, '_>,
    nodes: &[(usize, NodeId)],
    names: Names,
    bodies: &mut Bodies<'_>,
) {
    for run in nodes.chunk_by(|a, b| a.0 == b.0) {
        let nodes: Vec<NodeId> = run.iter().map(|(_, node)| *node).collect();
        weave.copy(run[0].0, &nodes, names, bodies);
    }
}

/// Puts an exchange of another conversation on the line.
fn graft(
    sources: &Sources<'_>,
    weave: &mut Weave<'_, '_>,
    element: &Element,
    bodies: &mut Bodies<'_>,
) {
    let Shape::Compaction(compaction) = &element.shape else {
        return copy(weave, &element.nodes, Names::Fresh, bodies);
    };
    let quoted = quote::summary(sources, compaction, bodies);
    let (before, after) = if quoted.keeps_head {
        (&compaction.kept[..], &[][..])
    } else {
        (&[][..], &compaction.kept[..])
    };
    copy(weave, before, Names::Fresh, bodies);
    weave.say(quoted.text, quoted.from, quoted.time);
    copy(weave, after, Names::Fresh, bodies);
    copy(weave, &element.nodes, Names::Fresh, bodies);
}
