use super::*;
use crate::span::{Label, SyntaxKind};

/// Finds the label of `token` in highlighted `text`.
#[track_caller]
fn check(language: &str, text: &str, token: &str, expected: Label) {
    let lines = highlight_code(language, text);
    let joined: Vec<_> = lines.iter().map(Line::to_text).collect();
    assert_eq!(joined.join("\n"), sanitize_text(text).trim_end_matches('\n'), "text changed");
    let mut spans = lines.iter().flat_map(|line| &line.0);
    let span = spans.find(|span| span.text().contains(token));
    assert_eq!(span.map(|span| span.label), Some(expected), "{token} in {lines:#?}");
}

#[track_caller]
fn check_kind(language: &str, text: &str, token: &str, expected: SyntaxKind) {
    check(language, text, token, Label::Syntax(expected));
}

#[test]
fn tokens_get_their_kinds() {
    let rust = "/* a */ fn main() { let x: u8 = 0x1f + \"s\".len(); }";
    check_kind("rust", rust, "/*", SyntaxKind::Comment);
    check_kind("rust", rust, "fn", SyntaxKind::Keyword);
    check_kind("rust", rust, "main", SyntaxKind::Function);
    check_kind("rust", rust, "1f", SyntaxKind::Number);
    check_kind("rust", rust, "\"s", SyntaxKind::String);
    check_kind("rust", rust, "+", SyntaxKind::Operator);
    check_kind("rust", rust, "u8", SyntaxKind::Type);
}

#[test]
fn languages_have_many_names() {
    for name in ["ts", "tsx", "typescript", "js", "jsx", "javascript", "mjs", "src/a.test.ts"] {
        check_kind(name, "return 1\n", "return", SyntaxKind::Keyword);
    }
    for name in [
        "rs",
        "rust,ignore",
        "{.rust}",
        "crates/x/src/lib.rs",
        "RUST",
        "rust:lib.rs",
        "C:\\x\\main.rs",
        "/home/a b/my file.rs",
    ] {
        check_kind(name, "pub fn a() {}\n", "pub", SyntaxKind::Keyword);
    }
    for name in ["sh", "bash", "console", "zsh", "shell", "run.sh"] {
        check_kind(name, "if true; then x; fi", "if", SyntaxKind::Keyword);
    }
    for name in ["py", "python", "python3", "a.py"] {
        check_kind(name, "import os", "import", SyntaxKind::Keyword);
    }
    for name in ["json", "jsonc", "package.json"] {
        check_kind(name, "[12]", "12", SyntaxKind::Number);
    }
    for name in ["yml", "yaml", "toml"] {
        check_kind(name, "# note", "note", SyntaxKind::Comment);
    }
    for name in ["go", "golang", "c", "cpp", "c++", "java", "csharp", "swift", "kotlin", "php"] {
        check_kind(name, "// note", "note", SyntaxKind::Comment);
    }
    for name in ["Dockerfile", "Makefile", "sql", "ruby", "html", "css", "lua", "vue", "nix"] {
        assert!(Grammar::for_language(name).is_some(), "{name}");
    }
}

#[test]
fn names_are_given_once() {
    let names: Vec<&str> =
        language_table::SPECS.iter().flat_map(|spec| spec.names.split(' ')).collect();
    let different: std::collections::HashSet<&str> = names.iter().copied().collect();
    assert_eq!(names.len(), different.len());
    assert!(names.iter().all(|name| !name.is_empty() && *name == name.to_lowercase()));
}

#[test]
fn keys_differ_from_values() {
    for (language, text) in [
        ("json", r#"{"key": "value"}"#),
        ("json", r#"{"key" :"value"}"#),
        ("yaml", "key: 'value'"),
        ("toml", "key = 'value'"),
        ("css", "a { key: 'value' }"),
    ] {
        check_kind(language, text, "key", SyntaxKind::Attribute);
        check_kind(language, text, "value", SyntaxKind::String);
    }
    check("yaml", "x http://a", "http", Label::Plain);
    check_kind("toml", "[a.b]\n", "a.b", SyntaxKind::Type);
}

#[test]
fn strings_end_where_they_end() {
    check_kind("rust", "r#\"a \" // b\"# // c", "// c", SyntaxKind::Comment);
    check_kind("rust", "let a: &'static str = 'x'; // c", "'static", SyntaxKind::Attribute);
    check_kind("rust", "let a = '\\''; // c", "// c", SyntaxKind::Comment);
    check_kind("js", "`a ${b + `x`} c` + 1", "1", SyntaxKind::Number);
    check("js", "`a ${bc} d`", "bc", Label::Plain);
    check_kind("js", "x = /[/'\"]/g; return", "return", SyntaxKind::Keyword);
    check("js", "a / b / c", "b", Label::Plain);
    check_kind("python", "\"\"\"a\n'b' # c\"\"\" # d", "# d", SyntaxKind::Comment);
    check_kind("python", "f'{a}' # d", "# d", SyntaxKind::Comment);
    check_kind("sql", "SELECT 'it''s' -- d", "-- d", SyntaxKind::Comment);
    check_kind("c", "'unclosed\nint a;", "int", SyntaxKind::Type);
}

#[test]
fn a_shell_knows_commands_and_texts() {
    let text = "cat <<'EOF' | wc -l\nif # no\nEOF\nexport A=b # yes\necho done";
    check_kind("sh", text, "cat", SyntaxKind::Function);
    check_kind("sh", text, "wc", SyntaxKind::Function);
    check_kind("sh", text, "-l", SyntaxKind::Attribute);
    check_kind("sh", text, "# no", SyntaxKind::String);
    check_kind("sh", text, "# yes", SyntaxKind::Comment);
    check("sh", text, " done", Label::Plain);
    check("console", "$ ls -a\nfor you\n", "for you", Label::Plain);
    check_kind("console", "$ ls -a\nfor you\n", "ls", SyntaxKind::Function);
}

#[test]
fn markup_holds_code() {
    let text = "<!-- a --><p class=\"b\">if</p><script>if (1) {}</script> if";
    check_kind("html", text, "<!--", SyntaxKind::Comment);
    check_kind("html", text, "<p", SyntaxKind::Tag);
    check_kind("html", text, "class", SyntaxKind::Attribute);
    check("html", text, "if", Label::Plain);
    check_kind("html", "<script>if (1) {}</script>", "if", SyntaxKind::Keyword);
    check("html", "a < b <", "a < b <", Label::Plain);
}

#[test]
fn a_diff_keeps_its_own_labels() {
    check("diff", "+new\n-old\n", "+new", Label::Added);
    check("patch", "+new\n-old\n", "old", Label::Removed);
    check("diff", "--- a\n+++ b\n@@ -1 +1 @@\n", "+++", Label::Heading);
}

#[test]
fn unknown_is_plain_and_safe() {
    check("", "fn a", "fn a", Label::Plain);
    check("klingon", "fn \x1b[2Ja", "fn ␛[2Ja", Label::Plain);
    check("text", "fn a", "fn a", Label::Plain);
    assert!(highlight_code("rust", "").is_empty());
}

#[test]
fn after_the_limit_all_is_plain() {
    let text = "fn a() {}\n".repeat(MAX_HIGHLIGHT_BYTES / 10 + 2);
    let lines = highlight_code("rust", &text);
    assert!(lines[0].0.len() > 1);
    assert_eq!(lines.last(), Some(&Line::plain("fn a() {}")));
    assert_eq!(highlight_limited("rust", "fn a() {}", 0), [Line::plain("fn a() {}")]);
}

/// Pieces that open something, in every order, unclosed, and beside characters of several bytes.
#[test]
fn any_text_keeps_its_letters() {
    let pieces = [
        "\"", "'", "`", "${", "}", "/*", "*/", "//", "#", "#[", "r#\"", "\\", "\n", "é", "漢", "<",
        "<script>", "<!--", "<<A", "A", "$", "${", "--[[", "1e", "1.", "'a", "@", ":", "=", "[",
        "\"\"\"", "/", " ", "\u{301}", "**", "```",
    ];
    let mut seed = 7_u64;
    for _ in 0..400 {
        let mut text = String::new();
        for _ in 0..24 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
        }
        for name in [
            "rust", "js", "py", "sh", "html", "md", "yaml", "toml", "lua", "console", "diff",
            "css", "hs",
        ] {
            let joined: Vec<String> =
                highlight_code(name, &text).iter().map(Line::to_text).collect();
            assert_eq!(
                joined,
                text.lines().map(str::to_owned).collect::<Vec<_>>(),
                "{name}: {text:?}"
            );
        }
    }
}
