//! Scans shell scripts, where the kind of a word depends on its position.

use super::code_scanner::{is_word_char, line_length, quoted_length, word_length};
use super::language::StringQuote;
use super::painter::LabelPainter;
use crate::span::{Label, SyntaxKind};

/// Words that are followed by a command.
const BEFORE_COMMAND: &[&str] =
    &["if", "then", "else", "elif", "while", "until", "do", "time", "sudo", "exec", "env", "!"];
const KEYWORDS: &[&str] = &[
    "case", "done", "esac", "fi", "for", "function", "in", "select", "break", "continue", "return",
    "exit", "export", "local", "readonly", "declare", "unset", "source", "set", "shift", "trap",
    "alias", "begin", "end", "switch",
];

const DOUBLE: StringQuote =
    StringQuote { open: "\"", close: "\"", lines: true, escape: true, template: false };
const SINGLE: StringQuote = StringQuote { open: "'", close: "'", escape: false, ..DOUBLE };

/// Labels a script from `start` on.
pub(super) fn scan_shell(text: &str, start: usize, painter: &mut LabelPainter<'_>) {
    let mut scanner = ShellScanner {
        text,
        at: start,
        painter,
        command: true,
        heredocs: Vec::new(),
        word_start: true,
    };
    while scanner.at < text.len() {
        scanner.scan_token();
    }
}

/// Labels the commands of a console session. Other lines are their output.
pub(super) fn scan_console(text: &str, painter: &mut LabelPainter<'_>) {
    let prompt =
        |line: &str| line.starts_with("$ ") || line.starts_with("% ") || line.starts_with("❯ ");
    if !text.lines().any(prompt) {
        return scan_shell(text, 0, painter);
    }
    let mut at = 0;
    let mut goes_on = false;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        if goes_on || prompt(line) {
            let sign = if goes_on { 0 } else { line.find(' ').unwrap_or(0) };
            painter.paint_to(at + sign, Label::Dim);
            scan_shell(&text[..end], at + sign, painter);
            goes_on = line.trim_end_matches('\n').ends_with('\\');
        }
        painter.paint_to(end, Label::Plain);
        at = end;
    }
}

struct ShellScanner<'s, 't> {
    text: &'s str,
    at: usize,
    painter: &'s mut LabelPainter<'t>,
    /// The next word is a command.
    command: bool,
    /// The end words of heredocs that begin on the next line.
    heredocs: Vec<&'s str>,
    /// White space or a separator precedes: `#` begins a comment.
    word_start: bool,
}

impl<'s> ShellScanner<'s, '_> {
    fn scan_token(&mut self) {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return };
        let word_start = std::mem::replace(&mut self.word_start, false);
        match first {
            '\n' => {
                self.label_next(1, Label::Plain);
                (self.command, self.word_start) = (true, true);
                self.skip_heredocs();
            }
            '\\' => {
                let next = rest[1..].chars().next().map_or(0, char::len_utf8);
                self.label_next(1 + next, Label::Plain);
                self.word_start = rest.starts_with("\\\n");
            }
            char if char.is_whitespace() => {
                let is_end = |char: char| char == '\n' || !char.is_whitespace();
                self.label_next(rest.find(is_end).unwrap_or(rest.len()), Label::Plain);
                self.word_start = true;
            }
            '#' if word_start => {
                self.label_next(line_length(rest), Label::Syntax(SyntaxKind::Comment));
            }
            '"' => self.label_string(quoted_length(rest, &DOUBLE)),
            '\'' => self.label_string(quoted_length(rest, &SINGLE)),
            '$' => self.scan_variable(rest),
            '<' if rest.starts_with("<<") && !rest.starts_with("<<<") => self.scan_heredoc(rest),
            '|' | '&' | ';' | '(' | '{' | '`' => {
                self.label_next(1, Label::Syntax(SyntaxKind::Operator));
                (self.command, self.word_start) = (true, true);
            }
            '<' | '>' | ')' | '}' | '[' | ']' | '=' | '*' | '?' | '!' => {
                self.label_next(1, Label::Syntax(SyntaxKind::Operator));
                self.word_start = first == ')';
            }
            _ => self.scan_word(rest, first),
        }
    }

    fn label_next(&mut self, length: usize, label: Label) {
        self.at += length;
        self.painter.paint_to(self.at, label);
    }

    fn label_string(&mut self, length: usize) {
        self.label_next(length, Label::Syntax(SyntaxKind::String));
        self.command = false;
    }

    fn scan_variable(&mut self, rest: &str) {
        let inside = &rest[1..];
        let length = match inside.chars().next() {
            Some('{') => inside.bytes().take(64).position(|byte| byte == b'}').map(|end| end + 1),
            Some(sign) if "@*#?$!-".contains(sign) => Some(1),
            _ => word_length(inside, ""),
        };
        self.label_next(1 + length.unwrap_or(0), Label::Syntax(SyntaxKind::Variable));
    }

    /// Stores the end word after `<<`. The heredoc begins on the next line.
    fn scan_heredoc(&mut self, rest: &'s str) {
        let word = rest[2..].trim_start_matches(['-', '~']);
        let quoted = word.trim_start_matches(['\'', '"', '\\']);
        let length = quoted.find(|char: char| !is_word_char(char)).unwrap_or(quoted.len());
        if length > 0 && rest.len() - quoted.len() <= 5 {
            self.heredocs.push(&quoted[..length]);
        }
        self.label_next(2, Label::Syntax(SyntaxKind::Operator));
    }

    fn skip_heredocs(&mut self) {
        for word in std::mem::take(&mut self.heredocs) {
            let start = self.at;
            for line in self.text[start..].split_inclusive('\n') {
                self.at += line.len();
                if line.trim() == word {
                    break;
                }
            }
            self.painter.paint_to(self.at, Label::Syntax(SyntaxKind::String));
        }
    }

    fn scan_word(&mut self, rest: &str, first: char) {
        let is_end = |char: char| char.is_whitespace() || "|&;<>()$`\"'{}=\\*?[]!#".contains(char);
        let length = rest.find(is_end).unwrap_or(rest.len()).max(first.len_utf8());
        let (word, after) = rest.split_at(length);
        let is_assignment = after.starts_with('=') || after.starts_with("+=");
        let kind = if self.command && BEFORE_COMMAND.contains(&word) {
            Some(SyntaxKind::Keyword)
        } else if word == "in" || self.command && KEYWORDS.contains(&word) {
            self.command = false;
            Some(SyntaxKind::Keyword)
        } else if self.command && is_assignment {
            Some(SyntaxKind::Variable)
        } else if self.command {
            self.command = false;
            Some(SyntaxKind::Function)
        } else if word.starts_with('-') {
            Some(SyntaxKind::Attribute)
        } else if word.bytes().all(|byte| byte.is_ascii_digit()) {
            Some(SyntaxKind::Number)
        } else {
            None
        };
        self.label_next(length, kind.map_or(Label::Plain, Label::Syntax));
        // The value of an assignment is not a command; the next word may be.
        if self.command && is_assignment {
            let value = &self.text[self.at..];
            let is_end = |char: char| char.is_whitespace() || "\"'$`;|&()".contains(char);
            self.label_next(value.find(is_end).unwrap_or(value.len()), Label::Plain);
        }
    }
}
