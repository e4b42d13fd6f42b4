//! `ramus check --secrets`: where secrets are, without showing them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ramus_app::survey::Survey;
use ramus_app::{Scope, Workspace};
use ramus_core::redact::{Encoding, RedactionCounts, mask_secret, redact_text};
use ramus_core::title::session_title;
use ramus_render::json::{Answer, SecretPlace, Secrets, SessionSecrets};
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};
use ramus_store::export::map_in_parallel;
use ramus_store::scan::list_spilled_results;
use ramus_store::secrets::find_secrets;

use crate::error::CommandError;
use crate::table::number;
use crate::ui::Ui;

/// How many places are listed in all; more are only counted, so that memory stays bounded.
const MAX_PLACES: usize = 10_000;
/// How many places of one session are printed.
const MAX_PRINTED: usize = 20;
/// How many files are looked at before their places are put together.
const FILES_PER_BATCH: usize = 64;

/// A file to look at.
struct ScannedFile {
    path: PathBuf,
    relative: String,
    encoding: Encoding,
    /// Its session, as a place in the list of sessions.
    session: usize,
}

/// What was found in one file.
struct FileSecrets {
    session: usize,
    by_rule: RedactionCounts,
    places: Vec<SecretPlace>,
}

pub(crate) fn list_secrets(
    ui: &mut Ui,
    workspace: &Workspace,
    survey: &Survey,
    scope: &Scope,
    strict: bool,
) -> Result<(), CommandError> {
    let (mut sessions, candidates) = files_to_scan(workspace, survey, scope);
    let mut secrets = Secrets { files: candidates.len(), ..Secrets::default() };
    let mut listed = 0;
    for batch in candidates.chunks(FILES_PER_BATCH) {
        for found in map_in_parallel(batch, &scan_file) {
            let found = found?;
            let session = &mut sessions[found.session];
            for (rule, times) in &found.by_rule {
                *secrets.by_rule.entry(rule).or_default() += times;
                session.count += times;
                secrets.count += times;
            }
            let room = MAX_PLACES.saturating_sub(listed);
            listed += found.places.len().min(room);
            session.places.extend(found.places.into_iter().take(room));
        }
    }
    sessions.retain(|session| session.count > 0);
    let listed: u64 =
        sessions.iter().flat_map(|session| &session.places).map(|place| place.times).sum();
    secrets.unlisted = secrets.count - listed;
    secrets.sessions = sessions;
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

/// Lists the files of a scope with the sessions they belong to.
fn files_to_scan(
    workspace: &Workspace,
    survey: &Survey,
    scope: &Scope,
) -> (Vec<SessionSecrets>, Vec<ScannedFile>) {
    let mut sessions: Vec<SessionSecrets> = Vec::new();
    let mut candidates = Vec::new();
    for project in &survey.projects {
        let mut by_id: BTreeMap<String, usize> = BTreeMap::new();
        let mut session_index = |id: &str, title: Option<&str>| {
            *by_id.entry(id.to_owned()).or_insert_with(|| {
                let title = title
                    .map(|title| redact_text(title, &mut RedactionCounts::default()).into_owned());
                sessions.push(SessionSecrets {
                    session: id.to_owned(),
                    title,
                    count: 0,
                    places: Vec::new(),
                });
                sessions.len() - 1
            })
        };
        let files = project.sessions.iter().chain(&project.agents).chain(&project.journals);
        for file in files.filter(|file| scope.includes_file(file)) {
            let title = session_title(&file.digest, &project.summaries);
            let session = match file.parent_session() {
                Some(parent) => session_index(parent, None),
                None => session_index(&file.file.id, title),
            };
            candidates.push(ScannedFile {
                path: file.file.path.clone(),
                relative: file.file.relative.clone(),
                encoding: Encoding::JsonLine,
                session,
            });
        }
        let only = match scope {
            Scope::Session(found) => Some(found.file.id.as_str()),
            Scope::All | Scope::Project(_) => None,
        };
        let projects = workspace.list_projects();
        let listed = projects.iter().filter(|listed| listed.dir == project.dir);
        for spilled in listed.flat_map(|listed| list_spilled_results(listed, only)) {
            let ramus_store::claude_dir::FileRole::Journal { session } = &spilled.role else {
                continue;
            };
            candidates.push(ScannedFile {
                session: session_index(session, None),
                path: spilled.path,
                relative: spilled.relative,
                encoding: Encoding::Text,
            });
        }
    }
    (sessions, candidates)
}

fn scan_file(candidate: &ScannedFile) -> Result<FileSecrets, CommandError> {
    let mut found = FileSecrets {
        session: candidate.session,
        by_rule: RedactionCounts::new(),
        places: Vec::new(),
    };
    let file = redact_text(&candidate.relative, &mut RedactionCounts::default()).into_owned();
    find_secrets(&candidate.path, candidate.encoding, |line, finding, secret| {
        *found.by_rule.entry(finding.rule).or_default() += 1;
        let masked = mask_secret(finding, secret);
        let rule = finding.rule;
        let same = found
            .places
            .iter_mut()
            .rev()
            .take_while(|place| place.line == line)
            .find(|place| place.rule == rule && place.masked == masked);
        if let Some(same) = same {
            same.times += 1;
        } else if found.places.len() < MAX_PLACES {
            found.places.push(SecretPlace { file: file.clone(), line, rule, masked, times: 1 });
        }
    })?;
    Ok(found)
}

fn secrets_lines(secrets: &Secrets) -> Vec<Line> {
    let files = count_noun(secrets.files, "file");
    if secrets.count == 0 {
        return vec![Line::new(&format!("No secret found in {files}."), Label::Active)];
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
                "  and {} more; `--json` lists up to {}",
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
