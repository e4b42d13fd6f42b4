//! Answers of commands in few words, each with the address that leads on.

use ramus_core::name::short_id;
use ramus_render::sanitize::sanitize;
use ramus_render::text::count;
use serde_json::Value;

/// How much of a title is enough.
const TITLE: usize = 80;

/// Makes one row of a text that may hold anything.
pub(super) fn row(text: &str) -> String {
    sanitize(text).replace('\n', " ").trim_end().to_owned() + "\n"
}

/// Returns how many of what a field counts there are.
fn several(row: &Value, key: &str) -> String {
    count(row[key].as_u64().unwrap_or(0) as usize, key.trim_end_matches('s'))
}

/// Writes one project.
pub(super) fn project(row: &Value) -> String {
    format!(
        "{} — {}, {}, last {}\n",
        text(row, "path").or(text(row, "name")).unwrap_or_default(),
        several(row, "sessions"),
        several(row, "conversations"),
        minute(row, "last_active"),
    )
}

/// Writes one session.
pub(super) fn session(row: &Value) -> String {
    let mut facts = vec![several(row, "messages")];
    for key in ["conversations", "compactions", "agents"] {
        if row[key].as_u64().unwrap_or(0) > u64::from(key == "conversations") {
            facts.push(several(row, key));
        }
    }
    for origin in row["origins"].as_array().into_iter().flatten() {
        let kind = text(origin, "kind").unwrap_or_default();
        let of = text(origin, "session").map(|id| format!(" of {}", short_id(id)));
        facts.push(format!("{kind}{}", of.unwrap_or_default()));
    }
    format!(
        "{} “{}” — {}, last {}, {}\n",
        short(row, "id"),
        clip(text(row, "title").unwrap_or("untitled"), TITLE),
        facts.join(", "),
        minute(row, "last_active"),
        text(row, "cwd").or(text(row, "project")).unwrap_or_default(),
    )
}

/// Writes one conversation.
pub(super) fn conversation(row: &Value) -> String {
    // The session's title says little about one of its branches.
    let (resumes, words) = match row["resumes"] == true {
        true => (", resumes here", text(row, "title")),
        false => ("", text(row, "prompt")),
    };
    let left = match (text(row, "fork_point"), text(row, "fork_kind")) {
        (Some(point), Some(kind)) => {
            format!(", left at {}:{} ({kind})", short(row, "session"), clip(point, 8))
        }
        _ => String::new(),
    };
    format!(
        "{}@{} {}{resumes} “{}” — {}{left}, last {}\n",
        short(row, "session"),
        row["n"],
        text(row, "status").unwrap_or_default(),
        clip(words.or(text(row, "title")).unwrap_or("untitled"), TITLE),
        several(row, "messages"),
        minute(row, "last_active"),
    )
}

/// Writes one message that was found.
pub(super) fn hit(row: &Value) -> String {
    format!(
        "{} {} {} {}: {}\n",
        text(row, "address").unwrap_or_default(),
        text(row, "status").or(text(row, "class")).unwrap_or("-"),
        text(row, "role").unwrap_or_default(),
        minute(row, "timestamp"),
        text(row, "snippet").unwrap_or_default(),
    )
}

pub(super) fn text<'a>(row: &'a Value, key: &str) -> Option<&'a str> {
    row.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// Returns as much of an id as names it.
fn short<'a>(row: &'a Value, key: &str) -> &'a str {
    let id = text(row, key).unwrap_or_default();
    short_id(id)
}

/// Cuts a text to so many letters.
fn clip(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) if letters > 8 => format!("{}…", text[..end].trim_end()),
        Some((end, _)) => text[..end].to_owned(),
        None => text.to_owned(),
    }
}

/// Returns a time to the minute, in UTC.
fn minute(row: &Value, key: &str) -> String {
    match text(row, key).and_then(|time| time.get(..16)) {
        Some(time) => format!("{}Z", time.replace('T', " ")),
        None => "unknown".to_owned(),
    }
}
