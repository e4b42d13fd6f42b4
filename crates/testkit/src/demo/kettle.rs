//! A kettle that boils too long: a Python script on a small computer. Written by 1.0.113.

use serde_json::json;

use super::SampleFile;
use super::agent::AgentTask;
use super::client::KETTLE;
use super::session_script::SessionScript;
use super::tool_step::ToolStep::{Bash, Edit, Grep, Read, Todo};

/// An agent inline, one uuid used twice, a line written twice, two roots.
pub const OVERSHOOT: &str = "0b5e55ed-8a7c-4d21-9e0f-6c4b1a2d3e97";
/// Its continuation in a new file, with copies of the old records.
pub const RESUMED: &str = "c0ffee00-3d1b-4f6a-a2c8-7e95d0b4f163";
/// A file of nothing but summaries, which name nodes of other files.
pub const SUMMARIES: &str = "5a3e71d9-60bc-4c88-8d42-f19b7e0a2c35";

const SCRIPT: &str = "import time\n\nfrom probe import celsius\nfrom relay import Relay\n\nPIN = 17\n\n\ndef heat(target):\n    relay = Relay(PIN)\n    relay.on()\n    while celsius() < target:\n        time.sleep(5)\n    relay.off()\n";

/// Returns the sessions of the project.
pub(super) fn sessions() -> Vec<SessionScript> {
    let mut first = SessionScript::new(&KETTLE, OVERSHOOT, "2026-01-17T20:15:04.000Z");
    first.disk.files.insert("kettle.py".into(), SCRIPT.into());
    overshoot(&mut first);
    agent_inline(&mut first);
    same_uuid(&mut first);
    let resumed = resumed(&first);
    another_root(&mut first);
    let summaries = summaries(&first, &resumed);
    vec![first, resumed, summaries]
}

/// Returns the files next to the sessions.
pub(super) fn other_files() -> Vec<SampleFile> {
    let todos = json!([{"content": "Predict the coasting", "status": "completed", "activeForm": "Predicting the coasting"}]);
    let path = format!("todos/{OVERSHOOT}-agent-{OVERSHOOT}.json");
    vec![SampleFile { path, bytes: todos.to_string().into_bytes() }]
}

fn overshoot(s: &mut SessionScript) {
    s.add_client_text("<command-message>init is analyzing your codebase…</command-message>\n<command-name>/init</command-name>", false);
    s.add_client_text("Please analyze this codebase and create a CLAUDE.md file, which will be given to future instances of Claude Code to operate in this repository.", true);
    s.add_reply("`CLAUDE.md` describes the three modules (`kettle`, `relay`, `probe`) and how to run without hardware: `PROBE=fake python kettle.py 80`.");
    s.add_prompt(
        "The kettle overshoots. Set to 80 °C, it ends up at 97. Look at the control loop.",
    );
    s.add_text("I'll read the loop and see who else uses the probe.");
    s.run_tools(&[Read("kettle.py"), Grep("celsius")]);
    s.add_reply("Two things add up:\n\n- The loop sleeps **5 s** between measurements. At 2 kW and half a litre that alone is 4–5 °C.\n- The element keeps giving off heat after `relay.off()`. Nothing accounts for that.\n\nMeasuring more often cures the first. The second needs a guess at how far the temperature coasts.");
}

fn agent_inline(s: &mut SessionScript) {
    s.add_prompt("How do others do it? Let an agent look at the logs of the last ten runs and estimate the coasting.");
    s.run_tools(&[Todo(
        &[],
        "Estimate the coasting from the logs",
        &["Predict the coasting", "Test with the fake probe"],
    )]);
    let logs = AgentTask {
        id: "logs",
        kind: "general-purpose",
        task: "Estimate coasting",
        prompt: "Read logs/run-*.csv (time, celsius, relay). For each run, find how far the temperature rises after the relay goes off, and whether that depends on the slope before. Report a formula.",
    };
    s.run_agent(&logs, |a| {
        a.run_tools(&[Bash("ls logs && tail -n 3 logs/run-09.csv", "Look at the logs", "run-00.csv\nrun-09.csv\ntime,celsius,relay\n214,80.4,0\n233,93.1,0")]);
        a.run_tools(&[Bash("python fit.py logs/run-*.csv", "Fit a line", "coast = 18.6 * slope + 0.4   (r2 = 0.97)")]);
        a.add_reply("The rise after switching off grows with the slope before it: **coast ≈ 18.6 s × slope**, r² = 0.97 over ten runs. At the usual 0.7 °C/s that is 13 °C.");
    });
    s.add_reply("The agent found a simple law: after switching off, the water rises for **18.6 s × slope**. So switch off when `celsius() + 18.6 * slope >= target`.");
}

/// The reply was requested again and has the uuid of the first one.
fn same_uuid(s: &mut SessionScript) {
    s.add_prompt("Do that.");
    let asked = s.mark_position();
    s.add_reply(
        "Done: I lowered the target by a fixed 13 °C, which is what ten runs coasted on average.",
    );
    let uuid = s.head.clone();
    s.rewind_to(&asked);
    s.pass_time(14);
    s.add_reply("A fixed offset would be wrong for a full kettle, so I use the slope:\n\n```python\nwhile celsius() + 18.6 * slope() < target:\n    time.sleep(0.5)\n```");
    if let Some(line) = s.lines.last_mut() {
        line["uuid"] = json!(uuid);
    }
    s.head = uuid;
    s.add_prompt("Good, apply it.");
    s.run_tools(&[Edit(
        "kettle.py",
        "    while celsius() < target:\n        time.sleep(5)\n",
        "    while celsius() + 18.6 * slope() < target:\n        time.sleep(0.5)\n",
    )]);
    s.add_reply("`heat` looks ahead now. With the fake probe it stops at **80.3 °C**.");
    let again = s.lines.last().cloned();
    s.lines.extend(again);
}

/// Later, something else: a second root in the same file.
fn another_root(s: &mut SessionScript) {
    s.new_root();
    s.pass_time(5400);
    s.add_prompt("Which GPIO pin is the relay on?");
    s.synthetic("Claude AI usage limit reached|1768690800");
    s.pass_time(9000);
    s.add_prompt("Which pin is the relay on?");
    s.run_tools(&[Grep("PIN")]);
    s.add_reply("GPIO **17** (`PIN` in `kettle.py`), pin 11 on the header.");
}

fn resumed(first: &SessionScript) -> SessionScript {
    let mut s = first.copy_session(RESUMED, "2026-01-18T09:30:00.000Z");
    let summary = json!({"type": "summary", "summary": "Kettle overshoot: predict coasting from slope", "leafUuid": first.head});
    s.lines.insert(0, summary);
    s.add_prompt("Cold start: with an empty history `slope()` divides by zero.");
    s.run_tools(&[Grep("slope")]);
    s.add_reply("`slope()` needs two measurements. Until it has them it should return `0.0`: then the loop behaves like the old one, which is right for cold water.");
    s
}

fn summaries(first: &SessionScript, resumed: &SessionScript) -> SessionScript {
    let mut s = SessionScript::new(&KETTLE, SUMMARIES, "2026-01-18T10:00:00.000Z");
    for (text, leaf) in [
        ("Relay is on GPIO 17", &first.head),
        ("Kettle: cold start without a slope", &resumed.head),
    ] {
        s.add_metadata(json!({"type": "summary", "summary": text, "leafUuid": leaf}));
    }
    s
}
