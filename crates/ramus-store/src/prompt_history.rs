//! Reads the client's prompt history, `history.jsonl`.
//!
//! The client never deletes these prompts, so they outlive their sessions.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use ramus_core::query::{Query, TextKind};
use ramus_core::time::Time;
use serde::Deserialize;

use crate::claude_dir::Project;
use crate::error::PathError;
use crate::project_name::is_encoded_path;
use crate::regular_file;

/// One prompt of the prompt history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedPrompt {
    pub text: String,
    pub time: Option<Time>,
    /// The working directory it was typed in.
    pub project: Option<String>,
    /// The session it was typed in.
    pub session: String,
    /// Line number in the file, from 1.
    pub line: u32,
}

impl NotedPrompt {
    /// Whether it was typed in the working directory of a project.
    pub fn belongs_to(&self, project: &str) -> bool {
        self.project.as_ref().is_some_and(|path| is_encoded_path(project, path))
    }

    /// Whether it matches a query.
    pub fn matches_query(&self, query: &Query) -> bool {
        query.wants_kind(TextKind::Prompt)
            && self.time.is_none_or(|time| query.is_in_time(time))
            && query.find_in_text(&self.text).is_some()
    }
}

/// The prompts of sessions that no longer have a file.
#[derive(Debug, Default)]
pub struct LostPrompts {
    /// Newest first.
    pub prompts: Vec<NotedPrompt>,
    pub problems: Vec<PathError>,
}

/// A session of which only the prompts are left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoneSession {
    pub id: String,
    pub project: Option<String>,
    /// Oldest first.
    pub prompts: Vec<NotedPrompt>,
}

impl LostPrompts {
    /// Reads the prompts of sessions that are not among the projects of these Claude directories.
    ///
    /// Prompts without a session id are skipped, because their session may still exist.
    pub fn read(roots: &[PathBuf], projects: &[Project]) -> Self {
        let files = projects.iter().flat_map(|project| &project.files);
        let known: HashSet<&str> = files.map(|file| &*file.id).collect();
        let mut lost = Self::default();
        for root in roots {
            match read_noted_prompts(root) {
                Ok(prompts) => lost
                    .prompts
                    .extend(prompts.into_iter().filter(|prompt| !known.contains(&*prompt.session))),
                Err(problem) => lost.problems.push(problem),
            }
        }
        lost.prompts.sort_by_key(|prompt| std::cmp::Reverse((prompt.time, prompt.line)));
        lost
    }

    /// Groups the prompts by session, most recently used session first.
    pub fn into_sessions(self) -> Vec<GoneSession> {
        let mut sessions: Vec<GoneSession> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for prompt in self.prompts {
            let at = *places.entry(prompt.session.clone()).or_insert_with(|| {
                let (id, project) = (prompt.session.clone(), prompt.project.clone());
                sessions.push(GoneSession { id, project, prompts: Vec::new() });
                sessions.len() - 1
            });
            sessions[at].prompts.push(prompt);
        }
        sessions.iter_mut().for_each(|session| session.prompts.reverse());
        sessions
    }
}

impl GoneSession {
    /// Returns the times of its first and last prompt.
    pub fn first_and_last_time(&self) -> (Option<Time>, Option<Time>) {
        let time = |prompt: Option<&NotedPrompt>| prompt.and_then(|prompt| prompt.time);
        (time(self.prompts.first()), time(self.prompts.last()))
    }
}

/// Reads the prompt history of a Claude directory, oldest first. Invalid lines and prompts without a
/// session id are skipped.
pub(crate) fn read_noted_prompts(root: &Path) -> Result<Vec<NotedPrompt>, PathError> {
    let path = root.join("history.jsonl");
    let file = match regular_file::open_for_reading(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(PathError::new(&path, source)),
    };
    let mut prompts = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(file).split(b'\n')) {
        let line = line.map_err(|source| PathError::new(&path, source))?;
        prompts.extend(parse_noted_prompt(&line, number));
    }
    Ok(prompts)
}

/// A line of `history.jsonl`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NoteLine<'a> {
    #[serde(borrow)]
    display: Cow<'a, str>,
    timestamp: Option<i64>,
    #[serde(borrow)]
    project: Option<Cow<'a, str>>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
}

fn parse_noted_prompt(line: &[u8], number: u32) -> Option<NotedPrompt> {
    let note: NoteLine<'_> = serde_json::from_slice(line).ok()?;
    let session = note.session_id?;
    (!note.display.is_empty()).then(|| NotedPrompt {
        text: note.display.into_owned(),
        time: note.timestamp.map(Time::from_millis),
        project: note.project.map(Cow::into_owned),
        session: session.into_owned(),
        line: number,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude_dir::ClaudeDirs;

    #[test]
    fn every_line_that_is_a_prompt_of_a_session_is_one() {
        let home = testkit::TestHome::new();
        assert_eq!(read_noted_prompts(&home.claude_dir()).unwrap(), []);
        let lines = "{\"display\":\"one\",\"timestamp\":1000,\"project\":\"/p\",\"sessionId\":\"s\"}\n\
                     { half\n\n{\"display\":\"\"}\n[1]\n{\"display\":\"lost\"}\n{\"display\":\"two\",\"sessionId\":\"t\"}";
        std::fs::write(home.claude_dir().join("history.jsonl"), lines).unwrap();
        let prompts = read_noted_prompts(&home.claude_dir()).unwrap();
        let [one, two] = &prompts[..] else { panic!("{prompts:?}") };
        assert_eq!((&*one.text, one.line, one.time), ("one", 1, Some(Time::from_millis(1000))));
        assert_eq!((one.project.as_deref(), &*one.session), (Some("/p"), "s"));
        assert_eq!((&*two.text, two.line, two.time), ("two", 7, None));
    }

    #[test]
    fn prompts_of_sessions_that_are_gone_are_grouped() {
        let home = testkit::TestHome::new();
        home.write_session("-p/0a1b2c3d-0000-4000-8000-000000000001.jsonl", "a user hello");
        let note = |text: &str, time: i64, session: &str| {
            format!(
                "{{\"display\":\"{text}\",\"pastedContents\":{{}},\"timestamp\":{time},\"project\":\"/p\"{session}}}\n"
            )
        };
        let gone = |id: &str| format!(",\"sessionId\":\"{id}\"");
        let notes = [
            note("still there", 1, &gone("0a1b2c3d-0000-4000-8000-000000000001")),
            note("one", 2, &gone("x")),
            "no note\n".to_owned(),
            note("of y", 3, &gone("y")),
            note("two", 4, &gone("x")),
            note("of nobody", 5, ""),
        ];
        std::fs::write(home.claude_dir().join("history.jsonl"), notes.concat()).unwrap();
        let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
        let lost = LostPrompts::read(&place.roots, &place.list_projects().projects);
        assert!(
            lost.prompts.iter().all(|prompt| prompt.belongs_to("-p") && !prompt.belongs_to("-q"))
        );
        let sessions = lost.into_sessions();
        let listed: Vec<(&str, Vec<&str>)> = { &sessions }
            .iter()
            .map(|one| (&*one.id, one.prompts.iter().map(|prompt| &*prompt.text).collect()))
            .collect();
        assert_eq!(listed, [("x", vec!["one", "two"]), ("y", vec!["of y"])]);
        assert_eq!(sessions[0].prompts[1].line, 5);
    }
}
