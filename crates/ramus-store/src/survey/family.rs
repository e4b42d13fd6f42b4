//! Finds the origins and offspring of sessions across all projects of a survey (R31).

use std::fs;
use std::path::{Path, PathBuf};

use ramus_core::digest::cleared_at;
use ramus_core::lineage::SessionEntry;
use ramus_core::link::{
    LinkKind, RelatedSession, SessionLink, SessionRelations, find_links, session_relations,
};
use ramus_core::session::{Session, SessionFacts};
use ramus_core::time::Time;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{ProjectSurvey, Survey, SurveyedFile};
use crate::overlay;
use crate::prompt_history::{NotedPrompt, read_noted_prompts};

/// The links between a project's sessions, and the origins and offspring of each.
#[derive(Debug)]
pub(super) struct ProjectFamilies {
    pub(super) links: Vec<SessionLink>,
    pub(super) families: Vec<SessionRelations>,
}

/// The position of a session in a survey: project index and session index.
type SessionPosition = (usize, usize);

/// How far the time of a `/clear` in the prompt history may differ from its record.
const CLEAR_MILLIS: i64 = 10_000;

/// Finds the origins and offspring of all sessions, by project.
pub(super) fn find_families(survey: &Survey) -> Vec<ProjectFamilies> {
    let mut families_by_project: Vec<ProjectFamilies> =
        survey.projects.par_iter().with_max_len(1).map(project_families).collect();
    let locations: FxHashMap<&str, SessionPosition> = { &survey.projects }
        .iter()
        .enumerate()
        .flat_map(|(p, project)| {
            project.sessions.iter().enumerate().map(move |(s, one)| (&*one.file.id, (p, s)))
        })
        .collect();
    let mut elsewhere = UnsurveyedSessions::default();
    let mut notes = ClearNotes::default();
    for (p, project) in survey.projects.iter().enumerate() {
        for (s, session) in project.sessions.iter().enumerate() {
            let facts = &session.digest.facts;
            for (kind, id) in
                unlinked_origins(&session.file.id, facts, &families_by_project[p].families[s])
            {
                let location = locations.get(&*id).copied().filter(|location| *location != (p, s));
                let is_found = location.is_some() || elsewhere.contains_session(&project.dir, &id);
                families_by_project[p].families[s].origins.push(RelatedSession {
                    kind,
                    session: Some(id),
                    is_found,
                });
                add_offspring(&mut families_by_project, location, kind, session);
            }
            let Some(at) = session
                .digest
                .cleared_at
                .filter(|_| families_by_project[p].families[s].origins.is_empty())
            else {
                continue;
            };
            let before = notes.find_cleared_session(&project.dir, at, &session.file.id);
            let location = before.as_ref().and_then(|id| locations.get(&**id).copied());
            let is_found = before.as_ref().is_some_and(|id| {
                location.is_some() || elsewhere.contains_session(&project.dir, id)
            });
            let origin = RelatedSession { kind: LinkKind::Clear, session: before, is_found };
            families_by_project[p].families[s].origins.push(origin);
            add_offspring(&mut families_by_project, location, LinkKind::Clear, session);
        }
    }
    families_by_project
}

/// Returns the origins of a session that is related to no other one of its project.
pub(super) fn lone_family(project: &Path, id: &str, session: &Session) -> SessionRelations {
    let mut family = SessionRelations::default();
    let mut elsewhere = UnsurveyedSessions::default();
    for (kind, origin) in unlinked_origins(id, session.facts(), &family) {
        let is_found = elsewhere.contains_session(project, &origin);
        family.origins.push(RelatedSession { kind, session: Some(origin), is_found });
    }
    if let Some(at) = cleared_at(session).filter(|_| family.origins.is_empty()) {
        let before = ClearNotes::default().find_cleared_session(project, at, id);
        let is_found =
            before.as_ref().is_some_and(|before| elsewhere.contains_session(project, before));
        family.origins.push(RelatedSession { kind: LinkKind::Clear, session: before, is_found });
    }
    family
}

fn project_families(project: &ProjectSurvey) -> ProjectFamilies {
    let entries: Vec<SessionEntry<'_>> =
        project.sessions.iter().map(SurveyedFile::lineage_entry).collect();
    let links = find_links(&entries);
    let families = session_relations(&entries, &links);
    ProjectFamilies { links, families }
}

fn add_offspring(
    families_by_project: &mut [ProjectFamilies],
    location: Option<SessionPosition>,
    kind: LinkKind,
    session: &SurveyedFile,
) {
    if let Some((p, s)) = location {
        let session = Some((*session.file.id).into());
        families_by_project[p].families[s].offspring.push(RelatedSession {
            kind,
            session,
            is_found: true,
        });
    }
}

/// Returns the origins that a session's records name but no link leads to: they are in another project
/// or no longer exist.
fn unlinked_origins(
    session: &str,
    facts: &SessionFacts,
    family: &SessionRelations,
) -> Vec<(LinkKind, Box<str>)> {
    let named: Vec<(LinkKind, &str)> = match &facts.forked_from {
        Some((origin, _)) => vec![(LinkKind::Fork, origin)],
        None => facts.merged_from.iter().map(|id| (LinkKind::Merge, &**id)).collect(),
    };
    let is_linked =
        |id: &str| family.origins.iter().any(|origin| origin.session.as_deref() == Some(id));
    let new = named.into_iter().filter(|(_, id)| *id != session && !is_linked(id));
    new.map(|(kind, id)| (kind, id.into())).collect()
}

/// Looks up sessions in projects that were not surveyed.
#[derive(Default)]
struct UnsurveyedSessions {
    dirs: FxHashMap<PathBuf, Vec<PathBuf>>,
}

impl UnsurveyedSessions {
    /// Whether any project of the same Claude directory has a session.
    fn contains_session(&mut self, project: &Path, id: &str) -> bool {
        // The id comes from a record. Used as a path it could lead anywhere.
        let is_name = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let Some(projects) = project.parent().filter(|_| is_name && !id.is_empty()) else {
            return false;
        };
        let dirs = self.dirs.entry(projects.to_owned()).or_insert_with(|| {
            let entries = fs::read_dir(projects).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).collect()
        });
        dirs.iter().any(|dir| {
            let file = dir.join(format!("{id}.jsonl"));
            overlay::look(&file).is_ok_and(|look| look.is_some())
        })
    }
}

/// The `/clear` prompts in the prompt history of each Claude directory, read on demand.
#[derive(Default)]
struct ClearNotes(FxHashMap<PathBuf, Vec<NotedPrompt>>);

impl ClearNotes {
    /// Returns the session in which `/clear` was typed to start another one. `None`: no entry matches, or
    /// several do.
    fn find_cleared_session(&mut self, project: &Path, at: Time, own: &str) -> Option<Box<str>> {
        let root = project.parent()?.parent()?;
        let notes = self.0.entry(root.to_owned()).or_insert_with(|| {
            let notes = read_noted_prompts(root).unwrap_or_default();
            notes.into_iter().filter(|note| note.text.trim() == "/clear").collect()
        });
        let is_near = |time: Time| (time.as_millis() - at.as_millis()).abs() <= CLEAR_MILLIS;
        let near = notes.iter().filter(|note| note.time.is_some_and(is_near));
        let mut sessions: Vec<&str> = near.map(|note| &*note.session).collect();
        sessions.sort_unstable();
        sessions.dedup();
        match sessions[..] {
            [only] if only != own => Some(only.into()),
            _ => None,
        }
    }
}
