//! Calls that may still be running.

use super::{ReplyPart, Turn, TurnKind};
use crate::history::{ConversationPath, History};
use crate::message_tree::MessageNodeId;
use crate::record::RecordRole;

/// Returns the reply at the end of a path. While the session is open, its calls without a result are
/// running. `None`: something that ended them came after it.
pub fn last_reply(history: &History, path: &ConversationPath) -> Option<MessageNodeId> {
    let role = |message: &MessageNodeId| history.message_tree.message(*message).role;
    let ends_calls = |role: RecordRole| {
        role.is_dialogue() || matches!(role, RecordRole::Interrupt | RecordRole::Command)
    };
    let last = path.messages.iter().rev().find(|message| ends_calls(role(message)))?;
    (role(last) == RecordRole::Reply).then_some(*last)
}

impl Turn {
    /// Marks the calls without a result as running if the turn is this reply.
    pub fn mark_running(&mut self, history: &History, running: MessageNodeId) {
        let message = self.nodes.first().and_then(|node| history.message_tree.message_of(*node));
        let TurnKind::Reply(reply) = &mut self.kind else { return };
        if message != Some(running) {
            return;
        }
        for part in &mut reply.parts {
            if let ReplyPart::Call(call) = part {
                call.running = call.result.is_none();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use testkit::jsonl;

    use super::last_reply;
    use crate::history::History;
    use crate::resume::ResumeRule;
    use crate::session::Session;

    #[track_caller]
    fn check(after: &str, expected: bool) {
        let mut session = Session::default();
        let fixture = format!("a  user  look\nb < a  call:t1:Read  a.rs\n{after}");
        session.push(jsonl(&fixture).as_bytes());
        session.finish_last_line();
        let history = History::new(session, ResumeRule::Client);
        let last = history.branches.resuming_conversation().unwrap();
        let found = last_reply(&history, &history.conversation_path(last));
        assert_eq!(found.is_some(), expected, "{after}");
    }

    #[test]
    fn only_the_calls_of_the_last_reply_may_be_running() {
        check("", true);
        check("c < b  progress", true);
        check("c < b  interrupt", false);
        check("c < b  user  never mind", false);
    }
}
