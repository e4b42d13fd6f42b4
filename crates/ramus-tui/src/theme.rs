//! Labels into looks: the one table of `render::ansi`, as styles.
//!
//! Only the terminal's own base colours and attributes are used: their owner
//! chose them to be readable, on a light background as on a dark one.

use ramus_render::Label;
use ramus_render::ansi;
use ratatui::style::{Color, Modifier, Style};

/// How labels look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    pub(crate) color: bool,
}

const COLORS: [Color; 8] = [
    Color::Black,
    Color::Red,
    Color::Green,
    Color::Yellow,
    Color::Blue,
    Color::Magenta,
    Color::Cyan,
    Color::Gray,
];

impl Theme {
    pub(crate) fn style(self, label: Label) -> Style {
        let mut style = Style::new();
        for parameter in (ansi::Theme::BASE.sgr)(label).split(';') {
            style = match parameter {
                "1" => style.add_modifier(Modifier::BOLD),
                "2" => style.add_modifier(Modifier::DIM),
                "3" => style.add_modifier(Modifier::ITALIC),
                "4" => style.add_modifier(Modifier::UNDERLINED),
                "7" => style.add_modifier(Modifier::REVERSED),
                "9" => style.add_modifier(Modifier::CROSSED_OUT),
                color => {
                    match color.strip_prefix('3').and_then(|digit| digit.parse::<usize>().ok()) {
                        Some(digit) if self.color => style.fg(COLORS[digit % 8]),
                        _ => style,
                    }
                }
            };
        }
        style
    }

    /// The row that the cursor is on.
    pub(crate) fn selected(has_focus: bool) -> Style {
        if has_focus {
            // One colour for the whole row: reversed colours of many labels look like a mistake.
            Style::new()
                .fg(Color::Reset)
                .add_modifier(Modifier::REVERSED)
                .remove_modifier(Modifier::DIM)
        } else {
            Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_come_from_the_one_table() {
        let theme = Theme { color: true };
        assert_eq!(
            theme.style(Label::Prompt),
            Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD)
        );
        assert_eq!(theme.style(Label::Plain), Style::new());
        let bold = Style::new().add_modifier(Modifier::BOLD);
        assert_eq!(Theme { color: false }.style(Label::Prompt), bold);
    }
}
