//! Plans that change one session: a new resume point, a new title, a move to the trash.

use std::path::{Path, PathBuf};

use ramus_core::body::json;
use ramus_core::characters::is_control_like;
use ramus_core::client_path::{messages_left_out, unreported_agents};
use ramus_core::edit::{self, AppendedLines, EditContext};
use ramus_core::history::History;
use ramus_core::session::NodeId;
use ramus_core::time::Time;

use super::{OperationKind, PlanError, PlanStep, SessionContext, WritePlan, new_id};
use crate::agents::read_agents;
use crate::claude_dir::FileRole;
use crate::disk;
use crate::error::PathError;
use crate::read::RecordReader;
use crate::regular_file;
use crate::stamp::Stamp;

/// Plans to make a node the resume point (R25).
pub fn plan_goto(
    subject: SessionContext<'_>,
    target: NodeId,
    now: Time,
) -> Result<WritePlan, PlanError> {
    let mut id = new_id;
    let mut writer = EditContext { session: &subject.file.id, now, new_id: &mut id };
    let addition = edit::plan_goto(subject.history, target, subject.title, &mut writer)?;
    let session = &subject.history.session;
    let name = session.record(target).uuid.map(|name| session.uuid_text(name));
    let words = format!("to {}", subject.history.short_uuid(&name.unwrap_or_default()));
    let end = edit::end_of_message(subject.history, target).unwrap_or(target);
    let left_out = messages_left_out(subject.history, end);
    let unreported = count_unreported_agents(&subject.file.path, subject.history, end)?;
    let plan = plan_append(subject, OperationKind::Goto, addition, words)?;
    Ok(WritePlan { left_out, unreported, ..plan })
}

/// Counts the background agents that have not reported by a record.
pub(super) fn count_unreported_agents(
    path: &Path,
    history: &History,
    end: NodeId,
) -> Result<u32, PathError> {
    let mut bodies = RecordReader::open(path)?;
    let mut problem = None;
    let mut line = |id: NodeId| match bodies.read_record(history.session.record(id).span) {
        Ok(bytes) => json::parse_line(&bytes).ok(),
        Err(error) => {
            problem = Some(error);
            None
        }
    };
    let count = unreported_agents(history, end, &mut line).len() as u32;
    problem.map_or(Ok(count), Err)
}

/// The maximum number of characters of a title.
const TITLE: usize = 200;

/// Why a text cannot be the title of a session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TitleError {
    #[error("The title is empty")]
    Empty,
    #[error("The title has {0} characters; at most {TITLE} are allowed")]
    TooLong(usize),
    #[error("The title contains U+{0:04X}, a character that is not visible")]
    Invisible(u32),
}

/// Returns a trimmed title if it is valid. Titles are printed wherever sessions are listed, so invisible
/// characters are not allowed.
pub fn check_title(text: &str) -> Result<&str, TitleError> {
    let title = text.trim();
    let length = title.chars().count();
    if length == 0 {
        return Err(TitleError::Empty);
    }
    if length > TITLE {
        return Err(TitleError::TooLong(length));
    }
    match title.chars().find(|char| is_control_like(*char)) {
        Some(char) => Err(TitleError::Invisible(char.into())),
        None => Ok(title),
    }
}

/// Plans to give a session a title.
pub fn plan_rename(
    subject: SessionContext<'_>,
    title: &str,
    now: Time,
) -> Result<WritePlan, PathError> {
    let mut id = new_id;
    let writer = EditContext { session: &subject.file.id, now, new_id: &mut id };
    plan_append(
        subject,
        OperationKind::Rename,
        edit::plan_rename(title, &writer),
        format!("to {title:?}"),
    )
}

pub(super) fn plan_append(
    subject: SessionContext<'_>,
    what: OperationKind,
    addition: AppendedLines,
    words: String,
) -> Result<WritePlan, PathError> {
    let before = subject.stamp_read_part()?;
    let mut bytes = addition.bytes;
    if !ends_with_newline(&subject.file.path, before.len)? {
        bytes.insert(0, b'\n');
    }
    Ok(WritePlan {
        what,
        session: subject.file.id.clone(),
        file: subject.file.path.clone(),
        root: subject.root.map(Path::to_owned),
        words,
        steps: vec![PlanStep::AppendLines { file: subject.file.path.clone(), before, bytes }],
        resume: addition.resume,
        left_out: 0,
        unreported: 0,
        undoes: None,
    })
}

/// Whether the first `len` bytes of a file end with a newline. Zero bytes count as ended.
fn ends_with_newline(path: &Path, len: u64) -> Result<bool, PathError> {
    use std::io::{Read, Seek, SeekFrom};
    let Some(last) = len.checked_sub(1) else { return Ok(true) };
    let mut byte = [0];
    regular_file::open_for_reading(path)
        .and_then(|mut file| {
            file.seek(SeekFrom::Start(last))?;
            file.read_exact(&mut byte)
        })
        .map_err(|source| PathError::new(path, source))?;
    Ok(byte == *b"\n")
}

/// Plans to move a session to the trash with everything that belongs to it.
pub fn plan_trash(subject: SessionContext<'_>) -> Result<WritePlan, PathError> {
    let id = &subject.file.id;
    let mut paths: Vec<PathBuf> = vec![subject.file.path.clone()];
    let dir = subject.file.path.with_extension("");
    if subject.file.role == FileRole::Session {
        let (agents, problems) = read_agents(subject.files, id);
        // A flat agent that cannot be read may belong to this session or to another one.
        let is_flat = |problem: &PathError| !problem.path.starts_with(&dir);
        if let Some(problem) = problems.into_iter().find(is_flat) {
            return Err(problem);
        }
        paths.push(dir);
        let flat = agents.into_iter().filter(|agent| agent.file.role == FileRole::FlatAgent);
        paths.extend(flat.map(|agent| agent.file.path));
        paths.extend(subject.root.map(|root| root.join("file-history").join(id)));
    } else {
        paths.push(subject.file.path.with_extension("meta.json"));
    }
    let mut steps = Vec::new();
    for path in paths {
        if disk::path_exists(&path)? {
            steps.push(trash_step(path));
        }
    }
    Ok(WritePlan {
        what: OperationKind::Trash,
        session: id.clone(),
        file: subject.file.path.clone(),
        root: subject.root.map(Path::to_owned),
        words: format!("{:?}", subject.title),
        steps,
        resume: None,
        left_out: 0,
        unreported: 0,
        undoes: None,
    })
}

/// Returns the step that moves a file to the trash. Its stamp makes sure that a file changed after the plan
/// was shown is not removed.
fn trash_step(from: PathBuf) -> PlanStep {
    let before = if from.is_file() { Stamp::of_file(&from).ok() } else { None };
    PlanStep::MoveFile { from, to: None, before }
}

#[cfg(test)]
mod tests {
    use super::{TITLE, TitleError, check_title};

    #[test]
    fn a_title_is_short_and_visible() {
        assert_eq!(check_title("  A pot of tea, ümläut 🫖 "), Ok("A pot of tea, ümläut 🫖"));
        assert_eq!(check_title(&"ä".repeat(TITLE)).map(str::len), Ok(2 * TITLE));
        assert_eq!(check_title(" \n"), Err(TitleError::Empty));
        assert_eq!(check_title(&"a".repeat(TITLE + 1)), Err(TitleError::TooLong(TITLE + 1)));
        for bad in ["a\nb", "a\x1b[2Jb", "a\u{9b}b", "a\x7fb", "a\u{202e}b", "a\u{e0041}b", "a\0b"]
        {
            assert!(matches!(check_title(bad), Err(TitleError::Invisible(_))), "{bad:?}");
        }
    }
}
