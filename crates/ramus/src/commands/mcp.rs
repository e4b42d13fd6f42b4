use crate::args::Global;
use crate::error::CommandError;
use crate::{mcp, memory};

/// Run an MCP server that lets agents read past conversations
///
/// Offers tools to search, list, read, compare and count. They change nothing unless `--allow-write` is
/// given. Answers are limited to the size the agent asks for, with a cursor for the rest.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude mcp add ramus -- ramus mcp
  claude mcp add --scope user ramus -- ramus mcp")]
pub(crate) struct McpArgs {
    /// Also offer `goto` and `fork`, as plans that need a second call to confirm
    #[arg(long)]
    allow_write: bool,
}

pub(crate) fn mcp(global: &Global, args: &McpArgs) -> Result<(), CommandError> {
    memory::restart_with_eager_release();
    mcp::serve_client(global, args.allow_write)
}
