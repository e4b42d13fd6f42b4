use crate::error::CommandError;
use crate::ui::Ui;

/// Print a short guide for coding agents
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus guide
  ramus guide >> CLAUDE.md")]
pub(crate) struct GuideArgs {}

pub(crate) fn guide(ui: &mut Ui, _args: &GuideArgs) -> Result<(), CommandError> {
    ui.print_document("ramus.guide/1", include_str!("guide.md"))
}
