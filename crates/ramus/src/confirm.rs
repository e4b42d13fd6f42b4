//! Plan, show, ask, do, tell: the way of every command that writes.

use std::path::Path;
use std::path::PathBuf;

use ramus_app::change::{apply_change, apply_hint};
use ramus_app::{OpenedSession, PlannedChange};
use ramus_core::client_path::messages_left_out;
use ramus_core::session::NodeId;
use ramus_render::change::{
    ChangeStyle, change_lines, change_question, done_line, resume_note_lines,
};
use ramus_render::json::{Answer, Written};
use ramus_render::layout::truncate_line;
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
    /// Refuses if somebody has to be asked and nobody is there.
    pub(crate) fn can_confirm(&self, ui: &Ui) -> Result<(), CommandError> {
        if self.dry_run || self.yes || ui.can_ask() {
            return Ok(());
        }
        Err(CommandError::user_error("nothing was written: there is nobody to ask")
            .with_hint("`--yes` does it without asking, `--dry-run` shows what would be written"))
    }
}

/// Says what a change comes down to.
pub(crate) fn show_change(ui: &Ui, change: &PlannedChange) {
    let summary = change.change_summary();
    for line in with_style(ui, |style| change_lines(&summary, style)) {
        ui.print_message(&truncate_line(&line, ui.width));
    }
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

/// Shows a plan, asks, carries it out and tells of it.
pub(crate) fn confirm_and_apply(
    ui: &mut Ui,
    schema: &'static str,
    args: &WriteArgs,
    change: &PlannedChange,
) -> Result<(), CommandError> {
    confirm_and_apply_as(ui, schema, args, change, |written| written)
}

/// Does the same, and tells a program more about it.
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
        return Err(CommandError::nothing_found("nothing was written"));
    }
    let done = apply_change(&env::state_dir(), change, args.force, env::current_time())
        .map_err(apply_error)?;
    ui.clear_incomplete();
    let op = done.op;
    if let Err(problem) = report_done(ui, schema, change, done, answer)
        && problem.kind != ErrorKind::BrokenPipe
    {
        // A failure would say that nothing happened.
        let reason = problem.error;
        ui.print_warning(&format!(
            "operation {op} is done, but its answer cannot be printed: {reason:#}"
        ));
        ui.discard_output();
    }
    Ok(())
}

/// Tells of an operation that was carried out, and how to go on.
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

/// Says that the session resumes at a node already.
pub(crate) fn nothing_written(site: &OpenedSession, node: NodeId) -> Written {
    let session = site.found.file.id.clone();
    Written {
        op: None,
        operation: OperationKind::Goto.as_str(),
        file: site.found.file.path.display().to_string(),
        resume_leaf: Some(site.leaf_uuid(node)),
        appended_bytes: 0,
        backup: None,
        resume_command: Some(plan::resume_command(&session)),
        left_out: messages_left_out(&site.history, node),
        undoes: None,
        session,
    }
}

/// Prints how to go on, and where.
pub(crate) fn resume_command(ui: &mut Ui, session: &str, cwd: &str) -> Result<(), CommandError> {
    let is_here = std::env::current_dir().is_ok_and(|here| here.as_os_str() == cwd);
    if !is_here && !cwd.is_empty() {
        ui.print_message(
            &Line::plain("Go on in ").with(cwd, Label::Strong).with(" with", Label::Plain),
        );
    }
    ui.print_line(&Line::plain(&plan::resume_command(session)))?;
    Ok(())
}

/// Says what was written, or would be.
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

/// Prints exactly what would be written (R28).
fn show_bytes(ui: &mut Ui, plan: &WritePlan) -> Result<(), CommandError> {
    for step in &plan.steps {
        match step {
            PlanStep::Append { bytes, .. } => ui.output_writer().write_all(bytes)?,
            PlanStep::Put { file, before, content } if *file == plan.file => {
                ui.print_line(&put_line(file, before.as_ref().map(|stamp| stamp.len), content)?)?;
            }
            PlanStep::Make { file, content } if *file == plan.file => {
                content.for_each_piece::<CommandError>(&mut |bytes| {
                    Ok(ui.output_writer().write_all(bytes)?)
                })?;
            }
            PlanStep::Make { file, .. } | PlanStep::Put { file, .. } => {
                ui.print_message(&Line::plain(&format!("  makes {}", file.display())));
            }
            PlanStep::Link { to, .. } => {
                ui.print_message(&Line::plain(&format!("  links {}", to.display())));
            }
            PlanStep::Move { from, to: Some(to), .. } => {
                let line = format!("  moves {} to {}", from.display(), to.display());
                ui.print_message(&Line::plain(&line));
            }
            PlanStep::Move { from, to: None, .. } => {
                ui.print_message(&Line::plain(&format!("  moves {} to the trash", from.display())));
            }
            PlanStep::Join { file, .. } => {
                let line = format!("  brings back {} and adds what is there now", file.display());
                ui.print_message(&Line::plain(&line));
            }
            PlanStep::Cut { file, before, wanted, .. } => {
                let bytes = before.len.saturating_sub(wanted.len);
                let line = format!("  takes {bytes} bytes off {}", file.display());
                ui.print_message(&Line::plain(&line));
            }
            PlanStep::Tidy { .. } => {}
        }
    }
    Ok(())
}

/// Says which version of a file is put back in its place.
fn put_line(file: &Path, before: Option<u64>, content: &NewContent) -> Result<Line, CommandError> {
    let (mut size, mut lines) = (0_u64, 0_u64);
    content.for_each_piece::<CommandError>(&mut |bytes| {
        size += bytes.len() as u64;
        lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(())
    })?;
    let line = format!("  puts back {}: {lines} lines, {size} bytes", file.display());
    let instead = match before {
        Some(before) => format!(", in place of {before} bytes that are kept"),
        None => ", which is gone now".to_owned(),
    };
    Ok(Line::plain(&line).with(&instead, Label::Dim))
}

pub(crate) fn apply_error(error: ApplyError) -> CommandError {
    let hints = apply_hint(&error).map(str::to_owned).into_iter().collect();
    CommandError { hints, ..CommandError::from(error) }
}
