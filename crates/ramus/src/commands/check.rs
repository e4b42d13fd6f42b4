use std::collections::BTreeMap;

use ramus_app::Scope;
use ramus_app::check::CheckReport;
use ramus_core::edit::ThinkingPolicy;
use ramus_core::retention::DueDeletions;
use ramus_render::json::{self, Answer, Check};
use ramus_render::layout::wrap_line;
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::commands::fix::fix_sessions;
use crate::commands::secrets::list_secrets;
use crate::completion;
use crate::confirm::WriteArgs;
use crate::env;
use crate::error::CommandError;
use crate::scope;
use crate::table::number;
use crate::ui::Ui;

/// Find damaged lines, broken links and other defects
///
/// Also lists sessions that Claude Code will delete soon. Every line is counted as known, unknown or
/// damaged. Checking changes nothing.
///
/// `--fix` makes a new session: a repaired copy of the conversation that Claude Code would resume. In
/// the copy, records with a missing parent are linked, every tool call has a result, thinking that
/// cannot be sent is left out, all records belong to one session, ids are unique, and no date is in the
/// future. Defects that it can repair are marked in the list. The original file is kept as it is; only
/// an incomplete last line gets a line end. Each repair is shown first and can be undone with `ramus
/// undo`.
///
/// `--secrets` lists where passwords, keys and tokens are, without showing them. `ramus export
/// --redact` removes the same ones.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus check
  ramus check latest --strict && echo fine
  ramus check teapot --fix --dry-run
  ramus check --secrets")]
pub(crate) struct CheckArgs {
    /// A project or a session [default: everything]
    #[arg(allow_hyphen_values = true, add = completion::scopes())]
    scope: Option<String>,
    /// Exit with code 1 if there are defects or secrets
    #[arg(long)]
    strict: bool,
    /// List passwords, keys and tokens, masked
    #[arg(long, conflicts_with = "fix")]
    secrets: bool,
    /// Offer a repaired copy of each session that needs one
    #[arg(long)]
    fix: bool,
    /// Also remove thinking without text, for sessions that the API rejects because of it
    #[arg(long, requires = "fix")]
    drop_thinking: bool,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn check(ui: &mut Ui, global: &Global, args: &CheckArgs) -> Result<(), CommandError> {
    let WriteArgs { dry_run, yes, force } = args.write;
    if !args.fix && (dry_run || yes || force) {
        return Err(CommandError::user_error("--dry-run and --yes need --fix"));
    }
    let workspace = env::workspace_for(ui, global, args.scope.as_deref().unwrap_or_default())?;
    // `check` covers everything, also inside a project.
    let scope = match args.scope.as_deref() {
        Some(named) => scope::resolve_scope(&workspace, Some(named))?,
        None => Scope::All,
    };
    if args.secrets {
        return list_secrets(ui, &workspace, &scope, args.strict);
    }
    // An empty scope is passed on as named, so that the current directory does not decide.
    let answer_scope =
        scope::answer_scope(&workspace, &scope, Some(args.scope.as_deref().unwrap_or_default()));
    let checked = workspace.check_scope(scope);
    if args.fix {
        let thinking =
            if args.drop_thinking { ThinkingPolicy::Withheld } else { ThinkingPolicy::Unsigned };
        return fix_sessions(ui, &checked, thinking, &args.write);
    }
    let CheckReport { check, due } = checked.report(env::current_time())?;
    let broken = !check.defects.is_empty();
    if ui.json {
        ui.print_json(&Answer::new("ramus.check/1", check).with_scope(answer_scope))?;
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
                    "  and {} more. Use --json to list all",
                    number((defects.len() - MAX_LISTED) as u64)
                ),
                Label::Dim,
            ));
        }
    }
    if by_kind.is_empty() {
        lines.push(Line::new("No defects.", Label::Active));
    }
    lines.push(Line::default());
    if check.defects.iter().any(|defect| defect.fixable) {
        lines.push(Line::plain(
            "Run `ramus check --fix` to make a repaired copy of conversations with defects. The original files are not changed.",
        ));
    }
    if check.withheld_thinking > 0 {
        lines.push(Line::plain(&format!(
            "Thinking is withheld in {} of {} blocks: recent clients store only a signature.",
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

/// Prints how many of the files due for deletion are not archived.
fn archive_line(unarchived: usize) -> Line {
    match unarchived {
        0 => Line::new("All of these files are archived.", Label::Active),
        1 => Line::plain("1 of these files is not archived. Run `ramus archive add` to keep it."),
        many => Line::plain(&format!(
            "{many} of these files are not archived. Run `ramus archive add` to keep them."
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
