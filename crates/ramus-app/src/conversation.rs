//! An opened conversation: its path through one or several files, its end and its title.

use std::sync::Arc;

use ramus_core::body::RecordBody;
use ramus_core::branches::{BranchStatus, Conversation};
use ramus_core::digest::SessionDigest;
use ramus_core::history::{ConversationPath, History};
use ramus_core::session::{NodeId, Session};
use ramus_core::title::{ProjectSummaries, branch_title};
use ramus_core::turn::{Turn, path_turns};
use ramus_store::trace::{LinkedPathPart, trace_path};
use ramus_store::{PathError, RecordReader};

use crate::address::{Address, AddressError, NodeSelector, ResolvedFile};
use crate::workspace::Workspace;

/// A path from its beginning to the node that an address means.
#[derive(Debug)]
pub struct OpenConversation {
    pub file: ResolvedFile,
    /// The path, split by file, oldest part first. The last part is in `file`.
    pub parts: Vec<LinkedPathPart>,
    /// Where it ends. `None` if the session has no messages.
    pub leaf: Option<NodeId>,
    pub status: BranchStatus,
    /// Whether the client would continue it.
    pub resumes: bool,
    /// The number of the conversation it is, or is a part of.
    pub number: Option<u32>,
    /// Whether the path is the whole conversation; otherwise it ends at a node that was named.
    pub is_whole: bool,
}

impl Workspace {
    /// Opens what an address means.
    pub fn open_conversation(&self, address: Address) -> Result<OpenConversation, AddressError> {
        let history = self.read_history(&address.file.file)?;
        let target = AddressTarget::new(&history, &address.node)?;
        self.open_target(address.file, history, target)
    }

    /// Like the above, but returns an empty path for a session without messages.
    pub fn open_or_empty(&self, address: Address) -> Result<OpenConversation, AddressError> {
        let history = self.read_history(&address.file.file)?;
        let target = match AddressTarget::new(&history, &address.node) {
            Err(AddressError::EmptySession) => AddressTarget::empty_target(),
            target => target?,
        };
        self.open_target(address.file, history, target)
    }

    fn open_target(
        &self,
        file: ResolvedFile,
        history: Arc<History>,
        target: AddressTarget,
    ) -> Result<OpenConversation, AddressError> {
        let AddressTarget { path, leaf, status, resumes, number, is_whole } = target;
        let parts =
            trace_path(file.files_beside(), file.file.clone(), history, path, self.resume_rule())?;
        Ok(OpenConversation { file, parts, leaf, status, resumes, number, is_whole })
    }

    /// Returns what a conversation is called (R15); `None` when nothing but its id is known.
    pub fn conversation_title(&self, conversation: &OpenConversation) -> Option<String> {
        let digest = SessionDigest::new(conversation.own_history()?);
        let own = ProjectSummaries::default();
        // The first prompt of an abandoned branch comes before what other sessions call it.
        let known =
            branch_title(&digest, conversation.number, &own).filter(|_| !conversation.resumes);
        if let Some(title) = known.filter(|_| conversation.number.is_some()) {
            return Some(title.to_owned());
        }
        let summaries = self.summaries_for(&conversation.file, &digest);
        branch_title(&digest, conversation.number, &summaries).map(str::to_owned)
    }
}

impl OpenConversation {
    /// Returns the history of the file in which the path ends.
    pub fn own_history(&self) -> Option<&Arc<History>> {
        self.parts.last().map(|part| &part.history)
    }

    /// Returns the uuid it ends with; empty if that has none.
    pub fn leaf_uuid(&self) -> String {
        let session = self.own_history().map(|history| &history.session);
        session.zip(self.leaf).map_or_else(String::new, |(session, leaf)| node_uuid(session, leaf))
    }

    /// Returns what leads to its end within its session, see [`History::node_address`].
    pub fn leaf_address(&self) -> String {
        self.own_history()
            .zip(self.leaf)
            .map_or_else(String::new, |(history, leaf)| history.node_address(leaf))
    }

    /// Returns the directory it ran in last; empty if it is not known.
    pub fn working_directory(&self) -> &str {
        let facts = self.own_history().map(|history| history.session.facts());
        facts.and_then(|facts| facts.cwd.as_deref()).unwrap_or_default()
    }
}

/// Reads the turns of a part one by one, bodies from the disk as they are needed.
pub fn each_turn<E: From<PathError>>(
    part: &LinkedPathPart,
    each: impl FnMut(Turn) -> Result<(), E>,
) -> Result<(), E> {
    each_turn_with(part, false, each)
}

/// Like [`each_turn`]; with `injected` also what the client put in for the model.
pub fn each_turn_with<E: From<PathError>>(
    part: &LinkedPathPart,
    injected: bool,
    mut each: impl FnMut(Turn) -> Result<(), E>,
) -> Result<(), E> {
    let mut bodies = RecordReader::open(&part.file.path)?;
    let mut problem = None;
    let session = &part.history.session;
    let mut body = |id: NodeId| match bodies.read_record(session.record(id).span) {
        Ok(bytes) => RecordBody::parse(&bytes).ok(),
        Err(error) => {
            problem = Some(error);
            None
        }
    };
    for turn in path_turns(&part.history, &part.path, &mut body).with_injected(injected) {
        each(turn)?;
    }
    match problem {
        Some(problem) => Err(problem.into()),
        None => Ok(()),
    }
}

fn node_uuid(session: &Session, node: NodeId) -> String {
    session.record(node).uuid.map_or_else(String::new, |name| session.uuid_text(name))
}

/// What an address means within its file.
struct AddressTarget {
    path: ConversationPath,
    leaf: Option<NodeId>,
    status: BranchStatus,
    resumes: bool,
    number: Option<u32>,
    is_whole: bool,
}

impl AddressTarget {
    fn new(history: &History, selector: &NodeSelector) -> Result<Self, AddressError> {
        let conversations = &history.branches.conversations;
        let of_leaf = |leaf| conversations.iter().find(|conversation| conversation.leaf == leaf);
        let conversation = match (selector, selector.find_node(history)?) {
            (_, None) => history.branches.main_conversation(),
            (NodeSelector::Uuid(_), Some(node)) => return Self::up_to(history, node),
            (NodeSelector::Place(_), Some(node)) => {
                match of_leaf(node).or_else(|| history.conversation_of(node)) {
                    Some(conversation) => Some(conversation),
                    None => return Self::up_to(history, node),
                }
            }
            (_, Some(leaf)) => of_leaf(leaf),
        };
        let conversation = conversation.ok_or(AddressError::EmptySession)?;
        Ok(Self {
            path: history.conversation_path(conversation),
            leaf: Some(conversation.leaf),
            is_whole: true,
            ..Self::for_conversation(Some(conversation))
        })
    }

    /// The path to a node, whatever comes after it.
    fn up_to(history: &History, node: NodeId) -> Result<Self, AddressError> {
        let path = history.path_to(node).ok_or(AddressError::EmptySession)?;
        Ok(Self { path, leaf: Some(node), ..Self::for_conversation(history.conversation_of(node)) })
    }

    fn for_conversation(conversation: Option<&Conversation>) -> Self {
        Self {
            status: conversation.map_or(BranchStatus::Active, |conversation| conversation.status),
            resumes: conversation.is_some_and(|conversation| conversation.resumes),
            number: conversation.map(|conversation| conversation.number),
            ..Self::empty_target()
        }
    }

    fn empty_target() -> Self {
        Self {
            path: ConversationPath { messages: Vec::new(), nodes: Vec::new() },
            leaf: None,
            status: BranchStatus::Active,
            resumes: false,
            number: None,
            is_whole: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use ramus_core::resume::ResumeRule;
    use ramus_store::StateDir;
    use ramus_store::claude_dir::ClaudeDirs;
    use testkit::TestHome;

    use super::*;

    const FORKED: &str = "
a      user       one
b < a  assistant  first
c < b  user       two
d < c  assistant  second
e < b  user       @30 other
f < e  assistant  @31 third
";

    fn test_workspace(home: &TestHome) -> Workspace {
        let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
        Workspace::new(place, ResumeRule::Client, StateDir::new(home.path().join("state")))
    }

    #[test]
    fn every_form_of_an_address_opens_its_conversation() {
        let home = TestHome::new();
        home.write_session("-p/aaaa1111.jsonl", FORKED);
        let workspace = test_workspace(&home);
        let open = |text: &str| {
            let open =
                workspace.open_conversation(workspace.resolve_address(text).unwrap()).unwrap();
            (
                open.leaf_uuid(),
                open.number,
                open.status,
                open.is_whole,
                workspace.conversation_title(&open),
            )
        };
        let active = ("f".to_owned(), Some(2), BranchStatus::Active, true, Some("one".to_owned()));
        for text in ["aaaa", "aaaa1111", "latest", "aaaa1111~-p", "aaaa@2"] {
            assert_eq!(open(text), active, "{text}");
        }
        let path = home.claude_dir().join("projects/-p/aaaa1111.jsonl");
        assert_eq!(open(&path.to_string_lossy()), active);
        let left = ("d".to_owned(), Some(1), BranchStatus::Abandoned, true, Some("two".to_owned()));
        assert_eq!(open("aaaa@1"), left);
        let (leaf, number, status, is_whole, _) = open("aaaa:c");
        assert_eq!(
            (&*leaf, number, status, is_whole),
            ("c", Some(1), BranchStatus::Abandoned, false)
        );
    }

    #[test]
    fn an_unresolved_address_has_a_hint() {
        let home = TestHome::new();
        home.write_session("-p/aaaa1111.jsonl", FORKED);
        home.write_session("-q/aaaa2222.jsonl", "a user hello");
        let workspace = test_workspace(&home);
        let error = |text: &str| {
            workspace
                .resolve_address(text)
                .and_then(|at| workspace.open_conversation(at))
                .unwrap_err()
        };
        assert!(matches!(error("zzzz"), AddressError::NoSession(_)));
        assert!(matches!(error("aaaa1@9"), AddressError::NoConversation { n: 9, count: 2 }));
        assert!(matches!(error("aaaa1:zz"), AddressError::NoNode(_)));
        let ambiguous = error("aaaa");
        let AddressError::Ambiguous(found) = &ambiguous else { panic!("{ambiguous}") };
        assert_eq!(found.candidates.len(), 2);
        assert!(ambiguous.hint().is_some());
    }

    #[test]
    fn ambiguous_short_uuids_are_lengthened() {
        let uuid = |end: &str| format!("0a1b2c3d-0000-4000-8000-0000000000{end}");
        let (a, b, c) = (uuid("11"), uuid("12"), "ffff0000-0000-4000-8000-000000000000");
        let home = TestHome::new();
        let short = format!("{a} user one\n{b} < {a} assistant two\n{c} < {b} user three");
        home.write_session("-p/aaaa1111.jsonl", &short);
        let workspace = test_workspace(&home);
        let history =
            workspace.read_history(&workspace.resolve_address("aaaa").unwrap().file.file).unwrap();
        assert_eq!(history.short_uuid(&a), a);
        assert_eq!(history.short_uuid(c), "ffff0000");
        assert_eq!(history.short_uuid("0a1b2c3d-1000-4000-8000-000000000000"), "0a1b2c3d-1");
    }
}
