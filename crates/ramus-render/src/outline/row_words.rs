//! The words that represent a record in a row.

use ramus_core::body::{UserText, classify_user_text, label_text, strip_styles};
use ramus_core::history::History;
use ramus_core::session::NodeId;

use super::RowWords;

/// Returns the first words of a record, without the tags that the client adds.
///
/// For an unknown record type that is the type itself.
pub(super) fn first_words(history: &History, node: NodeId) -> Option<RowWords> {
    let session = &history.session;
    let text = match session.preview_text(node) {
        Some(text) => readable_words(text),
        None => session.raw_type(node)?.to_owned(),
    };
    (!text.is_empty()).then_some(RowWords { node, text, opens_row: false })
}

/// Returns the `/name` of a command, or the prefix of another kind of command.
pub(super) fn command_name(history: &History, node: NodeId) -> String {
    match history.session.preview_text(node).map(classify_user_text) {
        Some(UserText::Command { name, .. }) => one_line(name),
        Some(UserText::BashInput(_)) => "!".to_owned(),
        Some(UserText::MemoryInput(_)) => "#".to_owned(),
        _ => "/".to_owned(),
    }
}

fn readable_words(text: &str) -> String {
    match classify_user_text(text) {
        UserText::CommandOutput { stdout, stderr } => {
            one_line(&strip_styles(first_nonempty(stdout, stderr)))
        }
        UserText::BashOutput { stdout, stderr } => one_line(first_nonempty(stdout, stderr)),
        UserText::TaskNotification(news) => one_line(news.summary.unwrap_or_default()),
        UserText::AgentMessage { summary, text, .. } => one_line(summary.unwrap_or(text)),
        UserText::HookOutput { text, .. } | UserText::Signal { text, .. } => one_line(text),
        _ => one_line(&label_text(text)),
    }
}

fn first_nonempty<'a>(stdout: &'a str, stderr: &'a str) -> &'a str {
    if stdout.is_empty() { stderr } else { stdout }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
