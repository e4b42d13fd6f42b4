//! What the records of one file say that their answers used, in file order.

use bitcode::{Decode, Encode};

use crate::body::{Iteration, Usage, json};
use crate::envelope::Envelope;
use crate::name::{Key, fingerprint};
use crate::price::SYNTHETIC;
use crate::session::NodeId;

/// The uses of one file. Filled along the one walk over its lines.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct Uses {
    pub(super) list: Vec<Use>,
    /// The models named, in order of appearance.
    pub(super) models: Vec<Box<str>>,
    /// Message, request and fingerprint of the last use: most records of a message repeat it.
    last: Option<(Key, Option<Key>, u64)>,
}

/// What one record says that its message used.
#[derive(Clone, Debug, Encode, Decode)]
pub(super) struct Use {
    pub(super) record: NodeId,
    pub(super) message: Option<Key>,
    pub(super) request: Option<Key>,
    /// What stays the same where a merge gave the copy of an answer another id: its request, else the
    /// record that was copied.
    pub(super) merged: Option<Key>,
    pub(super) model: u16,
    pub(super) usage: Usage,
    /// What the client itself noted; only the oldest did.
    pub(super) noted: Option<f64>,
}

impl Uses {
    /// Takes one record of an answer; what the client said itself used nothing.
    pub(crate) fn take(&mut self, record: NodeId, found: &Envelope<'_>, message: Option<Key>) {
        let Some(raw) = found.usage else { return };
        let model = found.model.unwrap_or_default();
        if model == SYNTHETIC.as_bytes() || raw.first() != Some(&b'{') {
            return;
        }
        let request = found.request_id.map(Key::new);
        let same = message.map(|message| (message, request, fingerprint(raw)));
        if same.is_some() && same == self.last {
            return;
        }
        self.last = same;
        let model = self.model(model);
        self.list.push(Use {
            record,
            message,
            request,
            merged: found
                .merged_from
                .first()
                .map(|(_, message)| request.unwrap_or_else(|| Key::new(message))),
            model,
            usage: Usage::read(raw),
            noted: found.cost.and_then(|raw| std::str::from_utf8(raw).ok()?.parse().ok()),
        });
    }

    /// Returns the runs of models inside messages, with the place of the use: bytes of uses lack them.
    pub(crate) fn runs(&self) -> Vec<(u32, Vec<Iteration>)> {
        let all = (0..).zip(self.list.iter().map(|used| &used.usage.iterations));
        all.filter(|(_, runs)| !runs.is_empty()).map(|(at, runs)| (at, runs.clone())).collect()
    }

    /// Takes the runs back.
    pub(crate) fn take_runs(&mut self, runs: Vec<(u32, Vec<Iteration>)>) {
        for (at, runs) in runs {
            if let Some(used) = self.list.get_mut(at as usize) {
                used.usage.iterations = runs;
            }
        }
    }

    /// Returns how many tokens each answer had before it, a message once, in file order.
    pub(crate) fn contexts(&self) -> impl Iterator<Item = (NodeId, u64)> {
        let again = |at: usize| at > 0 && self.list[at].message == self.list[at - 1].message;
        let first = self.list.iter().enumerate().filter(move |(at, _)| !again(*at));
        first.map(|(_, used)| (used.record, used.usage.context_tokens()))
    }

    fn model(&mut self, raw: &[u8]) -> u16 {
        if let Some(at) = self.models.iter().position(|model| model.as_bytes() == raw) {
            return at as u16;
        }
        index(&mut self.models, &json::unescape(raw))
    }
}

/// Returns the number of a model; past 65,535 of them all go by the name of the last.
pub(super) fn index(models: &mut Vec<Box<str>>, name: &str) -> u16 {
    let at = models.iter().position(|model| **model == *name).unwrap_or_else(|| {
        if models.len() <= usize::from(u16::MAX) {
            models.push(name.into());
        }
        models.len() - 1
    });
    at as u16
}
