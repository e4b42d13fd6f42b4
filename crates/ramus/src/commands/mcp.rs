use crate::args::Global;
use crate::error::CommandError;
use crate::{mcp, memory};

/// Serve past conversations to an agent, as an MCP server over stdio
///
/// Tools to search, list, read, compare and count. Nothing can be changed unless `--allow-write` is given.
/// Answers are short and cut to what the agent asks for, with a cursor that continues them.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  claude mcp add ramus -- ramus mcp\n  claude mcp add --scope user ramus -- ramus mcp"
)]
pub(crate) struct McpArgs {
    /// Offer `goto` and `fork` too, as plans that a second call confirms
    #[arg(long)]
    allow_write: bool,
}

pub(crate) fn mcp(global: &Global, args: &McpArgs) -> Result<(), CommandError> {
    memory::give_back_at_once();
    mcp::serve_client(global, args.allow_write)
}
