//! What there is: first by name, then read.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::mpsc::Sender;

use ramus_core::digest::Digest;
use ramus_core::resume::Rule;
use ramus_core::title::{Summaries, conversation_title, session_title};
use ramus_store::index::Index;
use ramus_store::place::{FileRole, HistoryFile, Listing, Place};
use ramus_store::survey::{Survey, survey_each, to_time};

use crate::event::Event;
use crate::panes::list::{Conversation, Project, Session};

/// Lists a place, then reads it, telling of each step.
pub(crate) fn survey(roots: Vec<PathBuf>, index: &Index, rule: Rule, events: &Sender<Event>) {
    let place = match Place::open(roots) {
        Ok(place) => place,
        Err(error) => {
            let _ = events.send(Event::Nothing(error.to_string()));
            return;
        }
    };
    let listing = place.projects();
    if listing.projects.iter().all(|project| project.sessions().all(|file| file.bytes == 0)) {
        let roots: Vec<String> =
            place.roots.iter().map(|root| root.display().to_string()).collect();
        let _ = events.send(Event::Nothing(format!("no sessions in {}", roots.join(" or "))));
        return;
    }
    let files = listing.projects.iter().flat_map(|project| &project.files);
    let bytes = files.map(|file| file.bytes).sum();
    let _ = events.send(Event::Listed(listed(&listing), bytes));
    // A sender may not be shared between threads, only handed around.
    let shared = Mutex::new(events.clone());
    let all: Vec<Arc<[HistoryFile]>> =
        listing.projects.iter().map(|project| project.files.clone().into()).collect();
    let found = survey_each(index, listing, rule, &|file, digest| {
        let is_session = file.role == FileRole::Session;
        let session = digest
            .filter(|_| is_session)
            .map(|digest| Box::new(session(file.clone(), digest, &Summaries::default())));
        if let Ok(events) = shared.lock() {
            let _ = events.send(Event::Read { bytes: file.bytes, session });
        }
    });
    let problems = found.problems.iter().map(ToString::to_string).collect();
    let _ = events.send(Event::Surveyed(surveyed(found, all), problems));
}

fn listed(listing: &Listing) -> Vec<Project> {
    let session = |file: &HistoryFile| Session {
        file: file.clone(),
        unread: true,
        title: None,
        messages: 0,
        agents: 0,
        last_active: to_time(file.modified),
        hidden: file.bytes == 0,
        conversations: Vec::new(),
    };
    listing
        .projects
        .iter()
        .map(|project| Project {
            dir: project.dir.clone(),
            label: project.name.clone(),
            files: project.files.clone().into(),
            sessions: project.sessions().map(session).collect(),
        })
        .collect()
}

fn surveyed(survey: Survey, files: Vec<Arc<[HistoryFile]>>) -> Vec<Project> {
    let projects = survey.projects.into_iter().zip(files);
    projects
        .map(|(project, files)| Project {
            files,
            sessions: project
                .sessions
                .iter()
                .map(|surveyed| {
                    session(surveyed.file.clone(), &surveyed.digest, &project.summaries)
                })
                .collect(),
            label: project.path.unwrap_or(project.name),
            dir: project.dir,
        })
        .collect()
}

/// Returns what a list says of a session.
pub(crate) fn session(file: HistoryFile, digest: &Digest, summaries: &Summaries) -> Session {
    let conversation = |(n, conversation)| {
        let of: &ramus_core::digest::ConversationDigest = conversation;
        let title = conversation_title(digest, of, summaries);
        // The session's title says little about one of its branches.
        let words = if of.resumes { title } else { of.first_prompt.as_deref().or(title) };
        Conversation {
            n,
            title: words.map(str::to_owned),
            status: of.status,
            resumes: of.resumes,
            draft: of.draft,
            messages: of.messages,
            last_active: of.last_active,
        }
    };
    Session {
        unread: false,
        title: session_title(digest, summaries).map(str::to_owned),
        messages: digest.messages,
        agents: digest.agents.len() as u32 + digest.inline_agents,
        last_active: digest.facts.last_active.unwrap_or_else(|| to_time(file.modified)),
        hidden: digest.class.is_hidden(),
        conversations: (1..).zip(&digest.conversations).map(conversation).collect(),
        file,
    }
}
