//! Asks the terminal for its background (OSC 11), before anything else reads its answers.

use crate::theme::ScreenColors;

/// Returns the colours for the background that the terminal tells, and what was typed in the meantime.
pub(crate) fn find_colors() -> (ScreenColors, String) {
    #[cfg(unix)]
    if let Ok(answer) = asking::ask_terminal() {
        return read_answer(&answer);
    }
    (ScreenColors::Terminal, String::new())
}

/// Takes apart what came: the answers to both questions, and keys.
#[cfg_attr(windows, allow(dead_code, reason = "nothing is asked there"))]
fn read_answer(answer: &[u8]) -> (ScreenColors, String) {
    let text = String::from_utf8_lossy(answer);
    let (mut colors, mut typed) = (ScreenColors::Terminal, String::new());
    let mut rest = &*text;
    while let Some(char) = rest.chars().next() {
        if let Some(body) = rest.strip_prefix("\x1b]") {
            let end = body.find(['\x07', '\x1b']).unwrap_or(body.len());
            colors = body[..end].strip_prefix("11;").and_then(parse_background).unwrap_or(colors);
            rest = body[end..].trim_start_matches('\x07');
            rest = rest.strip_prefix("\x1b\\").unwrap_or(rest);
            continue;
        }
        if let Some(body) = rest.strip_prefix("\x1b[") {
            let end = body.find(|char: char| char.is_ascii_alphabetic() || char == '~');
            rest = end.map_or("", |end| &body[end + 1..]);
            continue;
        }
        if !char.is_control() {
            typed.push(char);
        }
        rest = &rest[char.len_utf8()..];
    }
    (colors, typed)
}

/// Reads `rgb:1e1e/2e2e/ffff`: two or four digits for each colour.
fn parse_background(text: &str) -> Option<ScreenColors> {
    let parts: Vec<f64> = { text.split_once(':')?.1.split('/') }
        .map(|part| {
            let most = 16_f64.powi(i32::try_from(part.len()).ok()?) - 1.0;
            Some(f64::from(u16::from_str_radix(part, 16).ok()?) / most)
        })
        .collect::<Option<_>>()?;
    let [red, green, blue, ..] = parts[..] else { return None };
    let brightness = 0.299 * red + 0.587 * green + 0.114 * blue;
    Some(if brightness > 0.5 { ScreenColors::Light } else { ScreenColors::Dark })
}

#[cfg(unix)]
mod asking {
    use std::io::{self, Write, stdin, stdout};

    use rustix::io::read;
    use rustix::termios::{OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

    /// How long an answer is waited for, in tenths of a second: one that comes later would be taken for keys.
    const WAIT: u8 = 10;
    /// More than any answer has.
    const MAX_ANSWER: usize = 1024;

    /// Asks for the background and then for the kind of terminal, which every terminal answers: when that
    /// comes, no other answer will.
    pub(super) fn ask_terminal() -> io::Result<Vec<u8>> {
        let raw = tcgetattr(stdin())?;
        let mut patient: Termios = raw.clone();
        patient.special_codes[SpecialCodeIndex::VMIN] = 0;
        patient.special_codes[SpecialCodeIndex::VTIME] = WAIT;
        tcsetattr(stdin(), OptionalActions::Now, &patient)?;
        let answer = read_answers();
        tcsetattr(stdin(), OptionalActions::Now, &raw)?;
        answer
    }

    fn read_answers() -> io::Result<Vec<u8>> {
        let mut out = stdout().lock();
        out.write_all(b"\x1b]11;?\x07\x1b[c")?;
        out.flush()?;
        let (mut answer, mut byte) = (Vec::new(), [0]);
        // Without a buffer, which would keep the keys that come behind the answer.
        while answer.len() < MAX_ANSWER && read(stdin(), &mut byte)? == 1 {
            answer.push(byte[0]);
            let device = answer.windows(3).rposition(|part| part == b"\x1b[?");
            if byte[0] == b'c' && device.is_some() {
                break;
            }
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, colors: ScreenColors, typed: &str) {
        assert_eq!(read_answer(answer.as_bytes()), (colors, typed.to_owned()), "{answer:?}");
    }

    #[test]
    fn the_background_decides_and_keys_are_kept() {
        check("\x1b]11;rgb:1e1e/1e1e/2e2e\x07\x1b[?62;4c", ScreenColors::Dark, "");
        check("\x1b]11;rgb:ff/fa/f0\x1b\\\x1b[?6c", ScreenColors::Light, "");
        check("te\x1b]11;rgb:ffff/ffff/ffff\x07a\x1b[?6c", ScreenColors::Light, "tea");
        check("\x1b[?6c", ScreenColors::Terminal, "");
        check("x\x1b[Ay", ScreenColors::Terminal, "xy");
        check("\x1b]11;rgb:zz/1/2\x07", ScreenColors::Terminal, "");
        check("\x1b]11;rgb:ffff/ffff", ScreenColors::Terminal, "");
        check("", ScreenColors::Terminal, "");
    }
}
