//! Statistics.

use std::collections::BTreeMap;

use ramus_core::branches::{Artefact, ForkKind};
use ramus_core::history::{AgentClass, SessionClass};
use ramus_core::stats::{Complexity, SessionShape, Stats};

use super::{MostComplex, RawStats};

/// Converts the most complex session.
pub fn from_most_complex(
    session: &str,
    title: Option<&str>,
    complexity: &Complexity,
) -> MostComplex {
    MostComplex {
        session: session.to_owned(),
        title: title.map(str::to_owned),
        score: complexity.score(),
        parts: complexity.named_parts().into(),
    }
}

/// Converts statistics.
pub fn from_stats(
    stats: &Stats,
    projects: usize,
    most_complex: Option<MostComplex>,
) -> super::Stats {
    let class = |class: SessionClass| stats.by_class.get(&class).copied().unwrap_or(0);
    let sessions = class(SessionClass::Conversation);
    let flow = |flow: SessionShape| stats.shapes.get(&flow).copied().unwrap_or(0);
    let mut agents: BTreeMap<&'static str, u64> =
        [AgentClass::Task, AgentClass::Warmup, AgentClass::Incomplete]
            .into_iter()
            .map(|class| (class.as_str(), stats.agents.get(&class).copied().unwrap_or(0)))
            .collect();
    agents.insert("inline", stats.inline_agents);
    let text = |counts: &BTreeMap<Box<str>, u64>| {
        counts.iter().map(|(name, n)| (name.to_string(), *n)).collect()
    };
    super::Stats {
        projects,
        sessions,
        files: stats.files,
        bytes: stats.bytes,
        by_class: SessionClass::ALL.into_iter().map(|kind| (kind.as_str(), class(kind))).collect(),
        lines: stats.lines,
        blank: stats.blank,
        records: stats.records,
        unknown: stats.unknown,
        damaged: stats.damaged,
        by_type: text(&stats.by_type),
        system_by_subtype: text(&stats.system),
        messages: stats.messages,
        forks: stats.fork_count(),
        forks_by_kind: ForkKind::ALL
            .into_iter()
            .map(|kind| (kind.as_str(), stats.forks.get(&kind).copied().unwrap_or(0)))
            .collect(),
        drafts: stats.drafts,
        artefacts: Artefact::ALL
            .into_iter()
            .map(|kind| (kind.as_str(), stats.artefacts.get(&kind).copied().unwrap_or(0)))
            .collect(),
        conversations: stats.conversation_count(),
        active: stats.active,
        abandoned: stats.abandoned,
        unique_paths: stats.unique_paths,
        compactions: stats.compactions,
        compaction_records: stats.compaction_records,
        sidechain_records: stats.sidechain_records,
        agents,
        duplicate_uuids: stats.repeated_uuids,
        orphans: stats.orphans,
        defects: stats.defects,
        sessions_with_forks: stats.rules.sessions,
        sessions_with_sidechains: stats.sessions_with_sidechains,
        forked_sessions: stats.forked_sessions,
        merged_sessions: stats.merged_sessions,
        linear_sessions: flow(SessionShape::Linear),
        complex_sessions: sessions - flow(SessionShape::Linear),
        largest_branching: stats.rules.most_branches,
        mean_branching: round_thousandths(stats.rules.mean_branches()),
        flow: stats.shapes.iter().map(|(flow, n)| (flow.as_str(), *n)).collect(),
        most_complex,
        raw: RawStats {
            forks: stats.raw.forks,
            leaves: stats.raw_leaves,
            roots: stats.raw_roots,
            sessions_with_forks: stats.raw.sessions,
            linear_sessions: sessions.saturating_sub(stats.raw.sessions),
            complex_sessions: stats.raw.sessions,
            largest_branching: stats.raw.most_branches,
            mean_branching: round_thousandths(stats.raw.mean_branches()),
        },
    }
}

fn round_thousandths(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
