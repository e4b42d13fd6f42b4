//! Every key, from the table that binds them.

use ramus_render::{Label, Line};

use crate::event::TextDocument;
use crate::keys::{KEY_BINDINGS, KeyContext};
use crate::panes::document::DocumentPane;

/// Returns the list of keys.
pub(crate) fn help_pane() -> DocumentPane {
    let mut lines = vec![
        Line::plain("In the list of sessions, letters filter it. Everywhere else they do this:"),
        Line::default(),
    ];
    for (scope, title) in [
        (KeyContext::Reading, "In a transcript or a tree"),
        (KeyContext::Moving, "Where no text is typed"),
        (KeyContext::Anywhere, "Everywhere"),
    ] {
        lines.push(Line::new(title, Label::Heading));
        for binding in KEY_BINDINGS.iter().filter(|binding| binding.scope == scope) {
            lines.push(
                Line::new(&format!("  {:<16}", binding.key_names()), Label::Code)
                    .with(binding.help, Label::Plain),
            );
        }
        lines.push(Line::default());
    }
    lines.push(Line::new("Mouse", Label::Heading));
    for (what, does) in [
        ("click", "go there; once more: open; at a fork: take that way"),
        ("wheel", "scroll what is under it"),
    ] {
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
        let text: String =
            help_pane().page.lines.iter().map(|line| line.to_text() + "\n").collect();
        for binding in KEY_BINDINGS {
            assert!(text.contains(&binding.key_names()) && text.contains(binding.help), "{text}");
        }
    }
}
