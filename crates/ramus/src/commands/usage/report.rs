//! The usage report, with the tables that only some options request.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use ramus_app::usage::UsageFilter;
use ramus_app::{ActivePrices, Workspace};
use ramus_core::branches::BranchStatus;
use ramus_core::title::{branch_title, conversation_title};
use ramus_core::usage::{LedgerEntry, UsageTotal};
use ramus_render::json::{
    self, Amounts, ByConversation, BySource, OfBranch, Usage, most_expensive_first, round_dollars,
};
use ramus_store::ledger::SurveyLedger;

use super::UsageBy;
use crate::error::CommandError;

/// Adds everything up.
pub(super) fn usage_report(
    ledger: &SurveyLedger<'_>,
    filter: &UsageFilter,
    prices: &ActivePrices,
    zone: &TimeZone,
    by: Option<UsageBy>,
) -> Usage {
    Usage {
        since: filter.since.map(|time| time.to_string()),
        until: filter.until.map(|time| time.to_string()),
        by_conversation: (by == Some(UsageBy::Conversation)).then(|| by_conversation(ledger)),
        branches: (by == Some(UsageBy::Branch)).then(|| branch_rows(ledger)),
        ..json::usage_report(
            &ledger.usage,
            &ledger.file_owners(),
            json::Prices::new(&prices.list, prices.file.as_deref()),
            zone,
        )
    }
}

/// Lists complete paths. Each is counted from its own file, with the agents that it started.
fn by_conversation(ledger: &SurveyLedger<'_>) -> Vec<ByConversation> {
    let mut rows = Vec::new();
    let agents = agents_by_branch(ledger);
    for (index, (project, file)) in ledger.files.iter().enumerate() {
        if ledger.accounts[index].agent {
            continue;
        }
        let account = &ledger.accounts[index].usage;
        let mut sums = account.totals_by_segment();
        for (branch, sum) in sums.iter_mut().enumerate() {
            if let Some(more) = agents.get(&(index as u32, branch as u32)) {
                sum.add(more);
            }
        }
        for (n, conversation) in file.digest.conversations.iter().enumerate() {
            let Some(&end) = account.conversation_ends.get(n) else { continue };
            let own = sums.get(end as usize).map_or(0.0, |sum| sum.cost);
            rows.push(ByConversation {
                session: file.file.id.clone(),
                n: n + 1,
                leaf: conversation.leaf.to_string(),
                status: conversation.status,
                resumes: conversation.resumes,
                prompt: conversation.first_prompt.as_deref().map(str::to_owned),
                title: conversation_title(&file.digest, conversation, &project.summaries)
                    .map(str::to_owned),
                branch_title: branch_title(&file.digest, Some(n as u32 + 1), &project.summaries)
                    .map(str::to_owned),
                amounts: Amounts::from(&account.total_along(end, &sums)),
                own_cost_usd: round_dollars(own),
            });
        }
    }
    most_expensive_first(rows, |row| &row.amounts)
}

/// Adds up by the person, or the person's machine, that archived each file.
pub(super) fn by_source(
    workspace: &Workspace,
    ledger: &SurveyLedger<'_>,
    by: UsageBy,
) -> Result<Vec<BySource>, CommandError> {
    let mut sums: BTreeMap<(String, Option<String>), UsageTotal> = BTreeMap::new();
    for (file, sum) in ledger.usage.totals_by(|owner| owner.file) {
        let (_, file) = ledger.files[file as usize];
        let Some(source) = workspace.source_of(&file.file.path) else {
            return Err(CommandError::user_error("this archive belongs to one person and machine")
                .with_hint("RAMUS_ARCHIVE or --archive names a server; see docs/team.md"));
        };
        let machine = (by == UsageBy::Machine).then_some(source.machine);
        sums.entry((source.owner, machine)).or_default().add(&sum);
    }
    let row = |((owner, machine), sum): ((String, Option<String>), UsageTotal)| BySource {
        owner,
        machine,
        amounts: Amounts::from(&sum),
    };
    Ok(most_expensive_first(sums.into_iter().map(row).collect(), |row: &BySource| &row.amounts))
}

/// Sums up agents that have separate files, by the session and branch that started them.
fn agents_by_branch(ledger: &SurveyLedger<'_>) -> BTreeMap<(u32, u32), UsageTotal> {
    let mut sums: BTreeMap<(u32, u32), UsageTotal> = BTreeMap::new();
    for LedgerEntry { owner, total: sum, .. } in ledger.usage.entries() {
        if owner.file != owner.session {
            sums.entry((owner.session, owner.segment)).or_default().add(&sum);
        }
    }
    sums
}

fn branch_rows(ledger: &SurveyLedger<'_>) -> Vec<OfBranch> {
    let sums = ledger.usage.totals_by(|owner| (owner.session, owner.segment));
    let row = |((session, branch), sum): ((u32, u32), UsageTotal)| {
        let (_, file) = ledger.files[session as usize];
        let account = &ledger.accounts[session as usize].usage;
        let branch = account.segments.get(branch as usize);
        let node = branch.map(|branch| branch.head.to_string()).unwrap_or_default();
        OfBranch {
            session: file.parent_session().unwrap_or(&file.file.id).to_owned(),
            short_node: file.digest.short_uuids().short(&node).to_owned(),
            node,
            status: branch.map_or(BranchStatus::Active, |branch| branch.status),
            prompt: branch.and_then(|branch| branch.prompt.as_deref()).map(str::to_owned),
            amounts: Amounts::from(&sum),
        }
    };
    most_expensive_first(sums.into_iter().map(row).collect(), |row: &OfBranch| &row.amounts)
}
