//! A landing page for a tea menu. Written by 2.0.76.

use serde_json::json;

use super::SampleFile;
use super::agent::AgentTask;
use super::client::MENU;
use super::name_generator::NameGenerator;
use super::session_script::SessionScript;
use super::tool_step::ToolStep::{Edit, Fails, Grep, Read, Todo, Write};

/// One prompt edited three times, a picture, a flat agent, checkpoints.
pub const LANDING: &str = "00109900-1eaf-4c3d-8b57-2f6e9d0a7c14";
/// Its `--fork-session` copy, which does not name its origin.
pub const DARK: &str = "da7cbe11-92f4-4e06-b3a1-c85d7f2e6b40";
/// What a client leaves behind that was started and closed again.
pub const EMPTY: &str = "e3377a00-5b1c-4d9e-a6f0-384c2d1b7e95";

/// Sixteen by sixteen pixels, a teapot.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQMAAAAlPW0iAAAABlBMVEX17txrRCNprpFIAAAAL0lEQVR42mNgYGBgbGBgPsAg/4PB/i+D/T+G+j8M5T8Y/MHI/geD/AcG/gcgEgwAY20OkbPEW4wAAAAASUVORK5CYII=";

const PAGE: &str = "<!doctype html>\n<title>Tea</title>\n<link rel=\"stylesheet\" href=\"style.css\">\n<h1>Twelve teas</h1>\n<table>\n  <tr><td>Oolong, roasted</td><td>4.20</td></tr>\n  <tr><td>Lapsang souchong</td><td>3.80</td></tr>\n</table>\n";
const STYLE: &str =
    "body { background: #ff5; color: #c0f; }\nh1 { color: #0c3; }\ntable { width: 60em; }\n";

/// Returns the sessions of the project.
pub(super) fn sessions() -> Vec<SessionScript> {
    let mut s = SessionScript::new(&MENU, LANDING, "2026-03-02T16:20:45.000Z");
    page(&mut s);
    let dark = dark(&s);
    four_tries(&mut s);
    picture(&mut s);
    flat_agent(&mut s);
    stopped_tool(&mut s);
    vec![s, dark]
}

/// Returns the files next to the sessions: an empty one, and a warm-up.
pub(super) fn other_files() -> Vec<SampleFile> {
    let empty =
        SampleFile { path: format!("{}/{EMPTY}.jsonl", MENU.projects_path()), bytes: Vec::new() };
    let mut warmup = SessionScript::new(&MENU, LANDING, "2026-03-02T16:20:44.000Z");
    warmup.path = format!("{}/agent-c01dc0b.jsonl", MENU.projects_path());
    warmup.agent = Some("c01dc0b".into());
    warmup.names = NameGenerator::new("c01dc0b");
    warmup.depth = 1;
    warmup.add_prompt("Warmup");
    warmup.add_reply("I'm ready to help you explore and understand the codebase. What would you like me to look for?");
    let mut files = warmup.into_files();
    files.push(empty);
    files
}

fn page(s: &mut SessionScript) {
    s.add_prompt(
        "A landing page for the tea menu: plain HTML and CSS, prices in a table, cheerful colours.",
    );
    s.add_thinking("Plain HTML, one stylesheet. Cheerful: yellow and purple. The table needs two columns, name and price.");
    s.run_tools(&[Todo(&[], "Write the page", &["Write the stylesheet", "Check it on a phone"])]);
    s.run_tools(&[Write("index.html", PAGE), Write("style.css", STYLE)]);
    s.add_reply("The page is there: `index.html` with the menu as a table, `style.css` in yellow, purple and green.");
}

/// One prompt, four times: answered, stopped, left, answered.
fn four_tries(s: &mut SessionScript) {
    let before = s.mark_position();
    s.add_prompt("The colours are too loud.");
    s.run_tools(&[Edit("style.css", "#ff5; color: #c0f;", "#eee; color: #333;")]);
    s.add_reply("Grey on grey now.");
    s.rewind_to(&before);
    s.add_prompt("Calmer colours please");
    s.add_interrupt("[Request interrupted by user]", json!({}));
    s.rewind_to(&before);
    s.add_prompt("Calmer colours please, more like tea");
    s.rewind_to(&before);
    s.add_prompt("Use the colours of tea: cream behind, oolong brown for text, one green accent for the heading.");
    s.add_thinking("Cream #f5eedc, oolong #6b4423, sencha green #7a9a3b. Contrast of brown on cream is 7.4, fine.");
    s.run_tools(&[Edit(
        "style.css",
        "background: #ff5; color: #c0f; }\nh1 { color: #0c3; }",
        "background: #f5eedc; color: #6b4423; }\nh1 { color: #7a9a3b; }",
    )]);
    s.add_reply("Cream, oolong and one green:\n\n| | colour | contrast |\n|---|---|---|\n| background | `#f5eedc` | |\n| text | `#6b4423` | 7.4 : 1 |\n| heading | `#7a9a3b` | 2.8 : 1 |\n\nThe heading is large, so 2.8 is just short of the 3 : 1 it should have. Say a word and I'll darken it.");
}

fn picture(s: &mut SessionScript) {
    s.add_prompt_with_image("On my phone the prices are cut off.", PNG);
    s.run_tools(&[Read("style.css")]);
    s.run_tools(&[Edit("style.css", "width: 60em;", "width: 100%; max-width: 60em;")]);
    s.add_reply("The table was **60em** wide on any screen. It takes the width there is now, and 60em at most.");
    s.shell("git status --short", " M style.css\n?? index.html");
}

fn flat_agent(s: &mut SessionScript) {
    s.add_prompt("Are there colours left outside of the stylesheet? Let an agent look.");
    let colours = AgentTask {
        id: "5e7b0c1",
        kind: "Explore",
        task: "Find hard-coded colours",
        prompt: "Find every hard-coded colour outside of style.css (hex, rgb(), named). Report file, line and value.",
    };
    s.run_agent(&colours, |a| {
        a.run_tools(&[Grep("#"), Grep("color")]);
        a.add_reply("None. All colours (`#f5eedc`, `#6b4423`, `#7a9a3b`) are in `style.css`; `index.html` has no inline styles.");
    });
    s.queue("enqueue", Some("then check the page with lighthouse"));
    s.add_reply("No: `index.html` is free of inline styles.");
    s.queue("dequeue", None);
}

fn stopped_tool(s: &mut SessionScript) {
    s.add_prompt("then check the page with lighthouse");
    s.add_stopped_tool("npx --yes lighthouse http://localhost:8000", "Audit the page");
    s.add_prompt("Not npx, it downloads half the internet. Just validate the HTML.");
    s.run_tools(&[Fails(
        "tidy -qe index.html",
        "Validate the HTML",
        "Exit code 1\nline 2 column 1 - Warning: missing <html lang> attribute",
    )]);
    s.run_tools(&[Edit(
        "index.html",
        "<!doctype html>\n",
        "<!doctype html>\n<html lang=\"en\">\n",
    )]);
    s.add_reply("One warning, `lang` was missing; it is valid now.");
    let title = s.custom_title("Landing page in the colours of tea");
    s.add_metadata(title);
    s.command(
        "rename",
        "Landing page in the colours of tea",
        "Session renamed to: Landing page in the colours of tea",
    );
}

fn dark(original: &SessionScript) -> SessionScript {
    let mut s = original.copy_session(DARK, "2026-03-03T21:05:00.000Z");
    s.add_prompt("Try a dark theme: black tea.");
    s.run_tools(&[Edit(
        "style.css",
        "background: #ff5; color: #c0f;",
        "background: #1c120b; color: #e8d9b5;",
    )]);
    s.add_reply(
        "Black tea: `#e8d9b5` on `#1c120b`, contrast 12.6 : 1. The green heading can stay.",
    );
    s
}
