//! What a planned change does and what to know before, in sentences.

use std::path::Path;

use ramus_store::live::open_in;
use ramus_store::plan::{Content, Step};

use super::PlannedChange;

impl PlannedChange {
    /// Lists what to know before it is carried out.
    pub fn warnings(&self) -> Vec<String> {
        let refused = self.instead_of.as_ref().map(|refusal| {
            format!(
                "Cannot go there in this session: {refusal}. \
                 A new session with the same conversation does it."
            )
        });
        let root = self.plan.root.as_deref();
        let open = root.and_then(|root| open_in(root, &self.plan.session)).map(|pid| {
            format!("The session is open in Claude Code (process {pid}); close it there first.")
        });
        let others = [refused, open, self.bytes_set_aside()];
        others.into_iter().flatten().chain(self.plan.resume_words()).collect()
    }

    /// Tells what is there now and will not be part of the session.
    fn bytes_set_aside(&self) -> Option<String> {
        let [
            Step::Put {
                before: Some(now), content: Content::Beginning { stamp: then, .. }, ..
            },
        ] = &self.plan.steps[..]
        else {
            return None;
        };
        let more = now.len.checked_sub(then.len).filter(|more| *more > 0)?;
        Some(format!(
            "The session has {more} bytes more by now. They are kept; undo brings them back."
        ))
    }

    /// Lists the steps by the names of files alone; the files that come along with a new session are one step.
    pub fn step_words(&self) -> Vec<String> {
        let is_link = |step: &&Step| matches!(step, Step::Link { .. });
        let own = self.plan.steps.iter().filter(|step| !is_link(step));
        let mut words: Vec<String> = own.map(step_words).collect();
        match self.plan.steps.iter().filter(is_link).count() {
            0 => {}
            1 => words.push("take along 1 file backup or output".to_owned()),
            n => words.push(format!("take along {n} file backups and outputs")),
        }
        words
    }
}

fn step_words(step: &Step) -> String {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match step {
        Step::Append { file, bytes, .. } => {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            let noun = if lines == 1 { "line" } else { "lines" };
            format!("add {lines} {noun} to the end of {}", name(file))
        }
        Step::Make { file, .. } => format!("write the new file {}", name(file)),
        Step::Link { to, .. } => format!("take along {}", name(to)),
        Step::Put { file, .. } => format!("put an earlier content back into {}", name(file)),
        Step::Move { from, to: None, .. } => format!("move {} to ramus's own trash", name(from)),
        Step::Join { file, .. } => {
            format!("bring {} back, and add the lines that are there now", name(file))
        }
        Step::Move { to: Some(to), .. } => format!("move {} back to its place", name(to)),
        Step::Cut { file, wanted, .. } => {
            format!("cut {} back to {} bytes", name(file), wanted.len)
        }
        Step::Tidy { dir } => format!("remove the empty directory {}", name(dir)),
    }
}
