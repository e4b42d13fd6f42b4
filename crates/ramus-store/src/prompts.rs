//! The prompts that the client notes in `history.jsonl`. It never deletes them, so they outlive the
//! sessions they were typed in.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::Path;

use ramus_core::time::Time;
use serde_json::Value;

use crate::error::PathError;

/// One prompt as the client noted it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedPrompt {
    pub text: String,
    pub time: Option<Time>,
    /// The directory it was typed in.
    pub project: Option<String>,
    /// The session it was typed in; `None`: old clients did not note it.
    pub session: Option<String>,
    /// Line number in the file, from 1.
    pub line: u32,
}

/// Reads the prompts noted in a Claude directory, oldest first; a line that is no note is passed over.
pub fn noted_prompts(root: &Path) -> Result<Vec<NotedPrompt>, PathError> {
    let path = root.join("history.jsonl");
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(PathError::new(&path, source)),
    };
    let mut prompts = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(file).split(b'\n')) {
        let line = line.map_err(|source| PathError::new(&path, source))?;
        prompts.extend(noted_prompt(&line, number));
    }
    Ok(prompts)
}

fn noted_prompt(line: &[u8], number: u32) -> Option<NotedPrompt> {
    let note: Value = serde_json::from_slice(line).ok()?;
    let text = |key: &str| note[key].as_str().map(str::to_owned);
    Some(NotedPrompt {
        text: text("display").filter(|text| !text.is_empty())?,
        time: note["timestamp"].as_i64().map(Time::from_millis),
        project: text("project"),
        session: text("sessionId"),
        line: number,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_that_is_a_prompt_is_one() {
        let home = testkit::Home::new();
        assert_eq!(noted_prompts(&home.claude()).unwrap(), []);
        let lines = "{\"display\":\"one\",\"timestamp\":1000,\"project\":\"/p\",\"sessionId\":\"s\"}\n\
                     { half\n\n{\"display\":\"\"}\n[1]\n{\"display\":\"two\"}";
        std::fs::write(home.claude().join("history.jsonl"), lines).unwrap();
        let prompts = noted_prompts(&home.claude()).unwrap();
        let [one, two] = &prompts[..] else { panic!("{prompts:?}") };
        assert_eq!((&*one.text, one.line, one.time), ("one", 1, Some(Time::from_millis(1000))));
        assert_eq!((one.project.as_deref(), one.session.as_deref()), (Some("/p"), Some("s")));
        assert_eq!((&*two.text, two.line, two.time), ("two", 6, None));
    }
}
