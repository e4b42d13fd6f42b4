//! Generates the sample history: three projects, three generations of the client, every pattern.
//!
//! The stories (`kettle`, `menu`, `teapot`) are run by a `Script`, which writes what the client would
//! have written. The output is always the same. `ramus demo` embeds these files from
//! `crates/ramus/demo`, and a test there verifies that they match this generator.

use serde_json::json;

mod agent;
mod client;
mod copy;
mod dice;
mod disk;
mod kettle;
mod menu;
mod message;
mod script;
mod speech;
mod teapot;
mod teapot_more;
mod time;
mod tool;

pub use kettle::{OVERSHOOT, RESUMED, SUMMARIES};
pub use menu::{DARK, EMPTY, LANDING};
use script::{Script, Typed};
pub use teapot::{BRANCH, SHOWCASE};
pub use teapot_more::LOAD_TEST;

/// One file of the sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoFile {
    /// The path relative to the Claude directory, with `/`.
    pub path: String,
    pub bytes: Vec<u8>,
}

/// Returns all files of the sample: sessions, agents, backups, prompt history, settings.
pub fn files() -> Vec<DemoFile> {
    let mut scripts: Vec<Script> = kettle::sessions();
    scripts.extend(menu::sessions());
    scripts.extend(teapot::sessions());
    let mut typed: Vec<Typed> = Vec::new();
    let mut files = kettle::other_files();
    files.extend(menu::other_files());
    for script in scripts {
        typed.extend_from_slice(script.typed());
        files.extend(script.into_files());
    }
    files.push(prompt_history(typed));
    files.push(settings());
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn prompt_history(mut typed: Vec<Typed>) -> DemoFile {
    typed.sort_by_key(|typed| typed.millis);
    let lines = typed.iter().map(|typed| {
        json!({"display": typed.text, "pastedContents": {}, "timestamp": typed.millis,
               "project": typed.project.cwd, "sessionId": typed.session})
        .to_string()
            + "\n"
    });
    DemoFile { path: "history.jsonl".into(), bytes: lines.collect::<String>().into_bytes() }
}

fn settings() -> DemoFile {
    let settings = json!({
        "model": "opus",
        "cleanupPeriodDays": 3650,
        "env": {"BASH_MAX_OUTPUT_LENGTH": "8000"},
        "permissions": {"allow": ["Bash(cargo:*)", "Bash(curl:*)"], "deny": []},
    });
    DemoFile { path: "settings.json".into(), bytes: format!("{settings:#}\n").into_bytes() }
}
