//! Short rows for agents, each with an address for the next call.

use ramus_core::ids::ShortIds;
use ramus_core::query::SearchHit;
use ramus_render::json::{Conversation, PROMPT_ONLY, Project, SNIPPET_ROOM, Session};
use ramus_render::sanitize::sanitize_text;
use ramus_render::snippet::Snippet;
use ramus_render::text::count_noun;

/// How much of a title is enough.
const TITLE: usize = 80;

/// Makes one line of arbitrary text.
pub(super) fn single_row(text: &str) -> String {
    sanitize_text(text).replace('\n', " ").trim_end().to_owned() + "\n"
}

/// Writes one project.
pub(super) fn project_row(row: &Project) -> String {
    format!(
        "{} — {}, {}, last {}\n",
        non_empty(row.path.as_deref()).unwrap_or(&row.name),
        count_noun(row.sessions, "session"),
        count_noun(row.conversations, "conversation"),
        format_minute(row.last_active.as_deref()),
    )
}

/// Writes one session.
pub(super) fn session_row(short_ids: &ShortIds, row: &Session) -> String {
    let mut facts = vec![count_noun(row.messages as usize, "message")];
    let counts = [
        (row.conversations, 1, "conversation"),
        (row.compactions, 0, "compaction"),
        (row.agents, 0, "agent"),
    ];
    facts.extend(
        counts.iter().filter(|(n, usual, _)| n > usual).map(|(n, _, what)| count_noun(*n, what)),
    );
    for origin in &row.origins {
        let of = origin.session.as_deref().map(|id| format!(" of {}", short_ids.shorten_id(id)));
        facts.push(format!("{}{}", origin.kind, of.unwrap_or_default()));
    }
    facts.extend(row.pinned.then(|| "pinned".to_owned()));
    facts.extend(row.tags.iter().map(|tag| format!("#{tag}")));
    format!(
        "{} “{}” — {}, last {}, {}\n",
        short_ids.shorten_id(&row.id),
        clip_title(non_empty(row.title.as_deref()).unwrap_or("untitled")),
        facts.join(", "),
        format_minute(row.last_active.as_deref()),
        non_empty(row.cwd.as_deref()).unwrap_or(&row.project),
    )
}

/// Writes one conversation.
pub(super) fn conversation_row(short_ids: &ShortIds, row: &Conversation) -> String {
    let session = short_ids.shorten_id(&row.session);
    let resumes = if row.resumes { ", resumes here" } else { "" };
    let left = match (non_empty(row.short_fork_point.as_deref()), row.fork_kind) {
        (Some(point), Some(kind)) => format!(", left at {session}:{point} ({kind})"),
        _ => String::new(),
    };
    format!(
        "{session}@{} {}{resumes} “{}” — {}{left}, last {}\n",
        row.n,
        row.status,
        clip_title(non_empty(row.branch_title.as_deref()).unwrap_or("untitled")),
        count_noun(row.messages as usize, "message"),
        format_minute(row.last_active.as_deref()),
    )
}

/// Writes one message that was found.
pub(super) fn hit_row(hit: &SearchHit) -> String {
    let class = if hit.is_prompt_only { PROMPT_ONLY } else { "-" };
    let snippet = Snippet::new(&hit.passage.text, &hit.passage.range, SNIPPET_ROOM);
    format!(
        "{} {} {} {}: {}\n",
        hit.short_address,
        hit.branch.map_or(class, |branch| branch.status.as_str()),
        hit.kind.speaker_role().as_str(),
        format_minute(hit.time.map(|time| time.to_string()).as_deref()),
        snippet.to_text(),
    )
}

fn non_empty(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

/// Cuts a title.
pub(super) fn clip_title(text: &str) -> String {
    match text.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Returns a time to the minute, in UTC.
fn format_minute(time: Option<&str>) -> String {
    match time.and_then(|time| time.get(..16)) {
        Some(time) => format!("{}Z", time.replace('T', " ")),
        None => "unknown".to_owned(),
    }
}
