//! Finds defects that only other files and the disk can reveal (R34).

use std::fs;
use std::path::PathBuf;

use ramus_core::defect::{Defect, DefectKind};
use ramus_core::ids::RecordUuid;
use ramus_core::inspect::{Inspection, RecordFlaw};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::claude_dir::{FileRole, Project};
use crate::file_history::backup_dirs;
use crate::survey::{Survey, SurveyedFile};

/// Facts about all files together, which each file is checked against.
#[derive(Debug)]
pub struct CrossFileCheck<'a> {
    roots: &'a [PathBuf],
    /// By session id: the first file with that id.
    sessions: FxHashMap<&'a str, &'a str>,
    /// How many sessions have a record that is marked as another session's.
    holders: FxHashMap<RecordUuid, u32>,
}

impl<'a> CrossFileCheck<'a> {
    /// Collects the facts. The survey must include inspections.
    pub fn new(roots: &'a [PathBuf], projects: &'a [Project], survey: &Survey) -> Self {
        let mut sessions = FxHashMap::default();
        for file in projects.iter().flat_map(Project::session_files) {
            sessions.entry(&*file.id).or_insert(&*file.relative);
        }
        let all = || survey.projects.iter().flat_map(|project| &project.sessions);
        let foreign = all().filter_map(inspection_of).flat_map(|found| &found.foreign);
        let mut holders: FxHashMap<RecordUuid, u32> =
            foreign.filter_map(|foreign| Some((foreign.uuid?, 0))).collect();
        let is_asked = !holders.is_empty();
        for session in all().filter(|_| is_asked) {
            let names: FxHashSet<RecordUuid> = session.digest.chain.uuids.iter().copied().collect();
            for name in names {
                holders.entry(name).and_modify(|count| *count += 1);
            }
        }
        Self { roots, sessions, holders }
    }

    /// Returns all defects that the thorough inspection found in a file.
    pub fn find_defects(&self, file: &SurveyedFile) -> Vec<Defect> {
        let Some(found) = inspection_of(file) else { return Vec::new() };
        let mut defects: Vec<Defect> = found.others.clone();
        let misnamed = self.foreign_records(file).chain(&found.reused);
        defects.extend(misnamed.map(|flaw| flaw.defect.clone()));
        defects.extend(self.lost_backups(file, found));
        defects.extend(self.duplicate_session_id(file));
        defects
    }

    /// Returns the records that belong to another session, without those that are copies of records in
    /// another file.
    pub fn foreign_records<'f>(
        &self,
        file: &'f SurveyedFile,
    ) -> impl Iterator<Item = &'f RecordFlaw> {
        let foreign = inspection_of(file).into_iter().flat_map(|found| &found.foreign);
        let is_copy =
            |name: Option<RecordUuid>| name.is_some_and(|name| self.holders.get(&name) > Some(&1));
        foreign.filter(move |foreign| !is_copy(foreign.uuid)).map(|foreign| &foreign.flaw)
    }

    /// Finds file backups that do not exist on disk.
    fn lost_backups(&self, file: &SurveyedFile, found: &Inspection) -> Vec<Defect> {
        if found.backups.is_empty() || file.file.role != FileRole::Session {
            return Vec::new();
        }
        let mut there = FxHashSet::default();
        for dir in backup_dirs(self.roots, &file.file, &file.digest.facts) {
            let entries = fs::read_dir(dir).into_iter().flatten().flatten();
            there.extend(entries.filter_map(|entry| entry.file_name().into_string().ok()));
        }
        let lost = found.backups.iter().filter(|backup| !there.contains(&*backup.name));
        let lost: Vec<_> = lost.collect();
        match (lost.first(), lost.len() == found.backups.len()) {
            (Some(first), true) => {
                let kind = DefectKind::LostBackups { count: lost.len() as u32 };
                vec![Defect { offset: first.offset, line: first.line, kind }]
            }
            _ => {
                let defect = |name: &str, at, line| Defect {
                    offset: at,
                    line,
                    kind: DefectKind::LostBackup { name: name.into() },
                };
                lost.iter().map(|lost| defect(&lost.name, lost.offset, lost.line)).collect()
            }
        }
    }

    fn duplicate_session_id(&self, file: &SurveyedFile) -> Option<Defect> {
        let first = self.sessions.get(&*file.file.id)?;
        let is_other = file.file.role == FileRole::Session && **first != file.file.relative;
        let kind = DefectKind::SameSessionId { file: (*first).into() };
        is_other.then_some(Defect { offset: 0, line: 1, kind })
    }
}

fn inspection_of(file: &SurveyedFile) -> Option<&Inspection> {
    file.inspection.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::HistoryCache;
    use crate::claude_dir::ClaudeDirs;
    use crate::survey::survey_inspection;
    use ramus_core::resume::ResumeRule;

    const ID: &str = "0a1b2c3d-0000-4000-8000-00000000000";

    /// Lists what is found as `file:line word`.
    fn found(home: &testkit::TestHome) -> Vec<String> {
        let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
        let listing = place.list_projects();
        let projects = listing.projects.clone();
        let survey =
            survey_inspection(&HistoryCache::disabled(), listing, ResumeRule::Client, &|_| {});
        let neighbours = CrossFileCheck::new(&place.roots, &projects, &survey);
        let files = survey.projects.iter().flat_map(|project| &project.sessions);
        let words = files.flat_map(|file| {
            let name = file.file.relative.trim_start_matches("projects/");
            let row = |defect: Defect| format!("{name}:{} {}", defect.line, defect.kind.as_str());
            neighbours.find_defects(file).into_iter().map(row).collect::<Vec<_>>()
        });
        words.collect()
    }

    #[test]
    fn a_backup_must_be_on_disk() {
        let home = testkit::TestHome::new();
        let name = format!("-p/{ID}1.jsonl");
        home.write_session(
            &name,
            "a user one\n- snapshot:a x=0011223344556677@v1 y=8899aabbccddeeff@v1\nb < a assistant two",
        );
        assert_eq!(found(&home), [format!("{name}:2 lost-backup")]);
        let dir = home.claude_dir().join(format!("file-history/{ID}1"));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("0011223344556677@v1"), "x").unwrap();
        assert_eq!(found(&home), [format!("{name}:2 lost-backup")]);
        fs::write(dir.join("8899aabbccddeeff@v1"), "y").unwrap();
        assert_eq!(found(&home), [""; 0]);
    }

    #[test]
    fn a_session_id_is_of_one_project() {
        let home = testkit::TestHome::new();
        home.write_session(&format!("-p/{ID}1.jsonl"), "a user one");
        home.write_session(&format!("-q/{ID}1.jsonl"), "b user two");
        home.write_session(&format!("-q/{ID}2.jsonl"), "c user three");
        assert_eq!(found(&home), [format!("-q/{ID}1.jsonl:1 same-session-id")]);
    }

    #[test]
    fn what_another_session_has_too_is_a_copy() {
        let home = testkit::TestHome::new();
        let own = |short: &str| testkit::jsonl(short).replace("\"session\"", &format!("\"{ID}1\""));
        let foreign = |short: &str| testkit::jsonl(short).replace("\"session\"", "\"other\"");
        let late = foreign("c < b user three");
        home.write_file(
            &format!("-p/{ID}1.jsonl"),
            format!("{}{late}", own("a user one\nb < a assistant two")),
        );
        assert_eq!(found(&home), [format!("-p/{ID}1.jsonl:3 other-session")]);
        home.write_file(&format!("-p/{ID}2.jsonl"), &late);
        assert_eq!(found(&home), [""; 0]);
    }
}
