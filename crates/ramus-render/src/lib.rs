//! How a Claude Code history reads: text, Markdown, JSON, outlines.
