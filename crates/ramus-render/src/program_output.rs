//! Program output with the colours it was printed in.
//!
//! Of all terminal sequences only colours and attributes (SGR) are interpreted. They become
//! labels, and each front end writes its own codes for them. Colours are reduced to the sixteen
//! of every terminal, because the user chose those to be readable, and the web app has CSS
//! classes for them.

use crate::sanitize::sanitize_with_codes;
use crate::span::{Label, Line};

/// The style of a piece of program output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OutputStyle {
    /// 0 to 7: black, red, green, yellow, blue, magenta, cyan, white; 8 to 15: the same, bright.
    pub foreground: Option<u8>,
    pub background: Option<u8>,
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub underline: bool,
    pub reverse: bool,
    pub strike: bool,
}

/// Returns the lines of an output. Text without its own colour gets `label`.
///
/// A colour lasts until the next code, also across lines.
pub fn output_lines(text: &str, label: Label) -> Vec<Line> {
    let mut lines = Vec::new();
    each_output_line(text, label, &mut |line| lines.push(line));
    lines
}

/// How much of an output is read at a time.
const PIECE_BYTES: usize = 256 * 1024;

/// Passes the lines of an output on one by one.
pub(crate) fn each_output_line(mut text: &str, label: Label, each: &mut dyn FnMut(Line)) {
    let mut printed = OutputStyle::default();
    while !text.is_empty() {
        let least = text.len().min(PIECE_BYTES);
        let end = memchr::memchr(b'\n', &text.as_bytes()[least..])
            .map_or(text.len(), |at| least + at + 1);
        each_line_of_piece(&text[..end], &mut printed, label, each);
        text = &text[end..];
    }
}

/// Does so for whole lines; `printed` is the style at their beginning, and then that at their end.
fn each_line_of_piece(
    text: &str,
    printed: &mut OutputStyle,
    label: Label,
    each: &mut dyn FnMut(Line),
) {
    let label_of = |printed: OutputStyle| match printed == OutputStyle::default() {
        true => label,
        false => Label::Output(printed),
    };
    let mut now = label_of(*printed);
    let mut codes: Vec<(usize, OutputStyle)> = Vec::new();
    let clean = sanitize_with_codes(text, |at, parameters| {
        printed.apply_code(parameters);
        codes.push((at, *printed));
    });
    let mut codes = codes.into_iter().peekable();
    let mut start = 0;
    for whole in clean.split_inclusive('\n') {
        let end = start + whole.trim_end_matches('\n').len();
        let mut line = Line::default();
        let mut at = start;
        while let Some((next, printed)) = codes.next_if(|(next, _)| *next <= end) {
            line.push_clean(&clean[at..next], now);
            now = label_of(printed);
            at = next;
        }
        line.push_clean(&clean[at..end], now);
        each(line);
        start += whole.len();
    }
}

impl OutputStyle {
    /// Applies the parameters of one code. Unknown ones are ignored.
    fn apply_code(&mut self, parameters: &str) {
        // `38:2::R:G:B` has an empty field for the colour space.
        let parameters = parameters.replace(":2::", ":2:");
        let mut numbers = parameters.split([';', ':']).map(|number| match number {
            "" => Some(0),
            number => number.parse::<u16>().ok(),
        });
        while let Some(number) = numbers.next() {
            match number {
                Some(0) => *self = Self::default(),
                Some(1) => self.bold = true,
                Some(2) => self.dim = true,
                Some(3) => self.italic = true,
                Some(4 | 21) => self.underline = true,
                Some(7) => self.reverse = true,
                Some(9) => self.strike = true,
                Some(22) => (self.bold, self.dim) = (false, false),
                Some(23) => self.italic = false,
                Some(24) => self.underline = false,
                Some(27) => self.reverse = false,
                Some(29) => self.strike = false,
                Some(number @ 30..=37) => self.foreground = Some((number - 30) as u8),
                Some(number @ 90..=97) => self.foreground = Some((number - 82) as u8),
                Some(number @ 40..=47) => self.background = Some((number - 40) as u8),
                Some(number @ 100..=107) => self.background = Some((number - 92) as u8),
                Some(38) => {
                    self.foreground = parse_extended_color(&mut numbers).or(self.foreground);
                }
                Some(48) => {
                    self.background = parse_extended_color(&mut numbers).or(self.background);
                }
                // The underline colour: skip its numbers, which are not codes.
                Some(58) => _ = parse_extended_color(&mut numbers),
                Some(39) => self.foreground = None,
                Some(49) => self.background = None,
                _ => {}
            }
        }
    }

    /// Returns SGR parameters that are readable on any background.
    ///
    /// Black and white without a background colour are invisible on some terminals, so they are
    /// left out; grey becomes dim.
    pub(crate) fn to_sgr(self) -> String {
        let mut codes: Vec<String> = Vec::new();
        let mut add = |set: bool, code: &str| codes.extend(set.then(|| code.to_owned()));
        let grey = self.foreground == Some(8) && self.background.is_none();
        add(self.bold, "1");
        add(self.dim || grey, "2");
        add(self.italic, "3");
        add(self.underline, "4");
        add(self.reverse, "7");
        add(self.strike, "9");
        let code = |color: u8, base: u8| match color {
            0..8 => (base + color).to_string(),
            bright => (base + 60 + bright - 8).to_string(),
        };
        let is_shown = |color: &u8| self.background.is_some() || !matches!(color, 0 | 7 | 8 | 15);
        codes.extend(self.foreground.filter(is_shown).map(|color| code(color, 30)));
        codes.extend(self.background.map(|color| code(color, 40)));
        codes.join(";")
    }

    /// Returns its CSS classes.
    pub(crate) fn css_classes(self) -> String {
        let mut classes: Vec<String> = Vec::new();
        let mut add = |set: bool, class: &str| classes.extend(set.then(|| class.to_owned()));
        add(self.bold, "pb");
        add(self.dim, "pd");
        add(self.italic, "pi");
        add(self.underline, "pu");
        add(self.strike, "ps");
        add(self.reverse && self.background.is_none(), "pr");
        let (text, ground) = match self.reverse {
            true => (self.background, self.foreground),
            false => (self.foreground, self.background),
        };
        classes.extend(text.map(|color| format!("p{color}")));
        classes.extend(ground.map(|color| format!("q{color}")));
        classes.join(" ")
    }
}

/// Reads the colour after 38 or 48: `5;N` of a table of 256, or `2;R;G;B`.
fn parse_extended_color(numbers: &mut impl Iterator<Item = Option<u16>>) -> Option<u8> {
    match numbers.next()?? {
        5 => Some(color_from_index(numbers.next()??)),
        2 => {
            let mut part = || numbers.next().flatten().map(|part| part.min(255));
            Some(nearest_color(part()?, part()?, part()?))
        }
        _ => None,
    }
}

/// Returns the base colour for one of the table of 256: sixteen base colours, a
/// cube of 6 × 6 × 6, and 24 greys.
fn color_from_index(number: u16) -> u8 {
    match number {
        0..16 => number as u8,
        16..232 => {
            let level = |step: u16| if step == 0 { 0 } else { 55 + 40 * step };
            let cube = number - 16;
            nearest_color(level(cube / 36), level(cube / 6 % 6), level(cube % 6))
        }
        _ => {
            let level = 8 + 10 * (number.min(255) - 232);
            nearest_color(level, level, level)
        }
    }
}

/// Returns the base colour with about the same hue and brightness.
fn nearest_color(red: u16, green: u16, blue: u16) -> u8 {
    let most = red.max(green).max(blue);
    let least = red.min(green).min(blue);
    if most - least < 48 {
        return match most {
            0..64 => 0,
            64..144 => 8,
            144..216 => 7,
            _ => 15,
        };
    }
    // A component counts if it is nearer to the strongest than to the weakest.
    let middle = least + (most - least) / 2;
    let is_strong = |part: u16| u8::from(part > middle);
    let hue = is_strong(red) | is_strong(green) << 1 | is_strong(blue) << 2;
    hue + if least >= 80 { 8 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ansi::{AnsiTheme, to_ansi};

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let lines = output_lines(text, Label::Plain);
        let printed: Vec<String> =
            lines.iter().map(|line| to_ansi(line, &AnsiTheme::BASE)).collect();
        assert_eq!(printed, expected);
        let plain: Vec<String> = lines.iter().map(Line::to_text).collect();
        assert_eq!(plain.join("\n"), crate::sanitize::sanitize_text(text).trim_end_matches('\n'));
    }

    #[test]
    fn colours_are_written_by_us() {
        check("\x1b[36mfile.rs\x1b[0m:1", &["\x1b[36mfile.rs\x1b[0m:1"]);
        check("\x1b[1;4;31mbad", &["\x1b[1;4;31mbad\x1b[0m"]);
        check("\x1b[1mbold\x1b[22m not", &["\x1b[1mbold\x1b[0m not"]);
        check("\x1b[31mred\x1b[39m not", &["\x1b[31mred\x1b[0m not"]);
        check("\x1b[30;43mon yellow\x1b[m", &["\x1b[30;43mon yellow\x1b[0m"]);
        check(
            "\x1b[92mbright\x1b[49;7mreversed",
            &["\x1b[92mbright\x1b[0m\x1b[7;92mreversed\x1b[0m"],
        );
    }

    #[test]
    fn a_colour_continues_on_the_next_line() {
        check(
            "\x1b[32mone\n\ntwo\x1b[0m\nthree",
            &["\x1b[32mone\x1b[0m", "", "\x1b[32mtwo\x1b[0m", "three"],
        );
        check("a\x1b[31m\nb\n", &["a", "\x1b[31mb\x1b[0m"]);
    }

    #[test]
    fn a_long_output_is_read_in_pieces_of_whole_lines() {
        let word = "ä".repeat(PIECE_BYTES / 5);
        // The first piece ends after the third word.
        let text = format!("\x1b[32m{word}\n{word}\n\n{word}\n{word}\x1b[0m\n{word}");
        let green = format!("\x1b[32m{word}\x1b[0m");
        check(&text, &[&green, &green, "", &green, &green, &word]);
    }

    #[test]
    fn many_colours_become_the_base_ones() {
        check("\x1b[38;5;196mx", &["\x1b[31mx\x1b[0m"]);
        check("\x1b[38;2;0;200;30mx", &["\x1b[32mx\x1b[0m"]);
        check("\x1b[38;2;255;200;0mx", &["\x1b[33mx\x1b[0m"]);
        check("\x1b[38:2::120:170:255mx", &["\x1b[94mx\x1b[0m"]);
        check("\x1b[38;5;244mgrey", &["\x1b[2mgrey\x1b[0m"]);
        check("\x1b[48;5;236mx", &["\x1b[40mx\x1b[0m"]);
        check("\x1b[58;5;1;31mx", &["\x1b[31mx\x1b[0m"]);
    }

    #[test]
    fn black_and_white_are_left_to_the_terminal() {
        check("\x1b[37mwhite \x1b[97mtoo \x1b[30mblack", &["white too black"]);
        check("\x1b[90mgrey", &["\x1b[2mgrey\x1b[0m"]);
    }

    #[test]
    fn broken_codes_change_nothing() {
        check("\x1b[38mx\x1b[38;5mx\x1b[38;2;1mx\x1b[999mx\x1b[99999999999mx", &["xxxxx"]);
        check("a\x1b[31", &["a"]);
        check("\x1b[31ma\x1b[2Jb\x1b]0;c\x07", &["\x1b[31ma␛[2Jb␛]0;c␇\x1b[0m"]);
    }

    #[test]
    fn classes_name_the_colours() {
        let printed = |code: &str| {
            let mut printed = OutputStyle::default();
            printed.apply_code(code);
            printed.css_classes()
        };
        assert_eq!(printed("1;31"), "pb p1");
        assert_eq!(printed("7;31"), "pr q1");
        assert_eq!(printed("90;44"), "p8 q4");
    }
}
