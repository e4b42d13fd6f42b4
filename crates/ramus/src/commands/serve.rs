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

/// Browse histories in a web browser
///
/// Starts a web app on this machine: projects, sessions, transcripts, trees, search, comparison. It
/// listens on the loopback address only, and nothing leaves the machine. Press Ctrl-C to stop.
///
/// The printed address contains a token that lets in one browser. When it has been used, ramus prints a
/// new address for the next browser.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus serve --open
  ramus serve --port 9000
  ramus serve --listen 192.0.2.7    careful: anyone with the address can read everything")]
pub(crate) struct ServeArgs {
    /// Open the browser
    #[arg(long)]
    open: bool,
    /// Port to listen on. If it is in use, the next free one is used
    #[arg(long, default_value_t = 7468)]
    port: u16,
    /// Listen on this address instead of loopback, so that other machines can connect
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", hide_default_value = true)]
    listen: IpAddr,
    /// Keep open tabs working after a restart: store the token in a file that only you can read
    #[arg(long)]
    keep_token: bool,
    /// Also accept this host name, for example this machine's name in the network
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
}

pub(crate) fn serve(ui: &mut Ui, global: &Global, args: &ServeArgs) -> Result<(), CommandError> {
    memory::restart_with_eager_release();
    let prices = prices::load_prices(global, None)?;
    let workspace = Workspace::for_serving(
        env::open_claude_dirs(global)?,
        global.active.resume_rule(),
        env::state_dir(),
    )
    .with_archive(env::archive(global, &*ui.progress_sink()))
    .with_send_policy(crate::send_policy::load_send_policy())
    .with_prices(prices)
    .with_client(env::client_program(global));
    let workspace = env::with_team(workspace, global)?;
    let wanted = ListenOptions {
        address: args.listen,
        port: args.port,
        names: args.host.clone(),
        open: args.open,
        keep_token: args.keep_token,
    };
    if args.listen.is_unspecified() && args.host.is_empty() {
        return Err(CommandError::user_error("the host name of this machine is unknown")
            .with_hint("use --host NAME with the name or address that others open"));
    }
    if !args.listen.is_loopback() {
        ui.print_message(&Line::new("Careful: ", Label::Warning).with(
            "the server is reachable from the network. Anyone with the full address can read everything.",
            Label::Plain,
        ));
    }
    let log = ui.log_writer();
    let served = serve_history(workspace, &wanted, log, |listening: &ListenAddress| {
        let _ = writeln!(ui.output_writer(), "{}", listening.url);
        let _ = ui.output_writer().flush();
        ui.print_message(&Line::new(
            "Open this address in a browser. Press Ctrl-C to stop.",
            Label::Dim,
        ));
        if args.open && !listening.page.as_deref().is_some_and(open_file) {
            ui.print_message(&Line::plain("No browser found. Open the address yourself."));
        }
    });
    served.map_err(CommandError::from)
}

/// Opens a file in the program that the system has for it; `false`: there is none.
pub(crate) fn open_file(page: &Path) -> bool {
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
