//! Titles of sessions and conversations (R15).

use rustc_hash::FxHashMap;

use crate::characters::is_visible;
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
        names
            .filter_map(|name| self.0.get(name))
            .map(|(_, text)| &**text)
            .find(|text| is_visible(text))
    }
}

/// Returns the title of a session; `None` when nothing but its id is known. A text of which nothing is
/// visible is no title.
pub fn session_title<'a>(
    digest: &'a SessionDigest,
    summaries: &'a ProjectSummaries,
) -> Option<&'a str> {
    let resuming =
        digest.conversations.iter().find(|end| end.resumes).or(digest.conversations.last());
    let prompts =
        || digest.conversations.iter().filter_map(|end| visible(end.first_prompt.as_deref()));
    let own_summary = || digest.summaries.first().map(|(text, _)| &**text);
    digest
        .given_title
        .as_deref()
        .or_else(|| summaries.summary_on_path(digest, resuming?.position))
        .or(digest.last_prompt.as_deref())
        .or_else(|| visible(digest.first_prompt.as_deref()))
        .or_else(|| prompts().next_back())
        .or_else(|| own_summary().filter(|_| digest.conversations.is_empty()))
        .filter(|title| is_visible(title))
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
        .or_else(|| visible(conversation.first_prompt.as_deref()))
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
            let prompt = visible(own.answered_prompt.as_deref())
                .or_else(|| visible(own.first_prompt.as_deref()));
            prompt.or_else(|| conversation_title(digest, own, summaries))
        }
        _ => session_title(digest, summaries),
    }
}

fn visible(text: Option<&str>) -> Option<&str> {
    text.filter(|text| is_visible(text))
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

#[cfg(test)]
mod tests {
    use testkit::jsonl;

    use super::*;
    use crate::history::History;
    use crate::resume::ResumeRule;
    use crate::session::Session;

    #[track_caller]
    fn check(short: &str, expected: Option<&str>) {
        let mut session = Session::default();
        session.push(jsonl(short).as_bytes());
        session.finish_last_line();
        let digest = SessionDigest::new(&History::new(session, ResumeRule::Client));
        let mut summaries = ProjectSummaries::default();
        summaries.add_digest(&digest, Time::parse(b"2026-01-01T00:00:00Z").unwrap());
        assert_eq!(session_title(&digest, &summaries), expected);
        assert_eq!(branch_title(&digest, Some(1), &summaries), expected);
    }

    #[test]
    fn a_text_of_which_nothing_is_visible_is_no_title() {
        let titles = "
            a      user       a pot of tea
            b < a  assistant  yes
            -      ai-title   Tea
            -      title      \u{200b}\u{feff}
        ";
        check(titles, Some("Tea"));
        let summary = "
            a      user       a pot of tea
            b < a  assistant  yes
            -      summary:b  \u{3164}
            -      last-prompt:b  \u{2060}\u{200d}
        ";
        check(summary, Some("a pot of tea"));
        check("a  user  \u{200b}\nb < a  assistant  yes", None);
    }
}
