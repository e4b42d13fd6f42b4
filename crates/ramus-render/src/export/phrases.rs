//! Phrases that all formats share.

use ramus_core::turn::{Compaction, ForkTurnBranch, HookEffect, Notification};

use crate::text::{grouped_digits, model_name};

/// Returns the state of another branch.
pub(super) fn branch_state(branch: &ForkTurnBranch) -> &'static str {
    match (branch.draft, branch.current) {
        (true, _) => "draft",
        (_, true) => "current",
        _ => "abandoned",
    }
}

/// Returns the verb for what a hook did.
pub fn hook_verb(effect: HookEffect) -> &'static str {
    match effect {
        HookEffect::Reported => "reported",
        HookEffect::Failed => "failed",
        HookEffect::Blocked => "blocked",
    }
}

/// Summarizes a notification of a task or agent.
pub fn notification_text(news: &Notification) -> String {
    let from = news.from.as_deref().unwrap_or("a task");
    let status = news.status.as_deref().unwrap_or("reported");
    news.summary.clone().unwrap_or_else(|| format!("{from} {status}"))
}

/// Returns the token counts of a compaction, if they were recorded.
pub fn compaction_tokens(compaction: &Compaction) -> Option<String> {
    Some(match (compaction.pre_tokens, compaction.post_tokens) {
        (Some(pre), Some(post)) => {
            format!("{} → {} tokens", grouped_digits(pre), grouped_digits(post))
        }
        (Some(pre), None) => format!("{} tokens before compaction", grouped_digits(pre)),
        _ => return None,
    })
}

/// Describes a switch to another model.
pub fn fallback_text(from: Option<&str>, to: Option<&str>) -> String {
    let name = |model: Option<&str>| model.map_or("another model", model_name).to_owned();
    format!("switched from {} to {}", name(from), name(to))
}
