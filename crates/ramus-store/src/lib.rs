//! Where Claude Code histories live: directories, files, reading.
