//! Two more sessions of the teapot: a `/branch`, and a load test that goes wrong.

use serde_json::json;

use super::SampleFile;
use super::client::TEAPOT;
use super::session_script::SessionScript;
use super::teapot::BRANCH;
use super::tool_step::ToolRun;
use super::tool_step::ToolStep::Bash;

/// A session with an outage and an output too large for its line.
pub const LOAD_TEST: &str = "10adbea7-5e55-4a11-b7c2-d3f0e6a89b54";

/// A new file that begins with the old records and names their origin.
pub(super) fn on_hyper(original: &SessionScript) -> SessionScript {
    let mut s = original.copy_session(BRANCH, "2026-09-15T13:40:00.000Z");
    let title = [s.custom_title("The same pot on hyper (Branch)")];
    s.add_prompt("What would this look like on hyper?");
    s.add_thinking("");
    s.add_reply("About as long, but most of it is plumbing:\n\n```rust\nasync fn route(request: Request<Incoming>) -> Result<Response<String>, Infallible> {\n    let (status, body) = match request.uri().path() {\n        \"/tea\" => (200, \"Pouring.\\n\"),\n        \"/coffee\" => (418, \"Short and stout.\\n\"),\n        _ => (404, \"No such pot.\\n\"),\n    };\n    Ok(Response::builder().status(status).body(body.into()).expect(\"because all parts are valid\"))\n}\n```\n\nYou gain keep-alive, chunked bodies and HTTP/2; you pay with 60 crates.");
    s.add_prompt("How much bigger does the binary get?");
    s.run_tools(&[Bash(
        "cargo build --release -q && du -h target/release/teapot",
        "Measure the binary",
        "2.9M\ttarget/release/teapot",
    )]);
    s.add_reply(
        "From **0.4 MB** to **2.9 MB**. For a pot with three answers, I'd stay with `std`.",
    );
    s.leave(&title);
    s
}

/// After `/clear`: an outage, and a spilled output.
pub(super) fn load_test() -> SessionScript {
    let mut s = SessionScript::new(&TEAPOT, LOAD_TEST, "2026-09-16T19:11:30.000Z");
    s.enter();
    s.command("clear", "", "");
    s.add_prompt("Load-test the pot: 200 requests, 20 at a time. Where does the time go?");
    s.add_text("200 requests with a log line each.");
    spilled(&mut s);
    s.overloaded(3);
    s.add_prompt("continue");
    s.add_thinking("");
    s.add_reply("Nothing is slow, but look at the shape:\n\n| percentile | ms |\n|---|---|\n| 50 | 3 |\n| 80 | 4 |\n| max | 41 |\n\nThe 40 slow ones come in two groups of twenty: all clients start at once, and the listener's backlog fills. **The pot is fine; the test is bursty.**");
    s.system(json!({"subtype": "local_command", "level": "info",
        "content": "<command-name>/cost</command-name>\n            <command-message>cost</command-message>\n            <command-args></command-args>"}));
    s.system(json!({"subtype": "local_command", "level": "info",
        "content": "<local-command-stdout>Total cost: $0.16</local-command-stdout>"}));
    let title = [s.ai_title("Load test with 200 requests")];
    s.leave(&title);
    s
}

fn spilled(s: &mut SessionScript) {
    let log: String = (1..=200_u32)
        .map(|n| {
            let millis = if n % 100 < 20 { 9 + n * 7 % 33 } else { 1 + n * 13 % 4 };
            format!("{n:04} GET /coffee HTTP/1.1 418 I'm a teapot 17 bytes {millis:>3} ms\n")
        })
        .collect();
    let id = s.names.next_name("toolu_01", 22);
    let path = format!("{}/{}/tool-results/{id}.txt", TEAPOT.projects_path(), s.session);
    let command = "seq 200 | xargs -P 20 -I{} ./probe.sh {}";
    let call =
        s.add_call(&id, "Bash", &json!({"command": command, "description": "Send 200 requests"}));
    s.close_reply(Some("tool_use"));
    s.pass_time(24);
    let preview = &log[..log.match_indices('\n').nth(20).map_or(0, |(at, _)| at)];
    let content = format!(
        "<persisted-output>\nOutput too large ({:.1}KB). Full output saved to: /home/dev/.claude/{path}\n\nPreview (first 2KB):\n{preview}\n...\n</persisted-output>",
        log.len() as f64 / 1024.0
    );
    let result = json!({"stdout": preview, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false,
        "persistedOutputPath": format!("/home/dev/.claude/{path}"), "persistedOutputSize": log.len()});
    let ran = ToolRun {
        name: "Bash",
        input: json!(null),
        content: json!(content),
        result,
        is_error: false,
    };
    s.add_result(&call, &id, &ran);
    s.others.push(SampleFile { path, bytes: log.into_bytes() });
}
