//! Titles of sessions and conversations (R15).

use rustc_hash::FxHashMap;

use crate::digest::{ConversationDigest, SessionDigest};
use crate::ids::RecordUuid;
use crate::time::Time;

/// The summaries of a project by the node they name; of several for one node the newest is kept.
#[derive(Clone, Debug, Default)]
pub struct ProjectSummaries(FxHashMap<RecordUuid, (Time, Box<str>)>);

impl ProjectSummaries {
    /// Adds the summaries of a file that was last changed at `changed`.
    pub fn add_digest(&mut self, digest: &SessionDigest, changed: Time) {
        for (text, leaf) in &digest.summaries {
            if let Some(leaf) = leaf {
                self.insert(*leaf, text, changed);
            }
        }
    }

    /// Adds one summary of a file that was last changed at `changed`.
    pub fn insert(&mut self, leaf: RecordUuid, text: &str, changed: Time) {
        let held = self.0.entry(leaf).or_insert_with(|| (changed, text.into()));
        if held.0 <= changed {
            *held = (changed, text.into());
        }
    }

    /// Returns the nodes of a session that summaries name, in file order, with their texts.
    pub fn in_session<'a>(
        &'a self,
        digest: &'a SessionDigest,
    ) -> impl Iterator<Item = (RecordUuid, &'a str)> {
        let names = digest.chain.uuids.iter().filter(|_| !self.0.is_empty());
        names.filter_map(|name| Some((*name, &*self.0.get(name)?.1)))
    }

    /// Returns the summary that names the node nearest to the leaf of a path, if there is one.
    fn summary_on_path(&self, digest: &SessionDigest, place: u32) -> Option<&str> {
        if self.0.is_empty() {
            return None;
        }
        let chain = &digest.chain;
        let names = chain.positions_up(place).filter_map(|place| chain.uuids.get(place as usize));
        names.filter_map(|name| self.0.get(name)).map(|(_, text)| &**text).next()
    }
}

/// Returns the title of a session; `None` when nothing but its id is known.
pub fn session_title<'a>(
    digest: &'a SessionDigest,
    summaries: &'a ProjectSummaries,
) -> Option<&'a str> {
    let resuming =
        digest.conversations.iter().find(|end| end.resumes).or(digest.conversations.last());
    let prompts = || digest.conversations.iter().filter_map(|end| end.first_prompt.as_deref());
    digest
        .given_title
        .as_deref()
        .or_else(|| summaries.summary_on_path(digest, resuming?.position))
        .or(digest.last_prompt.as_deref())
        .or(digest.first_prompt.as_deref())
        .or_else(|| prompts().next_back())
        .or_else(|| {
            digest
                .summaries
                .first()
                .filter(|_| digest.conversations.is_empty())
                .map(|(text, _)| &**text)
        })
        .filter(|title| !title.is_empty())
}

/// Returns the title of a conversation; `None` when nothing but its id is known.
///
/// A conversation off the resume path is titled by the first prompt after its fork.
pub fn conversation_title<'a>(
    digest: &'a SessionDigest,
    conversation: &'a ConversationDigest,
    summaries: &'a ProjectSummaries,
) -> Option<&'a str> {
    if conversation.resumes {
        return session_title(digest, summaries);
    }
    digest
        .given_title
        .as_deref()
        .or_else(|| summaries.summary_on_path(digest, conversation.position))
        .or(conversation.first_prompt.as_deref())
        .filter(|title| !title.is_empty())
}

/// Returns the title that distinguishes a conversation from the others of its session, by its number.
///
/// A conversation off the resume path gets its own first prompt, or the prompt that it replies to: the
/// session's title does not describe one of its branches. Without a number it is the session's title.
pub fn branch_title<'a>(
    digest: &'a SessionDigest,
    number: Option<u32>,
    summaries: &'a ProjectSummaries,
) -> Option<&'a str> {
    let index = number.and_then(|number| (number as usize).checked_sub(1));
    match index.and_then(|index| digest.conversations.get(index)) {
        Some(own) if !own.resumes => {
            let prompt = own.answered_prompt.as_deref().or(own.first_prompt.as_deref());
            prompt.or_else(|| conversation_title(digest, own, summaries))
        }
        _ => session_title(digest, summaries),
    }
}

/// Shortens a title that something is added to.
pub fn short_title(title: &str) -> String {
    const LONG: usize = 80;
    let one_line = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if one_line.chars().count() <= LONG {
        return one_line;
    }
    one_line.chars().take(LONG - 1).chain(['…']).collect()
}
