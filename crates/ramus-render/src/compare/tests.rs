use std::fmt::Write;

use insta::assert_snapshot;
use ramus_core::body::{AssistantBody, EditOutput, Replacement, TokenUsage, ToolOutput};
use ramus_core::branches::BranchStatus;
use ramus_core::compare::{
    ComparedSide, OwnTurn, PathOverlap, changed_files, order_exchanges, paired_exchanges,
};
use ramus_core::price::PriceList;
use ramus_core::session::NodeId;
use ramus_core::turn::{PromptTurn, Reply, ReplyPart, ToolCall, ToolOutcome, Turn, TurnKind};
use serde_json::json;

use super::*;
use crate::span::Label;

fn turn(kind: TurnKind) -> Turn {
    Turn {
        nodes: vec![NodeId(0)],
        uuid: None,
        short_uuid: None,
        time: None,
        recovered: false,
        kind,
    }
}

fn prompt(text: &str) -> Turn {
    turn(TurnKind::Prompt(PromptTurn { text: text.to_owned(), ..PromptTurn::default() }))
}

fn answer(parts: Vec<ReplyPart>) -> Turn {
    turn(TurnKind::Reply(Reply {
        model: Some("claude-opus-5".to_owned()),
        parts,
        ..Reply::default()
    }))
}

fn text(text: &str) -> ReplyPart {
    ReplyPart::Text(text.to_owned())
}

fn call(name: &str, input: serde_json::Value, output: Option<ToolOutput>) -> ReplyPart {
    let result = ToolOutcome {
        node: None,
        time: None,
        is_error: false,
        content: Vec::new(),
        output,
        feedback: None,
        spilled_path: None,
        spilled_text: None,
    };
    ReplyPart::Call(Box::new(ToolCall {
        id: "t".to_owned(),
        name: name.to_owned(),
        input,
        result: Some(result),
        ..ToolCall::default()
    }))
}

fn edit(original: Option<&str>, old: &str, new: &str) -> ReplyPart {
    let output = EditOutput {
        file_path: "/app/src/main.rs".to_owned(),
        replacement: Replacement { old: old.to_owned(), new: new.to_owned(), all: false },
        original_file: original.map(str::to_owned),
        ..EditOutput::default()
    };
    call("Edit", json!({}), Some(ToolOutput::Edit(output)))
}

fn side(turns: &[Turn], model: &str) -> ComparedSide {
    let mut side = ComparedSide::default();
    turns.iter().for_each(|turn| side.add_own_turn(turn));
    side.usage.add_reply(&AssistantBody {
        model: Some(model.to_owned()),
        usage: Some(TokenUsage { output_tokens: 12_000, ..TokenUsage::default() }),
        ..AssistantBody::default()
    });
    side
}

/// Draws a comparison; changed words stand in brackets.
#[track_caller]
fn check(a: Vec<Turn>, b: Vec<Turn>, width: usize, side_by_side: bool) -> String {
    let turns = [a, b];
    let (a, b) = (side(&turns[0], "claude-opus-5"), side(&turns[1], "glm-5"));
    let named = |address: &str| ConversationLabel {
        address: address.to_owned(),
        status: BranchStatus::Active,
        title: Some("A title".to_owned()),
    };
    let names = [named("aaaa@1"), named("bbbb@12")];
    let own = [NodeId(0)].into_iter().collect();
    let common = PathOverlap {
        messages: 3,
        node: Some("0123456789".to_owned()),
        short_node: Some("01234567".to_owned()),
        own: [vec![own], Vec::new()],
        own_messages: [2, 2],
        ..PathOverlap::default()
    };
    let files = changed_files(&a, &b);
    let compared = ComparedConversations {
        common: &common,
        names: [&names[0], &names[1]],
        sides: [&a, &b],
        files: &files,
        prices: &PriceList::default(),
    };
    let config = CompareConfig {
        width,
        side_by_side,
        full: false,
        totals_first: false,
        highlight: Highlight::Off,
        cwd: "/app",
        time: &|_| String::new(),
    };
    let own = |turn: &Turn| OwnTurn { part: 0, turn: turn.clone() };
    let order = order_exchanges([a.exchanges, b.exchanges], &mut |side, each| {
        turns[side].iter().for_each(|turn| each(&own(turn)));
        Ok::<(), ()>(())
    })
    .unwrap();
    let [mut left, mut right] = turns.each_ref().map(|turns| turns.iter().map(own));
    let exchanges = &mut paired_exchanges(&order, [&mut left, &mut right]);
    let mut drawing = String::new();
    for line in comparison_lines(&compared, exchanges, &config) {
        assert!(line.width() <= width, "{}", line.to_text());
        for span in &line.0 {
            let strong = matches!(span.label, Label::AddedStrong | Label::RemovedStrong);
            let (open, close) = if strong { ("[", "]") } else { ("", "") };
            write!(drawing, "{open}{}{close}", span.text()).unwrap();
        }
        drawing.truncate(drawing.trim_end_matches(' ').len());
        writeln!(drawing).unwrap();
    }
    drawing
}

#[test]
fn words_are_marked_where_texts_are_alike() {
    let a = vec![
        prompt("Add a route that returns plain JSON."),
        answer(vec![text("The route returns JSON now.\n\nNothing else changed.")]),
    ];
    let b = vec![
        prompt("Add a route that returns pretty JSON."),
        answer(vec![text("The route returns pretty JSON now.\n\nNothing else changed.")]),
    ];
    assert_snapshot!(check(a.clone(), b.clone(), 60, false), @"
    A  aaaa@1   active     A title
    B  bbbb@12  active     A title
    =  3 messages in common, up to 01234567; then 2 on A, 2 on B

    ── Conversation ────────────────────────────────────────────
    - ❯ You
    + ❯ You
    - Add a route that returns [plain] JSON.
    + Add a route that returns [pretty] JSON.

    - ● Claude  opus-5
    + ● Claude  opus-5
    - The route returns JSON now.
    + The route returns [pretty ]JSON now.

      Nothing else changed.

    ── Totals ──────────────────────────────────────────────────
               A aaaa@1           B bbbb@12
    messages          2                   2
      prompts         1                   1
      replies         1                   1
    tokens          12k                 12k
      output        12k                 12k
    cost          $0.30  no price for glm-5
    models       opus-5               glm-5
    ");
    assert_snapshot!(check(a, b, 80, true), @"
    A  aaaa@1   active     A title
    B  bbbb@12  active     A title
    =  3 messages in common, up to 01234567; then 2 on A, 2 on B

    ── Conversation ────────────────────────────────────────────────────────────────
    ❯ You                                  │ ❯ You
    Add a route that returns [plain] JSON.   │ Add a route that returns [pretty] JSON.
                                           │
    ● Claude  opus-5                       │ ● Claude  opus-5
    The route returns JSON now.            │ The route returns [pretty ]JSON now.
                                           │
    Nothing else changed.                  │ Nothing else changed.

    ── Totals ──────────────────────────────────────────────────────────────────────
               A aaaa@1           B bbbb@12
    messages          2                   2
      prompts         1                   1
      replies         1                   1
    tokens          12k                 12k
      output        12k                 12k
    cost          $0.30  no price for glm-5
    models       opus-5               glm-5
    ");
}

#[test]
fn files_and_commands_are_compared_by_how_they_end() {
    let run = |command: &str| call("Bash", json!({"command": command}), None);
    let a = vec![answer(vec![
        edit(Some("fn main() {\n    one();\n}\n"), "one", "two"),
        run("cargo test"),
    ])];
    let b = vec![answer(vec![
        edit(Some("fn main() {\n    one();\n}\n"), "one()", "three(1)"),
        run("cargo test"),
        run("cargo run\n# and more"),
    ])];
    assert_snapshot!(check(a.clone(), b.clone(), 60, false), @"
    A  aaaa@1   active     A title
    B  bbbb@12  active     A title
    =  3 messages in common, up to 01234567; then 2 on A, 2 on B

    ── Conversation ────────────────────────────────────────────
    - ● Claude  opus-5
    -   • Edit  → no output
    -   • Bash cargo test  → no output
    + ● Claude  opus-5
    +   • Edit  → no output
    +   • Bash cargo test  → no output
    +   • Bash cargo run …  → no output

    ── Files ───────────────────────────────────────────────────
    src/main.rs  A +1 −1  B +1 −1
      @@ -1 +1 @@
      fn main() {
    -     [two]();
    +     three(1);
      }

    ── Commands ────────────────────────────────────────────────
      $ cargo test
    + $ cargo run …

    ── Totals ──────────────────────────────────────────────────
                A aaaa@1           B bbbb@12
    messages           2                   2
      replies          1                   1
    tool calls         2                   3
      Bash             1                   2
      Edit             1                   1
    files       +1 −1  1            +1 −1  1
    commands           1                   2
    tokens           12k                 12k
      output         12k                 12k
    cost           $0.30  no price for glm-5
    models        opus-5               glm-5
    ");
    assert_snapshot!(check(a, b, 80, true), @"
    A  aaaa@1   active     A title
    B  bbbb@12  active     A title
    =  3 messages in common, up to 01234567; then 2 on A, 2 on B

    ── Conversation ────────────────────────────────────────────────────────────────
    ● Claude  opus-5                       │ ● Claude  opus-5
      • Edit  → no output                  │   • Edit  → no output
      • Bash cargo test  → no output       │   • Bash cargo test  → no output
                                           │   • Bash cargo run …  → no output

    ── Files ───────────────────────────────────────────────────────────────────────
    src/main.rs  A +1 −1  B +1 −1
      @@ -1 +1 @@
    fn main() {                            │ fn main() {
        [two]();                             │     three(1);
    }                                      │ }

    ── Commands ────────────────────────────────────────────────────────────────────
    $ cargo test                           │ $ cargo test
                                           │ $ cargo run …

    ── Totals ──────────────────────────────────────────────────────────────────────
                A aaaa@1           B bbbb@12
    messages           2                   2
      replies          1                   1
    tool calls         2                   3
      Bash             1                   2
      Edit             1                   1
    files       +1 −1  1            +1 −1  1
    commands           1                   2
    tokens           12k                 12k
      output         12k                 12k
    cost           $0.30  no price for glm-5
    models        opus-5               glm-5
    ");
}

#[test]
fn unrecorded_content_is_reported() {
    let a = vec![answer(vec![edit(None, "one", "two")])];
    let b = vec![answer(vec![text("I changed nothing.")])];
    assert_snapshot!(check(a, b, 70, false), @"
    A  aaaa@1   active     A title
    B  bbbb@12  active     A title
    =  3 messages in common, up to 01234567; then 2 on A, 2 on B

    ── Conversation ──────────────────────────────────────────────────────
    - ● Claude  opus-5
    -   • Edit  → no output
    + ● Claude  opus-5
    +   I changed nothing.

    ── Files ─────────────────────────────────────────────────────────────
    src/main.rs  A +1 −1  B unchanged  final content not recorded

    ── Totals ────────────────────────────────────────────────────────────
                A aaaa@1           B bbbb@12
    messages           2                   2
      replies          1                   1
    tool calls         1                   ·
      Edit             1                   ·
    files       +1 −1  1                   ·
    tokens           12k                 12k
      output         12k                 12k
    cost           $0.30  no price for glm-5
    models        opus-5               glm-5
    ");
}
