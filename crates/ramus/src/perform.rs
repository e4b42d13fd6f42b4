//! Plan, show, ask, do, tell: the way of every command that writes.

use std::path::Path;
use std::path::PathBuf;

use ramus_app::change::{apply, apply_hint};
use ramus_app::{PlannedChange, Site};
use ramus_core::client_path::messages_left_out;
use ramus_core::session::NodeId;
use ramus_render::change::{
    ChangeStyle, change_lines, change_question, done_line, resume_note_lines,
};
use ramus_render::json::{Answer, Written};
use ramus_render::layout::truncate;
use ramus_render::{Label, Line};
use ramus_store::apply::{ApplyError, Done};
use ramus_store::plan::{self, Content, Plan, Step, What};
use serde::Serialize;

use crate::env::{self, Clock};
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
        Err(CommandError::user("nothing was written: there is nobody to ask")
            .hinted("`--yes` does it without asking, `--dry-run` shows what would be written"))
    }
}

/// Says what a change comes down to.
pub(crate) fn show_change(ui: &Ui, change: &PlannedChange) {
    let summary = change.summary();
    for line in with_style(ui, |style| change_lines(&summary, style)) {
        ui.say(&truncate(&line, ui.width));
    }
    resume_note_lines(&summary).iter().for_each(|line| ui.say(line));
}

/// Draws something of a plan for this terminal.
pub(crate) fn with_style<T>(ui: &Ui, write: impl FnOnce(&ChangeStyle<'_>) -> T) -> T {
    let clock = Clock::new();
    write(&ChangeStyle {
        width: ui.width,
        short_time: &|time| clock.short(time),
        message_time: &|time| clock.message(time),
    })
}

/// Shows a plan, asks, carries it out and tells of it.
pub(crate) fn perform(
    ui: &mut Ui,
    schema: &'static str,
    args: &WriteArgs,
    change: &PlannedChange,
) -> Result<(), CommandError> {
    perform_as(ui, schema, args, change, |written| written)
}

/// Does the same, and tells a program more about it.
pub(crate) fn perform_as<T: Serialize>(
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
            ui.json(&Answer::new(schema, answer(written(change, None))))
        } else {
            show_bytes(ui, &change.plan)
        };
    }
    args.can_confirm(ui)?;
    if !args.yes && !ui.confirm(&change_question(&change.detail)) {
        return Err(CommandError::nothing("nothing was written"));
    }
    let done = apply(&env::state(), change, args.force, env::now()).map_err(explained)?;
    ui.complete();
    let op = done.op;
    if let Err(problem) = tell_done(ui, schema, change, done, answer)
        && problem.kind != ErrorKind::BrokenPipe
    {
        // A failure would say that nothing happened.
        let reason = problem.error;
        ui.complain(&format!(
            "operation {op} is done, but its answer cannot be printed: {reason:#}"
        ));
        ui.discard();
    }
    Ok(())
}

/// Tells of an operation that was carried out, and how to go on.
fn tell_done<T: Serialize>(
    ui: &mut Ui,
    schema: &'static str,
    change: &PlannedChange,
    done: Done,
    answer: impl FnOnce(Written) -> T,
) -> Result<(), CommandError> {
    for note in &done.notes {
        ui.say(&Line::new("Note: ", Label::Note).with(note, Label::Plain));
    }
    if ui.json {
        let written = written(change, Some((done.op, done.backup)));
        ui.json(&Answer::new(schema, answer(written)))?;
        return Ok(ui.flush()?);
    }
    ui.say(&done_line(done.op, change.plan.undoes.is_some()));
    if let Some(cwd) = change.cwd.as_deref() {
        resume_command(ui, &change.plan.session, cwd)?;
    }
    Ok(ui.flush()?)
}

/// Says that the session resumes at a node already.
pub(crate) fn nothing_written(site: &Site, node: NodeId) -> Written {
    let session = site.found.file.id.clone();
    Written {
        op: None,
        operation: What::Goto.word(),
        file: site.found.file.path.display().to_string(),
        resume_leaf: Some(site.leaf(node)),
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
        ui.say(&Line::plain("Go on in ").with(cwd, Label::Strong).with(" with", Label::Plain));
    }
    ui.line(&Line::plain(&plan::resume_command(session)))?;
    Ok(())
}

/// Says what was written, or would be.
pub(crate) fn written(change: &PlannedChange, done: Option<(u64, Option<PathBuf>)>) -> Written {
    let plan = &change.plan;
    let (op, backup) = done.unzip();
    Written {
        op,
        operation: plan.what.word(),
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
fn show_bytes(ui: &mut Ui, plan: &Plan) -> Result<(), CommandError> {
    for step in &plan.steps {
        match step {
            Step::Append { bytes, .. } => ui.out().write_all(bytes)?,
            Step::Put { file, before, content } if *file == plan.file => {
                ui.line(&put_line(file, before.as_ref().map(|stamp| stamp.len), content)?)?;
            }
            Step::Make { file, content } if *file == plan.file => {
                content.read::<CommandError>(&mut |bytes| Ok(ui.out().write_all(bytes)?))?;
            }
            Step::Make { file, .. } | Step::Put { file, .. } => {
                ui.say(&Line::plain(&format!("  makes {}", file.display())));
            }
            Step::Link { to, .. } => ui.say(&Line::plain(&format!("  links {}", to.display()))),
            Step::Move { from, to: Some(to), .. } => {
                let line = format!("  moves {} to {}", from.display(), to.display());
                ui.say(&Line::plain(&line));
            }
            Step::Move { from, to: None, .. } => {
                ui.say(&Line::plain(&format!("  moves {} to the trash", from.display())));
            }
            Step::Join { file, .. } => {
                let line = format!("  brings back {} and adds what is there now", file.display());
                ui.say(&Line::plain(&line));
            }
            Step::Cut { file, before, wanted, .. } => {
                let bytes = before.len.saturating_sub(wanted.len);
                let line = format!("  takes {bytes} bytes off {}", file.display());
                ui.say(&Line::plain(&line));
            }
            Step::Tidy { .. } => {}
        }
    }
    Ok(())
}

/// Says which version of a file is put back in its place.
fn put_line(file: &Path, before: Option<u64>, content: &Content) -> Result<Line, CommandError> {
    let (mut size, mut lines) = (0_u64, 0_u64);
    content.read::<CommandError>(&mut |bytes| {
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

pub(crate) fn explained(error: ApplyError) -> CommandError {
    let hints = apply_hint(&error).map(str::to_owned).into_iter().collect();
    CommandError { hints, ..CommandError::from(error) }
}
