use std::io;
use std::path::{Path, PathBuf};

use ramus_app::UnpackRequest;
use ramus_render::json::{Answer, Unpacked, UnpackedSession};
use ramus_render::table::bytes;
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};
use ramus_store::pack::read::{keep_stream, read_manifest};
use ramus_store::pack::{Manifest, OpenPack, PackError};

use super::pack::packed_json;
use crate::args::Global;
use crate::confirm::{WriteArgs, confirm_and_apply_as};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Add the sessions of a pack to a project on this machine
///
/// The sessions are added to the project of the current directory, or of `--into`. In their records,
/// the old working directory is replaced by the new one; the text of messages is not changed. A session
/// whose id already exists here gets a new id. The whole pack is verified before anything is written,
/// the plan is shown first, and `ramus undo` removes the sessions again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus unpack work.tar.zst --list                      list its contents
  ramus unpack work.tar.zst                             continue the sessions in this directory
  ramus unpack work.tar.zst --into ~/src/app
  ramus unpack work.tar.zst --map /home/ann=/home/bob   replace other paths too")]
pub(crate) struct UnpackArgs {
    /// The pack, or `-` for stdin
    file: PathBuf,
    /// The directory in which you want to continue the sessions [default: this directory]
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// Also replace this path of the other machine in the records. Can be repeated
    #[arg(long, value_name = "OLD=NEW", value_parser = parse_map)]
    map: Vec<(String, String)>,
    /// List the contents and write nothing
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    write: WriteArgs,
}

fn parse_map(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => {
            let new = std::path::absolute(new).map_err(|error| error.to_string())?;
            Ok((old.to_owned(), new.to_string_lossy().into_owned()))
        }
        _ => Err("expected OLD=NEW".to_owned()),
    }
}

pub(crate) fn unpack(ui: &mut Ui, global: &Global, args: &UnpackArgs) -> Result<(), CommandError> {
    let received = match args.file == Path::new("-") {
        true => Some(keep_stream(&mut io::stdin().lock())?),
        false => None,
    };
    let file = received.as_deref().unwrap_or(&args.file);
    let named = |error: PackError| if received.is_some() { error.of_stream() } else { error };
    if args.list {
        return list_pack(ui, &read_manifest(file).map_err(named)?);
    }
    let pack = OpenPack::read(file, &std::env::temp_dir()).map_err(named)?;
    let workspace = env::workspace_to_fill(ui, global);
    let into = args.into.as_deref().unwrap_or(Path::new("."));
    let request = UnpackRequest { into, maps: &args.map };
    let planned = workspace.plan_unpack(&pack, &request)?;
    confirm_and_apply_as(ui, "ramus.unpack/1", &args.write, &planned.change, |written| Unpacked {
        written,
        directory: planned.directory.display().to_string(),
        sessions: { planned.sessions.iter() }
            .map(|session| UnpackedSession {
                id: session.id.clone(),
                packed_id: pack.manifest.sessions[session.index].id.clone(),
                file: session.file.display().to_string(),
                resume_leaf: session.leaf.clone(),
                rewritten_records: session.rewritten,
            })
            .collect(),
    })
}

/// Prints the contents of a pack.
fn list_pack(ui: &mut Ui, manifest: &Manifest) -> Result<(), CommandError> {
    if ui.json {
        return ui.print_json(&Answer::new("ramus.pack/1", packed_json(manifest, None, None)));
    }
    for session in &manifest.sessions {
        let line =
            Line::new(&session.id, Label::Id).with(&format!("  {}", session.title), Label::Strong);
        ui.print_line(&line)?;
        let version = session.version.as_deref().unwrap_or("unknown");
        let facts = format!(
            "  {}, {}, {}; Claude Code {version}; {}; {}",
            count_noun(session.messages as usize, "message"),
            count_noun(session.conversations as usize, "conversation"),
            count_noun(session.agents as usize, "agent"),
            session.last_active.as_deref().unwrap_or("no date"),
            session.directory.as_deref().unwrap_or("no directory"),
        );
        ui.print_line(&Line::plain(&facts))?;
        for file in &session.files {
            let size = format!("{:>10}  ", bytes(file.bytes));
            ui.print_line(&Line::new(&size, Label::Dim).with(&file.name, Label::Plain))?;
        }
    }
    if manifest.redacted {
        ui.print_line(&Line::new("Secrets and personal data were removed", Label::Note))?;
    }
    Ok(())
}
