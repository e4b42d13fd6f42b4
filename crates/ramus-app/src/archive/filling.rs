//! Plans and runs the archiving of new content, and describes the result.

use ramus_archive::add::AddReport;
use ramus_archive::{Archive, ArchiveError};
use ramus_core::time::Time;

use super::SendableFiles;
use crate::address::Scope;
use crate::workspace::Workspace;

/// What archiving everything would do now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchivingPlan {
    /// Where the archive is, or would be made.
    pub archive: String,
    pub exists: bool,
    /// The files that are not archived as they are now.
    pub files: u64,
    pub bytes: u64,
    /// Files among them that the client deletes soon.
    pub due: u64,
}

impl ArchivingPlan {
    /// Says what would be done, a sentence each; `size` writes a number of bytes.
    pub fn sentences(&self, size: &dyn Fn(u64) -> String) -> Vec<String> {
        if self.files == 0 {
            return vec!["Every file is archived already.".to_owned()];
        }
        let files = count_files(self.files);
        let mut said = vec![format!("Archives {files} ({}).", size(self.bytes))];
        match self.due {
            0 => {}
            1 => said.push("1 of them is due for deletion.".to_owned()),
            due => said.push(format!("{due} of them are due for deletion.")),
        }
        said.push(match self.exists {
            true => format!("They are added to {}.", self.archive),
            false => format!("They go to a new archive that only you can read: {}.", self.archive),
        });
        said.push("Nothing in the Claude directory changes.".to_owned());
        said
    }
}

/// Says how archiving went; `size` writes a number of bytes.
pub fn added_text(report: AddReport, size: &dyn Fn(u64) -> String) -> String {
    let AddReport { new, grown, rewritten, unchanged, skipped, left_out, .. } = report;
    if new + grown + rewritten + skipped + left_out == 0 {
        return format!("Everything is archived: {}.", count_files(unchanged));
    }
    let counts = [(new, "new"), (grown, "grown"), (rewritten, "rewritten")];
    let counts = counts.into_iter().filter(|(files, _)| *files > 0);
    let mut parts: Vec<String> = counts.map(|(files, word)| format!("{files} {word}")).collect();
    if parts.is_empty() {
        parts.push("nothing new".to_owned());
    }
    let sizes = format!("{} ({} compressed)", size(report.added_bytes), size(report.stored_bytes));
    let skipped = match skipped {
        0 => String::new(),
        skipped => format!(", {skipped} skipped"),
    };
    let left_out = match left_out {
        0 => String::new(),
        files => format!(", {files} not sent (not text, so secrets cannot be found in them)"),
    };
    format!("Archived: {}, {sizes}; {unchanged} unchanged{skipped}{left_out}", parts.join(", "))
}

fn count_files(files: u64) -> String {
    match files {
        1 => "1 file".to_owned(),
        many => format!("{many} files"),
    }
}

impl Workspace {
    /// Plans to archive everything that is new. `None`: an archive is not wanted.
    pub fn plan_archiving(&self, now: Time) -> Result<Option<ArchivingPlan>, ArchiveError> {
        let Some(place) = self.archive_place() else { return Ok(None) };
        let mut plan = ArchivingPlan {
            archive: place.name(),
            exists: place.open_existing()?.is_some(),
            ..ArchivingPlan::default()
        };
        let archived = self.archived_files()?;
        let files = match self.archive() {
            Some(archive) => self.sendable_files(archive, &[Scope::All])?.files,
            None => self.owned_files(&Scope::All),
        };
        for file in files {
            if !archived.has(&file.path, file.identity) {
                plan.files += 1;
                plan.bytes += file.bytes;
            }
        }
        plan.due = self.count_unarchived_files(now)? as u64;
        Ok(Some(plan))
    }

    /// Counts the files that the client deletes soon and that are not archived; 0 if that is not wanted.
    pub fn count_unarchived_files(&self, now: Time) -> Result<usize, ArchiveError> {
        if self.archive_place().is_none() {
            return Ok(0);
        }
        let projects = self.list_projects();
        self.count_unarchived_due(projects.iter().flat_map(|project| &project.files), now)
    }

    /// Archives everything that is new; the archive is made if it does not exist. `None`: it is not wanted.
    pub fn archive_everything(&self, now: Time) -> Result<Option<AddReport>, ArchiveError> {
        let Some(place) = self.archive_place() else { return Ok(None) };
        let archive = place.open_or_create()?;
        let files = self.sendable_files(archive, &[Scope::All])?;
        self.add_to_archive(archive, &files, now).map(Some)
    }

    /// Archives new content of some files.
    pub fn add_to_archive(
        &self,
        archive: &Archive,
        sendable: &SendableFiles,
        now: Time,
    ) -> Result<AddReport, ArchiveError> {
        let files = &sendable.files;
        let progress = self.progress_sink();
        progress.begin_reading(files.iter().map(|file| file.bytes).sum());
        let on_read = |bytes| progress.advance_bytes(bytes);
        let on_problem = |problem: &ramus_store::PathError| progress.report_problem(problem);
        let report = match sendable.redact {
            true => archive.add_redacted(files, now, &on_read, &on_problem),
            false => archive.add(files, now, &on_read, &on_problem),
        };
        progress.end_reading();
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(bytes: u64) -> String {
        format!("{bytes} B")
    }

    #[test]
    fn a_plan_says_what_is_archived_and_where() {
        let plan = ArchivingPlan {
            archive: "/data/archive.db".to_owned(),
            exists: false,
            files: 3,
            bytes: 70,
            due: 1,
        };
        let said = plan.sentences(&size).join(" ");
        assert_eq!(
            said,
            "Archives 3 files (70 B). 1 of them is due for deletion. They go to a new archive that only you can read: /data/archive.db. Nothing in the Claude directory changes."
        );
        let none = ArchivingPlan { files: 0, ..plan };
        assert_eq!(none.sentences(&size), ["Every file is archived already."]);
    }

    #[test]
    fn what_was_archived_is_told_in_a_line() {
        let report = AddReport {
            files: 9,
            unchanged: 4,
            new: 2,
            grown: 1,
            rewritten: 0,
            skipped: 2,
            added_bytes: 100,
            stored_bytes: 10,
            left_out: 0,
        };
        let text = added_text(report, &size);
        assert_eq!(
            text,
            "Archived: 2 new, 1 grown, 100 B (10 B compressed); 4 unchanged, 2 skipped"
        );
        let none = AddReport { files: 1, unchanged: 1, ..AddReport::default() };
        assert_eq!(added_text(none, &size), "Everything is archived: 1 file.");
    }
}
