//! Which sessions are being used right now, and what is running in them.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use ramus_core::history::{ConversationPath, History};
use ramus_core::message_tree::MessageNodeId;
use ramus_core::time::Time;
use ramus_core::turn::last_reply;
use ramus_store::claude_dir::{FileRole, HistoryFile, containing_claude_dir};
use ramus_store::session_in_use::open_sessions;
use ramus_store::survey::time_from_system;

/// A session is live when it was written to this lately.
pub const LIVE_PERIOD: Duration = Duration::from_secs(120);

/// Decides which sessions are live: written to a moment ago, or open in Claude Code, which may wait long
/// for a tool.
#[derive(Debug)]
pub struct LiveSessions {
    now: SystemTime,
    /// The sessions that are open, by Claude directory.
    open: HashMap<PathBuf, HashSet<String>>,
}

impl LiveSessions {
    pub fn at(now: SystemTime) -> Self {
        Self { now, open: HashMap::new() }
    }

    /// Whether a session is live. `last_active` is the time of its last record.
    pub fn is_live(&mut self, file: &HistoryFile, last_active: Option<Time>) -> bool {
        if file.archived || was_written_lately(file.modified, last_active, self.now) {
            return !file.archived;
        }
        let root = containing_claude_dir(&file.path).filter(|_| file.role == FileRole::Session);
        root.is_some_and(|root| {
            let known = self.open.entry(root.to_owned());
            known.or_insert_with(|| open_sessions(root)).contains(&file.id)
        })
    }
}

/// Returns the reply whose calls without a result are running: the last one on the path of a live session.
pub fn running_reply(
    file: &HistoryFile,
    history: &History,
    path: &ConversationPath,
) -> Option<MessageNodeId> {
    let reply = last_reply(history, path)?;
    let last_active = history.session.facts().last_active;
    LiveSessions::at(SystemTime::now()).is_live(file, last_active).then_some(reply)
}

/// Whether the times of a file and of its last record are recent.
pub fn was_written_lately(
    modified: SystemTime,
    last_active: Option<Time>,
    now: SystemTime,
) -> bool {
    let age = now.duration_since(modified).unwrap_or_default();
    // A file that was copied or got a new title is new, but its messages are not.
    let last_millis = last_active.map_or(0, Time::as_millis);
    let silent = time_from_system(now).as_millis().saturating_sub(last_millis);
    age < LIVE_PERIOD && u128::from(silent.unsigned_abs()) < 5 * LIVE_PERIOD.as_millis()
}

#[cfg(test)]
mod tests {
    use ramus_core::resume::ResumeRule;
    use testkit::TestHome;

    use super::*;

    const CALL: &str = "a  user  look\nb < a  call:t1:Read  a.rs";

    #[test]
    fn a_session_is_live_while_it_is_written_or_open() {
        let home = TestHome::new();
        let path = home.write_session("-p/aaaa1111.jsonl", CALL);
        let mut file = HistoryFile::from_path(&path).unwrap();
        let history = ramus_store::from_jsonl(&path, ResumeRule::Client).unwrap();
        let reply = history.branches.resuming_conversation().unwrap();
        let path = history.conversation_path(reply);
        let last_active = history.session.facts().last_active;
        let is_live = |file: &HistoryFile, now| LiveSessions::at(now).is_live(file, last_active);
        // The fixture is from 2026: when its file was written must not count alone.
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(testkit::START_SECOND as u64);
        file.modified = then;
        assert!(is_live(&file, then + Duration::from_secs(60)));
        assert!(!is_live(&file, then + Duration::from_secs(600)));
        assert_eq!(running_reply(&file, &history, &path), None);
        let pid = std::process::id();
        let open = format!(r#"{{"pid":{pid},"sessionId":"aaaa1111"}}"#);
        home.write_file("../sessions/1.json", open);
        assert!(is_live(&file, then + Duration::from_secs(600)));
        assert!(running_reply(&file, &history, &path).is_some());
        file.archived = true;
        assert!(!is_live(&file, then));
    }
}
