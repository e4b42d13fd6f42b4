//! What a header tells of all records of a path together.

use std::collections::BTreeMap;

use ramus_core::body::{Body, Usage};
use ramus_core::history::{History, Path};
use ramus_core::record::Kind;
use ramus_core::time::Time;
use ramus_render::export::{Header, Tokens};

/// Sums over the parts of a path.
#[derive(Default)]
pub(super) struct Sums {
    messages: usize,
    records: usize,
    compactions: usize,
    started: Option<Time>,
    ended: Option<Time>,
    models: Vec<String>,
    /// The largest usage of each message (R20).
    usage: BTreeMap<String, Usage>,
}

impl Sums {
    /// Takes in what the records themselves tell.
    pub(super) fn part(&mut self, history: &History, path: &Path) {
        let speaks = |fold: &&_| history.folds.fold(**fold).voice.is_displayable();
        self.messages += path.folds.iter().filter(speaks).count();
        self.records += path.nodes.len();
        for node in &path.nodes {
            let record = history.session.record(*node);
            let Some(time) = record.time.filter(|_| record.kind != Kind::Progress) else { continue };
            self.started = Some(self.started.map_or(time, |started| started.min(time)));
            self.ended = self.ended.max(Some(time));
        }
    }

    /// Tells which records lie on the path.
    pub(super) fn on_path(&self, history: &History, path: &Path) -> Vec<bool> {
        let mut on_path = vec![false; history.session.records().len()];
        for node in &path.nodes {
            on_path[node.0 as usize] = true;
        }
        on_path
    }

    /// Takes in what only a body tells.
    pub(super) fn body(&mut self, body: &Body) {
        match body {
            Body::Assistant(body) if !body.is_synthetic() => {
                if let Some(model) = &body.model
                    && !self.models.contains(model)
                {
                    self.models.push(model.clone());
                }
                let Some(usage) = &body.usage else { return };
                let request = body.request_id.as_deref().unwrap_or_default();
                let id = body.message_id.as_deref().unwrap_or_default();
                let key = format!("{id} {request}");
                let held = self.usage.entry(key).or_default();
                if held.total_tokens() < usage.total_tokens() {
                    held.clone_from(usage);
                }
            }
            Body::System(body) => {
                let compacted = matches!(body.kind, ramus_core::body::SystemKind::CompactBoundary(_));
                self.compactions += usize::from(compacted);
            }
            _ => {}
        }
    }

    pub(super) fn into_header(self, header: &mut Header) {
        let mut tokens = Tokens::default();
        for usage in self.usage.values() {
            tokens.input += usage.input_tokens;
            tokens.output += usage.output_tokens;
            tokens.cache_read += usage.cache_read_input_tokens;
            tokens.cache_write += usage.cache_creation_input_tokens;
        }
        header.tokens = tokens;
        header.messages = self.messages;
        header.records = self.records;
        header.compactions = self.compactions;
        header.started = self.started;
        header.ended = self.ended;
        header.models = self.models;
    }
}
