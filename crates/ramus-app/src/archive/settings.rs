//! The client's settings with and without the hook that archives.

use std::path::Path;

use ramus_archive::hook::{HookError, add_hook, hook_command, remove_hook};
use ramus_core::edit::ChangeDetail;
use ramus_store::plan::{NewContent, OperationKind, PlanStep, WritePlan};
use ramus_store::{PathError, Stamp, read_optional_text};

use crate::change::PlannedChange;
use crate::workspace::Workspace;

/// What is to become of the hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsRequest {
    Install,
    Uninstall,
}

/// Why settings cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("{file}: {error}")]
    Refused { file: String, error: HookError },
    #[error(transparent)]
    Read(#[from] PathError),
}

impl Workspace {
    /// Plans to change the settings of a Claude directory; `None`: they are as they should be.
    ///
    /// `program` is how the hook starts ramus.
    pub fn plan_settings(
        &self,
        root: &Path,
        request: SettingsRequest,
        program: &str,
    ) -> Result<Option<PlannedChange>, SettingsError> {
        let file = root.join("settings.json");
        let old = read_optional_text(&file)?;
        let text = old.as_deref().unwrap_or_default();
        let edited = match request {
            SettingsRequest::Install => add_hook(text, program),
            SettingsRequest::Uninstall => remove_hook(text),
        };
        let refused = |error| SettingsError::Refused { file: file.display().to_string(), error };
        let new = edited.map_err(refused)?;
        if new == text {
            return Ok(None);
        }
        let content = NewContent::Bytes(new.into_bytes());
        let step = match old {
            Some(old) => {
                // What was read, not what is there by now: the client may write its settings meanwhile.
                let before = Some(Stamp::of_bytes(old.as_bytes()));
                PlanStep::ReplaceFile { file: file.clone(), before, content }
            }
            None => PlanStep::CreateFile { file: file.clone(), content },
        };
        let (words, log) = match request {
            SettingsRequest::Install => ("Adds a hook to", "add the archive hook"),
            SettingsRequest::Uninstall => ("Removes the hook from", "remove the archive hook"),
        };
        let plan = WritePlan {
            what: OperationKind::Settings,
            session: String::new(),
            file,
            root: Some(root.to_owned()),
            words: log.to_owned(),
            steps: vec![step],
            resume: None,
            left_out: 0,
            unreported: 0,
            undoes: None,
        };
        let detail =
            ChangeDetail::Settings { words: words.to_owned(), command: hook_command(program) };
        Ok(Some(PlannedChange::new(self, plan, detail)))
    }
}
