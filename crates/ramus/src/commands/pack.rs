use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use ramus_app::{Address, CarryError, NodeSelector, OpenedSession, PackItem, Workspace};
use ramus_render::json::{Answer, Packed, PackedFileEntry, PackedSessionEntry};
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};
use ramus_store::pack::{LeftOut, LeftOutReason, Manifest, PackOptions, PackPlan};

use crate::args::Global;
use crate::completion;
use crate::env;
use crate::error::CommandError;
use crate::table::bytes;
use crate::ui::Ui;

/// Pack sessions into one file for another machine or directory
///
/// The file is a tar archive compressed with zstd. It contains each session with all branches,
/// sub-agents, spilled tool results and file backups, and a manifest with sizes and hashes. Packing
/// the same sessions again gives the same bytes. Use `ramus unpack` to add them to another project;
/// `ramus show`, `tree` and `export` read the file directly.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus pack latest -o work.tar.zst
  ramus pack 7ea9 b2a9 -o both.tar.zst        two sessions
  ramus pack 7ea9@2 --path -o idea.tar.zst    one conversation, without its other branches
  ramus pack 7ea9 --redact -o share.tar.zst   without secrets and personal data
  ramus pack latest -o - | ssh host ramus unpack - --into app")]
pub(crate) struct PackArgs {
    /// Sessions, or `-` to read them from standard input; with `--path` also conversations, messages or agents
    #[arg(required = true, add = completion::sessions())]
    addresses: Vec<String>,
    /// The file to write, or `-` for stdout
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Pack only the conversation at each address, as a separate session
    #[arg(long)]
    path: bool,
    /// Remove passwords, keys, tokens, e-mail addresses and home directories
    #[arg(long)]
    redact: bool,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

pub(crate) fn pack(ui: &mut Ui, global: &Global, args: &PackArgs) -> Result<(), CommandError> {
    let is_stdout = args.output == Path::new("-");
    if is_stdout && ui.json {
        return Err(CommandError::user_error("`--json` and `-o -` both need standard output"));
    }
    if is_stdout && io::stdout().is_terminal() {
        return Err(CommandError::user_error(
            "a pack is binary and cannot be printed on a terminal",
        )
        .with_hint("use -o FILE to write it to a file"));
    }
    if !is_stdout && !args.force && args.output.symlink_metadata().is_ok() {
        return Err(CommandError::user_error(format!("{} already exists", args.output.display()))
            .with_hint("use --force to replace it"));
    }
    let addresses = env::expand_addresses(&args.addresses)?;
    let workspace = env::workspace_for(ui, global, &addresses[0])?;
    let plan = plan_pack(&workspace, &addresses, args)?;
    let size = match is_stdout {
        true => {
            plan.write(ui.output_writer()).map_err(CarryError::from)?;
            ui.flush_output()?;
            None
        }
        false => Some(plan.write_file(&args.output).map_err(CarryError::from)?),
    };
    if ui.json {
        return ui.print_json(&Answer::new(
            "ramus.pack/1",
            packed_json(&plan.manifest, size, Some(&plan)),
        ));
    }
    let total = bytes(plan.manifest.total_bytes());
    let mut words = format!(
        "Packed {} with {}, {total}",
        count_noun(plan.manifest.sessions.len(), "session"),
        count_noun(plan.manifest.files().count(), "file"),
    );
    if let Some(size) = size {
        words = format!("{words}, into {} ({})", args.output.display(), bytes(size));
    }
    ui.print_message(&Line::plain(&words));
    report_redactions(ui, args, &plan);
    Ok(())
}

fn plan_pack(
    workspace: &Workspace,
    addresses: &[String],
    args: &PackArgs,
) -> Result<PackPlan, CommandError> {
    let mut opened_sessions = Vec::new();
    for text in addresses {
        let Address { file, node } = workspace.resolve_address(text)?;
        if node != NodeSelector::Resume && !args.path {
            return Err(CommandError::user_error(format!("{text:?} is only part of a session")).with_hint(
                "use --path to pack only that conversation, or the session's id to pack all branches",
            ));
        }
        let opened = OpenedSession::read_session(workspace, file)?;
        let up_to = if args.path { Some(opened.find_node(&node)?) } else { None };
        opened_sessions.push((opened, up_to));
    }
    let items: Vec<PackItem<'_>> =
        opened_sessions.iter().map(|(opened, up_to)| PackItem { opened, up_to: *up_to }).collect();
    Ok(workspace.plan_pack(&items, PackOptions { redact: args.redact })?)
}

fn report_redactions(ui: &Ui, args: &PackArgs, plan: &PackPlan) {
    if args.redact && plan.redactions.is_empty() {
        ui.print_message(&Line::new("Redacted: nothing", Label::Note));
    }
    for (rule, times) in &plan.redactions {
        let line = Line::new("Redacted: ", Label::Note);
        ui.print_message(&line.with(&format!("{rule} {times}×"), Label::Plain));
    }
    for LeftOut { name, reason } in &plan.left_out {
        let why = match reason {
            LeftOutReason::NotText => "is not text",
            LeftOutReason::OddName => "has a name that not every system allows",
            LeftOutReason::TooDeep => "is below too many directories",
        };
        let words = format!("{name} {why} and was left out");
        ui.print_message(&Line::new("Note: ", Label::Note).with(&words, Label::Plain));
    }
}

/// Describes a pack to a program.
pub(crate) fn packed_json(
    manifest: &Manifest,
    size: Option<u64>,
    plan: Option<&PackPlan>,
) -> Packed {
    let sessions = manifest.sessions.iter().map(|session| PackedSessionEntry {
        id: session.id.clone(),
        title: session.title.clone(),
        directory: session.directory.clone(),
        version: session.version.clone(),
        started: session.started.clone(),
        last_active: session.last_active.clone(),
        messages: session.messages,
        conversations: session.conversations,
        agents: session.agents,
        files: { session.files.iter() }
            .map(|file| PackedFileEntry {
                name: file.name.clone(),
                bytes: file.bytes,
                sha256: file.sha256.clone(),
            })
            .collect(),
    });
    Packed {
        bytes: size,
        total_bytes: manifest.total_bytes(),
        redacted: manifest.redacted,
        sessions: sessions.collect(),
        redactions: plan.filter(|_| manifest.redacted).map(|plan| plan.redactions.clone()),
        left_out: { plan.into_iter().flat_map(|plan| &plan.left_out) }
            .map(|left_out| left_out.name.clone())
            .collect(),
    }
}

impl From<CarryError> for CommandError {
    fn from(error: CarryError) -> Self {
        match error {
            CarryError::Change(error) => error.into(),
            CarryError::NoSession(_) => {
                Self::user_error(error).with_hint("use its session, or --path to pack it alone")
            }
            CarryError::Write(error) => {
                Self { kind: crate::error::ErrorKind::User, error: error.into(), hints: Vec::new() }
            }
            CarryError::Pack(error) => error.into(),
            CarryError::Twice(_)
            | CarryError::Refused(_)
            | CarryError::NoDirectory(_)
            | CarryError::NoClaudeDir => Self::user_error(error),
        }
    }
}

impl From<ramus_store::pack::PackError> for CommandError {
    fn from(error: ramus_store::pack::PackError) -> Self {
        Self { kind: crate::error::ErrorKind::User, error: error.into(), hints: Vec::new() }
    }
}
