//! Prompts of sessions that are gone: only the client's own prompt history still has them.

use std::collections::HashSet;

use ramus_app::{Scope, Workspace};
use ramus_core::query::{Query, TextKind};
use ramus_render::json::{Answer, Hit as JsonHit};
use ramus_render::layout::truncate;
use ramus_render::snippet::Snippet;
use ramus_render::{Label, Line};
use ramus_store::place::is_encoded;
use ramus_store::prompts::{NotedPrompt, noted_prompts};

use crate::env::Clock;
use crate::error::CommandError;
use crate::ui::Ui;

/// How many characters of a prompt are given to scripts.
const ROOM: usize = 240;

/// Finds the prompts whose session has no file any more, newest first.
///
/// A prompt that names no session is left out: its session may still be there.
pub(super) fn lost_prompts(
    ui: &mut Ui,
    workspace: &Workspace,
    scope: &Scope,
    query: &Query,
) -> Vec<NotedPrompt> {
    if matches!(scope, Scope::Session(_)) || !query.wants(TextKind::Prompt) {
        return Vec::new();
    }
    let projects = workspace.projects();
    let files = projects.iter().flat_map(|project| &project.files);
    let known: HashSet<&str> = files.map(|file| &*file.id).collect();
    let mut lost = Vec::new();
    for root in workspace.roots() {
        match noted_prompts(root) {
            Ok(prompts) => lost.extend(prompts),
            Err(problem) => ui.warn(&problem),
        }
    }
    lost.retain(|prompt| {
        let is_gone = prompt.session.as_deref().is_some_and(|session| !known.contains(session));
        let is_meant = match scope {
            Scope::Project(meant) => {
                let named = prompt.project.as_ref();
                named.is_some_and(|project| is_encoded(&meant.name, project))
            }
            _ => true,
        };
        let is_in_time = prompt.time.is_none_or(|time| query.is_in_time(time));
        is_gone && is_meant && is_in_time && query.find(&prompt.text).is_some()
    });
    lost.sort_by_key(|prompt| std::cmp::Reverse((prompt.time, prompt.line)));
    lost
}

/// Writes prompts as they are: there is nothing to show beside them.
pub(super) fn write_prompts(
    ui: &mut Ui,
    query: &Query,
    prompts: &[NotedPrompt],
) -> Result<(), CommandError> {
    if ui.json {
        for prompt in prompts {
            ui.json(&Answer::new("ramus.find/1", json_hit(query, prompt)))?;
        }
        return Ok(());
    }
    let clock = Clock::new();
    ui.line(&Line::new("Sessions that are gone", Label::Heading))?;
    for prompt in prompts {
        let time = prompt.time.map(|time| clock.short(time)).unwrap_or_default();
        let range = query.find(&prompt.text).unwrap_or_default();
        let snippet = Snippet::new(&prompt.text, &range, ui.width);
        let mut line = Line::plain("  ").with(&format!("{time:<12} "), Label::Time);
        line.push("prompt only  ", Label::Dim);
        line.append(&snippet.line(Label::Plain, |text| query.marks(text)));
        ui.line(&truncate(&line, ui.width))?;
    }
    Ok(())
}

fn json_hit(query: &Query, prompt: &NotedPrompt) -> JsonHit {
    let range = query.find(&prompt.text).unwrap_or_default();
    let snippet = Snippet::new(&prompt.text, &range, ROOM);
    let session = prompt.session.clone().unwrap_or_default();
    JsonHit {
        address: session.clone(),
        session,
        title: None,
        project: prompt.project.clone(),
        agent: None,
        file: "history.jsonl".to_owned(),
        line: prompt.line,
        uuid: None,
        role: "user",
        kind: "prompt-only",
        conversation: None,
        status: None,
        resumes: false,
        timestamp: prompt.time.map(|time| time.to_string()),
        matched: snippet.range(),
        snippet: snippet.text(),
        places: Vec::new(),
        context: None,
    }
}
