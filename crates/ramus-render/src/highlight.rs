//! Source code into labelled lines.
//!
//! Grammars name every token with scopes; this room keeps of them only what a
//! base-colour terminal can show.

use std::sync::LazyLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use crate::{
    sanitize::sanitize,
    span::{Label, Line, SyntaxKind},
};

/// Bytes of one text that are highlighted; what follows is plain. Grammars do
/// about 1.4 MB a second, so this bounds the wait for one block to a blink.
pub const LIMIT: usize = 64 * 1024;

/// A longer line is data or minified code, slow to parse and not read anyway.
const LINE_LIMIT: usize = 4 * 1024;

/// Returns the lines of `text`, highlighted as `language` says: a name
/// (`rust`), an extension (`rs`) or a file name (`src/main.rs`). An unknown
/// language is plain.
pub fn code(language: &str, text: &str) -> Vec<Line> {
    limited_code(language, text, LIMIT)
}

/// Like [`code`], with another number of highlighted bytes.
pub(crate) fn limited_code(language: &str, text: &str, limit: usize) -> Vec<Line> {
    let text = sanitize(text);
    let Some(syntax) = syntax(language) else { return text.lines().map(Line::plain).collect() };
    let mut parser = Parser { state: ParseState::new(syntax), stack: ScopeStack::new() };
    let mut seen = 0;
    let mut line = |line: &str| {
        seen += line.len();
        if seen > limit || line.len() > LINE_LIMIT {
            return Line::plain(line.trim_end_matches('\n'));
        }
        parser.line(line)
    };
    text.split_inclusive('\n').map(&mut line).collect()
}

struct Parser {
    state: ParseState,
    stack: ScopeStack,
}

impl Parser {
    /// Returns the labelled form of a line. What a broken grammar cannot parse
    /// stays plain.
    fn line(&mut self, text: &str) -> Line {
        let ops = self.state.parse_line(text, &GRAMMARS).unwrap_or_default();
        let visible = text.trim_end_matches('\n');
        let mut line = Line::default();
        let mut start = 0;
        for (at, op) in ops {
            let at = at.min(visible.len());
            line.push(&visible[start..at], label(self.stack.as_slice()));
            start = at;
            if self.stack.apply(&op).is_err() {
                self.stack = ScopeStack::new();
            }
        }
        line.push(&visible[start..], label(self.stack.as_slice()));
        line
    }
}

static GRAMMARS: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

fn syntax(language: &str) -> Option<&'static SyntaxReference> {
    // ```rust,ignore  ```{.python}  ```ts title="a.ts"
    let word = language.trim_start_matches(['{', '.']).split([' ', ',', '{', '}']).next()?;
    let name = word.rsplit(['/', '\\']).next()?.to_ascii_lowercase();
    let find = |token: &str| GRAMMARS.find_syntax_by_token(alias(token));
    let syntax = find(&name).or_else(|| find(name.rsplit_once('.')?.1))?;
    (syntax.name != "Plain Text").then_some(syntax)
}

/// Returns the name the grammars know for one that people write.
fn alias(name: &str) -> &str {
    match name {
        "" => "txt",
        "console" | "shell" | "shellsession" | "shell-session" | "zsh" | "terminal" => "sh",
        "jsonc" | "json5" | "jsonl" | "ndjson" => "json",
        "mjs" | "cjs" | "jsx" | "node" => "js",
        "mts" | "cts" => "ts",
        "py3" | "python3" | "pyi" => "py",
        "golang" => "go",
        "patch" => "diff",
        "pwsh" | "powershell" => "ps1",
        "csharp" => "cs",
        "docker" => "dockerfile",
        "make" => "makefile",
        "htm" | "svg" => "xml",
        name => name,
    }
}

/// Returns the label of the innermost scope that has one.
fn label(stack: &[Scope]) -> Label {
    let known = |scope: &Scope| {
        LABELS.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, label)| *label)
    };
    let label = stack.iter().rev().find_map(known).unwrap_or_default();
    // A key of JSON is a string by its quotes only.
    let is_key = || stack.iter().any(|scope| KEY.is_some_and(|key| key.is_prefix_of(*scope)));
    match label {
        Label::Syntax(SyntaxKind::String) if is_key() => Label::Syntax(SyntaxKind::Attribute),
        label => label,
    }
}

static KEY: LazyLock<Option<Scope>> = LazyLock::new(|| Scope::new("meta.mapping.key").ok());

/// Scopes and their labels, the more exact before the more general.
static LABELS: LazyLock<Vec<(Scope, Label)>> = LazyLock::new(|| {
    use SyntaxKind as Kind;
    let kinds = [
        ("comment", Kind::Comment),
        ("punctuation.definition.comment", Kind::Comment),
        ("punctuation.definition.string", Kind::String),
        ("punctuation.definition.annotation", Kind::Attribute),
        ("punctuation.definition.tag", Kind::Tag),
        ("punctuation.definition.variable", Kind::Variable),
        ("punctuation", Kind::Punctuation),
        ("constant.numeric", Kind::Number),
        ("constant", Kind::Constant),
        ("string", Kind::String),
        ("keyword.operator", Kind::Operator),
        ("keyword", Kind::Keyword),
        ("storage.type.numeric", Kind::Number),
        ("storage.type.string", Kind::String),
        ("storage", Kind::Keyword),
        ("entity.name.function", Kind::Function),
        ("entity.name.tag.yaml", Kind::Attribute),
        ("entity.name.tag", Kind::Tag),
        ("entity.name", Kind::Type),
        ("entity.other.inherited-class", Kind::Type),
        ("entity.other.attribute-name", Kind::Attribute),
        ("support.function", Kind::Function),
        ("support.macro", Kind::Function),
        ("support.constant", Kind::Constant),
        ("support.type.property-name", Kind::Attribute),
        ("support", Kind::Type),
        ("variable.function", Kind::Function),
        ("variable.annotation", Kind::Attribute),
        ("variable.language", Kind::Keyword),
        ("variable", Kind::Variable),
        ("meta.annotation", Kind::Attribute),
    ]
    .map(|(scope, kind)| (scope, Label::Syntax(kind)));
    let texts = [
        ("markup.inserted", Label::Added),
        ("punctuation.definition.inserted", Label::Added),
        ("markup.deleted", Label::Removed),
        ("punctuation.definition.deleted", Label::Removed),
        ("markup.heading", Label::Heading),
        ("markup.bold", Label::Strong),
        ("markup.italic", Label::Emphasis),
        ("markup.raw", Label::Code),
        ("meta.diff.range", Label::Hunk),
        ("punctuation.definition.range.diff", Label::Hunk),
        ("meta.diff.header", Label::Heading),
    ];
    let pairs = texts.into_iter().chain(kinds);
    pairs.filter_map(|(scope, label)| Some((Scope::new(scope).ok()?, label))).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds the label of `token` in the first line of highlighted `text`.
    #[track_caller]
    fn check(language: &str, text: &str, token: &str, expected: Label) {
        let lines = code(language, text);
        let joined: Vec<_> = lines.iter().map(Line::text).collect();
        assert_eq!(joined.join("\n"), sanitize(text).trim_end_matches('\n'), "text changed");
        let mut spans = lines.iter().flat_map(|line| &line.0);
        let span = spans.find(|span| span.text().contains(token));
        assert_eq!(span.map(|span| span.label), Some(expected), "{token} in {lines:#?}");
    }

    #[test]
    fn tokens_get_their_kinds() {
        let rust = "/* a */ fn main() { let x: u8 = 0x1f + \"s\".len(); }";
        check("rust", rust, "/*", Label::Syntax(SyntaxKind::Comment));
        check("rust", rust, "fn", Label::Syntax(SyntaxKind::Keyword));
        check("rust", rust, "main", Label::Syntax(SyntaxKind::Function));
        check("rust", rust, "1f", Label::Syntax(SyntaxKind::Number));
        check("rust", rust, "\"s", Label::Syntax(SyntaxKind::String));
        check("rust", rust, "+", Label::Syntax(SyntaxKind::Operator));
    }

    #[test]
    fn languages_have_many_names() {
        let keyword = Label::Syntax(SyntaxKind::Keyword);
        for name in ["ts", "tsx", "typescript", "js", "jsx", "javascript", "mjs", "src/a.test.ts"] {
            check(name, "return 1\n", "return", keyword);
        }
        for name in ["rs", "rust,ignore", "{.rust}", "crates/x/src/lib.rs", "RUST"] {
            check(name, "pub fn a() {}\n", "pub", keyword);
        }
        for name in ["sh", "bash", "console", "zsh", "shell", "run.sh"] {
            check(name, "if true; then x; fi", "if", keyword);
        }
        for name in ["py", "python", "python3", "a.py"] {
            check(name, "import os", "import", keyword);
        }
        for name in ["json", "jsonc", "package.json"] {
            check(name, "[12]", "12", Label::Syntax(SyntaxKind::Number));
        }
        for name in ["yml", "yaml", "toml"] {
            check(name, "# note", "note", Label::Syntax(SyntaxKind::Comment));
        }
        for name in ["go", "golang", "c", "cpp", "c++", "java", "csharp", "swift", "kotlin"] {
            check(name, "// note", "note", Label::Syntax(SyntaxKind::Comment));
        }
        for name in ["Dockerfile", "Makefile", "sql", "ruby", "html", "css", "lua", "vue", "nix"] {
            assert!(syntax(name).is_some(), "{name}");
        }
    }

    #[test]
    fn keys_differ_from_values() {
        for (language, text) in [("json", r#"{"key": "value"}"#), ("yaml", "key: 'value'")] {
            check(language, text, "key", Label::Syntax(SyntaxKind::Attribute));
            check(language, text, "value", Label::Syntax(SyntaxKind::String));
        }
    }

    #[test]
    fn a_diff_keeps_its_own_labels() {
        check("diff", "+new\n-old\n", "+new", Label::Added);
        check("patch", "+new\n-old\n", "old", Label::Removed);
    }

    #[test]
    fn unknown_is_plain_and_safe() {
        check("", "fn a", "fn a", Label::Plain);
        check("klingon", "fn \x1b[31ma", "fn ␛[31ma", Label::Plain);
        check("text", "fn a", "fn a", Label::Plain);
        assert!(code("rust", "").is_empty());
    }

    #[test]
    fn after_the_limit_all_is_plain() {
        let text = "fn a() {}\n".repeat(LIMIT / 10 + 2);
        let lines = code("rust", &text);
        assert!(lines[0].0.len() > 1);
        assert_eq!(lines.last(), Some(&Line::plain("fn a() {}")));
    }
}
