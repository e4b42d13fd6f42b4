//! Names of what statistics count. Scripts see the stable words instead.

/// Returns why a message with several children is not a fork.
pub fn artefact_name(stable: &str) -> &str {
    match stable {
        "parallel-tools" => "parallel tool calls",
        "decoration" => "progress and hooks",
        "replay" => "messages written again",
        "sidechain" => "sub-agents",
        other => other,
    }
}

/// Returns the shape of a session.
pub fn shape_name(stable: &str) -> &str {
    match stable {
        "sidechain" => "with sub-agents",
        other => other,
    }
}

/// Returns what a sub-agent's file has.
pub fn agent_class_name(stable: &str) -> &str {
    match stable {
        "task" => "with a task",
        "warmup" => "without a task",
        "inline" => "in the session's file",
        other => other,
    }
}

/// Returns where the content of a file at a message comes from.
pub fn source_name(stable: &str) -> &str {
    match stable {
        "snapshot" => "checkpoint",
        "first" => "first backup",
        "next" => "next checkpoint",
        "write" => "written",
        "edit" => "edited",
        "nothing" => "not recorded",
        other => other,
    }
}
