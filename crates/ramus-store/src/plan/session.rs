//! Plans that touch one session: another resume point, another title, the trash.

use std::path::{Path, PathBuf};

use ramus_core::client_path::messages_left_out;
use ramus_core::edit::{self, Addition, Refusal, Writer};
use ramus_core::session::NodeId;
use ramus_core::time::Time;

use super::{Plan, Step, Subject, What, new_id, short};
use crate::agents::agents_of;
use crate::error::PathError;
use crate::place::FileRole;
use crate::regular;

/// Plans to make a node the resume point (R25); the inner `Err` says why that cannot be.
pub fn goto(
    subject: Subject<'_>,
    target: NodeId,
    now: Time,
) -> Result<Result<Plan, Refusal>, PathError> {
    let mut id = new_id;
    let mut writer = Writer { session: &subject.file.id, now, new_id: &mut id };
    match edit::goto(subject.history, target, subject.title, &mut writer) {
        Ok(addition) => {
            let session = &subject.history.session;
            let name = session.record(target).name.map(|name| session.spell(name));
            let words = format!("to {}", short(&name.unwrap_or_default()));
            let end = edit::end_of_message(subject.history, target).unwrap_or(target);
            let left_out = messages_left_out(subject.history, end);
            let plan = append(subject, What::Goto, addition, words)?;
            Ok(Ok(Plan { left_out, ..plan }))
        }
        Err(refusal) => Ok(Err(refusal)),
    }
}

/// Plans to give a session a title.
pub fn rename(subject: Subject<'_>, title: &str, now: Time) -> Result<Plan, PathError> {
    let mut id = new_id;
    let writer = Writer { session: &subject.file.id, now, new_id: &mut id };
    append(subject, What::Rename, edit::rename(title, &writer), format!("to {title:?}"))
}

pub(super) fn append(
    subject: Subject<'_>,
    what: What,
    addition: Addition,
    words: String,
) -> Result<Plan, PathError> {
    let before = subject.stamp()?;
    let mut bytes = addition.bytes;
    if !ends_with_newline(&subject.file.path, before.len)? {
        bytes.insert(0, b'\n');
    }
    Ok(Plan {
        what,
        session: subject.file.id.clone(),
        file: subject.file.path.clone(),
        root: subject.root.map(Path::to_owned),
        words,
        steps: vec![Step::Append { file: subject.file.path.clone(), before, bytes }],
        resume: addition.resume,
        left_out: 0,
        undoes: None,
    })
}

/// Whether the first `len` bytes of a file end a line; an empty file does.
fn ends_with_newline(path: &Path, len: u64) -> Result<bool, PathError> {
    use std::io::{Read, Seek, SeekFrom};
    let Some(last) = len.checked_sub(1) else { return Ok(true) };
    let mut byte = [0];
    regular::open(path)
        .and_then(|mut file| {
            file.seek(SeekFrom::Start(last))?;
            file.read_exact(&mut byte)
        })
        .map_err(|source| PathError::new(path, source))?;
    Ok(byte == *b"\n")
}

/// Plans to move a session away with all that belongs to it.
pub fn trash(subject: Subject<'_>) -> Result<Plan, PathError> {
    let id = &subject.file.id;
    let mut paths: Vec<PathBuf> = vec![subject.file.path.clone()];
    let dir = subject.file.path.with_extension("");
    if subject.file.role == FileRole::Session {
        let (agents, problems) = agents_of(subject.files, id);
        // An agent that cannot be read may be one of a session beside it, or of this one.
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
    let there = paths.into_iter().filter(|path| path.symlink_metadata().is_ok());
    Ok(Plan {
        what: What::Trash,
        session: id.clone(),
        file: subject.file.path.clone(),
        root: subject.root.map(Path::to_owned),
        words: format!("{:?}", subject.title),
        steps: there.map(|from| Step::Move { from, to: None, before: None }).collect(),
        resume: None,
        left_out: 0,
        undoes: None,
    })
}
