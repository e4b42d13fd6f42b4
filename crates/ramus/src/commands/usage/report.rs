//! The books as an answer, with the tables that only some ask for.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use ramus_app::Prices;
use ramus_app::usage::UsageFilter;
use ramus_core::branches::Status;
use ramus_core::title::conversation_title;
use ramus_core::usage::{Post, Sum};
use ramus_render::json::{self, Amounts, ByConversation, OfBranch, Usage, dearest_first, dollars};
use ramus_store::ledger::Ledger;

use super::By;

/// Adds everything up.
pub(super) fn report(
    ledger: &Ledger<'_>,
    filter: &UsageFilter,
    prices: &Prices,
    zone: &TimeZone,
    by: Option<By>,
) -> Usage {
    Usage {
        since: filter.since.map(|time| time.to_string()),
        until: filter.until.map(|time| time.to_string()),
        by_conversation: (by == Some(By::Conversation)).then(|| by_conversation(ledger)),
        branches: (by == Some(By::Branch)).then(|| branches(ledger)),
        ..json::usage(
            &ledger.books,
            &ledger.owners(),
            json::Prices::new(&prices.list, prices.file.as_deref()),
            zone,
        )
    }
}

/// Lists whole paths. Each is told by its own file alone, with the agents that it started.
fn by_conversation(ledger: &Ledger<'_>) -> Vec<ByConversation> {
    let mut rows = Vec::new();
    let agents = agents_by_branch(ledger);
    for (index, (project, file)) in ledger.files.iter().enumerate() {
        if ledger.accounts[index].agent {
            continue;
        }
        let account = &ledger.accounts[index].account;
        let mut sums = account.by_branch();
        for (branch, sum) in sums.iter_mut().enumerate() {
            if let Some(more) = agents.get(&(index as u32, branch as u32)) {
                sum.add(more);
            }
        }
        for (n, conversation) in file.digest.conversations.iter().enumerate() {
            let Some(&end) = account.ends.get(n) else { continue };
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
                amounts: Amounts::from(&account.along(end, &sums)),
                own_cost_usd: dollars(own),
            });
        }
    }
    dearest_first(rows, |row| &row.amounts)
}

/// Adds up agents with files of their own, by the session and branch that they were started on.
fn agents_by_branch(ledger: &Ledger<'_>) -> BTreeMap<(u32, u32), Sum> {
    let mut sums: BTreeMap<(u32, u32), Sum> = BTreeMap::new();
    for Post { home, sum, .. } in ledger.books.posts() {
        if home.file != home.session {
            sums.entry((home.session, home.branch)).or_default().add(&sum);
        }
    }
    sums
}

fn branches(ledger: &Ledger<'_>) -> Vec<OfBranch> {
    let sums = ledger.books.by(|home| (home.session, home.branch));
    let row = |((session, branch), sum): ((u32, u32), Sum)| {
        let (_, file) = ledger.files[session as usize];
        let account = &ledger.accounts[session as usize].account;
        let branch = account.branches.get(branch as usize);
        OfBranch {
            session: file.parent_session().unwrap_or(&file.file.id).to_owned(),
            node: branch.map(|branch| branch.head.to_string()).unwrap_or_default(),
            status: branch.map_or(Status::Active, |branch| branch.status),
            prompt: branch.and_then(|branch| branch.prompt.as_deref()).map(str::to_owned),
            amounts: Amounts::from(&sum),
        }
    };
    dearest_first(sums.into_iter().map(row).collect(), |row: &OfBranch| &row.amounts)
}
