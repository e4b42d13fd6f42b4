//! What is wrong in the files of a scope, and what can be repaired.

use std::collections::BTreeMap;
use std::sync::Arc;

use ramus_archive::ArchiveError;
use ramus_core::defect::Defect;
use ramus_core::digest;
use ramus_core::edit::{ThinkingPolicy, WrongIds};
use ramus_core::retention::DueDeletions;
use ramus_core::time::Time;
use ramus_render::json::{self, Check, Retention};
use ramus_store::claude_dir::{FileRole, Project};
use ramus_store::inspect::CrossFileCheck;
use ramus_store::journal::Journal;
use ramus_store::plan::{OperationKind, fix_summary};
use ramus_store::survey::{ProjectSurvey, Survey, SurveyedFile};
use ramus_store::{PathError, read_session};

use crate::address::{AddressError, Scope};
use crate::change::{ChangeError, ChangeRequest, OpenedSession, PlannedChange};
use crate::workspace::{SurveyDetail, Workspace};

/// The files of a scope, checked thoroughly.
#[derive(Debug)]
pub struct CheckedScope<'a> {
    workspace: &'a Workspace,
    scope: Scope,
    listing: Arc<Vec<Project>>,
    survey: Survey,
}

/// What a check found.
#[derive(Debug)]
pub struct CheckReport {
    pub check: Check,
    /// What the client deletes next, for sentences.
    pub due: DueDeletions,
}

/// What can be done about a session with defects.
#[derive(Debug)]
pub enum RepairProposal {
    /// A repaired copy exists already. Both ids are short.
    RepairedBefore {
        session: String,
        copy: String,
    },
    Change(Box<PlannedChange>),
}

impl Workspace {
    /// Looks at the files of a scope thoroughly.
    pub fn check_scope(&self, scope: Scope) -> CheckedScope<'_> {
        let listing = self.list_projects();
        let survey = self.survey_scope(scope.clone(), SurveyDetail::Inspection);
        CheckedScope { workspace: self, scope, listing, survey }
    }
}

impl CheckedScope<'_> {
    /// Counts lines, and lists every defect.
    pub fn report(&self, now: Time) -> Result<CheckReport, ArchiveError> {
        let files = self.files();
        let listed = || files.iter().map(|file| &file.file);
        let due = self.workspace.cleanup_schedule().count_due(listed(), now);
        let unarchived = self.workspace.count_unarchived_due(listed(), now)?;
        let retention = Retention { unarchived, ..retention_json(&due) };
        let check = count_lines(&files, &self.cross_check(), retention, now);
        Ok(CheckReport { check, due })
    }

    /// Plans a repair for each session that needs one, and hands it out before the next one is planned.
    /// Returns how many were planned.
    pub fn each_repair<E>(
        &self,
        thinking: ThinkingPolicy,
        now: impl Fn() -> Time,
        mut each: impl FnMut(RepairProposal) -> Result<(), E>,
    ) -> Result<usize, E>
    where
        E: From<PathError> + From<AddressError> + From<ChangeError>,
    {
        let journal = Journal::read(self.workspace.state_dir())?;
        let cross_check = self.cross_check();
        let mut planned = 0;
        for file in self.files().into_iter().filter(|file| may_need_repair(file, now())) {
            let session = self.workspace.resolve_address(&file.file.path.to_string_lossy())?.file;
            let opened = OpenedSession::read_session(self.workspace, session)?;
            if let Some(copy) = existing_repair(&journal, &opened.found.file.id) {
                let copy = self.workspace.short_id(copy);
                each(RepairProposal::RepairedBefore { session: opened.short_id, copy })?;
                continue;
            }
            let misnamed = &wrong_ids(&cross_check, file);
            let request = ChangeRequest::Fix { opened: &opened, misnamed, thinking };
            let change = match self.workspace.plan_change(request, now()) {
                Err(ChangeError::NothingToRepair) => continue,
                change => change?,
            };
            planned += 1;
            each(RepairProposal::Change(Box::new(change)))?;
        }
        Ok(planned)
    }

    fn files(&self) -> Vec<&SurveyedFile> {
        let all = self.survey.projects.iter().flat_map(ProjectSurvey::all_files);
        // There is nothing to repair in an archived file.
        all.filter(|file| self.scope.includes_file(file) && !file.file.archived).collect()
    }

    fn cross_check(&self) -> CrossFileCheck<'_> {
        CrossFileCheck::new(self.workspace.claude_roots(), &self.listing, &self.survey)
    }
}

/// Whether a session needs a closer check.
fn may_need_repair(file: &SurveyedFile, now: Time) -> bool {
    let facts = &file.digest.facts;
    let is_wrong = file.all_defects().next().is_some() || !file.digest.unpaired_tools.is_empty();
    let is_late = facts.last_active.is_none_or(|time| time > now);
    let is_misnamed = file
        .inspection
        .as_ref()
        .is_some_and(|found| !found.foreign.is_empty() || !found.reused.is_empty());
    file.file.role == FileRole::Session
        && !file.digest.class.is_hidden()
        && (is_wrong || is_late || is_misnamed || facts.thinking > 0)
}

/// Returns the records of a file that a copy has to call otherwise.
fn wrong_ids(cross_check: &CrossFileCheck<'_>, file: &SurveyedFile) -> WrongIds {
    let reused = file.inspection.iter().flat_map(|found| &found.reused);
    WrongIds {
        foreign: cross_check.foreign_records(file).map(|flaw| flaw.record).collect(),
        reused: reused.map(|flaw| flaw.record).collect(),
    }
}

/// Returns the copy that was made of a session before.
fn existing_repair<'a>(journal: &'a Journal, id: &str) -> Option<&'a str> {
    let words = fix_summary(id);
    let copy = journal.operations.iter().find(|operation| {
        operation.what == OperationKind::Fix
            && operation.is_done()
            && operation.undone_by.is_none()
            && operation.words == words
    });
    copy.map(|operation| &*operation.session)
}

fn count_lines(
    files: &[&SurveyedFile],
    cross_check: &CrossFileCheck<'_>,
    retention: Retention,
    now: Time,
) -> Check {
    let mut check = Check {
        files: files.len(),
        lines: 0,
        blank: 0,
        known: 0,
        unknown: 0,
        damaged: 0,
        unknown_types: BTreeMap::new(),
        thinking: 0,
        withheld_thinking: 0,
        defects: Vec::new(),
        retention,
    };
    for file in files {
        let counts = file.digest.counts;
        check.known += counts.known;
        check.unknown += counts.unknown;
        check.damaged += counts.damaged;
        check.blank += counts.blank;
        check.lines += counts.total_lines() - counts.blank;
        check.thinking += u64::from(file.digest.facts.thinking);
        check.withheld_thinking += u64::from(file.digest.facts.withheld_thinking);
        for (name, count) in &file.digest.unknown_types {
            *check.unknown_types.entry(name.to_string()).or_default() += u64::from(*count);
        }
        let future = future_dates(file, now);
        let own = file
            .all_defects()
            .chain(&file.digest.unpaired_tools)
            .chain(&file.digest.undated_messages);
        let inspected = cross_check.find_defects(file);
        let mut defects: Vec<&Defect> = own.chain(&future).chain(&inspected).collect();
        defects.sort_by_key(|defect| defect.line);
        check.defects.extend(defects.into_iter().map(|defect| json::Defect {
            file: file.file.relative.clone(),
            line: defect.line,
            offset: defect.offset,
            kind: defect.kind.as_str(),
            detail: defect.kind.to_string(),
            fixable: defect.kind.is_fixable(),
        }));
    }
    check
}

/// How far ahead of this machine's clock a record may be dated: clocks differ.
const CLOCK_SKEW: i64 = 5 * 60 * 1000;

/// Finds the records dated in the future; few files have one, so only those are read again.
fn future_dates(file: &SurveyedFile, now: Time) -> Vec<Defect> {
    let latest = Time::from_millis(now.as_millis() + CLOCK_SKEW);
    if file.digest.facts.last_active.is_none_or(|newest| newest <= latest) {
        return Vec::new();
    }
    // A file that cannot be read any more was reported when the survey read it.
    read_session(&file.file.path)
        .map(|session| digest::future_dates(&session, latest))
        .unwrap_or_default()
}

fn retention_json(due: &DueDeletions) -> Retention {
    Retention {
        days: due.retention.days,
        from_settings: due.retention.from_settings,
        soon: due.sessions + due.agents,
        soon_bytes: due.bytes,
        first: due.first.map(|time| time.to_string()),
        soon_sessions: due.sessions,
        soon_agents: due.agents,
        overdue: due.overdue,
        unarchived: 0,
    }
}
