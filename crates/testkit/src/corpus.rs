//! Generates a corpus of sessions together with the expected counts.
//!
//! The generator counts what it writes. It does not know how a reader finds forks or leaves; it
//! only records what it intended.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::TestHome;

/// The expected counts of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorpusTruth {
    pub sessions: u64,
    pub empty: u64,
    pub summary_only: u64,
    pub records: BTreeMap<&'static str, u64>,
    pub damaged: u64,
    pub blank: u64,
    pub forks: u64,
    pub raw_forks: u64,
    pub leaves: u64,
    pub raw_leaves: u64,
    pub unique_paths: u64,
    pub compactions: u64,
    pub sidechain_records: u64,
    pub duplicates: u64,
    pub orphans: u64,
    pub tasks: u64,
    pub warmups: u64,
    /// By session: the last user or assistant record of the branch that was written last.
    pub active: BTreeMap<String, String>,
}

/// Writes a corpus of `sessions` sessions into a home.
pub fn write_corpus(home: &TestHome, seed: u64, sessions: usize) -> CorpusTruth {
    let mut truth = CorpusTruth::default();
    let mut dice = CorpusRng(seed.wrapping_mul(2).wrapping_add(1));
    for number in 0..sessions {
        let project = format!("-home-dev-app{}", dice.random_below(3));
        let mut writer = CorpusWriter::new(&mut dice, number);
        writer.write_session();
        let id = writer.id.clone();
        let (copy, copied_from_end) =
            if writer.rng.one_in(4) { writer.copy_session() } else { (None, false) };
        let (text, agents) = writer.finish_session(&mut truth, copied_from_end);
        home.write_file(&format!("{project}/{id}.jsonl"), text);
        for (name, text) in agents {
            home.write_file(&format!("{project}/{name}"), text);
        }
        if let Some((copy_id, text, active)) = copy {
            home.write_file(&format!("{project}/{copy_id}.jsonl"), text);
            truth.active.insert(copy_id, active);
            truth.sessions += 1;
        }
        match dice.random_below(8) {
            0 => {
                home.write_file(&format!("{project}/{}.jsonl", make_uuid(number, 9_999)), "");
                truth.empty += 1;
            }
            1 => {
                let line = format!(
                    "{{\"type\":\"summary\",\"summary\":\"a title\",\"leafUuid\":\"{}\"}}\n",
                    make_uuid(number, 0)
                );
                home.write_file(&format!("{project}/{}.jsonl", make_uuid(number, 9_998)), line);
                truth.summary_only += 1;
                *truth.records.entry("summary").or_default() += 1;
            }
            _ => {}
        }
    }
    truth
}

/// A small deterministic random generator.
struct CorpusRng(u64);

impl CorpusRng {
    fn random_below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.random_below(n) == 0
    }
}

fn make_uuid(session: usize, n: usize) -> String {
    format!("{session:08x}-{n:04x}-4000-8000-{:012x}", session * 100_000 + n)
}

/// A record of the plan.
#[derive(Clone)]
struct CorpusNode {
    uuid: String,
    parent: Option<usize>,
    kind: &'static str,
    /// It neither ends nor forks a branch: a parallel result, or progress.
    noise: bool,
    sidechain: bool,
    line: String,
}

struct CorpusWriter<'a> {
    rng: &'a mut CorpusRng,
    id: String,
    number: usize,
    nodes: Vec<CorpusNode>,
    /// Lines in file order: a node, or text that is not a node.
    lines: Vec<Result<usize, String>>,
    tip: Option<usize>,
    prompts: Vec<Option<usize>>,
    seconds: u64,
    named: usize,
    truth: CorpusTruth,
    agents: Vec<(String, String)>,
}

impl<'a> CorpusWriter<'a> {
    fn new(rng: &'a mut CorpusRng, number: usize) -> Self {
        Self {
            rng,
            id: make_uuid(number, 0xffff),
            number,
            nodes: Vec::new(),
            lines: Vec::new(),
            tip: None,
            prompts: Vec::new(),
            seconds: 0,
            named: 0,
            truth: CorpusTruth::default(),
            agents: Vec::new(),
        }
    }

    fn write_session(&mut self) {
        for _ in 0..2 + self.rng.random_below(12) {
            self.write_turn();
            match self.rng.random_below(12) {
                0..=2 => self.rewind_to_prompt(),
                3 => self.write_compaction(),
                4 => self.write_damage(),
                5 => self.write_orphan(),
                _ => {}
            }
        }
        // A rewind without a prompt after it leaves the tip inside the tree, so write one more turn.
        if self.nodes.iter().any(|node| node.parent == self.tip && self.tip.is_some()) {
            self.write_turn();
        }
        self.write_turn();
    }

    fn write_turn(&mut self) {
        let prompt = self.write_user(self.tip, "\"what about this?\"", "");
        self.prompts.push(self.nodes[prompt].parent);
        self.tip = Some(prompt);
        match self.rng.random_below(10) {
            0 => {
                self.write_reply(prompt);
                self.tip = Some(prompt);
            }
            1 => {
                self.write_reply(prompt);
                self.tip = Some(self.write_user(Some(prompt), "\"no, stop\"", ""));
            }
            _ => {}
        }
        for _ in 0..self.rng.random_below(3) {
            self.write_tool_calls();
        }
        let last = self.write_reply(self.tip.unwrap_or(prompt));
        self.tip = Some(last);
        if self.rng.one_in(8) {
            self.lines.push(Ok(last));
            self.truth.duplicates += 1;
        }
        if self.rng.one_in(3) {
            let system = self.write_node(
                self.tip,
                "system",
                "\"subtype\":\"turn_duration\",\"durationMs\":5",
                "",
                false,
            );
            self.tip = Some(system);
        }
    }

    /// One message with one to three calls. The branch continues from the result written last.
    fn write_tool_calls(&mut self) {
        let message = self.next_uuid();
        let count = 1 + self.rng.random_below(3) as usize;
        let mut calls = Vec::new();
        for _ in 0..count {
            let id = format!("toolu_{}", self.next_uuid());
            let block = format!(
                r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"ls"}}}}"#
            );
            let call = self.write_assistant(self.tip, &message, &block);
            self.tip = Some(call);
            calls.push((call, id));
        }
        let last = self.rng.random_below(count as u64) as usize;
        let order = (0..count).filter(|i| *i != last).chain([last]);
        for i in order.collect::<Vec<_>>() {
            let (call, id) = calls[i].clone();
            let mut parent = call;
            if self.rng.one_in(3) {
                let in_chain = self.rng.one_in(2);
                let progress = self.write_node(
                    Some(call),
                    "progress",
                    "\"data\":{\"type\":\"hook_progress\"}",
                    "",
                    false,
                );
                self.nodes[progress].noise = !in_chain || i != last;
                if in_chain {
                    parent = progress;
                }
            }
            let content =
                format!(r#"[{{"tool_use_id":"{id}","type":"tool_result","content":"out"}}]"#);
            let result =
                self.write_user(Some(parent), &content, ",\"toolUseResult\":{\"stdout\":\"out\"}");
            self.nodes[result].noise = i != last;
            self.tip = Some(result);
        }
        for (i, (call, _)) in calls.iter().enumerate() {
            self.nodes[*call].noise = i > last;
        }
        if self.rng.one_in(5) {
            self.write_agent();
        }
    }

    fn write_agent(&mut self) {
        let name = self.next_uuid();
        let warmup = self.rng.one_in(3);
        let prompt = if warmup { "Warmup" } else { "look into it" };
        let head = format!(r#""isSidechain":true,"sessionId":"{}","agentId":"a{name}""#, self.id);
        let (first, second) = (self.next_uuid(), self.next_uuid());
        let used = usage_fields(self.nodes.len());
        let text = format!(
            "{{\"parentUuid\":null,{head},\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{prompt}\"}},\"uuid\":\"{first}\"}}\n\
             {{\"parentUuid\":\"{first}\",{head},\"type\":\"assistant\",\"message\":{{\"id\":\"m{second}\",\"content\":[{{\"type\":\"text\",\"text\":\"ok\"}}],{used}}},\"uuid\":\"{second}\"}}\n"
        );
        let file = if warmup || self.rng.one_in(2) {
            format!("agent-a{name}.jsonl")
        } else {
            format!("{}/subagents/agent-a{name}.jsonl", self.id)
        };
        self.agents.push((file, text));
        *self.truth.records.entry("user").or_default() += 1;
        *self.truth.records.entry("assistant").or_default() += 1;
        self.truth.sidechain_records += 2;
        if warmup {
            self.truth.warmups += 1;
        } else {
            self.truth.tasks += 1;
        }
    }

    fn rewind_to_prompt(&mut self) {
        if self.prompts.len() < 2 {
            return;
        }
        let at = 1 + self.rng.random_below(self.prompts.len() as u64 - 1) as usize;
        if let Some(parent) = self.prompts[at] {
            self.prompts.truncate(at);
            self.tip = Some(parent);
        }
    }

    fn write_compaction(&mut self) {
        let Some(tip) = self.tip else { return };
        let logical = format!(
            "\"logicalParentUuid\":\"{}\",\"subtype\":\"compact_boundary\"",
            self.nodes[tip].uuid
        );
        let boundary = self.write_node(None, "system", &logical, "", false);
        self.nodes[boundary].parent = Some(tip);
        let summary =
            self.write_user(Some(boundary), "\"what was said\"", ",\"isCompactSummary\":true");
        self.tip = Some(summary);
        self.prompts.clear();
        self.truth.compactions += 1;
    }

    fn write_damage(&mut self) {
        let line = match self.rng.random_below(4) {
            0 => "Segmentation fault (core dumped)".to_owned(),
            1 => "\0\0\0\0\0\0".to_owned(),
            2 => "{\"parentUuid\":null,\"type\":\"user\",\"mess".to_owned(),
            _ => String::new(),
        };
        self.truth.blank += u64::from(line.is_empty());
        self.truth.damaged += u64::from(!line.is_empty());
        self.lines.push(Err(line));
    }

    fn write_orphan(&mut self) {
        let gone = self.next_uuid();
        let orphan = self.write_user(None, "\"lost\"", "");
        let line = &mut self.nodes[orphan].line;
        *line = line.replacen("\"parentUuid\":null", &format!("\"parentUuid\":\"{gone}\""), 1);
        self.truth.orphans += 1;
    }

    fn next_uuid(&mut self) -> String {
        self.named += 1;
        make_uuid(self.number, self.named)
    }

    fn write_user(&mut self, parent: Option<usize>, content: &str, tail: &str) -> usize {
        let body = format!("\"message\":{{\"role\":\"user\",\"content\":{content}}}");
        self.write_node(parent, "user", &body, tail, false)
    }

    fn write_assistant(&mut self, parent: Option<usize>, message: &str, block: &str) -> usize {
        let used = usage_fields(self.nodes.len());
        let body = format!(
            "\"message\":{{\"id\":\"{message}\",\"role\":\"assistant\",\"content\":[{block}],{used}}}"
        );
        self.write_node(parent, "assistant", &body, "", false)
    }

    /// A thinking block and a text block of one message.
    fn write_reply(&mut self, parent: usize) -> usize {
        let message = self.next_uuid();
        let thinking = self.write_assistant(
            Some(parent),
            &message,
            r#"{"type":"thinking","thinking":"hm","signature":"x"}"#,
        );
        self.write_assistant(Some(thinking), &message, r#"{"type":"text","text":"like this"}"#)
    }

    fn write_node(
        &mut self,
        parent: Option<usize>,
        kind: &'static str,
        body: &str,
        tail: &str,
        sidechain: bool,
    ) -> usize {
        let uuid = self.next_uuid();
        self.seconds += 1;
        let above =
            parent.map_or("null".to_owned(), |parent| format!("\"{}\"", self.nodes[parent].uuid));
        let mut line = format!(
            "{{\"parentUuid\":{above},\"isSidechain\":{sidechain},\"sessionId\":\"{}\",",
            self.id
        );
        let seconds = self.seconds;
        // Writing into a string cannot fail.
        let _ = write!(
            line,
            "\"version\":\"2.0.74\",\"type\":\"{kind}\",{body},\"uuid\":\"{uuid}\",\"timestamp\":\"2026-01-01T{:02}:{:02}:{:02}.000Z\"{tail}}}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        );
        self.nodes.push(CorpusNode { uuid, parent, kind, noise: false, sidechain, line });
        self.lines.push(Ok(self.nodes.len() - 1));
        self.nodes.len() - 1
    }

    /// Copies the branch up to the tip into a new session, as old clients did on resume.
    fn copy_session(&mut self) -> (Option<(String, String, String)>, bool) {
        let mut line = Vec::new();
        let mut at = self.tip;
        while let Some(node) = at {
            line.push(node);
            at = self.nodes[node].parent;
        }
        line.reverse();
        let mut text = String::new();
        for node in &line {
            text.push_str(&self.nodes[*node].line);
            text.push('\n');
            *self.truth.records.entry(self.nodes[*node].kind).or_default() += 1;
        }
        // The copy has one path, which covers the original one.
        self.truth.leaves += 1;
        self.truth.raw_leaves += 1;
        (Some((make_uuid(self.number, 0xfffe), text, self.active_leaf(self.tip))), true)
    }

    fn active_leaf(&self, mut at: Option<usize>) -> String {
        while let Some(node) = at {
            if matches!(self.nodes[node].kind, "user" | "assistant") {
                return self.nodes[node].uuid.clone();
            }
            at = self.nodes[node].parent;
        }
        String::new()
    }

    /// Finishes a session: counts the intended forks and leaves.
    fn finish_session(
        mut self,
        truth: &mut CorpusTruth,
        copied: bool,
    ) -> (String, Vec<(String, String)>) {
        let mut real = vec![0u64; self.nodes.len()];
        let mut raw = vec![0u64; self.nodes.len()];
        for node in self.nodes.iter().filter(|node| !node.sidechain) {
            if let Some(parent) = node.parent {
                raw[parent] += 1;
                real[parent] += u64::from(!node.noise);
            }
        }
        let leaves =
            (0..self.nodes.len()).filter(|i| !self.nodes[*i].noise && real[*i] == 0).count() as u64;
        self.truth.forks += real.iter().filter(|count| **count > 1).count() as u64;
        self.truth.raw_forks += raw.iter().filter(|count| **count > 1).count() as u64;
        self.truth.unique_paths += leaves;
        self.truth.leaves += leaves;
        self.truth.raw_leaves += raw.iter().filter(|count| **count == 0).count() as u64;
        let mut text = String::new();
        for line in &self.lines {
            match line {
                Ok(node) => {
                    text.push_str(&self.nodes[*node].line);
                    *self.truth.records.entry(self.nodes[*node].kind).or_default() += 1;
                }
                Err(line) => text.push_str(line),
            }
            text.push('\n');
        }
        debug_assert!(!copied || self.tip.is_some(), "because a copy needs a line to copy");
        truth.active.insert(self.id.clone(), self.active_leaf(self.tip));
        truth.add_counts(&self.truth);
        truth.sessions += 1;
        (text, self.agents)
    }
}

impl CorpusTruth {
    fn add_counts(&mut self, book: &Self) {
        for (kind, count) in &book.records {
            *self.records.entry(kind).or_default() += count;
        }
        self.damaged += book.damaged;
        self.blank += book.blank;
        self.forks += book.forks;
        self.raw_forks += book.raw_forks;
        self.leaves += book.leaves;
        self.raw_leaves += book.raw_leaves;
        self.unique_paths += book.unique_paths;
        self.compactions += book.compactions;
        self.sidechain_records += book.sidechain_records;
        self.duplicates += book.duplicates;
        self.orphans += book.orphans;
        self.tasks += book.tasks;
        self.warmups += book.warmups;
    }
}

/// The model and usage of the reply after this many records.
fn usage_fields(records: usize) -> String {
    let model = ["claude-opus-5", "claude-sonnet-4-5", "glm-5"][records % 3];
    let (output, read) = (records % 97 + 1, records * 31);
    format!(
        r#""model":"{model}","usage":{{"input_tokens":3,"output_tokens":{output},"cache_read_input_tokens":{read}}}"#
    )
}
