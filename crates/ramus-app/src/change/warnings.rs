//! What a planned change does and what to know before, in sentences.

use std::path::Path;

use ramus_store::plan::{NewContent, PlanStep};
use ramus_store::session_in_use::find_open_client;

use super::PlannedChange;

impl PlannedChange {
    /// Lists what to know before it is carried out.
    pub fn plan_warnings(&self) -> Vec<String> {
        let refused = self.instead_of.as_ref().map(|refusal| {
            format!(
                "Cannot go there in this session: {refusal}. \
                 A new session with the same conversation does it."
            )
        });
        let root = self.plan.root.as_deref();
        let open = root.and_then(|root| find_open_client(root, &self.plan.session)).map(|pid| {
            format!("The session is open in Claude Code (process {pid}); close it there first.")
        });
        let others = [refused, open, self.bytes_set_aside()];
        others.into_iter().flatten().chain(self.plan.resume_notes()).collect()
    }

    /// Tells what is there now and will not be part of the session.
    fn bytes_set_aside(&self) -> Option<String> {
        let [
            PlanStep::Put {
                before: Some(now),
                content: NewContent::Beginning { stamp: then, .. },
                ..
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
    pub fn step_descriptions(&self) -> Vec<String> {
        let is_link = |step: &&PlanStep| matches!(step, PlanStep::Link { .. });
        let own = self.plan.steps.iter().filter(|step| !is_link(step));
        let mut words: Vec<String> = own.map(step_description).collect();
        match self.plan.steps.iter().filter(is_link).count() {
            0 => {}
            1 => words.push("take along 1 file backup or output".to_owned()),
            n => words.push(format!("take along {n} file backups and outputs")),
        }
        words
    }
}

fn step_description(step: &PlanStep) -> String {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match step {
        PlanStep::Append { file, bytes, .. } => {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            let noun = if lines == 1 { "line" } else { "lines" };
            format!("add {lines} {noun} to the end of {}", name(file))
        }
        PlanStep::Make { file, .. } => format!("write the new file {}", name(file)),
        PlanStep::Link { to, .. } => format!("take along {}", name(to)),
        PlanStep::Put { file, .. } => format!("put an earlier content back into {}", name(file)),
        PlanStep::Move { from, to: None, .. } => {
            format!("move {} to ramus's own trash", name(from))
        }
        PlanStep::Join { file, .. } => {
            format!("bring {} back, and add the lines that are there now", name(file))
        }
        PlanStep::Move { to: Some(to), .. } => format!("move {} back to its place", name(to)),
        PlanStep::Cut { file, wanted, .. } => {
            format!("cut {} back to {} bytes", name(file), wanted.len)
        }
        PlanStep::Tidy { dir } => format!("remove the empty directory {}", name(dir)),
    }
}
