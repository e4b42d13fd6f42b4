use std::collections::BTreeMap;

use ramus_app::survey::{ProjectSurvey, Survey, SurveyedFile};
use ramus_app::{Scope, SurveyDetail};
use ramus_core::defect::Defect;
use ramus_core::digest;
use ramus_core::edit::ThinkingPolicy;
use ramus_core::retention::DueDeletions;
use ramus_core::time::Time;
use ramus_render::json::{self, Answer, Check, Retention};
use ramus_render::layout::wrap_line;
use ramus_render::{Label, Line};
use ramus_store::inspect::CrossFileCheck;
use ramus_store::read_session;

use crate::args::Global;
use crate::commands::fix::fix_sessions;
use crate::commands::secrets::list_secrets;
use crate::confirm::WriteArgs;
use crate::env;
use crate::error::CommandError;
use crate::table::number;
use crate::ui::Ui;

/// Look for damage: bad lines, broken links, wrong ids and dates, lost backups, files due for deletion
///
/// Every line of every file is accounted for as known, unknown or damaged. Nothing is changed, not
/// even by `--fix`: it makes a copy of the conversation that Claude Code would resume, in which lost
/// parents follow what stands before them, every tool call has a result, thinking that cannot be
/// sent is left out, every record belongs to one session, ids stand once, and no date lies in the
/// future. The list marks what it can repair. Only a last line that broke off is ended where
/// it stands. Each repair is shown and asked for; `ramus undo` takes it back.
///
/// `--secrets` lists where passwords, keys and tokens are instead, without showing them: by session,
/// file and line. `ramus export --redact` leaves the same ones out.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus check\n  ramus check latest --strict && echo fine\n  ramus check . --fix --dry-run\n  ramus check --secrets"
)]
pub(crate) struct CheckArgs {
    /// A project or a session [default: everything]
    #[arg(allow_hyphen_values = true)]
    scope: Option<String>,
    /// Exit with 1 when there is a defect or a secret
    #[arg(long)]
    strict: bool,
    /// List where passwords, keys and tokens are, masked
    #[arg(long, conflicts_with = "fix")]
    secrets: bool,
    /// Plan a repair for each session that needs one
    #[arg(long)]
    fix: bool,
    /// Leave out thinking without text too: for sessions that the server refuses because of it
    #[arg(long, requires = "fix")]
    drop_thinking: bool,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn check(ui: &mut Ui, global: &Global, args: &CheckArgs) -> Result<(), CommandError> {
    let WriteArgs { dry_run, yes, force } = args.write;
    if !args.fix && (dry_run || yes || force) {
        return Err(CommandError::user_error("nothing is written without `--fix`"));
    }
    let workspace = env::workspace_for(ui, global, args.scope.as_deref().unwrap_or_default())?;
    let scope = workspace.resolve_scope(args.scope.as_deref())?;
    let listing = workspace.list_projects();
    if args.secrets {
        let survey = workspace.survey_scope(scope.clone(), SurveyDetail::Digests);
        return list_secrets(ui, &workspace, &survey, &scope, args.strict);
    }
    let survey = workspace.survey_scope(scope.clone(), SurveyDetail::Inspection);
    let neighbours = CrossFileCheck::new(workspace.claude_roots(), &listing, &survey);
    let files: Vec<&SurveyedFile> = files_in_scope(&survey, &scope);
    if args.fix {
        let thinking =
            if args.drop_thinking { ThinkingPolicy::Withheld } else { ThinkingPolicy::Unsigned };
        return fix_sessions(ui, &workspace, &files, &neighbours, thinking, &args.write);
    }
    let due = workspace
        .cleanup_schedule()
        .count_due(files.iter().map(|file| &file.file), env::current_time());
    let unarchived =
        workspace.count_unarchived_due(files.iter().map(|file| &file.file), env::current_time())?;
    let retention = Retention { unarchived, ..retention_json(&due) };
    let check = count_lines(&files, &neighbours, retention, env::current_time());
    let broken = !check.defects.is_empty();
    if ui.json {
        ui.print_json(&Answer::new("ramus.check/1", check))?;
    } else {
        ui.start_pager();
        let width = ui.width;
        for line in check_lines(&check, &due).iter().flat_map(|line| wrap_line(line, width, 4)) {
            ui.print_line(&line)?;
        }
    }
    if args.strict && broken {
        Err(CommandError::nothing_found("there are defects"))
    } else {
        Ok(())
    }
}

fn files_in_scope<'a>(survey: &'a Survey, scope: &Scope) -> Vec<&'a SurveyedFile> {
    let all = survey.projects.iter().flat_map(ProjectSurvey::all_files);
    // There is nothing to repair in an archived file.
    all.filter(|file| scope.includes_file(file) && !file.file.archived).collect()
}

fn count_lines(
    files: &[&SurveyedFile],
    neighbours: &CrossFileCheck<'_>,
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
        let inspected = neighbours.find_defects(file);
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

/// How many defects of one kind are listed one by one.
const MAX_LISTED: usize = 20;

fn check_lines(check: &Check, due: &DueDeletions) -> Vec<Line> {
    let mut lines = vec![
        Line::new(&number(check.lines), Label::Strong)
            .with(
                &format!(
                    " line{} in {} file{}: ",
                    if check.lines == 1 { "" } else { "s" },
                    number(check.files as u64),
                    if check.files == 1 { "" } else { "s" }
                ),
                Label::Plain,
            )
            .with(&format!("{} known, ", number(check.known)), Label::Plain)
            .with(&format!("{} unknown, ", number(check.unknown)), Label::Plain)
            .with(
                &format!("{} damaged", number(check.damaged)),
                if check.damaged > 0 { Label::Error } else { Label::Plain },
            ),
    ];
    for (name, count) in &check.unknown_types {
        lines.push(Line::plain(&format!("  unknown: {} of type {name}", number(*count))));
    }
    let mut by_kind: BTreeMap<&str, Vec<&json::Defect>> = BTreeMap::new();
    for defect in &check.defects {
        by_kind.entry(defect.kind).or_default().push(defect);
    }
    for (kind, defects) in &by_kind {
        lines.push(Line::default());
        lines.push(
            Line::new(kind, Label::Warning)
                .with(&format!("  {}", number(defects.len() as u64)), Label::Plain)
                .with(if defects[0].fixable { "  --fix can repair" } else { "" }, Label::Dim),
        );
        for defect in defects.iter().take(MAX_LISTED) {
            lines.push(
                Line::plain("  ")
                    .with(&defect.file, Label::Plain)
                    .with(&format!(":{}", defect.line), Label::LineNumber)
                    .with(&format!("  {}", defect.detail), Label::Dim),
            );
        }
        if defects.len() > MAX_LISTED {
            lines.push(Line::new(
                &format!(
                    "  and {} more; `--json` lists them all",
                    number((defects.len() - MAX_LISTED) as u64)
                ),
                Label::Dim,
            ));
        }
    }
    if by_kind.is_empty() {
        lines.push(Line::new("No defect.", Label::Active));
    }
    lines.push(Line::default());
    if check.defects.iter().any(|defect| defect.fixable) {
        lines.push(Line::plain(
            "`ramus check --fix` offers a repaired copy where a defect is on the conversation that Claude Code resumes; the files here stay as they are.",
        ));
    }
    if check.withheld_thinking > 0 {
        lines.push(Line::plain(&format!(
            "Thinking is withheld in {} of {} blocks: recent clients keep only its signature.",
            number(check.withheld_thinking),
            number(check.thinking),
        )));
    }
    lines.push(retention_line(due));
    if !due.is_empty() {
        lines.push(archive_line(check.retention.unarchived));
    }
    lines
}

/// Says how many of the files that are due are not archived.
fn archive_line(unarchived: usize) -> Line {
    match unarchived {
        0 => Line::new("All of these files are archived.", Label::Active),
        1 => Line::plain("1 of these files is not archived: `ramus archive add` keeps it."),
        many => Line::plain(&format!(
            "{many} of these files are not archived: `ramus archive add` keeps them."
        )),
    }
}

fn retention_line(due: &DueDeletions) -> Line {
    if let Some(sentence) = due.warning_text() {
        return Line::new(&sentence, Label::Warning);
    }
    let source = if due.retention.from_settings { "as your settings say" } else { "its default" };
    Line::plain(&format!(
        "Claude Code deletes sessions {} days after their last change, {source}. None is due within {} days.",
        due.retention.days, due.within
    ))
}
