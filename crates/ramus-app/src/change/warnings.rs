//! Describes a planned change and what to know before confirming it, in sentences.

use std::path::Path;

use ramus_store::plan::{NewContent, PlanStep};
use ramus_store::session_in_use::find_open_client;

use super::PlannedChange;

impl PlannedChange {
    /// Lists what to know before it is carried out.
    pub fn plan_warnings(&self) -> Vec<String> {
        let refused = self.instead_of.as_ref().map(|refusal| {
            format!(
                "Cannot resume there in this session: {refusal}. \
                 A fork with the same conversation works."
            )
        });
        let root = self.plan.root.as_deref();
        let open = root.and_then(|root| find_open_client(root, &self.plan.session)).map(|pid| {
            format!("The session is open in Claude Code (process {pid}). Close it there first.")
        });
        let others = [refused, open, self.bytes_set_aside()];
        others.into_iter().flatten().chain(self.plan.resume_notes()).collect()
    }

    /// Warns about lines that exist now and will not be part of the session.
    fn bytes_set_aside(&self) -> Option<String> {
        let [
            PlanStep::ReplaceFile {
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
            "The session has grown by {more} bytes since. They are kept; undo restores them."
        ))
    }

    /// Lists the steps by file name. Files that a new session copies are one step.
    pub fn step_descriptions(&self) -> Vec<String> {
        let is_link = |step: &&PlanStep| matches!(step, PlanStep::HardLink { .. });
        let own = self.plan.steps.iter().filter(|step| !is_link(step));
        let mut words: Vec<String> = own.map(step_description).collect();
        match self.plan.steps.iter().filter(is_link).count() {
            0 => {}
            1 => words.push("copy 1 file backup or output".to_owned()),
            n => words.push(format!("copy {n} file backups and outputs")),
        }
        words
    }
}

fn step_description(step: &PlanStep) -> String {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match step {
        PlanStep::AppendLines { file, bytes, .. } => {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            let noun = if lines == 1 { "line" } else { "lines" };
            format!("add {lines} {noun} to the end of {}", name(file))
        }
        PlanStep::CreateFile { file, .. } => format!("create {}", name(file)),
        PlanStep::HardLink { to, .. } => format!("copy {}", name(to)),
        PlanStep::ReplaceFile { file, .. } => {
            format!("restore an earlier version of {}", name(file))
        }
        PlanStep::MoveFile { from, to: None, .. } => {
            format!("move {} to ramus's trash", name(from))
        }
        PlanStep::RejoinTrashed { file, .. } => {
            format!("restore {}, and append the current lines", name(file))
        }
        PlanStep::MoveFile { to: Some(to), .. } => format!("move {} back", name(to)),
        PlanStep::RemoveLines { file, wanted, .. } => {
            format!("reduce {} to {} bytes", name(file), wanted.len)
        }
        PlanStep::RemoveEmptyDir { dir } => format!("remove the empty directory {}", name(dir)),
    }
}
