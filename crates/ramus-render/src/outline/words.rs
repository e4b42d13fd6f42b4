//! The words that represent a record in a row.

use ramus_core::body::{Said, label_text, said, unstyled};
use ramus_core::history::History;
use ramus_core::session::NodeId;

use super::Words;

/// Returns the first words of a record, without the tags that the client adds.
///
/// For an unknown record type that is the type itself.
pub(super) fn words(history: &History, node: NodeId) -> Option<Words> {
    let session = &history.session;
    let text = match session.words(node) {
        Some(text) => spoken(text),
        None => session.odd_type(node)?.to_owned(),
    };
    (!text.is_empty()).then_some(Words { node, text, opens: false })
}

/// Returns the `/name` of a command, or the prefix of another kind of command.
pub(super) fn command_name(history: &History, node: NodeId) -> String {
    match history.session.words(node).map(said) {
        Some(Said::Command { name, .. }) => one_line(name),
        Some(Said::BashInput(_)) => "!".to_owned(),
        Some(Said::MemoryInput(_)) => "#".to_owned(),
        _ => "/".to_owned(),
    }
}

fn spoken(text: &str) -> String {
    match said(text) {
        Said::CommandOutput { stdout, stderr } => one_line(&unstyled(either(stdout, stderr))),
        Said::BashOutput { stdout, stderr } => one_line(either(stdout, stderr)),
        Said::TaskNotification(news) => one_line(news.summary.unwrap_or_default()),
        Said::AgentMessage { summary, text, .. } => one_line(summary.unwrap_or(text)),
        Said::HookOutput { text, .. } | Said::Signal { text, .. } => one_line(text),
        _ => one_line(&label_text(text)),
    }
}

fn either<'a>(stdout: &'a str, stderr: &'a str) -> &'a str {
    if stdout.is_empty() { stderr } else { stdout }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
