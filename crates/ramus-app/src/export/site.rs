//! Writes the index of all exported transcripts.

use std::collections::BTreeMap;

use ramus_core::ids::ShortIds;
use ramus_core::time::Time;
use ramus_render::export::site::{self, SitePath, SiteProject, SiteSession};

use super::ExportFormat;
use super::transcripts::WrittenTranscript;

/// The transcripts and the agents of a project by session, the oldest first.
type ProjectSessions<'a> = BTreeMap<(Option<Time>, &'a str), PathsAndAgents<'a>>;
type PathsAndAgents<'a> = (Vec<&'a WrittenTranscript>, Vec<&'a WrittenTranscript>);

/// Returns the text of the index.
pub(super) fn site_index(
    format: ExportFormat,
    transcripts: &[WrittenTranscript],
    agents: &[WrittenTranscript],
    short_ids: &ShortIds,
) -> String {
    let mut by_project: BTreeMap<&str, ProjectSessions<'_>> = BTreeMap::new();
    let mut began: BTreeMap<&str, Option<Time>> = BTreeMap::new();
    for path in transcripts {
        let header = &path.header;
        began.insert(&header.session, path.began);
        let sessions = by_project.entry(&header.project).or_default();
        sessions.entry((path.began, &header.session)).or_default().0.push(path);
    }
    for agent in agents {
        let header = &agent.header;
        let session = header.parent.as_deref().unwrap_or_default();
        // Its session may stand in the transcripts of others.
        let began = began.get(session).copied().unwrap_or(agent.began);
        let sessions = by_project.entry(&header.project).or_default();
        sessions.entry((began, session)).or_default().1.push(agent);
    }
    let projects: Vec<SiteProject> = by_project
        .into_iter()
        .map(|(name, sessions)| SiteProject {
            name: name.to_owned(),
            sessions: sessions.into_iter().rev().map(|row| site_session(row, short_ids)).collect(),
        })
        .collect();
    let mut out = String::new();
    match format {
        ExportFormat::Html => site::write_html_index(&projects, &mut out),
        _ => site::write_markdown_index(&projects, &mut out),
    }
    out
}

fn site_session(
    ((_, id), (paths, agents)): ((Option<Time>, &str), PathsAndAgents<'_>),
    short_ids: &ShortIds,
) -> SiteSession {
    let agents: Vec<SitePath> = agents.into_iter().map(to_path).collect();
    let main = paths.iter().find(|path| path.header.resumes).or(paths.last());
    let Some(main) = main else {
        return SiteSession {
            title: id.to_owned(),
            id: id.to_owned(),
            short_id: short_ids.shorten_id(id).to_owned(),
            agents,
            ..SiteSession::default()
        };
    };
    let day = |time: Option<Time>| time.map(|time| time.to_string()[..10].to_owned());
    let started = paths.iter().filter_map(|path| path.header.started).min();
    let ended = paths.iter().filter_map(|path| path.header.ended).max();
    let mut days: Vec<String> = [day(started), day(ended)].into_iter().flatten().collect();
    days.dedup();
    let mut paths: Vec<SitePath> = paths.iter().map(|path| to_path(path)).collect();
    paths.sort_by_key(|path| path.path);
    SiteSession {
        title: main.header.display_name().to_owned(),
        id: main.header.session.clone(),
        short_id: short_ids.shorten_id(&main.header.session).to_owned(),
        days: days.join(" – "),
        paths,
        agents,
    }
}

fn to_path(written: &WrittenTranscript) -> SitePath {
    let header = &written.header;
    let own = header.siblings.iter().find(|sibling| sibling.path == header.path);
    let words = own.map(|own| own.words.clone()).unwrap_or_default();
    SitePath {
        href: written.file.clone(),
        path: header.path,
        paths: header.paths,
        words: if words.is_empty() { header.display_name().to_owned() } else { words },
        status: header.status,
        resumes: header.resumes,
        messages: header.messages,
    }
}
