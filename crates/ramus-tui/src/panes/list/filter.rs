//! Which sessions fit what was typed, the best first.

use frizbee::{Config, Matcher};

use super::Project;

/// Returns the places of the sessions that fit, each with that of its project; every word must.
pub(super) fn rows(projects: &[Project], text: &str, all: bool) -> Vec<(usize, usize)> {
    let mut haystacks = Vec::new();
    let mut places = Vec::new();
    for (p, project) in projects.iter().enumerate() {
        for (s, session) in project.sessions.iter().enumerate() {
            if session.hidden && !all {
                continue;
            }
            let mut haystack = session.title.clone().unwrap_or_default();
            for conversation in &session.conversations {
                if let Some(title) = conversation.title.as_deref()
                    && !haystack.contains(title)
                {
                    haystack.extend([" ", title]);
                }
            }
            haystack.extend([" ", &project.label, " ", &session.file.id]);
            haystacks.push(haystack);
            places.push((p, s));
        }
    }
    let mut matcher = Matcher::from_query(text, &Config::default());
    let found = matcher.match_list(&haystacks);
    found.into_iter().map(|found| places[found.index as usize]).collect()
}
