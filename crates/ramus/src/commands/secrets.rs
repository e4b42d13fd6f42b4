//! `ramus check --secrets`: where secrets are, without showing them.

use ramus_app::secrets::MAX_PLACES;
use ramus_app::{Scope, Workspace};
use ramus_render::json::{Answer, Secrets};
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};

use crate::error::CommandError;
use crate::table::number;
use crate::ui::Ui;

/// How many places of one session are printed.
const MAX_PRINTED: usize = 20;

pub(crate) fn list_secrets(
    ui: &mut Ui,
    workspace: &Workspace,
    scope: &Scope,
    strict: bool,
) -> Result<(), CommandError> {
    let secrets = workspace.find_secrets(scope)?;
    let is_clean = secrets.count == 0;
    if ui.json {
        ui.print_json(&Answer::new("ramus.check.secrets/1", secrets))?;
    } else {
        ui.start_pager();
        for line in secrets_lines(&secrets) {
            ui.print_line(&line)?;
        }
    }
    if strict && !is_clean { Err(CommandError::nothing_found("there are secrets")) } else { Ok(()) }
}

fn secrets_lines(secrets: &Secrets) -> Vec<Line> {
    let files = count_noun(secrets.files, "file");
    if secrets.count == 0 {
        return vec![Line::new(&format!("No secrets found in {files}."), Label::Active)];
    }
    let mut lines = vec![Line::new(&number(secrets.count), Label::Strong).with(
        &format!(
            " secret{} in {} of {files}",
            plural_s(secrets.count),
            count_noun(secrets.sessions.len(), "session")
        ),
        Label::Plain,
    )];
    for (rule, times) in &secrets.by_rule {
        lines.push(Line::plain(&format!("  {rule}  {}", number(*times))));
    }
    for session in &secrets.sessions {
        lines.push(Line::default());
        let title = session.title.as_deref().unwrap_or_default();
        lines.push(
            Line::new(&session.session, Label::Strong)
                .with(&format!("  {}  ", number(session.count)), Label::Warning)
                .with(title, Label::Plain),
        );
        for place in session.places.iter().take(MAX_PRINTED) {
            let times = if place.times > 1 {
                format!("  ×{}", number(place.times))
            } else {
                String::new()
            };
            lines.push(
                Line::plain("  ")
                    .with(&place.file, Label::Plain)
                    .with(&format!(":{}", place.line), Label::LineNumber)
                    .with(&format!("  {}  ", place.rule), Label::Warning)
                    .with(&format!("{}{times}", place.masked), Label::Dim),
            );
        }
        let shown: u64 = session.places.iter().take(MAX_PRINTED).map(|place| place.times).sum();
        if session.count > shown {
            let more = format!(
                "  and {} more. Use --json to list up to {}",
                number(session.count - shown),
                number(MAX_PLACES as u64)
            );
            lines.push(Line::new(&more, Label::Dim));
        }
    }
    lines
}

fn plural_s(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}
