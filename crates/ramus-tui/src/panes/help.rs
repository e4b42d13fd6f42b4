//! Every key, from the table that binds them.

use ramus_render::{Label, Line};

use crate::event::Page;
use crate::keys::{Scope, TABLE};
use crate::panes::page::Pane;

/// Returns the list of keys.
pub(crate) fn page() -> Pane {
    let mut lines = vec![
        Line::plain("In the list of sessions, letters filter it. Everywhere else they do this:"),
        Line::default(),
    ];
    for (scope, title) in [
        (Scope::Reading, "In a transcript or a tree"),
        (Scope::Moving, "Where no text is typed"),
        (Scope::Anywhere, "Everywhere"),
    ] {
        lines.push(Line::new(title, Label::Heading));
        for binding in TABLE.iter().filter(|binding| binding.scope == scope) {
            lines.push(
                Line::new(&format!("  {:<16}", binding.names()), Label::Code)
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
    let page = Page { title: Line::new("Keys", Label::Heading), lines, links: Vec::new() };
    let mut pane = Pane::new(page);
    pane.is_help = true;
    pane
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_listed() {
        let text: String = page().page.lines.iter().map(|line| line.text() + "\n").collect();
        for binding in TABLE {
            assert!(text.contains(&binding.names()) && text.contains(binding.help), "{text}");
        }
    }
}
