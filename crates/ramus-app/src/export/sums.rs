//! Totals over all records of a path, for the header of a transcript.

use std::collections::HashMap;

use ramus_core::body::{RecordBody, TokenUsage};
use ramus_core::history::{ConversationPath, History};
use ramus_core::ids::IdHash;
use ramus_core::record::RecordKind;
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_render::export::{PathTokens, TranscriptHeader};

/// What the bodies of a session tell of sums, by record.
#[derive(Default)]
pub(super) struct PartFacts {
    /// By the place of the record.
    said: Vec<Option<CountedMessage>>,
    messages: HashMap<(IdHash, IdHash), usize>,
    models: Vec<String>,
}

/// The facts that one record of a reply has about it.
struct CountedMessage {
    /// The message it belongs to; records of one message repeat its usage (R20).
    message: usize,
    model: Option<usize>,
    tokens: PathTokens,
}

impl PartFacts {
    /// Adds the facts of a body.
    pub(super) fn add_body(&mut self, node: NodeId, body: &RecordBody) {
        let RecordBody::Assistant(body) = body else { return };
        if body.is_synthetic() {
            return;
        }
        let key = |id: &Option<String>| IdHash::new(id.as_deref().unwrap_or_default().as_bytes());
        let ids = (key(&body.message_id), key(&body.request_id));
        let next = self.messages.len();
        let message = *self.messages.entry(ids).or_insert(next);
        let model = body.model.as_ref().map(|model| self.model_index(model));
        let tokens = body.usage.as_ref().map(usage_tokens).unwrap_or_default();
        let at = node.0 as usize;
        if self.said.len() <= at {
            self.said.resize_with(at + 1, || None);
        }
        self.said[at] = Some(CountedMessage { message, model, tokens });
    }

    fn model_index(&mut self, model: &str) -> usize {
        self.models.iter().position(|other| other == model).unwrap_or_else(|| {
            self.models.push(model.to_owned());
            self.models.len() - 1
        })
    }
}

fn usage_tokens(usage: &TokenUsage) -> PathTokens {
    PathTokens {
        input: usage.input_tokens,
        output: usage.output_tokens,
        cache_read: usage.cache_read_input_tokens,
        cache_write: usage.cache_creation_input_tokens,
    }
}

/// Sums over the parts of a path.
#[derive(Default)]
pub(super) struct TranscriptSums {
    messages: usize,
    records: usize,
    compactions: usize,
    started: Option<Time>,
    ended: Option<Time>,
    models: Vec<String>,
    tokens: PathTokens,
}

impl TranscriptSums {
    /// Adds a part of a path, whose bodies have been read.
    pub(super) fn add_part(
        &mut self,
        history: &History,
        path: &ConversationPath,
        facts: &PartFacts,
    ) {
        let speaks =
            |message_id: &&_| history.message_tree.message(**message_id).role.is_displayable();
        self.messages += path.messages.iter().filter(speaks).count();
        self.records += path.nodes.len();
        self.compactions +=
            path.messages.iter().filter(|id| history.message_tree.begins_compaction(**id)).count();
        let mut largest = vec![PathTokens::default(); facts.messages.len()];
        for node in &path.nodes {
            self.add_time(history, *node);
            let Some(Some(said)) = facts.said.get(node.0 as usize) else { continue };
            let held = &mut largest[said.message];
            if total_tokens(held) < total_tokens(&said.tokens) {
                *held = said.tokens;
            }
            if let Some(model) = said.model.map(|model| &facts.models[model])
                && !self.models.contains(model)
            {
                self.models.push(model.clone());
            }
        }
        for tokens in &largest {
            self.tokens.input += tokens.input;
            self.tokens.output += tokens.output;
            self.tokens.cache_read += tokens.cache_read;
            self.tokens.cache_write += tokens.cache_write;
        }
    }

    fn add_time(&mut self, history: &History, node: NodeId) {
        let record = history.session.record(node);
        if let Some(time) = record.time.filter(|_| record.kind != RecordKind::Progress) {
            self.started = Some(self.started.map_or(time, |started| started.min(time)));
            self.ended = self.ended.max(Some(time));
        }
    }

    pub(super) fn into_header(self, header: &mut TranscriptHeader) {
        header.tokens = self.tokens;
        header.messages = self.messages;
        header.records = self.records;
        header.compactions = self.compactions;
        header.started = self.started;
        header.ended = self.ended;
        header.models = self.models;
    }
}

fn total_tokens(tokens: &PathTokens) -> u64 {
    [tokens.output, tokens.cache_read, tokens.cache_write]
        .into_iter()
        .fold(tokens.input, u64::saturating_add)
}
