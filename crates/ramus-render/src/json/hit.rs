//! Search hits for scripts and the web app.

use ramus_core::edit::MessageSummary;
use ramus_core::query;
use ramus_core::query::{HitBranch, HitRank, SearchHit, TermRank};

use super::{Hit, HitContext, HitNeighbour, HitPlace, HitReasons, PROMPT_ONLY, WordReason};
use crate::snippet::Snippet;

/// How many characters of a text are given.
pub const SNIPPET_ROOM: usize = 240;

/// Turns a message that was found into what scripts get; `address` is what they open it with.
pub fn hit(found: SearchHit, address: String) -> Hit {
    let snippet = Snippet::new(&found.passage.text, &found.passage.range, SNIPPET_ROOM);
    let status = |branch: Option<HitBranch>| branch.map(|branch| branch.status.as_str());
    let number = |branch: Option<HitBranch>| branch.map(|branch| branch.n);
    let class = found.is_prompt_only.then_some(PROMPT_ONLY);
    let rank = found.rank.as_ref();
    let place = |copy: query::HitCopy| HitPlace {
        status: status(copy.branch),
        conversation: number(copy.branch),
        file: copy.file,
        line: copy.line,
    };
    Hit {
        session: found.session,
        title: found.title,
        project: found.project,
        agent: found.agent,
        address,
        file: found.file,
        line: found.line,
        uuid: found.uuid,
        role: found.kind.speaker_role().as_str(),
        kind: class.unwrap_or(found.kind.as_str()),
        class,
        conversation: number(found.branch),
        status: status(found.branch),
        resumes: found.branch.is_some_and(|branch| branch.resumes),
        timestamp: found.time.map(|time| time.to_string()),
        matched: snippet.match_range(),
        snippet: snippet.to_text(),
        places: found.copies.into_iter().map(place).collect(),
        context: found.context.map(|query::HitContext { before, after }| HitContext {
            before: before.into_iter().map(neighbour).collect(),
            after: after.into_iter().map(neighbour).collect(),
        }),
        level: rank.map(|rank| rank.level.as_str()),
        score: rank.map(|rank| rank.score),
        more: rank.map(|rank| rank.more),
        why: rank.map(hit_reasons),
    }
}

fn hit_reasons(rank: &HitRank) -> HitReasons {
    let word = |term: &TermRank| WordReason {
        word: term.word.clone(),
        form: term.form.as_str(),
        weight: term.weight,
    };
    HitReasons {
        session_score: rank.session_score,
        recency: rank.recency,
        words: rank.terms.iter().map(word).collect(),
    }
}

fn neighbour(near: MessageSummary) -> HitNeighbour {
    HitNeighbour { uuid: near.uuid, role: near.role.as_str(), text: near.text }
}
