//! `archive init`: prepares a server for a team's archive.

use ramus_archive::{Archive, ArchiveLocation};
use ramus_render::json::{Answer, ArchiveInit};
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Prepare a PostgreSQL database for an archive
///
/// Creates the schema `ramus` with its tables; what is there already stays. With --team it also creates the roles
/// `ramus_member` (adds and reads its own sessions, reads shared projects) and `ramus_reader` (reads shared
/// projects), and row security that holds them to it. Grant one of them to each person's login.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus archive init --team --archive $URL    URL=postgres://admin@db.example.com/ramus")]
pub(super) struct InitArgs {
    /// Create the roles and the row security for several people
    #[arg(long)]
    team: bool,
}

pub(super) fn init(ui: &mut Ui, global: &Global, args: &InitArgs) -> Result<(), CommandError> {
    let ArchiveLocation::Server { url, machine } = env::archive_location(global) else {
        return Err(CommandError::user_error(
            "only an archive on a server needs this; ramus creates an archive file by itself",
        )
        .with_hint("use --archive postgres://USER@HOST/DATABASE to choose a server"));
    };
    Archive::initialize_server(&url, args.team)?;
    let archive = Archive::connect(&url, &machine)?.name().to_owned();
    if ui.json {
        let answer = ArchiveInit { archive, team: args.team };
        return ui.print_json(&Answer::new("ramus.archive.init/1", answer));
    }
    ui.print_line(&Line::new(&format!("{archive} is ready."), Label::Active))?;
    if args.team {
        let next =
            "Each person needs a login: CREATE ROLE alice LOGIN PASSWORD '…' IN ROLE ramus_member;";
        ui.print_line(&Line::new(next, Label::Dim))?;
    }
    Ok(())
}
