//! Every key, from the table that binds them.

use ramus_render::{Label, Line};

use crate::event::TextDocument;
use crate::keys::{KeyContext, KeyMap};
use crate::panes::document::DocumentPane;

/// Returns the list of keys.
pub(crate) fn help_pane(keys: &KeyMap) -> DocumentPane {
    let mut lines = vec![
        Line::plain("In the session list, typing searches. Everywhere else:"),
        Line::default(),
    ];
    for (scope, title) in [
        (KeyContext::Reading, "In a transcript or a tree"),
        (KeyContext::Moving, "Everywhere except in text input"),
        (KeyContext::Anywhere, "Everywhere"),
    ] {
        lines.push(Line::new(title, Label::Heading));
        for binding in keys.bindings.iter().filter(|binding| binding.scope == scope) {
            lines.push(
                Line::new(&format!("  {:<16}", binding.key_names()), Label::Code)
                    .with(binding.help, Label::Plain),
            );
        }
        lines.push(Line::default());
    }
    lines.push(Line::new("Mouse", Label::Heading));
    for (what, does) in
        [("click", "select; again: open; at a fork point: switch branch"), ("wheel", "scroll")]
    {
        lines.push(Line::new(&format!("  {what:<16}"), Label::Code).with(does, Label::Plain));
    }
    let page = TextDocument { title: Line::new("Keys", Label::Heading), lines, links: Vec::new() };
    let mut pane = DocumentPane::new(page);
    pane.is_help = true;
    pane
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_listed() {
        let text: String = help_pane(&KeyMap::default())
            .page
            .lines
            .iter()
            .map(|line| line.to_text() + "\n")
            .collect();
        for binding in KeyMap::default().bindings {
            assert!(text.contains(&binding.key_names()) && text.contains(binding.help), "{text}");
        }
    }
}
