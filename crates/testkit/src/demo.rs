//! Generates the sample history: three projects, three generations of the client, every pattern.
//!
//! The stories (`kettle`, `menu`, `teapot`) are run by a `SessionScript`, which writes what the client would
//! have written. The output is always the same. `ramus demo` embeds these files from
//! `crates/ramus/demo`, and a test there verifies that they match this generator.

use serde_json::json;

mod agent;
mod client;
mod dialogue;
mod kettle;
mod menu;
mod name_generator;
mod project_disk;
mod reply;
mod session_copy;
mod session_script;
mod teapot;
mod teapot_more;
mod time;
mod tool_step;

pub use kettle::{OVERSHOOT, RESUMED, SUMMARIES};
pub use menu::{DARK, EMPTY, LANDING};
use session_script::{SessionScript, TypedPrompt};
pub use teapot::{BRANCH, SHOWCASE};
pub use teapot_more::LOAD_TEST;

/// One file of the sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleFile {
    /// The path relative to the Claude directory, with `/`.
    pub path: String,
    pub bytes: Vec<u8>,
}

/// Returns all files of the sample: sessions, agents, backups, prompt history, settings.
pub fn sample_files() -> Vec<SampleFile> {
    let mut scripts: Vec<SessionScript> = kettle::sessions();
    scripts.extend(menu::sessions());
    scripts.extend(teapot::sessions());
    let mut typed: Vec<TypedPrompt> = Vec::new();
    let mut files = kettle::other_files();
    files.extend(menu::other_files());
    for script in scripts {
        typed.extend_from_slice(script.typed_prompts());
        files.extend(script.into_files());
    }
    files.push(prompt_history_file(typed));
    files.push(settings_file());
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn prompt_history_file(mut typed: Vec<TypedPrompt>) -> SampleFile {
    typed.sort_by_key(|typed| typed.millis);
    let lines = typed.iter().map(|typed| {
        json!({"display": typed.text, "pastedContents": {}, "timestamp": typed.millis,
               "project": typed.project.cwd, "sessionId": typed.session})
        .to_string()
            + "\n"
    });
    SampleFile { path: "history.jsonl".into(), bytes: lines.collect::<String>().into_bytes() }
}

fn settings_file() -> SampleFile {
    let settings = json!({
        "model": "opus",
        "cleanupPeriodDays": 3650,
        "env": {"BASH_MAX_OUTPUT_LENGTH": "8000"},
        "permissions": {"allow": ["Bash(cargo:*)", "Bash(curl:*)"], "deny": []},
    });
    SampleFile { path: "settings.json".into(), bytes: format!("{settings:#}\n").into_bytes() }
}
