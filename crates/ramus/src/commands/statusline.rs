use std::io::Read;
use std::path::PathBuf;

use jiff::Zoned;
use ramus_app::session_status::SessionStatus;
use ramus_render::text::{format_dollars, format_tokens};
use ramus_render::{Label, Line};
use serde_json::Value;

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::prices;
use crate::ui::Ui;

/// Print a status line for Claude Code
///
/// It shows which branch Claude Code is on, the number of forks, the context size, and the cost of this
/// session and of today.
///
/// Claude Code runs the command and describes the session on its standard input. Set it up in
/// `~/.claude/settings.json`:
///
///   "statusLine": {"type": "command", "command": "ramus statusline"}
///
/// The command never fails: it leaves out what it cannot find.
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:\n  echo '{\"transcript_path\": \"'\"$PWD\"'/session.jsonl\"}' | ramus statusline"
)]
pub(crate) struct StatuslineArgs {}

/// How much of standard input is read; the client writes some hundred bytes.
const MAX_INPUT: u64 = 1024 * 1024;

/// What the client writes.
#[derive(Debug, Default)]
struct ClientStatus {
    transcript_path: Option<PathBuf>,
    total_cost_usd: Option<f64>,
    context_window_size: Option<u64>,
}

impl ClientStatus {
    /// Reads each value by itself, so that an unexpected one does not hide the others.
    fn parse(input: &[u8]) -> Self {
        let status: Value = serde_json::from_slice(input).unwrap_or_default();
        Self {
            transcript_path: status["transcript_path"].as_str().map(PathBuf::from),
            total_cost_usd: status["cost"]["total_cost_usd"].as_f64(),
            context_window_size: status["context_window"]["context_window_size"].as_u64(),
        }
    }
}

pub(crate) fn statusline(ui: &mut Ui, global: &Global) -> Result<(), CommandError> {
    let mut input = Vec::new();
    // If the input cannot be read, the line leaves out what it would have shown.
    let _ = std::io::stdin().take(MAX_INPUT).read_to_end(&mut input);
    let client = ClientStatus::parse(&input);
    let status = session_status(global, &client).unwrap_or_default();
    let line = status_line(&status, &client);
    ui.print_line(&line)?;
    Ok(())
}

/// Reads the facts from the history. `None`: there is none.
fn session_status(global: &Global, client: &ClientStatus) -> Option<SessionStatus> {
    let transcript = client.transcript_path.as_ref()?;
    // It runs after every message: it must not wait for a server.
    let global = &Global { no_archive: true, ..global.clone() };
    let workspace = env::open_workspace(global, std::sync::Arc::new(())).ok()?;
    let workspace = match prices::load_prices(global, None) {
        Ok(prices) => workspace.with_prices(prices),
        Err(_) => workspace,
    };
    Some(workspace.session_status(transcript, &Zoned::now()))
}

fn status_line(status: &SessionStatus, client: &ClientStatus) -> Line {
    let mut parts: Vec<Line> = Vec::new();
    if let Some((branch, count)) = status.branch.filter(|(_, count)| *count > 1) {
        let forks = format!(", {} fork{}", status.forks, if status.forks == 1 { "" } else { "s" });
        let text = format!("branch {branch} of {count}");
        parts.push(Line::new(&text, Label::Branch).with(&forks, Label::Dim));
    }
    if let Some(context) = status.context {
        let mut line = Line::plain(&format!("{} context", format_tokens(context)));
        if let Some(size) = client.context_window_size.filter(|size| *size > 0) {
            let share = context.saturating_mul(100) / size;
            let label = if share >= 80 { Label::Warning } else { Label::Dim };
            line.push(&format!(" ({share}%)"), label);
        }
        parts.push(line);
    }
    if let Some(cost) = status.cost.or(client.total_cost_usd) {
        parts.push(Line::plain(&format_dollars(cost)));
    }
    if status.cost_today > 0.0 {
        parts.push(Line::new(&format!("today {}", format_dollars(status.cost_today)), Label::Dim));
    }
    let mut line = Line::default();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            line.push(" · ", Label::Dim);
        }
        line.append(part);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_nobody_expects_hides_no_other() {
        let client = ClientStatus::parse(
            br#"{"transcript_path":"/a.jsonl","cost":null,"context_window":{"context_window_size":9}}"#,
        );
        assert_eq!(client.transcript_path, Some("/a.jsonl".into()));
        assert_eq!((client.total_cost_usd, client.context_window_size), (None, Some(9)));
        for input in ["", "null", "[1]", "{\"transcript_path\":7}", &"[".repeat(100_000)] {
            assert!(ClientStatus::parse(input.as_bytes()).transcript_path.is_none(), "{input:.9}");
        }
    }

    #[test]
    fn what_is_known_stands_in_one_line() {
        let status = SessionStatus {
            branch: Some((2, 3)),
            forks: 1,
            context: Some(84_000),
            cost: Some(1.25),
            cost_today: 4.5,
        };
        let client = ClientStatus { context_window_size: Some(200_000), ..ClientStatus::default() };
        let line = status_line(&status, &client).to_text();
        assert_eq!(line, "branch 2 of 3, 1 fork · 84k context (42%) · $1.25 · today $4.50");
        assert_eq!(status_line(&SessionStatus::default(), &ClientStatus::default()).to_text(), "");
        let alone = SessionStatus { branch: Some((1, 1)), cost: Some(0.5), ..status };
        let line = status_line(&alone, &ClientStatus::default()).to_text();
        assert_eq!(line, "84k context · $0.50 · today $4.50");
    }
}
