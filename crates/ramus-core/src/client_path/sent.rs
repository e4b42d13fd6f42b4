//! Builds the messages of the request from the records that the client loads.
//!
//! A session may have a million records, so the request is never held whole. What is sent for a record depends on
//! records after it: whether a call has a result, which model answered last. A first pass over the path collects these
//! facts, a second one hands out every message as soon as nothing can be joined to it any more.

use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use super::behavior::ClientBehavior;
use super::chain::client_path;
use super::join::MessageJoiner;
use super::piece::{PieceReader, SentPiece};
use super::unreported_agents;
use crate::history::History;
use crate::ids::IdHash;
use crate::record::RecordRole;
use crate::resume::version_numbers;
use crate::session::NodeId;

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SentRole {
    User,
    Assistant,
    System,
}

impl SentRole {
    /// Returns the word used in the request.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
        }
    }
}

/// One message of the request.
#[derive(Clone, Debug, PartialEq)]
pub struct SentMessage {
    pub role: SentRole,
    /// A text, or a list of blocks, as it is sent.
    pub content: Value,
}

/// Reads the line of a record.
pub(super) type LineReader<'a> = dyn FnMut(NodeId) -> Option<Value> + 'a;

/// What the client sends before the next prompt if it resumes at a record.
///
/// Text that the client adds at that time (the date, project notes, lists of tools) is not included,
/// because no file contains it.
#[derive(Clone, Debug)]
pub struct SentRequest<'a> {
    /// Attachments for which the client sends text that the file does not contain, with their types.
    pub unworded: Vec<(NodeId, String)>,
    /// Background agents that have not reported, about each of which the client adds a note.
    pub unreported: Vec<String>,
    history: &'a History,
    client: ClientBehavior,
    path: Vec<NodeId>,
    facts: PathFacts,
}

/// What a message depends on that may come after it.
#[derive(Clone, Debug, Default)]
struct PathFacts {
    /// The calls that have a result, and those that a result can belong to.
    answered: FxHashSet<IdHash>,
    called: FxHashSet<IdHash>,
    /// The replies that contain more than thinking.
    spoken: FxHashSet<IdHash>,
    /// The id of the last reply.
    last_reply: Option<Value>,
    /// The lists of tools of which only the names were sent, according to a later record.
    sent_by_name: FxHashSet<NodeId>,
    has_system_turns: bool,
    ends_with_prompt: bool,
    ends_with_error: bool,
}

impl<'a> SentRequest<'a> {
    /// Goes along the path to `point` and collects what its messages depend on.
    pub fn new(history: &'a History, point: NodeId, line: &mut LineReader<'_>) -> Self {
        let client = ClientBehavior(version_numbers(&history.session));
        let unreported = unreported_agents(history, point, line);
        let path = client_path(history, point);
        let mut pieces = PieceReader::new(history, client);
        let mut facts = PathFacts::default();
        // Whether a call counts is known when all results are.
        let mut calls: Vec<(Option<IdHash>, IdHash)> = Vec::new();
        for &node in &path {
            let Some(line) = line(node) else { continue };
            for piece in pieces.read_pieces(node, line) {
                facts.add_piece(&piece, &mut calls);
            }
        }
        let last_reply = facts.last_reply.as_ref().map(reply_key);
        for (call, reply) in calls {
            let is_last = client.answers_open_calls() && last_reply == Some(reply);
            if is_last || facts.is_answered(call) {
                facts.spoken.insert(reply);
            }
        }
        let model = match pieces.model.is_empty() {
            true => last_model(history, line).unwrap_or_default(),
            false => pieces.model,
        };
        facts.has_system_turns = has_system_turns(&model);
        facts.sent_by_name = pieces.sent_by_name;
        (facts.ends_with_prompt, facts.ends_with_error) =
            (pieces.ends_with_prompt, pieces.ends_with_error);
        Self { unworded: pieces.unworded, unreported, history, client, path, facts }
    }

    /// Hands out the messages one after the other, until `each` fails.
    pub fn each_message<E>(
        &self,
        line: &mut LineReader<'_>,
        each: &mut dyn FnMut(SentMessage) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut writer = MessageWriter::new(self.client, &self.facts);
        let mut pieces = PieceReader::new(self.history, self.client);
        for &node in &self.path {
            let Some(line) = line(node) else { continue };
            let mut sent = pieces.read_pieces(node, line);
            if self.facts.sent_by_name.contains(&node)
                && let Some(list) = sent.first_mut()
            {
                list.announce_by_name();
            }
            for piece in sent {
                writer.add_piece(piece);
            }
            writer.join.take_complete().into_iter().try_for_each(&mut *each)?;
        }
        writer.finish().into_iter().try_for_each(each)
    }
}

impl PathFacts {
    fn add_piece(&mut self, piece: &SentPiece, calls: &mut Vec<(Option<IdHash>, IdHash)>) {
        let is_reply = piece.role == SentRole::Assistant;
        if is_reply {
            self.last_reply = Some(piece.message.clone());
        }
        for block in &piece.blocks {
            match block["type"].as_str() {
                Some("tool_result") => self.answered.extend(id_of(block, "tool_use_id")),
                Some("tool_use") => {
                    let call = id_of(block, "id");
                    self.called.extend(call);
                    if is_reply && !self.is_spoken(piece) {
                        calls.push((call, reply_key(&piece.message)));
                    }
                    continue;
                }
                _ => {}
            }
            if is_reply && !is_thought(block) {
                self.spoken.insert(reply_key(&piece.message));
            }
        }
    }

    fn is_answered(&self, call: Option<IdHash>) -> bool {
        call.is_some_and(|call| self.answered.contains(&call))
    }

    /// Whether the calls of a reply stay without a result: those of the last one get a substitute.
    fn keeps_open_calls(&self, client: ClientBehavior, reply: &Value) -> bool {
        client.answers_open_calls() && self.last_reply.as_ref() == Some(reply)
    }

    fn is_spoken(&self, piece: &SentPiece) -> bool {
        !piece.message.is_null() && self.spoken.contains(&reply_key(&piece.message))
    }
}

fn id_of(block: &Value, field: &str) -> Option<IdHash> {
    block[field].as_str().map(|id| IdHash::new(id.as_bytes()))
}

fn reply_key(message: &Value) -> IdHash {
    match message.as_str() {
        Some(id) => IdHash::new(id.as_bytes()),
        None => IdHash::new(message.to_string().as_bytes()),
    }
}

fn is_thought(block: &Value) -> bool {
    matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"))
}

/// Takes the pieces of a path in order and makes messages of them.
struct MessageWriter<'a> {
    client: ClientBehavior,
    facts: &'a PathFacts,
    /// The pieces that reminders after them still go before.
    waiting: Vec<SentPiece>,
    /// The calls of the last reply that have no result.
    open_calls: Vec<Value>,
    has_reply: bool,
    ends_with_attachment: bool,
    join: MessageJoiner,
}

impl<'a> MessageWriter<'a> {
    fn new(client: ClientBehavior, facts: &'a PathFacts) -> Self {
        Self {
            client,
            facts,
            waiting: Vec::new(),
            open_calls: Vec::new(),
            has_reply: false,
            ends_with_attachment: false,
            join: MessageJoiner::new(client),
        }
    }

    /// Moves reminders before the prompt that they were written behind.
    fn add_piece(&mut self, mut piece: SentPiece) {
        if !self.facts.has_system_turns {
            piece.turn_into_reminder();
        }
        if piece.is_reminder {
            self.pair_calls(piece);
        } else if piece.role == SentRole::Assistant || piece.has_result() {
            self.add_waiting();
            self.pair_calls(piece);
        } else {
            self.waiting.push(piece);
        }
    }

    fn add_waiting(&mut self) {
        for piece in std::mem::take(&mut self.waiting) {
            self.pair_calls(piece);
        }
    }

    /// Removes calls without a result and results without a call, as far as the client does.
    fn pair_calls(&mut self, mut piece: SentPiece) {
        let facts = self.facts;
        let is_open =
            |block: &Value| block["type"] == "tool_use" && !facts.is_answered(id_of(block, "id"));
        if piece.role == SentRole::Assistant {
            self.has_reply = true;
            if facts.keeps_open_calls(self.client, &piece.message) {
                let open = piece.blocks.iter().filter(|block| is_open(block));
                self.open_calls.extend(open.map(|block| block["id"].clone()));
            } else {
                piece.blocks.retain(|block| !is_open(block));
            }
        }
        let keeps_strays = self.client.keeps_first_result() && !self.has_reply;
        if self.client.drops_stray_results() && !keeps_strays {
            piece.blocks.retain(|block| {
                block["type"] != "tool_result"
                    || id_of(block, "tool_use_id").is_some_and(|id| facts.called.contains(&id))
            });
        }
        if !piece.blocks.is_empty() || piece.is_attachment {
            self.join_piece(piece);
        }
    }

    /// Adds a piece to the messages, unless it is a reply that consists only of thinking.
    fn join_piece(&mut self, piece: SentPiece) {
        self.ends_with_attachment = piece.is_attachment;
        let is_reply = piece.role == SentRole::Assistant;
        let is_mere = is_reply && piece.blocks.iter().all(is_thought);
        if !piece.blocks.is_empty() && (!is_mere || self.facts.is_spoken(&piece)) {
            self.join.add_piece(piece);
        }
    }

    /// Returns the messages that were not returned yet, with the client's additions at the end.
    fn finish(mut self) -> Vec<SentMessage> {
        self.add_waiting();
        let mut ends_with_prompt = self.facts.ends_with_prompt || !self.open_calls.is_empty();
        for id in std::mem::take(&mut self.open_calls) {
            let block = json!({"content": INTERRUPTED, "is_error": true, "tool_use_id": id, "type": "tool_result"});
            self.join_piece(SentPiece::from_blocks(SentRole::User, vec![block]));
        }
        let (client, mut join) = (self.client, self.join);
        if !client.answers_open_calls() {
            // Dropped calls leave a prompt or a result at the end.
            let is_open = join.ends_with_user() && !self.facts.ends_with_error;
            let breaks_off = (self.ends_with_attachment || join.ends_with_result())
                && (is_open || client.forgets_errors() && join.ends_with_user());
            ends_with_prompt = is_open || breaks_off;
            if breaks_off && client.asks_to_continue() {
                let text = "Continue from where you left off.";
                join.add_piece(SentPiece::from_text(SentRole::User, text.to_owned()));
            }
        }
        if ends_with_prompt {
            join.add_piece(SentPiece::from_blocks(
                SentRole::Assistant,
                vec![json!({"type": "text", "text": "No response requested."})],
            ));
        }
        join.into_messages()
    }
}

/// Returns the model that answered last, anywhere in a session.
fn last_model(history: &History, line: &mut LineReader<'_>) -> Option<String> {
    let is_answer = |id: &NodeId| history.session.record(*id).role == RecordRole::Reply;
    let last = history.session.nodes().map(|(id, _)| id).filter(is_answer).last()?;
    Some(line(last)?["message"]["model"].as_str()?.to_owned())
}

/// Whether the client sends notes to a model as system messages; other models get reminders.
///
/// Measured with Opus 4.8 and 5.5, which get such messages, and Sonnet 4, which does not. Which model
/// will be asked is not known; it is taken to be the one that answered last on the path, and where
/// nobody answered yet, elsewhere in the session.
fn has_system_turns(model: &str) -> bool {
    let mut numbers = model.split('-').filter_map(|part| part.parse::<u32>().ok());
    let Some(family) = numbers.next() else { return true };
    // A date may follow the family.
    let minor = numbers.next().filter(|minor| *minor < 100).unwrap_or(0);
    (family, minor) >= (4, 8)
}

const INTERRUPTED: &str = "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is unknown. Check whether it took effect before relying on it or running it again.]";
