//! The projects of the sample, and the client version of each.

/// The generation of the client, by the format of its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientGeneration {
    /// 1.0: agents inline, resuming copies, summaries.
    One,
    /// 2.0: agents in flat files, file checkpoints.
    Two,
    /// 2.1.2xx: agents in the session's directory, attachments, pointers.
    Three,
}

/// A working directory with the client that is used in it.
#[derive(Debug)]
pub(super) struct DemoProject {
    pub(super) cwd: &'static str,
    pub(super) generation: ClientGeneration,
    pub(super) version: &'static str,
    pub(super) branch: &'static str,
    pub(super) model: &'static str,
    pub(super) agent_model: &'static str,
}

pub(super) static KETTLE: DemoProject = DemoProject {
    cwd: "/home/dev/kettle",
    generation: ClientGeneration::One,
    version: "1.0.113",
    branch: "main",
    model: "claude-opus-4-1-20250805",
    agent_model: "claude-opus-4-1-20250805",
};

pub(super) static MENU: DemoProject = DemoProject {
    cwd: "/home/dev/tea-menu",
    generation: ClientGeneration::Two,
    version: "2.0.76",
    branch: "landing-page",
    model: "claude-sonnet-4-5-20250929",
    agent_model: "claude-haiku-4-5-20251001",
};

pub(super) static TEAPOT: DemoProject = DemoProject {
    cwd: "/home/dev/teapot",
    generation: ClientGeneration::Three,
    version: "2.1.240",
    branch: "main",
    model: "claude-opus-5",
    agent_model: "claude-sonnet-5",
};

impl DemoProject {
    /// Returns its directory relative to the Claude directory.
    pub(super) fn projects_path(&self) -> String {
        format!("projects/{}", self.cwd.replace(|c: char| !c.is_ascii_alphanumeric(), "-"))
    }
}
