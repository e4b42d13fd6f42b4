//! Records about a session that are not part of its tree. The last one of each kind counts.

use super::fields::Fields;
use serde_json::Value;

mod cost;
mod file_history;

pub use cost::{CostState, ModelCost};
pub use file_history::{FileBackup, FileHistoryDelta, FileHistorySnapshot};

/// The body of a metadata record.
#[derive(Clone, Debug, PartialEq)]
pub enum Metadata {
    /// A title for the conversation that ends at `leaf_uuid`, often one of another session.
    Summary {
        summary: String,
        leaf_uuid: Option<String>,
    },
    CustomTitle(String),
    AiTitle(String),
    LastPrompt(LastPrompt),
    AgentName(String),
    AgentColor(String),
    AgentSetting(String),
    Tag(String),
    Mode(String),
    PermissionMode(String),
    PrLink(PrLink),
    QueueOperation(QueueOperation),
    FileHistorySnapshot(FileHistorySnapshot),
    FileHistoryDelta(FileHistoryDelta),
    /// The worktree the session is in; `None`: it has left it.
    WorktreeState(Option<Worktree>),
    /// The session continues in another directory.
    Relocated {
        cwd: String,
    },
    ContentReplacement(Vec<ContentReplacement>),
    BridgeSession(BridgeSession),
    CostState(Box<CostState>),
    FrameLink {
        path: String,
        url: String,
        title: Option<String>,
    },
    ForkContextRef(ForkContextRef),
    /// A known kind without any content for a reader.
    Other {
        kind: String,
        value: Value,
    },
}

/// The last prompt, and from 2.1.120 on the record to resume from (R11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastPrompt {
    pub last_prompt: Option<String>,
    pub leaf_uuid: LeafUuid,
    /// The pointer was set on purpose and holds for ancestors too.
    pub explicit: bool,
    pub rewound: bool,
}

/// A `leafUuid`. A missing value and null mean different things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeafUuid {
    Absent,
    Null,
    Uuid(String),
}

/// A pull request made in the session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrLink {
    pub number: Option<u64>,
    pub url: String,
    pub repository: Option<String>,
    pub timestamp: Option<String>,
}

/// A prompt went into or out of the queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueOperation {
    /// `enqueue`, `dequeue`, `remove` or `popAll`.
    pub operation: String,
    pub content: Option<String>,
    pub timestamp: Option<String>,
}

/// A git worktree that a session works in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worktree {
    pub name: Option<String>,
    pub path: Option<String>,
    pub branch: Option<String>,
    pub original_cwd: Option<String>,
}

/// A tool result that is sent to the model in a shorter form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentReplacement {
    pub kind: Option<String>,
    pub tool_use_id: String,
    pub replacement: String,
}

/// A session that is also steered from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BridgeSession {
    pub bridge_session_id: String,
    pub last_sequence_num: Option<u64>,
    pub owner_account_uuid: Option<String>,
    pub owner_organization_uuid: Option<String>,
}

/// The first line of a sub-agent that starts with its parent's context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForkContextRef {
    pub agent_id: String,
    pub parent_session_id: Option<String>,
    pub parent_last_uuid: Option<String>,
    pub context_length: Option<u64>,
}

impl Metadata {
    /// Reads the metadata record of type `kind`, or gives back the fields of an unknown one.
    pub(super) fn from_fields<'a>(kind: &str, mut f: Fields<'a>) -> Result<Self, Fields<'a>> {
        Ok(match kind {
            "summary" => Self::Summary {
                summary: f.take_string("summary"),
                leaf_uuid: f.take_text("leafUuid"),
            },
            "custom-title" => Self::CustomTitle(f.take_string("customTitle")),
            "ai-title" => Self::AiTitle(f.take_string("aiTitle")),
            "last-prompt" => Self::LastPrompt(LastPrompt::from_fields(f)),
            "agent-name" => Self::AgentName(f.take_string("agentName")),
            "agent-color" => Self::AgentColor(f.take_string("agentColor")),
            "agent-setting" => Self::AgentSetting(f.take_string("agentSetting")),
            "tag" => Self::Tag(f.take_string("tag")),
            "mode" => Self::Mode(f.take_string("mode")),
            "permission-mode" => Self::PermissionMode(f.take_string("permissionMode")),
            "pr-link" => Self::PrLink(PrLink::from_fields(f)),
            "queue-operation" => Self::QueueOperation(QueueOperation::from_fields(f)),
            "file-history-snapshot" => {
                Self::FileHistorySnapshot(FileHistorySnapshot::from_fields(f))
            }
            "file-history-delta" => Self::FileHistoryDelta(FileHistoryDelta::from_fields(f)),
            "worktree-state" => {
                Self::WorktreeState(f.take_object("worktreeSession").map(Worktree::from_fields))
            }
            "relocated" => Self::Relocated { cwd: f.take_string("relocatedCwd") },
            "content-replacement" => Self::ContentReplacement(
                f.take_objects("replacements").map(ContentReplacement::from_fields).collect(),
            ),
            "bridge-session" => Self::BridgeSession(BridgeSession::from_fields(f)),
            "cost-state" => Self::CostState(Box::new(CostState::from_fields(f))),
            "frame-link" => Self::FrameLink {
                path: f.take_string("path"),
                url: f.take_string("frameUrl"),
                title: f.take_text("title"),
            },
            "fork-context-ref" => Self::ForkContextRef(ForkContextRef::from_fields(f)),
            _ if is_internal(kind) => Self::Other { kind: kind.to_owned(), value: f.into_value() },
            _ => return Err(f),
        })
    }
}

/// Whether a type is internal to the client.
fn is_internal(kind: &str) -> bool {
    const INTERNAL: &[&str] = &[
        "task-summary",
        "attribution-snapshot",
        "speculation-accept",
        "atis-latch",
        "isolation-latch",
        "history-suppression",
        "tombstone",
        "started",
        "result",
    ];
    const FAMILIES: &[&str] = &["artifact-", "marble-origami-"];
    INTERNAL.contains(&kind) || FAMILIES.iter().any(|family| kind.starts_with(family))
}

impl LastPrompt {
    fn from_fields(mut fields: Fields) -> Self {
        let has_leaf = fields.has_key("leafUuid");
        Self {
            last_prompt: fields.take_text("lastPrompt"),
            leaf_uuid: match fields.take_text("leafUuid") {
                Some(uuid) => LeafUuid::Uuid(uuid),
                None if has_leaf => LeafUuid::Null,
                None => LeafUuid::Absent,
            },
            explicit: fields.flag("explicit"),
            rewound: fields.flag("rewound"),
        }
    }
}

impl PrLink {
    fn from_fields(mut fields: Fields) -> Self {
        Self {
            number: fields.number("prNumber"),
            url: fields.take_string("prUrl"),
            repository: fields.take_text("prRepository"),
            timestamp: fields.take_text("timestamp"),
        }
    }
}

impl QueueOperation {
    fn from_fields(mut fields: Fields) -> Self {
        Self {
            operation: fields.take_string("operation"),
            content: fields.take_text("content"),
            timestamp: fields.take_text("timestamp"),
        }
    }
}

impl Worktree {
    fn from_fields(mut fields: Fields) -> Self {
        Self {
            name: fields.take_text("worktreeName"),
            path: fields.take_text("worktreePath"),
            branch: fields.take_text("worktreeBranch"),
            original_cwd: fields.take_text("originalCwd"),
        }
    }
}

impl ContentReplacement {
    fn from_fields(mut fields: Fields) -> Self {
        Self {
            kind: fields.take_text("kind"),
            tool_use_id: fields.take_string("toolUseId"),
            replacement: fields.take_string("replacement"),
        }
    }
}

impl BridgeSession {
    fn from_fields(mut fields: Fields) -> Self {
        Self {
            bridge_session_id: fields.take_string("bridgeSessionId"),
            last_sequence_num: fields.number("lastSequenceNum"),
            owner_account_uuid: fields.take_text("ownerAccountUuid"),
            owner_organization_uuid: fields.take_text("ownerOrganizationUuid"),
        }
    }
}

impl ForkContextRef {
    fn from_fields(mut fields: Fields) -> Self {
        Self {
            agent_id: fields.take_string("agentId"),
            parent_session_id: fields.take_text("parentSessionId"),
            parent_last_uuid: fields.take_text("parentLastUuid"),
            context_length: fields.number("contextLength"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: &str, json: &str, expected: &str) {
        let fields = Fields::read(json);
        let actual = Metadata::from_fields(kind, fields).map(|metadata| format!("{metadata:?}"));
        assert_eq!(actual.unwrap_or_default(), expected);
    }

    #[test]
    fn one_text_is_one_text() {
        check("custom-title", r#"{"customTitle":"x"}"#, r#"CustomTitle("x")"#);
        check("ai-title", r#"{"aiTitle":"x"}"#, r#"AiTitle("x")"#);
        check("tag", r#"{"tag":null}"#, r#"Tag("")"#);
        check("summary", r#"{"summary":"x"}"#, r#"Summary { summary: "x", leaf_uuid: None }"#);
    }

    #[test]
    fn a_leaf_is_absent_null_or_named() {
        let expected = |leaf, explicit| {
            format!(
                "LastPrompt(LastPrompt {{ last_prompt: None, leaf_uuid: {leaf}, explicit: {explicit}, rewound: false }})"
            )
        };
        check("last-prompt", "{}", &expected("Absent", false));
        check("last-prompt", r#"{"leafUuid":null}"#, &expected("Null", false));
        check(
            "last-prompt",
            r#"{"leafUuid":"u","explicit":true}"#,
            &expected(r#"Uuid("u")"#, true),
        );
    }

    #[test]
    fn a_worktree_can_be_left() {
        check("worktree-state", r#"{"worktreeSession":null}"#, "WorktreeState(None)");
        check(
            "worktree-state",
            r#"{"worktreeSession":{"worktreePath":"p"}}"#,
            r#"WorktreeState(Some(Worktree { name: None, path: Some("p"), branch: None, original_cwd: None }))"#,
        );
    }

    #[test]
    fn internal_kinds_are_known_and_new_ones_are_not() {
        check("atis-latch", "{}", r#"Other { kind: "atis-latch", value: Object {} }"#);
        check("artifact-x", "{}", r#"Other { kind: "artifact-x", value: Object {} }"#);
        check("never-seen", "{}", "");
    }
}
