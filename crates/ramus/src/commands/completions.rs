use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Args;
use crate::error::CommandError;
use crate::ui::Ui;

/// Print the completions of a shell
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus completions bash > ~/.local/share/bash-completion/completions/ramus\n  ramus completions fish > ~/.config/fish/completions/ramus.fish"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn completions(ui: &mut Ui, args: &CompletionsArgs) -> Result<(), CommandError> {
    // The generator panics when it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "ramus", &mut script);
    ui.print_document("ramus.completions/1", &String::from_utf8_lossy(&script))
}
