//! Answers of commands in few words, each with the address that leads on.

use ramus_core::name::ShortIds;
use ramus_core::query::SearchHit;
use ramus_render::json::{Conversation, PROMPT_ONLY, Project, SNIPPET_ROOM, Session};
use ramus_render::sanitize::sanitize;
use ramus_render::snippet::Snippet;
use ramus_render::text::count;

/// How much of a title is enough.
const TITLE: usize = 80;

/// Makes one row of a text that may hold anything.
pub(super) fn row(text: &str) -> String {
    sanitize(text).replace('\n', " ").trim_end().to_owned() + "\n"
}

/// Writes one project.
pub(super) fn project(row: &Project) -> String {
    format!(
        "{} — {}, {}, last {}\n",
        filled(row.path.as_deref()).unwrap_or(&row.name),
        count(row.sessions, "session"),
        count(row.conversations, "conversation"),
        minute(row.last_active.as_deref()),
    )
}

/// Writes one session.
pub(super) fn session(short_ids: &ShortIds, row: &Session) -> String {
    let mut facts = vec![count(row.messages as usize, "message")];
    let counts = [
        (row.conversations, 1, "conversation"),
        (row.compactions, 0, "compaction"),
        (row.agents, 0, "agent"),
    ];
    facts.extend(
        counts.iter().filter(|(n, usual, _)| n > usual).map(|(n, _, what)| count(*n, what)),
    );
    for origin in &row.origins {
        let of = origin.session.as_deref().map(|id| format!(" of {}", short_ids.short(id)));
        facts.push(format!("{}{}", origin.kind, of.unwrap_or_default()));
    }
    format!(
        "{} “{}” — {}, last {}, {}\n",
        short_ids.short(&row.id),
        clip(filled(row.title.as_deref()).unwrap_or("untitled")),
        facts.join(", "),
        minute(row.last_active.as_deref()),
        filled(row.cwd.as_deref()).unwrap_or(&row.project),
    )
}

/// Writes one conversation.
pub(super) fn conversation(short_ids: &ShortIds, row: &Conversation) -> String {
    let session = short_ids.short(&row.session);
    let resumes = if row.resumes { ", resumes here" } else { "" };
    let left = match (filled(row.short_fork_point.as_deref()), row.fork_kind) {
        (Some(point), Some(kind)) => format!(", left at {session}:{point} ({kind})"),
        _ => String::new(),
    };
    format!(
        "{session}@{} {}{resumes} “{}” — {}{left}, last {}\n",
        row.n,
        row.status,
        clip(filled(row.branch_title.as_deref()).unwrap_or("untitled")),
        count(row.messages as usize, "message"),
        minute(row.last_active.as_deref()),
    )
}

/// Writes one message that was found.
pub(super) fn hit(hit: &SearchHit) -> String {
    let class = if hit.is_prompt_only { PROMPT_ONLY } else { "-" };
    let snippet = Snippet::new(&hit.passage.text, &hit.passage.range, SNIPPET_ROOM);
    format!(
        "{} {} {} {}: {}\n",
        hit.short_address,
        hit.branch.map_or(class, |branch| branch.status.word()),
        hit.kind.role().word(),
        minute(hit.time.map(|time| time.to_string()).as_deref()),
        snippet.text(),
    )
}

fn filled(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

/// Cuts a title.
pub(super) fn clip(text: &str) -> String {
    match text.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Returns a time to the minute, in UTC.
fn minute(time: Option<&str>) -> String {
    match time.and_then(|time| time.get(..16)) {
        Some(time) => format!("{}Z", time.replace('T', " ")),
        None => "unknown".to_owned(),
    }
}
