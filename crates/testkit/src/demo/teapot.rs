//! The main story: a small HTTP server in Rust. Written by 2.1.240.

use super::agent::AgentTask;
use super::client::TEAPOT;
use super::session_script::SessionScript;
use super::teapot_more;
use super::tool_step::ToolStep::{Bash, Edit, Fails, Grep, Read, Write};

/// The session that shows everything.
pub const SHOWCASE: &str = "7ea90418-c0de-4b1e-9f3a-51e6a0d2c418";
/// Its `/branch`.
pub const BRANCH: &str = "b2a9c1d4-7e57-4c0f-8a6b-09d1f4e7a312";

const MAIN: &str = include_str!("text/main.rs.txt");
const POOL: &str = include_str!("text/pool.rs.txt");
const TESTS: &str = include_str!("text/http.rs.txt");
const MANIFEST: &str = "[package]\nname = \"teapot\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

/// Returns the sessions of the project.
pub(super) fn sessions() -> Vec<SessionScript> {
    let mut s = SessionScript::new(&TEAPOT, SHOWCASE, "2026-09-14T08:02:11.000Z");
    first_pot(&mut s);
    let branch = teapot_more::on_hyper(&s);
    edited_prompt(&mut s);
    parallel_tools(&mut s);
    retry(&mut s);
    rewind(&mut s);
    second_opinion(&mut s);
    s.compact(include_str!("text/compact.md"));
    interrupt(&mut s);
    queued(&mut s);
    two_terminals(&mut s);
    vec![s, branch, teapot_more::load_test()]
}

/// Returns a piece of the first version: from one text up to another, or to the end.
fn piece(from: &str, to: &str) -> &'static str {
    let rest = MAIN.find(from).map_or(MAIN, |at| &MAIN[at..]);
    rest.find(to).filter(|_| !to.is_empty()).map_or(rest, |end| &rest[..end])
}

fn first_pot(s: &mut SessionScript) {
    s.enter();
    s.add_prompt("Let's build a teapot: a tiny HTTP server in Rust. `/tea` pours tea, `/coffee` is answered with 418 as RFC 2324 demands. Only `std`, no frameworks.");
    s.add_thinking("");
    s.add_text("A blocking `TcpListener` is all this needs. I'll write the manifest and one source file, then ask it for coffee.");
    s.run_tools(&[Write("Cargo.toml", MANIFEST), Write("src/main.rs", MAIN)]);
    s.run_tools(&[Bash(
        "cargo run -q & sleep 1; curl -si localhost:4180/coffee",
        "Start the server and ask it for coffee",
        "HTTP/1.1 418 I'm a teapot\r\nContent-Length: 17\r\n\r\nShort and stout.",
    )]);
    s.add_reply(include_str!("text/first_pot.md"));
}

/// One prompt, sent twice: prompt | prompt.
fn edited_prompt(s: &mut SessionScript) {
    let before = s.mark_position();
    s.add_prompt("Add a `/status` route that returns JSON.");
    s.run_tools(&[Edit(
        "src/main.rs",
        "        _ => (\"404 Not Found\"",
        "        Some(\"/status\") => (\"200 OK\", \"{\\\"pot\\\":\\\"ok\\\"}\\n\"),\n        _ => (\"404 Not Found\"",
    )]);
    s.add_reply("`/status` now answers `{\"pot\":\"ok\"}`. It is a constant: there is no state yet that it could report.");
    s.rewind_to(&before);
    s.add_prompt("Add a `/status` route that returns JSON: how many cups are left (start with 8, each `/tea` takes one) and the temperature.");
    s.run_tools(&[Edit("src/main.rs", piece("fn route", ""), include_str!("text/route.rs.txt"))]);
    s.add_reply("`/status` counts now:\n\n```json\n{\"celsius\":96,\"cups\":7}\n```\n\nAn empty pot answers `/tea` with **503**, not 418: it is still a teapot, only empty. The temperature is a constant until there is a sensor.");
}

/// Three tools at once: a fork in the file that is none.
fn parallel_tools(s: &mut SessionScript) {
    s.add_prompt("`curl -d milk localhost:4180/tea` fails every other time:\n\n```\ncurl: (56) Recv failure: Connection reset by peer\n```\n\nWhy?");
    s.run_tools(&[
        Read("src/main.rs"),
        Grep("read_line"),
        Bash(
            "for i in 1 2 3 4; do curl -s -o /dev/null -w '%{http_code} ' -d milk localhost:4180/tea; done",
            "Send a body four times",
            "200 000 200 000",
        ),
    ]);
    s.add_text("We answer and close while the body is still unread; the kernel turns that into a reset. The rest of the request has to be read first.");
    s.run_tools(&[Edit(
        "src/main.rs",
        piece("fn serve", "fn route"),
        include_str!("text/serve.rs.txt"),
    )]);
    s.run_tools(&[Fails(
        "cargo test -q",
        "Run the tests",
        "Exit code 101\nrunning 1 test\nF\nfailures:\n\n---- drains_a_body stdout ----\nthread 'drains_a_body' panicked at src/main.rs:38:5:\nassertion `left == right` failed\n  left: 0\n right: 4\n\ntest result: FAILED. 0 passed; 1 failed",
    )]);
    s.add_text("The test sends `content-length` in lower case, as HTTP/1.1 allows. Header names must be compared without case.");
    s.run_tools(&[Edit(
        "src/main.rs",
        "if name == \"Content-Length\" {",
        "if name.eq_ignore_ascii_case(\"content-length\") {",
    )]);
    s.run_tools(&[Bash(
        "cargo test -q",
        "Run the tests again",
        "running 1 test\n.\ntest result: ok. 1 passed; 0 failed",
    )]);
    s.add_reply("Fixed. The server closed the connection with the body unread, and TCP answers that with a reset; whether `curl` sees it is a race.\n\n1. `drain` reads the headers and then `Content-Length` bytes.\n2. Header names are compared without case (the test caught that).");
}

/// One prompt, answered twice: answer | answer.
fn retry(s: &mut SessionScript) {
    s.add_prompt("One slow client blocks everybody else. Thread per connection, or a pool?");
    let asked = s.mark_position();
    s.add_reply("Use `tokio`. With an async runtime each connection is a task of a few hundred bytes, and slow clients cost nothing.");
    s.rewind_to(&asked);
    s.pass_time(9);
    s.add_reply("With `std` only, there are two honest choices:\n\n| | thread per connection | pool |\n|---|---|---|\n| code | 3 lines | ~40 lines and a queue |\n| 1000 slow clients | 1000 threads | all workers stuck |\n| failure | memory | latency |\n\nFor a teapot I would take **a thread per connection with a limit**. A pool is worth it when the work is expensive; pouring is not.");
}

/// Three exchanges that lead nowhere, and back to before them.
fn rewind(s: &mut SessionScript) {
    let before = s.mark_position();
    s.add_prompt("Do the pool anyway, I want to see one. Four workers.");
    s.run_tools(&[
        Write("src/pool.rs", POOL),
        Edit(
            "src/main.rs",
            piece("fn main", "    }\n    Ok(())"),
            "mod pool;\n\nfn main() -> std::io::Result<()> {\n    let listener = TcpListener::bind(\"127.0.0.1:4180\")?;\n    let pool = pool::Pool::new(4);\n    for stream in listener.incoming() {\n        let stream = stream?;\n        pool.run(move || drop(serve(stream)));\n",
        ),
    ]);
    s.add_reply("Done: `Pool::new(4)`, jobs go through a channel behind a mutex.");
    s.add_prompt("With four slow clients it serves one at a time.");
    s.add_reply(
        "Then four workers are not enough for four slow clients and one more. Try `Pool::new(8)`.",
    );
    s.add_prompt("Still one at a time. Does a worker hold the lock while it runs the job?");
    s.add_reply("Yes. In\n\n```rust\nwhile let Ok(job) = jobs.lock().unwrap().recv() {\n    job();\n}\n```\n\nthe guard is a temporary of the `while let` head and lives until the end of the body. It has to be a statement of its own:\n\n```rust\nloop {\n    let job = jobs.lock().unwrap().recv();\n    …\n}\n```");
    s.rewind_to(&before);
    s.add_prompt("No pool. A thread per connection, at most 64 of them, 503 beyond that.");
    s.run_tools(&[Edit(
        "src/main.rs",
        "        serve(stream?)?;\n",
        include_str!("text/limit.rs.txt"),
    )]);
    s.run_tools(&[Bash(
        "cargo test -q && seq 200 | xargs -P 100 -I{} curl -s -o /dev/null -w '%{http_code}\\n' localhost:4180/coffee | sort | uniq -c",
        "Test, then 100 clients at once",
        "running 1 test\n.\ntest result: ok. 1 passed; 0 failed\n    163 418\n     37 503",
    )]);
    s.add_reply("A thread per connection, 64 at most. Of 200 requests from 100 clients at once, 163 got their 418 and 37 were turned away with 503.");
}

/// An agent that calls an agent.
fn second_opinion(s: &mut SessionScript) {
    s.add_prompt("Get a second opinion: have an agent check our parsing against RFC 9112.");
    let review = AgentTask {
        id: "a4187ea90f00dbeef",
        kind: "general-purpose",
        task: "Review HTTP parsing",
        prompt: "Review the request parsing in src/main.rs against RFC 9112 (HTTP/1.1). List violations by severity, with line numbers. Change nothing.",
    };
    let finding = s.run_agent(&review, |a| {
        a.run_tools(&[Grep("header")]);
        let search = AgentTask {
            id: "a0c7a1ca11ab1e5ed",
            kind: "Explore",
            task: "Find reads without limit",
            prompt: "Find every read in this crate that has no upper limit on its size. Return file and line.",
        };
        a.run_agent(&search, |b| {
            b.run_tools(&[Grep("read_line"), Grep("read_to")]);
            b.add_reply("Two unbounded reads, both `read_line`, in `src/main.rs`: the request line in `serve` and the headers in `drain`. Neither stops at a size.");
        });
        a.add_reply("| # | severity | finding |\n|---|---|---|\n| 1 | high | request line and headers are read without a limit (§3 recommends 8000 octets) |\n| 2 | medium | `Transfer-Encoding: chunked` bodies are not drained (§7.1) |\n| 3 | low | a missing `Host` header is accepted (§3.2) |");
    });
    s.add_reply("The reviewer is at work in the background; I'll report when it is done.");
    s.add_notification(&finding);
    s.add_reply("The review found three things; the first one matters: **a client can send an endless header line** and we read it all. I'd cap it with `reader.take(8000)`. Chunked bodies and a missing `Host` can wait.");
}

/// Stopped in the middle of a sentence: answer | prompt.
fn interrupt(s: &mut SessionScript) {
    s.add_prompt("Write the README.");
    let asked = s.mark_position();
    s.add_stopped_reply("# Teapot\n\n> *\"Any attempt to brew coffee with a teapot should result in the error code 418.\"*\n\n## Table of contents\n\n1. [Introduction](#introduction)\n2. [A short history of HTCPCP](#history)\n3. [Philosophy](#philosophy)\n4. [Inst");
    s.rewind_to(&asked);
    s.add_prompt("Shorter! Twenty lines at most, one `curl` example.");
    s.run_tools(&[Write("README.md", "# teapot\n\nAn HTTP server that is a teapot. No dependencies.\n\n```console\n$ cargo run &\n$ curl -i localhost:4180/coffee\nHTTP/1.1 418 I'm a teapot\n```\n\n`/tea` pours, `/status` tells what is left.\n")]);
    s.add_reply("`README.md` has 11 lines.");
}

/// A prompt typed while the model works.
fn queued(s: &mut SessionScript) {
    s.add_prompt(
        "Integration tests, please: boot the server on a free port and talk to it over TCP.",
    );
    s.run_tools(&[Edit(
        "src/main.rs",
        "    let listener = TcpListener::bind(\"127.0.0.1:4180\")?;\n",
        "    let address = std::env::args().nth(1).unwrap_or(\"127.0.0.1:4180\".into());\n    let listener = TcpListener::bind(address)?;\n    println!(\"{}\", listener.local_addr()?);\n",
    )]);
    s.queued("and one that asks for coffee, of course");
    s.run_tools(&[Write("tests/http.rs", TESTS)]);
    s.run_tools(&[Bash(
        "cargo test -q",
        "Run all tests",
        "running 1 test\n.\nrunning 3 tests\n...\ntest result: ok. 3 passed; 0 failed",
    )]);
    s.add_reply("`tests/http.rs` has three tests: `pours_until_empty`, `drains_a_body` and, of course, `refuses_coffee`. All pass.");
}

/// The same session open twice: the branch written first was left last, so it continues there.
fn two_terminals(s: &mut SessionScript) {
    let before = s.mark_position();
    let title = [s.ai_title("Tiny HTTP teapot server in Rust")];
    s.add_prompt("Ship it: a Dockerfile, the image as small as possible.");
    s.run_tools(&[Write("Dockerfile", "FROM rust:1-alpine AS build\nCOPY . /src\nRUN cargo install --path /src --root /out\n\nFROM scratch\nCOPY --from=build /out/bin/teapot /teapot\nEXPOSE 4180\nENTRYPOINT [\"/teapot\"]\n")]);
    s.add_reply(
        "Nothing but one static binary on `scratch`: the image should come out at about **1 MB**.",
    );
    s.add_prompt("Good. It runs as root, though.");
    s.run_tools(&[Edit("Dockerfile", "EXPOSE 4180\n", "USER 418:418\nEXPOSE 4180\n")]);
    s.add_reply("It runs as user 418 now. No `/etc/passwd` needed: a number is enough.");
    let docker = (s.mark_position(), s.prompt.clone());
    s.rewind_to(&before);
    s.add_prompt("What is missing in Cargo.toml before this can go to crates.io?");
    s.run_tools(&[Read("Cargo.toml")]);
    s.add_reply("`description` and `license` are required; `repository`, `keywords = [\"http\", \"teapot\", \"418\"]` and `readme` are worth having. The name `teapot` is taken, though: `short-and-stout` is free.");
    s.leave(&title);
    s.rewind_to(&docker.0);
    s.prompt = docker.1;
    s.leave(&title);
}
