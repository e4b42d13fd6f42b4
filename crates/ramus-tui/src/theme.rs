//! Labels into looks: the one table of `render::ansi`, as styles.
//!
//! Only the terminal's own base colours and attributes are used: their owner
//! chose them to be readable, on a light background as on a dark one.

use ramus_render::Label;
use ramus_render::ansi;
use ramus_render::symbols::SymbolSet;
use ratatui::style::{Color, Modifier, Style};

/// How labels look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScreenTheme {
    pub(crate) color: bool,
    pub(crate) symbols: SymbolSet,
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

/// Only what programs printed uses these.
const BRIGHT: [Color; 8] = [
    Color::DarkGray,
    Color::LightRed,
    Color::LightGreen,
    Color::LightYellow,
    Color::LightBlue,
    Color::LightMagenta,
    Color::LightCyan,
    Color::White,
];

impl ScreenTheme {
    pub(crate) fn label_style(self, label: Label) -> Style {
        let mut style = Style::new();
        for parameter in (ansi::AnsiTheme::BASE.sgr)(label).split(';') {
            style = match parameter {
                "1" => style.add_modifier(Modifier::BOLD),
                "2" => style.add_modifier(Modifier::DIM),
                "3" => style.add_modifier(Modifier::ITALIC),
                "4" => style.add_modifier(Modifier::UNDERLINED),
                "7" => style.add_modifier(Modifier::REVERSED),
                "9" => style.add_modifier(Modifier::CROSSED_OUT),
                color if self.color => match color.parse::<usize>() {
                    Ok(code @ 30..=37) => style.fg(COLORS[code - 30]),
                    Ok(code @ 90..=97) => style.fg(BRIGHT[code - 90]),
                    Ok(code @ 40..=47) => style.bg(COLORS[code - 40]),
                    Ok(code @ 100..=107) => style.bg(BRIGHT[code - 100]),
                    _ => style,
                },
                _ => style,
            };
        }
        style
    }

    /// The row that the cursor is on.
    pub(crate) fn selected_style(has_focus: bool) -> Style {
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
        let symbols = SymbolSet::Unicode;
        let theme = ScreenTheme { color: true, symbols };
        assert_eq!(
            theme.label_style(Label::Prompt),
            Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD)
        );
        assert_eq!(theme.label_style(Label::Plain), Style::new());
        let printed = ramus_render::program_output::output_lines("\x1b[91;44mx", Label::Plain);
        let style = theme.label_style(printed[0].0[0].label);
        assert_eq!(style, Style::new().fg(Color::LightRed).bg(Color::Blue));
        let bold = Style::new().add_modifier(Modifier::BOLD);
        assert_eq!(ScreenTheme { color: false, symbols }.label_style(Label::Prompt), bold);
    }
}
