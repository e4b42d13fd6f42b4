//! Labels into looks: the one table of `render::ansi`, as styles.
//!
//! The terminal's own base colours are used unless it has more: their owner chose them to be readable, on a
//! light background as on a dark one. A terminal with 24-bit colours that tells its background gets colours of
//! which each was chosen for that background.

use ramus_render::ansi;
use ramus_render::symbols::SymbolSet;
use ramus_render::{Label, SyntaxKind};
use ratatui::style::{Color, Modifier, Style};

/// How labels look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScreenTheme {
    pub(crate) color: bool,
    pub(crate) colors: ScreenColors,
    pub(crate) symbols: SymbolSet,
}

/// Which colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScreenColors {
    /// The 16 colours of the terminal.
    #[default]
    Terminal,
    /// 24-bit colours for a dark background, and for a light one.
    Dark,
    Light,
}

impl ScreenColors {
    fn palette(self) -> Option<&'static Palette> {
        match self {
            Self::Terminal => None,
            Self::Dark => Some(&DARK),
            Self::Light => Some(&LIGHT),
        }
    }
}

/// Colours by their use. Each has a contrast of at least 4.5 to 1 with the backgrounds it is meant for.
struct Palette {
    dim: Color,
    prompt: Color,
    name: Color,
    heading: Color,
    error: Color,
    warning: Color,
    id: Color,
    time: Color,
    active: Color,
    code: Color,
    added: Color,
    removed: Color,
    /// Behind changed words, matches and the row at the cursor.
    added_behind: Color,
    removed_behind: Color,
    found_behind: Color,
    row_behind: Color,
    /// Behind the row at the cursor of a pane that has no keys.
    idle_row_behind: Color,
}

const fn rgb(code: u32) -> Color {
    Color::Rgb((code >> 16) as u8, (code >> 8) as u8, code as u8)
}

const DARK: Palette = Palette {
    dim: rgb(0x8b_93_a7),
    prompt: rgb(0x7d_cf_ff),
    name: rgb(0x82_aa_ff),
    heading: rgb(0x82_aa_ff),
    error: rgb(0xff_75_7f),
    warning: rgb(0xf0_b8_6c),
    id: rgb(0xc0_99_ff),
    time: rgb(0x86_c1_c9),
    active: rgb(0xa5_d6_6f),
    code: rgb(0x89_dd_c8),
    added: rgb(0xa5_d6_6f),
    removed: rgb(0xff_8b_92),
    added_behind: rgb(0x2c_4a_2a),
    removed_behind: rgb(0x5a_2b_33),
    found_behind: rgb(0x6b_4e_12),
    row_behind: rgb(0x2c_37_56),
    idle_row_behind: rgb(0x26_2b_38),
};

const LIGHT: Palette = Palette {
    dim: rgb(0x5c_63_72),
    prompt: rgb(0x00_66_94),
    name: rgb(0x2a_52_b8),
    heading: rgb(0x2a_52_b8),
    error: rgb(0xb9_1c_3a),
    warning: rgb(0x8d_54_00),
    id: rgb(0x76_3a_b0),
    time: rgb(0x1d_68_75),
    active: rgb(0x2b_70_20),
    code: rgb(0x0e_6b_5a),
    added: rgb(0x2b_70_20),
    removed: rgb(0xb0_2a_37),
    added_behind: rgb(0xc9_ea_c2),
    removed_behind: rgb(0xf8_cf_d2),
    found_behind: rgb(0xff_e0_8a),
    row_behind: rgb(0xd5_e3_fb),
    idle_row_behind: rgb(0xe9_ec_f2),
};

impl Palette {
    fn label_style(&self, label: Label) -> Option<Style> {
        let plain = Style::new();
        Some(match label {
            Label::Prompt => plain.fg(self.prompt).bold(),
            Label::Thinking => plain.fg(self.dim).italic(),
            Label::ToolName => plain.fg(self.name).bold(),
            Label::Error => plain.fg(self.error).bold(),
            Label::Warning | Label::Branch => plain.fg(self.warning),
            Label::Dim | Label::Abandoned | Label::LineNumber => plain.fg(self.dim),
            Label::Id => plain.fg(self.id),
            Label::Time | Label::Hunk => plain.fg(self.time),
            Label::Active => plain.fg(self.active).bold(),
            Label::Heading => plain.fg(self.heading).bold(),
            Label::Code => plain.fg(self.code),
            Label::Link => plain.fg(self.name).underlined(),
            Label::Added | Label::Bar => plain.fg(self.added),
            Label::Removed => plain.fg(self.removed),
            Label::AddedStrong => plain.fg(self.added).bg(self.added_behind).bold(),
            Label::RemovedStrong => plain.fg(self.removed).bg(self.removed_behind).bold(),
            Label::Match => plain.bg(self.found_behind).bold(),
            Label::Syntax(kind) => self.syntax_style(kind)?,
            _ => return None,
        })
    }

    fn syntax_style(&self, kind: SyntaxKind) -> Option<Style> {
        let color = match kind {
            SyntaxKind::Keyword => self.id,
            SyntaxKind::String => self.added,
            SyntaxKind::Number | SyntaxKind::Constant => self.warning,
            SyntaxKind::Comment => return Some(Style::new().fg(self.dim).italic()),
            SyntaxKind::Function => self.name,
            SyntaxKind::Type | SyntaxKind::Attribute => self.time,
            SyntaxKind::Tag => self.removed,
            SyntaxKind::Operator | SyntaxKind::Punctuation | SyntaxKind::Variable => return None,
        };
        Some(Style::new().fg(color))
    }
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
        let palette = self.colors.palette().filter(|_| self.color);
        if let Some(style) = palette.and_then(|palette| palette.label_style(label)) {
            return style;
        }
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
    pub(crate) fn selected_style(self, has_focus: bool) -> Style {
        if let Some(palette) = self.colors.palette().filter(|_| self.color) {
            let behind = if has_focus { palette.row_behind } else { palette.idle_row_behind };
            return Style::new().bg(behind);
        }
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
        let theme = ScreenTheme { color: true, colors: ScreenColors::Terminal, symbols };
        assert_eq!(
            theme.label_style(Label::Prompt),
            Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD)
        );
        assert_eq!(theme.label_style(Label::Plain), Style::new());
        let printed = ramus_render::program_output::output_lines("\x1b[91;44mx", Label::Plain);
        let style = theme.label_style(printed[0].0[0].label);
        assert_eq!(style, Style::new().fg(Color::LightRed).bg(Color::Blue));
        let bold = Style::new().add_modifier(Modifier::BOLD);
        assert_eq!(ScreenTheme { color: false, ..theme }.label_style(Label::Prompt), bold);
        let rich = ScreenTheme { color: false, colors: ScreenColors::Dark, symbols };
        assert_eq!(rich.label_style(Label::Prompt), bold, "no colour means none");
    }

    /// Relative luminance (WCAG 2).
    fn luminance(color: Color) -> f64 {
        let Color::Rgb(red, green, blue) = color else { panic!("{color:?}") };
        let part = |value: u8| {
            let value = f64::from(value) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue)
    }

    #[test]
    fn every_colour_can_be_read_on_its_background() {
        let contrast = |a: Color, b: Color| {
            let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
            if a > b { a / b } else { b / a }
        };
        let dark = [0x00_00_00, 0x1e_1e_2e, 0x28_2c_34].map(rgb);
        let light = [0xff_ff_ff, 0xfa_f4_ed, 0xf5_f5_f5].map(rgb);
        for (name, palette, backgrounds) in [("dark", &DARK, dark), ("light", &LIGHT, light)] {
            let Palette { dim, prompt, name: tool, heading, error, warning, id, time, .. } =
                palette;
            let Palette { active, code, added, removed, .. } = palette;
            let texts = [dim, prompt, tool, heading, error, warning, id, time, active, code];
            for text in texts.into_iter().chain([added, removed]) {
                for behind in backgrounds.iter().chain([&palette.idle_row_behind]) {
                    let found = contrast(*text, *behind);
                    assert!(found >= 4.5, "{name}: {text:?} on {behind:?} has {found:.1}");
                }
            }
            assert!(contrast(*added, palette.added_behind) >= 4.5, "{name}");
            assert!(contrast(*removed, palette.removed_behind) >= 4.5, "{name}");
        }
    }
}
