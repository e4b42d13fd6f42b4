//! A plan that puts an archived session back, like every other write: shown first, undone by `undo`.

use std::path::Path;
use std::sync::Arc;

use ramus_store::owned::OwnedKind;
use ramus_store::plan::{NewContent, OperationKind, PlanStep, WritePlan};
use ramus_store::{PathError, Stamp, StoredBytes};

use crate::archive::{Archive, ArchivedSession};
use crate::content::ArchivedContent;
use crate::storage::{ArchiveError, is_damage};

/// How to restore a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct RestoreRequest {
    /// Which generation of the session's own file; `None`: the newest.
    pub generation: Option<u32>,
    /// Existing files with another content are replaced; the replaced content is kept.
    pub replace: bool,
}

/// What restoring a session takes.
#[derive(Debug)]
pub struct RestorePlan {
    pub plan: WritePlan,
    /// Existing files with another content that are not changed.
    pub kept: u64,
    /// The total length of the restored files.
    pub bytes: u64,
    /// Secrets were removed from some of them before they were sent: they are not what they were.
    pub is_redacted: bool,
    /// Why some files are left out: their archived content is damaged.
    pub damaged: Vec<PathError>,
}

impl Archive {
    /// Plans to put the files of a session back where they were. Damaged ones are left out, unless it is the session's
    /// own.
    ///
    /// Restored files get the current date, because the client deletes old files when it starts.
    pub fn plan_restore(
        &self,
        session: &ArchivedSession,
        request: RestoreRequest,
    ) -> Result<RestorePlan, ArchiveError> {
        let (mut kept, mut bytes, mut is_redacted) = (0, 0, false);
        let (mut steps, mut damaged) = (Vec::new(), Vec::new());
        let mut transcript = None;
        for file in &session.files {
            let is_transcript = file.kind == OwnedKind::Session;
            let number = request.generation.filter(|_| is_transcript);
            let content = self.content(file, number)?;
            let path = file.key.full_path();
            let place = match look(&path, &content) {
                Err(problem) if !is_transcript && is_damage(&problem) => {
                    damaged.push(problem);
                    continue;
                }
                place => place?,
            };
            let place = match place {
                Place::Free => Some(None),
                Place::Same => None,
                Place::Other(before) if request.replace => Some(Some(before)),
                Place::Other(_) => {
                    kept += 1;
                    None
                }
            };
            is_redacted |= place.is_some() && content.generation.redacted;
            bytes += place.as_ref().map_or(0, |_| content.byte_count());
            let step = place.map(|before| put(path.clone(), before, content));
            if is_transcript {
                transcript = Some((path, step));
            } else {
                steps.extend(step);
            }
        }
        let (path, step) = transcript.unwrap_or_else(|| (session.root.clone(), None));
        match step {
            // First, so that the replaced file is backed up.
            Some(step @ PlanStep::ReplaceFile { .. }) => steps.insert(0, step),
            // Last, because with it the session is there.
            Some(step) => steps.push(step),
            None => {}
        }
        let mut words = "from the archive".to_owned();
        if let Some(number) = request.generation {
            words = format!("{words}, generation {number}");
        }
        let plan = WritePlan {
            what: OperationKind::Restore,
            session: session.id.clone(),
            file: path,
            root: Some(session.root.clone()),
            words,
            steps,
            resume: None,
            left_out: 0,
            unreported: 0,
            undoes: None,
        };
        Ok(RestorePlan { plan, kept, bytes, is_redacted, damaged })
    }
}

/// What is where a file goes.
enum Place {
    Free,
    Same,
    Other(Stamp),
}

/// Looks at a place, and reads the content through.
fn look(path: &Path, content: &ArchivedContent) -> Result<Place, PathError> {
    let archived = Stamp::of_pieces(&mut |n| content.piece(n))?;
    if path.symlink_metadata().is_err() {
        return Ok(Place::Free);
    }
    let before = Stamp::of_file(path).map_err(|source| PathError::new(path, source))?;
    Ok(if before == archived { Place::Same } else { Place::Other(before) })
}

fn put(file: std::path::PathBuf, before: Option<Stamp>, content: ArchivedContent) -> PlanStep {
    let mode = content.generation.mode;
    let content = NewContent::WithMode {
        content: Box::new(NewContent::Stored(Arc::new(content))),
        mode,
        modified: None,
    };
    match before {
        None => PlanStep::CreateFile { file, content },
        before => PlanStep::ReplaceFile { file, before, content },
    }
}
