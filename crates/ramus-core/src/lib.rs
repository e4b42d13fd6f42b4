//! What a Claude Code history is: bytes in, values out.

pub mod body;
