use std::io;
use std::path::{Path, PathBuf};

use ramus_app::UnpackRequest;
use ramus_render::json::{Answer, Unpacked, UnpackedSession};
use ramus_render::table::bytes;
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};
use ramus_store::pack::read::{keep_stream, read_manifest};
use ramus_store::pack::{Manifest, OpenPack};

use super::pack::packed_json;
use crate::args::Global;
use crate::confirm::{WriteArgs, confirm_and_apply_as};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Place the sessions of a pack in a project of this machine
///
/// Shows its plan first, and `ramus undo` takes it back. The sessions go to the project of the
/// directory; paths of the directory that they came from are replaced in the records, but never in
/// what was said. A session whose id exists already gets a new one. The whole pack is checked before
/// anything is written.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus unpack work.tar.zst                            into the project of this directory\n  ramus unpack work.tar.zst --into ~/src/app\n  ramus unpack work.tar.zst --map /home/ann=/home/bob   other paths, too\n  ramus unpack work.tar.zst --list                     what is inside"
)]
pub(crate) struct UnpackArgs {
    /// The pack; `-` is standard input
    file: PathBuf,
    /// The directory to continue the sessions in [default: this directory]
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// Replace a path of the other machine in the records; can be given several times
    #[arg(long, value_name = "OLD=NEW", value_parser = parse_map)]
    map: Vec<(String, String)>,
    /// List what is inside, and write nothing
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
    if args.list {
        return list_pack(ui, &read_manifest(file)?);
    }
    let pack = OpenPack::read(file, &std::env::temp_dir())?;
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

/// Tells what is in a pack.
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
        ui.print_line(&Line::new("Secrets and personal data were taken out", Label::Note))?;
    }
    Ok(())
}
