//! Usage of the replies of a path, and of the sub-agents that it started.

use std::collections::{HashMap, HashSet};

use ramus_core::agent::inline_agents;
use ramus_core::body::RecordBody;
use ramus_core::history::History;
use ramus_core::ids::IdHash;
use ramus_core::price::PriceList;
use ramus_core::record::RecordKind;
use ramus_core::resume::ResumeRule;
use ramus_core::session::NodeId;
use ramus_core::turn::{Turn, TurnKind};
use ramus_core::usage::{RequestUsage, SpentUsage, UsageTally};
use ramus_render::json::{Amounts, PathUsage};
use ramus_render::text::{count_noun, usage_line};
use ramus_render::{Label, Line};
use ramus_store::agents::{find_spawning_calls, read_agents};
use ramus_store::claude_dir::HistoryFile;
use ramus_store::trace::LinkedPathPart;
use ramus_store::{RecordReader, from_jsonl};

use crate::error::CommandError;

/// Counts every message once (R20), as `ramus usage` does.
pub(super) struct TranscriptUsage {
    pub(super) prices: PriceList,
    replies: UsageTally,
    messages: HashSet<IdHash>,
    agents: UsageTally,
    agent_count: usize,
}

impl TranscriptUsage {
    pub(super) fn new(prices: PriceList) -> Self {
        Self {
            prices,
            replies: UsageTally::default(),
            messages: HashSet::new(),
            agents: UsageTally::default(),
            agent_count: 0,
        }
    }

    /// Counts a turn. Messages that were counted before are removed from it, so that none counts twice.
    pub(super) fn count_turn(&mut self, turn: &mut Turn) {
        if let TurnKind::Reply(answer) = &mut turn.kind {
            self.messages.extend(answer.requests.iter().filter_map(|used| used.message));
            answer.requests.retain(|used| self.replies.add_request(used.clone()));
        }
    }

    /// Counts the sub-agents that were started on the parts of a path. Comes after all its turns.
    pub(super) fn count_agents(
        &mut self,
        files: &[HistoryFile],
        parts: &[LinkedPathPart],
        rule: ResumeRule,
    ) -> Result<(), CommandError> {
        for part in parts.iter().filter(|part| !part.file.role.is_agent()) {
            let on_path: HashSet<NodeId> = part.path.nodes.iter().copied().collect();
            let (agents, _) = read_agents(files, &part.file.id);
            let started = find_spawning_calls(&agents, &part.history);
            let resuming = part.history.branches.resuming_conversation();
            let resumes = resuming.is_some_and(|resuming| on_path.contains(&resuming.leaf));
            for (agent, call) in agents.iter().zip(started) {
                // Those that nothing names, such as warm-ups, belong to the conversation that resumes.
                if call.map_or(resumes, |call| on_path.contains(&call)) {
                    self.agent_count += 1;
                    let history = from_jsonl(&agent.file.path, rule)?;
                    self.count_records(&agent.file, &history, |_| true)?;
                }
            }
            self.count_inline_agents(part, &on_path)?;
        }
        Ok(())
    }

    /// Counts the sidechains inside the session's file.
    fn count_inline_agents(
        &mut self,
        part: &LinkedPathPart,
        on_path: &HashSet<NodeId>,
    ) -> Result<(), CommandError> {
        let history = &part.history;
        let roots: HashSet<NodeId> = inline_agents(history)
            .into_iter()
            .filter(|agent| agent.call.is_some_and(|call| on_path.contains(&call)))
            .map(|agent| agent.root)
            .collect();
        if roots.is_empty() {
            return Ok(());
        }
        self.agent_count += roots.len();
        let mut known: HashMap<NodeId, bool> = HashMap::new();
        let is_theirs = |node: NodeId| {
            let mut passed = Vec::new();
            let mut found = false;
            for above in history.record_tree.ancestors(node) {
                if let Some(is_theirs) = known.get(&above) {
                    found = *is_theirs;
                    break;
                }
                passed.push(above);
                found = roots.contains(&above);
                if found {
                    break;
                }
            }
            known.extend(passed.into_iter().map(|node| (node, found)));
            found
        };
        self.count_records(&part.file, history, is_theirs)
    }

    fn count_records(
        &mut self,
        file: &HistoryFile,
        history: &History,
        mut is_wanted: impl FnMut(NodeId) -> bool,
    ) -> Result<(), CommandError> {
        let mut bodies = RecordReader::open(&file.path)?;
        for (node, record) in history.session.nodes() {
            if !record.sidechain && !file.role.is_agent()
                || record.kind != RecordKind::Assistant
                || !is_wanted(node)
            {
                continue;
            }
            if let Ok(RecordBody::Assistant(body)) =
                RecordBody::parse(&bodies.read_record(record.span)?)
                && let Some(used) = RequestUsage::from_body(&body)
            {
                self.count_sidechain(used);
            }
        }
        Ok(())
    }

    /// In sidechains the message id alone identifies a reply, because a side question repeats replies of
    /// the main chain with a new request id.
    fn count_sidechain(&mut self, mut used: RequestUsage) {
        if used.message.is_none_or(|message| !self.messages.contains(&message)) {
            used.forget_request();
            self.agents.add_request(used);
        }
    }

    pub(super) fn usage_lines(&self, width: usize) -> Vec<Line> {
        let mut lines = vec![Line::default()];
        let mut row = |name: String, spent: &SpentUsage| {
            let cost = (spent.sum.unpriced == 0 || spent.sum.cost > 0.0).then_some(spent.sum.cost);
            lines.push(Line::new(&name, Label::Strong));
            lines.push(usage_line("  ", &spent.sum.tokens, None, cost, width));
            for (model, tokens) in &spent.unpriced {
                let tokens = ramus_render::text::format_tokens(*tokens);
                lines.push(Line::new(&format!("  {tokens} of {model}: no price"), Label::Note));
            }
        };
        let replies = self.replies.total_spent(&self.prices);
        let name = match replies.sum.messages {
            1 => "1 reply".to_owned(),
            many => format!("{many} replies"),
        };
        row(name, &replies);
        if self.agent_count > 0 {
            let agents = self.agents.total_spent(&self.prices);
            row(count_noun(self.agent_count, "sub-agent"), &agents);
        }
        lines
    }

    pub(super) fn to_json(&self) -> PathUsage {
        PathUsage {
            replies: Amounts::from(&self.replies.total_spent(&self.prices).sum),
            agents: Amounts::from(&self.agents.total_spent(&self.prices).sum),
        }
    }
}
