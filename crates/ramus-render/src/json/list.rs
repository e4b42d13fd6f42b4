//! Lists of sessions, conversations and trees.

use std::cell::LazyCell;

use ramus_core::branches::{Artefact, BranchStatus, ForkKind};
use ramus_core::digest::{
    ConversationDigest, ListedProject, SessionDigest, SessionListing, digest_resume_point,
};
use ramus_core::files::{RevertOutcome, RevertOutcomes, files_at_fork};
use ramus_core::history::History;
use ramus_core::link;
use ramus_core::message_tree::Placement;
use ramus_core::pull_request;
use ramus_core::session::NodeId;
use ramus_core::stats::{Complexity, Descent, SessionShape, session_shapes};
use ramus_core::title::{ProjectSummaries, branch_title, conversation_title, session_title};

use super::{
    Bookmark, Conversation, Fork, Link, LostAgent, Otherwise, Placed, Project, PullRequest,
    Relative, Repository, Resume, Session, Tree, round_dollars,
};

/// Converts a list entry.
pub fn from_session(listed: SessionListing<'_>) -> Session {
    let agent_count = listed.agent_count();
    let SessionListing { id, file, project, bytes, digest, summaries, agents, defects, .. } =
        listed;
    let SessionListing {
        links,
        relations: family,
        class,
        repository,
        deleted_after,
        cost,
        archived,
        ..
    } = listed;
    let SessionListing { annotation, annotated_messages, .. } = listed;
    let facts = &digest.facts;
    let descent = Descent::new(digest, links.iter().map(|(kind, _)| *kind));
    Session {
        id: id.to_owned(),
        file: file.to_owned(),
        project: project.to_owned(),
        class,
        title: session_title(digest, summaries).map(str::to_owned),
        version: facts.version.as_ref().map(|version| version.text.to_string()),
        records: digest.readable_records(),
        lines: digest.counts.total_lines(),
        messages: digest.messages,
        conversations: digest.conversations.len(),
        forks: digest.forks.values().sum(),
        compactions: facts.compactions.len(),
        agents: agent_count,
        defects,
        bytes,
        started: facts.started.map(|time| time.to_string()),
        last_active: facts.last_active.map(|time| time.to_string()),
        resume_leaf: digest.resume.as_ref().map(|resume| resume.leaf.to_string()),
        cwd: facts.cwd.as_deref().map(str::to_owned),
        git_branch: facts.git_branch.as_deref().map(str::to_owned),
        flow: session_shapes(digest, agents as u32, descent)
            .into_iter()
            .map(SessionShape::as_str)
            .collect(),
        complexity: Complexity::new(digest, agents as u32, descent).score(),
        deleted_after: deleted_after.map(|time| time.to_string()),
        cost_usd: cost.map(round_dollars),
        archived,
        links: links
            .into_iter()
            .map(|(kind, session)| Link { kind: kind.as_str(), session: session.to_owned() })
            .collect(),
        pull_requests: digest.pull_requests.iter().map(from_pull_request).collect(),
        repository: repository.map(str::to_owned),
        origins: from_relatives(&family.origins),
        offspring: from_relatives(&family.offspring),
        pinned: annotation.is_some_and(|annotation| annotation.pinned),
        tags: annotation.map(|one| one.tags.iter().cloned().collect()).unwrap_or_default(),
        note: annotation.map(|one| one.note.clone()).filter(|note| !note.is_empty()),
        annotated_messages,
    }
}

/// Turns a project into what scripts get.
pub fn project(listed: ListedProject) -> Project {
    let ListedProject { name, path, dir, sessions, conversations, agents, bytes, .. } = listed;
    Project {
        name,
        path,
        dir,
        sessions,
        conversations,
        agents,
        bytes,
        last_active: listed.last_active.map(|time| time.to_string()),
        repository: listed.repository,
    }
}

/// Groups projects by repository, in the order of the first project of each.
pub fn group_by_repository(projects: &[Project]) -> Vec<Repository> {
    let mut groups: Vec<Repository> = Vec::new();
    for project in projects {
        let is_it = |group: &&mut Repository| {
            project.repository.is_some() && group.repository == project.repository
        };
        match groups.iter_mut().find(is_it) {
            Some(group) => {
                group.projects.push(project.name.clone());
                group.sessions += project.sessions;
                group.conversations += project.conversations;
                group.bytes += project.bytes;
                group.last_active = group.last_active.take().max(project.last_active.clone());
            }
            None => groups.push(Repository {
                repository: project.repository.clone(),
                projects: vec![project.name.clone()],
                sessions: project.sessions,
                conversations: project.conversations,
                bytes: project.bytes,
                last_active: project.last_active.clone(),
            }),
        }
    }
    groups
}

/// Converts a pull request.
pub fn from_pull_request(request: &pull_request::PullRequest) -> PullRequest {
    PullRequest {
        number: request.number,
        url: request.url.to_string(),
        repository: request.repository.as_deref().map(str::to_owned),
    }
}

/// Converts an agent whose session no longer exists.
pub fn from_lost_agent(session: &str, listed: &SessionListing<'_>) -> LostAgent {
    let SessionListing { id, file, project, digest, summaries, .. } = listed;
    LostAgent {
        agent: (*id).to_owned(),
        session: session.to_owned(),
        file: (*file).to_owned(),
        project: (*project).to_owned(),
        title: session_title(digest, summaries).map(str::to_owned),
        messages: digest.messages,
        last_active: digest.facts.last_active.map(|time| time.to_string()),
    }
}

/// Converts an origin or offspring session.
pub fn from_relative(relative: &link::RelatedSession) -> Relative {
    Relative {
        kind: relative.kind.as_str(),
        session: relative.session.as_deref().map(str::to_owned),
        found: relative.is_found,
    }
}

fn from_relatives(relatives: &[link::RelatedSession]) -> Vec<Relative> {
    relatives.iter().map(from_relative).collect()
}

/// Converts the conversations of a session.
pub fn from_conversations(
    session: &str,
    file: &str,
    digest: &SessionDigest,
    summaries: &ProjectSummaries,
) -> Vec<Conversation> {
    let short_uuids = LazyCell::new(|| digest.short_uuids());
    (1..)
        .zip(&digest.conversations)
        .map(|(n, conversation)| Conversation {
            session: session.to_owned(),
            file: file.to_owned(),
            n,
            leaf: conversation.leaf.to_string(),
            status: conversation.status,
            resumes: conversation.resumes,
            draft: conversation.draft,
            why: status_reason(digest, conversation),
            title: conversation_title(digest, conversation, summaries).map(str::to_owned),
            branch_title: branch_title(digest, Some(n as u32), summaries).map(str::to_owned),
            prompt: conversation.first_prompt.as_deref().map(str::to_owned),
            fork_point: conversation.fork_point.as_deref().map(str::to_owned),
            short_fork_point: { conversation.fork_point.as_deref() }
                .map(|point| short_uuids.short(point).to_owned()),
            fork_kind: conversation.fork_kind.map(ForkKind::as_str),
            messages: conversation.messages,
            records: conversation.records,
            compactions: conversation.compactions,
            last_active: conversation.last_active.map(|time| time.to_string()),
        })
        .collect()
}

/// Finds nodes that a summary names and no conversation ends with (R10).
pub fn find_bookmarks(
    session: &str,
    digest: &SessionDigest,
    summaries: &ProjectSummaries,
) -> Vec<Bookmark> {
    let named = summaries.in_session(digest);
    let is_leaf = |node: &str| {
        digest.conversations.iter().any(|conversation| *conversation.leaf == *node)
            || digest.resume.as_ref().is_some_and(|resume| *resume.point == *node)
    };
    named
        .map(|(node, title)| Bookmark {
            session: session.to_owned(),
            node: node.to_string(),
            title: title.to_owned(),
        })
        .filter(|bookmark| !is_leaf(&bookmark.node))
        .collect()
}

/// Explains the status of a conversation (R11, R12).
fn status_reason(digest: &SessionDigest, conversation: &ConversationDigest) -> String {
    match (&digest.resume, conversation.resumes, conversation.status) {
        (Some(resume), true, _) => {
            format!(
                "{} would continue from {}: {} (line {})",
                resume.rule_text(),
                resume.point,
                resume.reason,
                resume.line
            )
        }
        (_, _, BranchStatus::Active) => {
            "it is on the current branch at every fork point".to_owned()
        }
        (_, _, BranchStatus::Abandoned) => match (conversation.fork_kind, &conversation.fork_point)
        {
            (Some(kind), Some(point)) => {
                format!("another branch is current at the {kind} below {point}")
            }
            _ => "another branch is current".to_owned(),
        },
    }
}

/// Converts the tree of a session. In an agent's own file every record is part of a sidechain.
pub fn from_tree(
    id: &str,
    history: &History,
    is_agent: bool,
    family: &link::SessionRelations,
    reverts: &RevertOutcomes,
) -> Tree {
    let session = &history.session;
    let spell = |id: NodeId| {
        session.record(id).uuid.map_or_else(String::new, |name| session.uuid_text(name))
    };
    let branches = &history.branches;
    let head = |message| spell(history.message_tree.message(message).head);
    Tree {
        session: id.to_owned(),
        origins: from_relatives(&family.origins),
        offspring: from_relatives(&family.offspring),
        resume: from_resume_point(history),
        roots: history
            .message_tree
            .iter()
            .filter(|(_, message)| message.parent.is_none() && (!message.sidechain || is_agent))
            .map(|(_, message)| spell(message.head))
            .collect(),
        forks: branches
            .forks
            .iter()
            .map(|fork| Fork {
                node: spell(fork.node),
                kind: fork.kind.as_str(),
                children: fork.branches.iter().map(|branch| head(branch.message)).collect(),
                current: fork
                    .branches
                    .iter()
                    .find(|branch| branch.current)
                    .map(|branch| head(branch.message)),
                drafts: fork
                    .branches
                    .iter()
                    .filter(|branch| branch.draft)
                    .map(|branch| head(branch.message))
                    .collect(),
                files: files_at_fork(history, fork, reverts).map(RevertOutcome::as_str),
            })
            .collect(),
        artefacts: Artefact::ALL
            .into_iter()
            .map(|kind| (kind.as_str(), branches.artefacts.get(&kind).copied().unwrap_or(0)))
            .collect(),
        leaves: branches
            .conversations
            .iter()
            .map(|conversation| spell(conversation.leaf))
            .collect(),
        placed: history
            .message_tree
            .iter()
            .filter(|(_, message)| message.placement != Placement::Linked)
            .map(|(_, message)| Placed {
                node: spell(message.head),
                after: message.parent.map_or_else(String::new, head),
                why: message.placement.as_str(),
            })
            .collect(),
    }
}

/// Returns where the client would resume, and why (R11).
pub fn from_resume_point(history: &History) -> Option<Resume> {
    digest_resume_point(history).map(|resume| Resume {
        point: resume.point.to_string(),
        leaf: resume.leaf.to_string(),
        rule: resume.rule_text(),
        why: resume.reason.to_string(),
        line: resume.line,
        otherwise: resume
            .otherwise
            .iter()
            .map(|(era, leaf)| Otherwise { rule: era.to_string(), leaf: leaf.to_string() })
            .collect(),
    })
}
