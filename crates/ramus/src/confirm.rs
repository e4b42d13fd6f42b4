//! Shows a plan, asks, applies it and reports: the sequence of every command that writes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ramus_app::change::{apply_change, apply_hint};
use ramus_app::{OpenedSession, PlannedChange};
use ramus_core::client_path::messages_left_out;
use ramus_core::edit::ChangeDetail;
use ramus_core::session::NodeId;
use ramus_render::change::{
    ChangeStyle, change_question, done_line, print_change, resume_note_lines,
};
use ramus_render::json::{Answer, Written};
use ramus_render::layout::truncate_line;
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};
use ramus_store::apply::{AppliedOperation, ApplyError};
use ramus_store::plan::{self, NewContent, OperationKind, PlanStep, WritePlan};
use serde::Serialize;

use crate::env::{self, LocalClock};
use crate::error::{CommandError, ErrorKind};
use crate::ui::Ui;

/// Options of every command that writes.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct WriteArgs {
    /// Show what would be written, byte for byte, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do it without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Do it even if the session is open or being written to
    #[arg(long)]
    pub(crate) force: bool,
}

impl WriteArgs {
    /// Refuses if confirmation is needed and there is no terminal.
    pub(crate) fn can_confirm(&self, ui: &Ui) -> Result<(), CommandError> {
        if self.dry_run || self.yes || ui.can_ask() {
            return Ok(());
        }
        Err(CommandError::user_error("Nothing changed: no terminal to confirm on").with_hint(
            "use --yes to apply without asking, or --dry-run to see what would be written",
        ))
    }
}

/// Prints the summary of a change.
pub(crate) fn show_change(ui: &Ui, change: &PlannedChange) {
    let summary = change.change_summary();
    // A command that will run is shown whole.
    let is_cut = !matches!(summary.detail, ChangeDetail::Settings { .. });
    let width = if is_cut { ui.width } else { usize::MAX };
    with_style(ui, |style| {
        print_change(&summary, style, &mut |line| {
            ui.print_message(&truncate_line(&line, width));
        });
    });
    resume_note_lines(&summary).iter().for_each(|line| ui.print_message(line));
}

/// Draws something of a plan for this terminal.
pub(crate) fn with_style<T>(ui: &Ui, write: impl FnOnce(&ChangeStyle<'_>) -> T) -> T {
    let clock = LocalClock::new();
    write(&ChangeStyle {
        width: ui.width,
        short_time: &|time| clock.short_time(time),
        message_time: &|time| clock.message_time(time),
    })
}

/// Shows a plan, asks, applies it and reports the result.
pub(crate) fn confirm_and_apply(
    ui: &mut Ui,
    schema: &'static str,
    args: &WriteArgs,
    change: &PlannedChange,
) -> Result<(), CommandError> {
    confirm_and_apply_as(ui, schema, args, change, |written| written)
}

/// Like the above, with additional JSON fields.
pub(crate) fn confirm_and_apply_as<T: Serialize>(
    ui: &mut Ui,
    schema: &'static str,
    args: &WriteArgs,
    change: &PlannedChange,
    answer: impl FnOnce(Written) -> T,
) -> Result<(), CommandError> {
    if !ui.json {
        show_change(ui, change);
    }
    if args.dry_run {
        return if ui.json {
            ui.print_json(&Answer::new(schema, answer(written_json(change, None))))
        } else {
            show_bytes(ui, &change.plan)
        };
    }
    args.can_confirm(ui)?;
    if !args.yes && !ui.confirm_question(&change_question(&change.detail)) {
        return Err(CommandError::nothing_found("nothing changed"));
    }
    let done = apply_change(&env::state_dir(), change, args.force, env::current_time())
        .map_err(apply_error)?;
    ui.clear_incomplete();
    let op = done.op;
    if let Err(problem) = report_done(ui, schema, change, done, answer)
        && problem.kind != ErrorKind::BrokenPipe
    {
        // An error here would wrongly suggest that nothing was written.
        let reason = problem.error;
        ui.print_warning(&format!(
            "operation {op} is done, but the result cannot be printed: {reason:#}"
        ));
        ui.discard_output();
    }
    Ok(())
}

/// Reports an applied operation, and how to continue.
fn report_done<T: Serialize>(
    ui: &mut Ui,
    schema: &'static str,
    change: &PlannedChange,
    done: AppliedOperation,
    answer: impl FnOnce(Written) -> T,
) -> Result<(), CommandError> {
    for note in &done.notes {
        ui.print_message(&Line::new("Note: ", Label::Note).with(note, Label::Plain));
    }
    if ui.json {
        let written = written_json(change, Some((done.op, done.backup)));
        ui.print_json(&Answer::new(schema, answer(written)))?;
        return Ok(ui.flush_output()?);
    }
    ui.print_message(&done_line(done.op, change.plan.undoes.is_some()));
    if let Some(cwd) = change.cwd.as_deref() {
        resume_command(ui, &change.plan.session, cwd)?;
    }
    Ok(ui.flush_output()?)
}

/// Reports that the session already resumes at a node.
pub(crate) fn nothing_written(opened: &OpenedSession, node: NodeId) -> Written {
    let session = opened.found.file.id.clone();
    Written {
        op: None,
        operation: OperationKind::Goto.as_str(),
        file: opened.found.file.path.display().to_string(),
        resume_leaf: Some(opened.leaf_uuid(node)),
        appended_bytes: 0,
        backup: None,
        resume_command: Some(plan::resume_command(&session)),
        left_out: messages_left_out(&opened.history, node),
        undoes: None,
        session,
    }
}

/// Prints the command that continues, and its directory.
pub(crate) fn resume_command(ui: &mut Ui, session: &str, cwd: &str) -> Result<(), CommandError> {
    let is_here = std::env::current_dir().is_ok_and(|here| here.as_os_str() == cwd);
    if !is_here && !cwd.is_empty() {
        ui.print_message(
            &Line::plain("Continue in ").with(cwd, Label::Strong).with(" with", Label::Plain),
        );
    }
    ui.print_line(&Line::plain(&plan::resume_command(session)))?;
    Ok(())
}

/// Lists the changes that were written, or would be.
pub(crate) fn written_json(
    change: &PlannedChange,
    done: Option<(u64, Option<PathBuf>)>,
) -> Written {
    let plan = &change.plan;
    let (op, backup) = done.unzip();
    Written {
        op,
        operation: plan.what.as_str(),
        session: plan.session.clone(),
        file: plan.file.display().to_string(),
        resume_leaf: change.resume_leaf.clone(),
        appended_bytes: plan.appended_bytes(),
        backup: backup.flatten().map(|copy| copy.display().to_string()),
        resume_command: change.resume_command(),
        left_out: plan.left_out,
        undoes: plan.undoes,
    }
}

/// Prints exactly what would be written (R28); of archived files, which come back as they were, how many and where.
fn show_bytes(ui: &mut Ui, plan: &WritePlan) -> Result<(), CommandError> {
    let is_restore = plan.what == OperationKind::Restore;
    let mut restored: BTreeMap<&Path, (usize, u64)> = BTreeMap::new();
    for step in &plan.steps {
        match step {
            PlanStep::AppendLines { bytes, .. } => ui.output_writer().write_all(bytes)?,
            PlanStep::ReplaceFile { file, before, content } if *file == plan.file => {
                ui.print_line(&put_line(file, before.as_ref().map(|stamp| stamp.len), content)?)?;
            }
            PlanStep::CreateFile { file, content } if *file == plan.file && is_restore => {
                ui.print_line(&put_line(file, None, content)?)?;
            }
            PlanStep::CreateFile { file, content }
            | PlanStep::ReplaceFile { file, content, .. }
                if is_restore =>
            {
                let (files, size) = restored.entry(file.parent().unwrap_or(file)).or_default();
                *files += 1;
                content.for_each_piece::<CommandError>(&mut |bytes| {
                    *size += bytes.len() as u64;
                    Ok(())
                })?;
            }
            PlanStep::CreateFile { file, content } if *file == plan.file => {
                content.for_each_piece::<CommandError>(&mut |bytes| {
                    Ok(ui.output_writer().write_all(bytes)?)
                })?;
            }
            PlanStep::CreateFile { file, .. } | PlanStep::ReplaceFile { file, .. } => {
                ui.print_message(&Line::plain(&format!("  makes {}", file.display())));
            }
            PlanStep::HardLink { to, .. } => {
                ui.print_message(&Line::plain(&format!("  links {}", to.display())));
            }
            PlanStep::MoveFile { from, to: Some(to), .. } => {
                let line = format!("  moves {} to {}", from.display(), to.display());
                ui.print_message(&Line::plain(&line));
            }
            PlanStep::MoveFile { from, to: None, .. } => {
                ui.print_message(&Line::plain(&format!("  moves {} to the trash", from.display())));
            }
            PlanStep::RejoinTrashed { file, .. } => {
                let line = format!("  restores {} and appends the current lines", file.display());
                ui.print_message(&Line::plain(&line));
            }
            PlanStep::RemoveLines { file, before, wanted, .. } => {
                let bytes = before.len.saturating_sub(wanted.len);
                let line = format!("  removes {bytes} bytes from {}", file.display());
                ui.print_message(&Line::plain(&line));
            }
            PlanStep::RemoveEmptyDir { .. } => {}
        }
    }
    for (dir, (files, size)) in restored {
        let files = count_noun(files, "file");
        let line = format!("  restores {files} in {}: {size} bytes", dir.display());
        ui.print_line(&Line::plain(&line))?;
    }
    Ok(())
}

/// Prints which version of a file is restored.
fn put_line(file: &Path, before: Option<u64>, content: &NewContent) -> Result<Line, CommandError> {
    let (mut size, mut lines) = (0_u64, 0_u64);
    content.for_each_piece::<CommandError>(&mut |bytes| {
        size += bytes.len() as u64;
        lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(())
    })?;
    let line = format!("  restores {}: {lines} lines, {size} bytes", file.display());
    let instead = match before {
        Some(before) => format!(", replacing {before} bytes that are backed up"),
        None => ", which does not exist now".to_owned(),
    };
    Ok(Line::plain(&line).with(&instead, Label::Dim))
}

pub(crate) fn apply_error(error: ApplyError) -> CommandError {
    let hints = apply_hint(&error).map(str::to_owned).into_iter().collect();
    CommandError { hints, ..CommandError::from(error) }
}
