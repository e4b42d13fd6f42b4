//! What clients of different versions do when they resume.

use serde_json::{Value, json};

/// The client of one version, and what it does.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientBehavior(pub(super) (u32, u32, u32));

impl ClientBehavior {
    /// Whether the calls of one message are sent together if they are in several places.
    pub(super) fn joins_parallel_calls(self) -> bool {
        self.0 >= (2, 1, 150)
    }

    /// Whether the chain continues above a record of a type that the client does not know.
    pub(super) fn passes_unknown_records(self) -> bool {
        self.0 >= (2, 1, 150)
    }

    /// Whether a record whose parent is lost continues the one before it.
    pub(super) fn goes_on_before_lost_parents(self) -> bool {
        self.0 >= (2, 1, 150)
    }

    /// Whether a call without a result at the end is kept and gets a result.
    pub(super) fn answers_open_calls(self) -> bool {
        self.0 >= (2, 1, 281)
    }

    /// Whether a reply that is an API error is left out.
    pub(super) fn drops_api_errors(self) -> bool {
        self.0 >= (2, 0, 0)
    }

    /// Whether tool results come before other text of their message.
    pub(super) fn puts_results_first(self) -> bool {
        self.0 >= (2, 0, 0)
    }

    /// Whether a result without a call is left out.
    pub(super) fn drops_stray_results(self) -> bool {
        self.0 >= (2, 1, 0)
    }

    /// Whether it is kept if there is no reply before it.
    pub(super) fn keeps_first_result(self) -> bool {
        self.0 < (2, 1, 150)
    }

    /// Whether a turn that ended with an API error counts as broken off before that.
    pub(super) fn forgets_errors(self) -> bool {
        self.0 >= (2, 1, 150)
    }

    /// Whether an image from the user is only mentioned.
    pub(super) fn names_pictures(self) -> bool {
        ((2, 1, 0)..(2, 1, 150)).contains(&self.0)
    }

    /// Whether a plan is left out of the call that presents it.
    pub(super) fn drops_plans(self) -> bool {
        ((2, 1, 0)..(2, 1, 150)).contains(&self.0)
    }

    /// Whether the client asks to continue a turn that stopped after a result.
    pub(super) fn asks_to_continue(self) -> bool {
        ((2, 1, 0)..(2, 1, 281)).contains(&self.0)
    }

    /// Whether the client notes on resume that a background agent has not reported.
    pub(super) fn notes_unreported_agents(self) -> bool {
        self.0 >= (2, 1, 150)
    }

    /// Whether a notification is marked at length as not written by the user.
    pub(super) fn adds_no_input_note(self) -> bool {
        self.0 >= (2, 1, 281)
    }

    /// Whether a newline separates texts that are joined into one message.
    pub(super) fn ends_joined_texts(self) -> bool {
        self.0 >= (2, 1, 150)
    }
}

impl ClientBehavior {
    /// Shortens a block as this client version does.
    pub(super) fn reduce_block(self, block: &mut Value) {
        if self.names_pictures() && block["type"] == "image" {
            *block = json!({"type": "text", "text": "[image]"});
        }
        if self.drops_plans() && block["type"] == "tool_use" && block["name"] == "ExitPlanMode" {
            block["input"] = json!({});
        }
    }
}
