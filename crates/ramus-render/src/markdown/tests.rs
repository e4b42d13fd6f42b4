use super::*;
use crate::ansi::plain_text;

#[track_caller]
fn check(text: &str, width: usize, expected: &str) {
    let lines = markdown_lines(text, width, Highlight::On);
    let drawn: Vec<_> = lines.iter().map(plain_text).collect();
    assert_eq!(drawn.join("\n"), expected.trim_matches('\n'), "\n{}", drawn.join("\n"));
    assert!(lines.iter().all(|line| line.width() <= width), "wider than {width}");
}

/// Checks the label of the span that holds `token`.
#[track_caller]
fn check_label(text: &str, token: &str, expected: Label) {
    let lines = markdown_lines(text, 80, Highlight::On);
    let mut spans = lines.iter().flat_map(|line| &line.0);
    let span = spans.find(|span| span.text().contains(token));
    assert_eq!(span.map(|span| span.label), Some(expected), "{token} in {lines:#?}");
}

#[test]
fn text_has_labels() {
    let text =
        "# Head **x**\n\nplain *em* **strong** ~~strike~~ `code` https://bare.url\n\n> quote";
    check_label(text, "# Head x", Label::Heading);
    check_label(text, "em", Label::Emphasis);
    check_label(text, "strong", Label::Strong);
    check_label(text, "strike", Label::Strike);
    check_label(text, "code", Label::Code);
    check_label(text, "https://bare.url", Label::Link);
    check_label(text, "quote", Label::Quote);
    check_label("```rust\nfn x() {}\n```", "fn", Label::Syntax(crate::SyntaxKind::Keyword));
}

#[test]
fn blocks_stand_apart() {
    check(
        "# A heading that wraps\nText goes\non here.\n\n---\n\nEnd.",
        14,
        "
# A heading
  that wraps

Text goes
on here.

──────────────

End.
",
    );
}

#[test]
fn lists_hang() {
    check(
        "- one two three\n- four\n  - five six seven\n    1. eight nine\n    2. ten\n- [x] done\n-",
        12,
        "
• one two
  three
• four
  ◦ five six
    seven
    1. eight
       nine
    2. ten
• [x] done
•
",
    );
}

#[test]
fn loose_items_stand_apart() {
    check("1. a\n\n   b\n\n2. c", 20, "1. a\n\n   b\n\n2. c");
    check("Do:\n- a\n- b\n\nDone", 20, "Do:\n\n• a\n• b\n\nDone");
}

#[test]
fn quotes_have_a_bar() {
    check(
        "> one two three\n>\n> > deep\n>\n> - item\n\nafter",
        10,
        "
▎ one two
▎ three
▎
▎ ▎ deep
▎
▎ • item

after
",
    );
}

#[test]
fn code_keeps_its_shape() {
    check(
        "- run:\n  ```sh\n  echo  a\n\n  make --with many options\n  ```\n- next",
        20,
        "
• run:
  │ echo  a
  │
  │ make --with
  ↳ many options
• next
",
    );
    check("    a\n      b", 20, "│ a\n│   b");
}

#[test]
fn links_say_where_they_lead() {
    check("[docs](https://x.y/z) and <https://x.y>", 60, "docs (https://x.y/z) and https://x.y");
    check("[https://x.y](https://x.y/) <a@b.c>", 60, "https://x.y a@b.c");
    check_label("[docs](https://x.y/z)", "(https", Label::Dim);
}

#[test]
fn images_and_html_are_text() {
    check("![a *b*](c.png) ![](d.png)", 60, "[image: a b] [image: d.png]");
    check("![](data:image/png;base64,AAAA)", 60, "[image: data:image/png;base64]");
    check(
        "<div onclick=x>\nhi\n</div>\n\na <b>c</b><br>d",
        60,
        "<div onclick=x>\nhi\n</div>\n\na <b>c</b>\nd",
    );
}

#[test]
fn tables_fit() {
    let table = "| a | long head |\n|--:|:-:|\n| 1 | x |\n| 22 | one two three four |";
    check(
        table,
        40,
        "
┌────┬────────────────────┐
│  a │     long head      │
├────┼────────────────────┤
│  1 │         x          │
│ 22 │ one two three four │
└────┴────────────────────┘
",
    );
    check(
        table,
        20,
        "
┌────┬─────────────┐
│  a │  long head  │
├────┼─────────────┤
│  1 │      x      │
├────┼─────────────┤
│ 22 │   one two   │
│    │ three four  │
└────┴─────────────┘
",
    );
    check(
        table,
        12,
        "
────────────
a: 1
long head: x
────────────
a: 22
long head:
  one two
  three four
────────────
",
    );
}

#[test]
fn escapes_do_not_survive() {
    let evil = "a \x1b]52;c;eA==\x07 b &#27;]0;title&#7; [x](\x1b[2J) `\u{9b}2J`\n\n```\x1b[1m\n\x1b]0;t\x07c\n```";
    for line in markdown_lines(evil, 80, Highlight::On) {
        assert!(!plain_text(&line).contains(char::is_control), "{line:?}");
    }
}

#[test]
fn nothing_is_wider_than_the_page() {
    let text = "> > > - - 1. > deep `code` 漢字 |\n\n| a | b |\n|-|-|\n| c | ddddddddd |\n\n# h\n```\nxxxxxxxx\n```";
    for width in 12..60 {
        let wide = markdown_lines(text, width, Highlight::On)
            .into_iter()
            .find(|line| line.width() > width);
        assert_eq!(wide, None, "at {width}");
    }
    assert!(!markdown_lines(text, 0, Highlight::On).is_empty());
}

#[test]
fn strange_documents_end() {
    for piece in
        [">", "- ", "*", "[", "![", "`", "|", "<", "http://", "(", "\x1b]", "&", "漢", "|-"]
    {
        let text = piece.repeat(20_000);
        markdown_lines(&text, 40, Highlight::On);
        markdown_lines(&format!("http://a{text}\n|a|\n|-|\n{text}"), 1, Highlight::On);
    }
}

#[test]
fn lists_keep_the_numbers_they_were_written_with() {
    let text = "3. three\n4. four\n   1. nested\n   2. two\n7. seven\n\n1) one\n1) counted\n1) too\n5) five\n\n> 2. quoted\n> 9. nine";
    let shown: Vec<String> =
        markdown_lines(text, 80, Highlight::Off).iter().map(Line::to_text).collect();
    assert_eq!(
        shown.join("\n"),
        "3. three\n4. four\n   1. nested\n   2. two\n7. seven\n\n1) one\n2) counted\n3) too\n5) five\n\n▎ 2. quoted\n▎ 9. nine"
    );
}
