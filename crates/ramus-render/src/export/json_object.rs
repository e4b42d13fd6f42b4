//! Writes a transcript as one JSON object, `ramus.transcript/1`.
//!
//! The fields of the head come first, then `turns`, each as in `ramus show --json`. Without
//! `--thinking` thinking is left out, with `--tools none` tool calls too. A call whose agent has
//! a transcript has a link to it.

use std::io::{self, Write};

use ramus_core::session::Session;
use ramus_core::turn::Turn;
use serde::Serialize;
use serde_json::{Value, json};

use super::{ExportConfig, ToolDetail, TranscriptHeader};

/// Writes the fields before the turns.
pub(super) fn write_head(header: &TranscriptHeader, out: &mut String) {
    let time = |time: Option<ramus_core::time::Time>| time.map(|time| time.to_string());
    let fields = json!({
        "schema": "ramus.transcript/1",
        "session": header.session,
        "title": header.title,
        "project": header.project,
        "git_branch": header.git_branch,
        "version": header.version,
        "path": header.path,
        "paths": header.paths,
        "status": header.status,
        "resumes": header.resumes,
        "draft": header.draft,
        "leaf": header.leaf,
        "fork_point": header.fork_point,
        "fork_kind": header.fork_kind,
        "agent_of": header.parent,
        "continues": header.continues,
        "compactions": header.compactions,
        "messages": header.messages,
        "records": header.records,
        "started": time(header.started),
        "ended": time(header.ended),
        "models": header.models,
        "tokens": {
            "input": header.tokens.input,
            "output": header.tokens.output,
            "cache_read": header.tokens.cache_read,
            "cache_write": header.tokens.cache_write,
        },
    });
    let text = printable_json(&fields);
    out.push_str(text.strip_suffix('}').unwrap_or(&text));
    out.push_str(",\n\"turns\":[");
}

/// Writes a turn on its own line.
pub(super) fn write_turn(
    session: &Session,
    turn: &Turn,
    config: &ExportConfig<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut calls = turn.tool_calls();
    let mut turn = crate::json::from_turn(session, turn);
    turn.parts.retain_mut(|part| match part.get("type").and_then(Value::as_str) {
        Some("thinking") => config.thinking,
        Some("call") => {
            if let Some(file) = calls.next().and_then(|call| (config.agent_link)(call)) {
                part["agent_file"] = file.into();
            }
            config.tools != ToolDetail::None
        }
        _ => true,
    });
    out.write_all(b"\n")?;
    Ok(crate::json::write_json(out, &turn)?)
}

/// Returns a value as JSON that is safe to print. Serializing these types cannot fail.
fn printable_json(value: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    let written = crate::json::write_json(&mut bytes, value);
    written.ok().and_then(|()| String::from_utf8(bytes).ok()).unwrap_or_default()
}

/// Closes the object.
pub(super) fn write_foot(out: &mut String) {
    out.push_str("\n]}\n");
}
