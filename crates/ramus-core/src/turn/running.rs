//! Calls that may still be running.

use super::{ReplyPart, Turn, TurnKind};
use crate::history::{ConversationPath, History};
use crate::message_tree::MessageNodeId;
use crate::record::RecordRole;

/// Returns the reply at the end of a path. While the session is open, its calls without a result are
/// running. `None`: something that ended them came after it.
pub fn last_reply(history: &History, path: &ConversationPath) -> Option<MessageNodeId> {
    let tree = &history.message_tree;
    let role = |message: MessageNodeId| tree.message(message).role;
    let mut messages = path.messages.iter().copied().rev();
    let last = messages.find(|message| role(*message).is_dialogue())?;
    // A path ends with dialogue. An interrupt or a command comes below it.
    let mut below: Vec<MessageNodeId> = tree.children(last).to_vec();
    while let Some(message) = below.pop() {
        match role(message) {
            RecordRole::Interrupt | RecordRole::Command => return None,
            role if role.is_dialogue() => {}
            _ => below.extend(tree.children(message)),
        }
    }
    (role(last) == RecordRole::Reply).then_some(last)
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
        check("c < b  progress\nd < c  command  exit", false);
        check("c < b  user  never mind", false);
    }
}
