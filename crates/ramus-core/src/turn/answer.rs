//! Assembles a reply from its records, each call with its result.

use rustc_hash::FxHashMap;

use super::{Answer, Call, Outcome, Part, Thought};
use crate::body::{Block, Body, STUB, ToolOutput, ToolUse, ToolUseResult};
use crate::session::{NodeId, Session};
use crate::time::Time;
use crate::usage::{ReplyUse, note_use};

/// The record of a result, and the sidechain it names.
pub(crate) struct At {
    pub(crate) node: NodeId,
    pub(crate) time: Option<Time>,
    pub(crate) agent: Option<String>,
}

/// The positions of the calls among the parts of a reply.
#[derive(Debug, Default)]
pub(crate) struct CallIndex {
    by_id: FxHashMap<String, usize>,
    /// No call before this part waits for a result.
    waiting: usize,
}

impl CallIndex {
    fn find<'a>(&self, answer: &'a mut Answer, id: &str) -> Option<&'a mut Call> {
        match answer.parts.get_mut(*self.by_id.get(id)?) {
            Some(Part::Call(call)) => Some(call),
            _ => None,
        }
    }

    /// Returns the first call without a result.
    fn first_waiting<'a>(&mut self, answer: &'a mut Answer) -> Option<&'a mut Call> {
        let waits = |part: &Part| matches!(part, Part::Call(call) if call.result.is_none());
        self.waiting += answer.parts[self.waiting..].iter().position(waits)?;
        match answer.parts.get_mut(self.waiting) {
            Some(Part::Call(call)) => Some(call),
            _ => None,
        }
    }
}

/// Adds one more record of the message.
pub(crate) fn add(answer: &mut Answer, calls: &mut CallIndex, body: Body) {
    match body {
        Body::Assistant(body) => {
            if let Some(used) = ReplyUse::of(&body) {
                note_use(&mut answer.uses, used);
            }
            answer.model = answer.model.take().or(body.model);
            for block in body.content {
                add_block(answer, calls, block);
            }
        }
        Body::ToolUse(record) => {
            let named = record.tool_name.is_some();
            let call = ToolUse {
                id: record.tool_use_id.unwrap_or_default(),
                name: record.tool_name.unwrap_or_default(),
                input: record.input.unwrap_or_default(),
                caller: None,
            };
            if named {
                add_call(answer, calls, call);
            }
            for block in record.content {
                add_block(answer, calls, block);
            }
        }
        _ => {}
    }
}

fn add_block(answer: &mut Answer, calls: &mut CallIndex, block: Block) {
    let part = match block {
        Block::Text(text) if text.trim().is_empty() => return,
        Block::Text(text) => Part::Text(text),
        Block::Thinking(thinking) if thinking.is_withheld() => {
            Part::Thinking(Thought::Withheld { signature: thinking.signature.len() })
        }
        Block::Thinking(thinking) => Part::Thinking(Thought::Text(thinking.text)),
        Block::RedactedThinking { data_len } => {
            Part::Thinking(Thought::Redacted { data: data_len })
        }
        Block::ToolUse(call) | Block::ServerToolUse(call) => {
            return add_call(answer, calls, call);
        }
        Block::WebSearchToolResult(found) => {
            if let Some(call) = calls.find(answer, &found.tool_use_id) {
                let lines: Vec<String> =
                    found.hits.iter().map(|hit| format!("{} {}", hit.title, hit.url)).collect();
                call.result.get_or_insert(Outcome {
                    is_error: found.error.is_some(),
                    content: vec![Block::Text(found.error.unwrap_or(lines.join("\n")))],
                    ..Outcome::at(None, None)
                });
            }
            return;
        }
        Block::Image(media) | Block::Document(media) => Part::Media(media),
        Block::Fallback { from, to } => Part::Fallback { from, to },
        Block::ToolReference(name) => Part::Text(name),
        Block::ToolResult(result) => {
            if let Some(call) = calls.find(answer, &result.tool_use_id) {
                call.result.get_or_insert(Outcome {
                    is_error: result.is_error,
                    content: result.content,
                    ..Outcome::at(None, None)
                });
            }
            return;
        }
        Block::Unknown(value) => Part::Unknown(value),
    };
    answer.parts.push(part);
}

fn add_call(answer: &mut Answer, calls: &mut CallIndex, call: ToolUse) {
    let ToolUse { id, name, input, .. } = call;
    // A message that was written twice makes its calls once.
    if id.is_empty() || !calls.by_id.contains_key(&id) {
        calls.by_id.entry(id.clone()).or_insert(answer.parts.len());
        answer.parts.push(Part::Call(Box::new(Call { id, name, input, ..Call::default() })));
    }
}

/// Returns the calls of a reply for completion.
pub(super) fn calls(answer: &mut Answer) -> impl Iterator<Item = &mut Call> {
    answer.parts.iter_mut().filter_map(|part| match part {
        Part::Call(call) => Some(&mut **call),
        _ => None,
    })
}

/// Returns the calls without a result, by their ids.
pub(super) fn unanswered(answer: &Answer) -> impl Iterator<Item = (String, Box<Call>)> {
    answer.parts.iter().filter_map(|part| match part {
        Part::Call(call) if call.result.is_none() => Some((call.id.clone(), call.clone())),
        _ => None,
    })
}

/// Adds a result to its call; returns a result without a call.
pub(super) fn pair(answer: &mut Answer, calls: &mut CallIndex, result: Call) -> Option<Call> {
    let call = match &*result.id {
        // Records of the earliest builds name no call: the result follows it.
        "" => calls.first_waiting(answer),
        id => calls.find(answer, id),
    };
    match call {
        Some(call) => {
            if call.result.is_none() {
                call.result = result.result;
                call.agent = result.agent;
            }
            None
        }
        None => Some(result),
    }
}

/// Returns the sidechain that a result names.
pub(crate) fn agent(session: &Session, node: NodeId) -> Option<String> {
    let results = session.agent_results();
    let at = results.binary_search_by_key(&node, |(node, _)| *node).ok()?;
    Some(results[at].1.to_string())
}

/// Returns the results of one record, each as a call that is not known yet.
pub(crate) fn results(at: &At, body: Body) -> Vec<Call> {
    let (content, output, feedback) = match body {
        Body::User(body) => (body.content, body.tool_use_result, body.user_feedback),
        Body::ToolResult(record) => {
            let id = record.tool_use_id.unwrap_or_default();
            let outcome =
                Outcome { content: record.content, ..Outcome::at(Some(at.node), at.time) };
            return vec![call(at, id, outcome, record.tool_use_result)];
        }
        _ => return Vec::new(),
    };
    let is_result = |block: &Block| matches!(block, Block::ToolResult(_));
    // The record has one output; with several results it is unknown to which it belongs.
    let mut output = output.filter(|_| content.iter().filter(|b| is_result(b)).count() == 1);
    let mut results = Vec::new();
    for block in content {
        let Block::ToolResult(result) = block else { continue };
        let outcome = Outcome {
            is_error: result.is_error,
            content: result.content,
            feedback: feedback.clone(),
            ..Outcome::at(Some(at.node), at.time)
        };
        results.push(call(at, result.tool_use_id, outcome, output.take()));
    }
    results
}

fn call(at: &At, id: String, mut outcome: Outcome, output: Option<ToolUseResult>) -> Call {
    let mut agent = at.agent.clone();
    if let Some(ToolUseResult { output, persisted }) = output {
        outcome.spilled = persisted.map(|persisted| persisted.path);
        if let ToolOutput::Agent(output) = &output {
            agent = agent.or_else(|| output.agent_id.clone());
        }
        outcome.output = Some(output);
    }
    if outcome.spilled.is_none() {
        outcome.spilled = outcome.content.iter().find_map(Block::text).and_then(stub);
    }
    Call { id, agent, result: Some(outcome), ..Call::default() }
}

/// Returns the path in the stub that replaces an output too large for its record.
fn stub(text: &str) -> Option<String> {
    let first = text.trim_start().strip_prefix(STUB)?.trim_start().lines().next()?;
    let (_, path) = first.rsplit_once(": ")?;
    (!path.trim().is_empty()).then(|| path.trim().to_owned())
}

impl Outcome {
    pub(crate) fn at(node: Option<NodeId>, time: Option<Time>) -> Self {
        Self {
            node,
            time,
            is_error: false,
            content: Vec::new(),
            output: None,
            feedback: None,
            spilled: None,
            whole: None,
        }
    }
}
