use std::net::IpAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use ramus_app::Workspace;
use ramus_render::{Label, Line};
use ramus_web::{ListenAddress, ListenOptions, serve_history};

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::memory;
use crate::prices;
use crate::ui::Ui;

/// Open the histories in the browser
///
/// A page on this machine: projects, sessions, transcripts with their trees, search, comparison. It
/// listens on the loopback address only. The address it prints lets one browser in; after that it prints
/// the address for the next one. Nothing leaves the machine. Ctrl-C ends it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus serve --open\n  ramus serve --port 9000\n  ramus serve --listen 192.0.2.7    be careful: whoever has the address can read everything"
)]
pub(crate) struct ServeArgs {
    /// Open the browser
    #[arg(long)]
    open: bool,
    /// The port; the next free one if it is taken
    #[arg(long, default_value_t = 7468)]
    port: u16,
    /// Listen on another address than this machine's own
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", hide_default_value = true)]
    listen: IpAddr,
    /// Let pages that are open go on after a restart: keep their token in a file that only you can read
    #[arg(long)]
    keep_token: bool,
    /// Answer to this name, too, such as that of this machine in its network
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
}

pub(crate) fn serve(ui: &mut Ui, global: &Global, args: &ServeArgs) -> Result<(), CommandError> {
    memory::give_back_at_once();
    let prices = prices::load_prices(None)?;
    let workspace = Workspace::for_serving(
        env::open_claude_dirs(global)?,
        global.active.resume_rule(),
        env::state_dir(),
    )
    .with_archive(env::archive(global, &*ui.progress_sink()))
    .with_prices(prices)
    .with_client(env::client_program());
    let wanted = ListenOptions {
        address: args.listen,
        port: args.port,
        names: args.host.clone(),
        open: args.open,
        keep_token: args.keep_token,
    };
    if args.listen.is_unspecified() && args.host.is_empty() {
        return Err(CommandError::user_error(
            "whoever asks must name this machine, and it is not known how",
        )
        .with_hint("`--host NAME` gives the name or address that others open in their browser"));
    }
    if !args.listen.is_loopback() {
        ui.print_message(&Line::new("Careful: ", Label::Warning).with(
            "others on the network can reach this; whoever has the whole address can read everything.",
            Label::Plain,
        ));
    }
    let log = ui.log_writer();
    let served = serve_history(workspace, &wanted, log, |listening: &ListenAddress| {
        let _ = writeln!(ui.output_writer(), "{}", listening.url);
        let _ = ui.output_writer().flush();
        ui.print_message(&Line::new(
            "Open that address in a browser; Ctrl-C ends the server.",
            Label::Dim,
        ));
        if args.open && !listening.page.as_deref().is_some_and(open_browser) {
            ui.print_message(&Line::plain(
                "There is no browser to be found here; open the address yourself.",
            ));
        }
    });
    served.map_err(CommandError::from)
}

/// Opens a file in the browser; `false`: there is none.
fn open_browser(page: &Path) -> bool {
    let programs: &[&[&str]] = if cfg!(target_os = "macos") {
        &[&["open"]]
    } else if cfg!(windows) {
        &[&["rundll32", "url.dll,FileProtocolHandler"]]
    } else {
        &[&["xdg-open"], &["wslview"], &["gio", "open"]]
    };
    programs.iter().any(|program| {
        Command::new(program[0])
            .args(&program[1..])
            .arg(page)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .is_ok()
    })
}
