//! Where secrets are, without showing them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ramus_core::redact::{Encoding, RedactionCounts, mask_secret, redact_text};
use ramus_core::title::session_title;
use ramus_render::json::{SecretPlace, Secrets, SessionSecrets};
use ramus_store::PathError;
use ramus_store::claude_dir::FileRole;
use ramus_store::export::map_in_parallel;
use ramus_store::scan::list_spilled_results;
use ramus_store::secrets::find_secrets;
use ramus_store::survey::Survey;

use crate::address::{ResolvedFile, Scope};
use crate::workspace::{SurveyDetail, Workspace};

/// How many places are listed in all; more are only counted, so that memory stays bounded.
pub const MAX_PLACES: usize = 10_000;
/// How many files are searched before their results are merged.
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

impl Workspace {
    /// Finds the secrets in the files of a scope.
    pub fn find_secrets(&self, scope: &Scope) -> Result<Secrets, PathError> {
        let survey = self.survey_scope(scope.clone(), SurveyDetail::Digests);
        let (mut sessions, candidates) = files_to_scan(self, &survey, scope);
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
        Ok(secrets)
    }
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
        let projects = workspace.list_projects();
        let listed = projects.iter().filter(|listed| listed.dir == project.dir);
        for spilled in listed.flat_map(|listed| list_spilled_results(listed, None)) {
            let FileRole::Journal { session } = &spilled.role else {
                continue;
            };
            let is_meant = |found: &ResolvedFile| found.file.id == *session;
            if !scope.sessions().is_none_or(|found| found.iter().any(is_meant)) {
                continue;
            }
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

fn scan_file(candidate: &ScannedFile) -> Result<FileSecrets, PathError> {
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
