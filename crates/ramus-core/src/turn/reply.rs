//! Assembles a reply from its records, each call with its result.

use rustc_hash::FxHashMap;

use super::{Reply, ReplyPart, Thought, ToolCall, ToolOutcome};
use crate::body::{
    ContentBlock, PERSISTED_OUTPUT_TAG, RecordBody, ToolOutput, ToolUse, ToolUseResult,
};
use crate::session::{NodeId, Session};
use crate::time::Time;
use crate::usage::{RequestUsage, keep_largest};

/// The record of a result, and the sidechain it names.
pub(crate) struct ResultSource {
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
    fn find_call<'a>(&self, answer: &'a mut Reply, id: &str) -> Option<&'a mut ToolCall> {
        match answer.parts.get_mut(*self.by_id.get(id)?) {
            Some(ReplyPart::Call(call)) => Some(call),
            _ => None,
        }
    }

    /// Returns the first call without a result.
    fn first_waiting<'a>(&mut self, answer: &'a mut Reply) -> Option<&'a mut ToolCall> {
        let waits =
            |part: &ReplyPart| matches!(part, ReplyPart::Call(call) if call.result.is_none());
        self.waiting += answer.parts[self.waiting..].iter().position(waits)?;
        match answer.parts.get_mut(self.waiting) {
            Some(ReplyPart::Call(call)) => Some(call),
            _ => None,
        }
    }
}

/// Adds one more record of the message.
pub(crate) fn add_record(answer: &mut Reply, calls: &mut CallIndex, body: RecordBody) {
    match body {
        RecordBody::Assistant(body) => {
            if let Some(used) = RequestUsage::from_body(&body) {
                keep_largest(&mut answer.requests, used);
            }
            answer.model = answer.model.take().or(body.model);
            for block in body.content {
                add_block(answer, calls, block);
            }
        }
        RecordBody::ToolUse(record) => {
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

fn add_block(answer: &mut Reply, calls: &mut CallIndex, block: ContentBlock) {
    let part = match block {
        ContentBlock::Text(text) if text.trim().is_empty() => return,
        ContentBlock::Text(text) => ReplyPart::Text(text),
        ContentBlock::Thinking(thinking) if thinking.is_withheld() => {
            ReplyPart::Thinking(Thought::Withheld { signature: thinking.signature.len() })
        }
        ContentBlock::Thinking(thinking) => ReplyPart::Thinking(Thought::Text(thinking.text)),
        ContentBlock::RedactedThinking { data_len } => {
            ReplyPart::Thinking(Thought::Redacted { data: data_len })
        }
        ContentBlock::ToolUse(call) | ContentBlock::ServerToolUse(call) => {
            return add_call(answer, calls, call);
        }
        ContentBlock::WebSearchToolResult(found) => {
            if let Some(call) = calls.find_call(answer, &found.tool_use_id) {
                let lines: Vec<String> =
                    found.hits.iter().map(|hit| format!("{} {}", hit.title, hit.url)).collect();
                call.result.get_or_insert(ToolOutcome {
                    is_error: found.error.is_some(),
                    content: vec![ContentBlock::Text(found.error.unwrap_or(lines.join("\n")))],
                    ..ToolOutcome::empty_at(None, None)
                });
            }
            return;
        }
        ContentBlock::Image(media) | ContentBlock::Document(media) => ReplyPart::Media(media),
        ContentBlock::Fallback { from, to } => ReplyPart::Fallback { from, to },
        ContentBlock::ToolReference(name) => ReplyPart::Text(name),
        ContentBlock::ToolResult(result) => {
            if let Some(call) = calls.find_call(answer, &result.tool_use_id) {
                call.result.get_or_insert(ToolOutcome {
                    is_error: result.is_error,
                    content: result.content,
                    ..ToolOutcome::empty_at(None, None)
                });
            }
            return;
        }
        ContentBlock::Unknown(value) => ReplyPart::Unknown(value),
    };
    answer.parts.push(part);
}

fn add_call(answer: &mut Reply, calls: &mut CallIndex, call: ToolUse) {
    let ToolUse { id, name, input, .. } = call;
    // A message that was written twice makes its calls once.
    if id.is_empty() || !calls.by_id.contains_key(&id) {
        calls.by_id.entry(id.clone()).or_insert(answer.parts.len());
        answer.parts.push(ReplyPart::Call(Box::new(ToolCall {
            id,
            name,
            input,
            ..ToolCall::default()
        })));
    }
}

/// Returns the calls of a reply for completion.
pub(super) fn calls_mut(answer: &mut Reply) -> impl Iterator<Item = &mut ToolCall> {
    answer.parts.iter_mut().filter_map(|part| match part {
        ReplyPart::Call(call) => Some(&mut **call),
        _ => None,
    })
}

/// Returns the calls without a result, by their ids.
pub(super) fn unanswered_calls(answer: &Reply) -> impl Iterator<Item = (String, Box<ToolCall>)> {
    answer.parts.iter().filter_map(|part| match part {
        ReplyPart::Call(call) if call.result.is_none() => Some((call.id.clone(), call.clone())),
        _ => None,
    })
}

/// Adds a result to its call; returns a result without a call.
pub(super) fn pair_result(
    answer: &mut Reply,
    calls: &mut CallIndex,
    result: ToolCall,
) -> Option<ToolCall> {
    let call = match &*result.id {
        // Records of the earliest builds name no call: the result follows it.
        "" => calls.first_waiting(answer),
        id => calls.find_call(answer, id),
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
pub(crate) fn agent_of_result(session: &Session, node: NodeId) -> Option<String> {
    let results = session.agent_results();
    let at = results.binary_search_by_key(&node, |(node, _)| *node).ok()?;
    Some(results[at].1.to_string())
}

/// Returns the results of one record, each as a call that is not known yet.
pub(crate) fn results_of_body(at: &ResultSource, body: RecordBody) -> Vec<ToolCall> {
    let (content, output, feedback) = match body {
        RecordBody::User(body) => (body.content, body.tool_use_result, body.user_feedback),
        RecordBody::ToolResult(record) => {
            let id = record.tool_use_id.unwrap_or_default();
            let outcome = ToolOutcome {
                content: record.content,
                ..ToolOutcome::empty_at(Some(at.node), at.time)
            };
            return vec![result_call(at, id, outcome, record.tool_use_result)];
        }
        _ => return Vec::new(),
    };
    let is_result = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult(_));
    // The record has one output; with several results it is unknown to which it belongs.
    let mut output = output.filter(|_| content.iter().filter(|b| is_result(b)).count() == 1);
    let mut results = Vec::new();
    for block in content {
        let ContentBlock::ToolResult(result) = block else { continue };
        let outcome = ToolOutcome {
            is_error: result.is_error,
            content: result.content,
            feedback: feedback.clone(),
            ..ToolOutcome::empty_at(Some(at.node), at.time)
        };
        results.push(result_call(at, result.tool_use_id, outcome, output.take()));
    }
    results
}

fn result_call(
    at: &ResultSource,
    id: String,
    mut outcome: ToolOutcome,
    output: Option<ToolUseResult>,
) -> ToolCall {
    let mut agent = at.agent.clone();
    if let Some(ToolUseResult { output, persisted }) = output {
        outcome.spilled_path = persisted.map(|persisted| persisted.path);
        if let ToolOutput::Agent(output) = &output {
            agent = agent.or_else(|| output.agent_id.clone());
        }
        outcome.output = Some(output);
    }
    if outcome.spilled_path.is_none() {
        outcome.spilled_path =
            outcome.content.iter().find_map(ContentBlock::as_text).and_then(persisted_output_path);
    }
    ToolCall { id, agent, result: Some(outcome), ..ToolCall::default() }
}

/// Returns the path in the stub that replaces an output too large for its record.
fn persisted_output_path(text: &str) -> Option<String> {
    let first =
        text.trim_start().strip_prefix(PERSISTED_OUTPUT_TAG)?.trim_start().lines().next()?;
    let (_, path) = first.rsplit_once(": ")?;
    (!path.trim().is_empty()).then(|| path.trim().to_owned())
}

impl ToolOutcome {
    pub(crate) fn empty_at(node: Option<NodeId>, time: Option<Time>) -> Self {
        Self {
            node,
            time,
            is_error: false,
            content: Vec::new(),
            output: None,
            feedback: None,
            spilled_path: None,
            spilled_text: None,
        }
    }
}
