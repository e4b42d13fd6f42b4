//! Prompts of sessions that are gone: only the client's own prompt history still has them.

use ramus_app::{Scope, Workspace};
use ramus_core::query::Query;
use ramus_render::json::{Answer, PromptOnly, prompt_hit};
use ramus_render::layout::truncate;
use ramus_render::snippet::Snippet;
use ramus_render::{Label, Line};
use ramus_store::prompts::NotedPrompt;

use crate::env::Clock;
use crate::error::CommandError;
use crate::ui::Ui;

/// Finds the prompts whose session has no file any more, newest first.
pub(super) fn lost_prompts(
    workspace: &Workspace,
    scope: &Scope,
    query: &Query,
) -> Vec<NotedPrompt> {
    let mut prompts = workspace.lost_prompts(scope).prompts;
    prompts.retain(|prompt| prompt.fits(query));
    prompts
}

/// Writes prompts as they are: there is nothing to show beside them.
pub(super) fn write_prompts(
    ui: &mut Ui,
    query: &Query,
    prompts: &[NotedPrompt],
) -> Result<(), CommandError> {
    if ui.json {
        for prompt in prompts {
            let NotedPrompt { text, time, project, session, line } = prompt;
            let only =
                PromptOnly { session, project: project.as_deref(), line: *line, time: *time };
            let range = query.find(text).unwrap_or_default();
            ui.json(&Answer::new("ramus.find/1", prompt_hit(&only, text, &range)))?;
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
