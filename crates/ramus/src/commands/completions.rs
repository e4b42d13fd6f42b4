use clap::builder::PossibleValuesParser;

use crate::completion::SHELLS;
use crate::error::CommandError;
use crate::ui::Ui;

/// Print shell completions that know your sessions and projects
///
/// The shell asks ramus while you type, so that ids, titles and projects are known.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  echo 'source <(ramus completions bash)' >> ~/.bashrc
  echo 'source <(ramus completions zsh)' >> ~/.zshrc
  ramus completions fish > ~/.config/fish/completions/ramus.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_parser = PossibleValuesParser::new(["bash", "elvish", "fish", "powershell", "zsh"]))]
    shell: String,
}

pub(crate) fn completions(ui: &mut Ui, args: &CompletionsArgs) -> Result<(), CommandError> {
    let shell = SHELLS
        .completer(&args.shell)
        .ok_or_else(|| CommandError::user_error(format!("no completions for {}", args.shell)))?;
    let mut script = Vec::new();
    shell.write_registration("COMPLETE", "ramus", "ramus", "ramus", &mut script)?;
    ui.print_document("ramus.completions/1", &String::from_utf8_lossy(&script))
}
