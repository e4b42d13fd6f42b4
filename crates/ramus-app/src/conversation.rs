//! One conversation, opened: its path through one file or several, where it ends, and what it is called.

use std::sync::Arc;

use ramus_core::body::Body;
use ramus_core::branches::{Conversation, Status};
use ramus_core::digest::Digest;
use ramus_core::history::{History, Path};
use ramus_core::session::{NodeId, Session};
use ramus_core::title::{Summaries, branch_title};
use ramus_core::turn::{Turn, turns};
use ramus_store::trace::{Part, trace};
use ramus_store::{Bodies, PathError};

use crate::address::{Address, AddressError, NodeSelector, ResolvedFile};
use crate::workspace::Workspace;

/// A path from its beginning to the node that an address means.
#[derive(Debug)]
pub struct OpenConversation {
    pub file: ResolvedFile,
    /// The path, cut by files; the oldest part first. The last one lies in `file`.
    pub parts: Vec<Part>,
    /// Where it ends; `None`: nothing was said in the session.
    pub leaf: Option<NodeId>,
    pub status: Status,
    /// Whether the client would continue it.
    pub resumes: bool,
    /// The number of the conversation it is, or is a part of.
    pub number: Option<u32>,
    /// Whether the path is the whole conversation; otherwise it ends at a node that was named.
    pub is_whole: bool,
}

impl Workspace {
    /// Opens what an address means.
    pub fn open(&self, address: Address) -> Result<OpenConversation, AddressError> {
        let history = self.read(&address.file.file)?;
        let target = Target::new(&history, &address.node)?;
        self.open_target(address.file, history, target)
    }

    /// The same, where a session in which nothing was said has an empty path.
    pub fn open_or_empty(&self, address: Address) -> Result<OpenConversation, AddressError> {
        let history = self.read(&address.file.file)?;
        let target = match Target::new(&history, &address.node) {
            Err(AddressError::EmptySession) => Target::empty(),
            target => target?,
        };
        self.open_target(address.file, history, target)
    }

    fn open_target(
        &self,
        file: ResolvedFile,
        history: Arc<History>,
        target: Target,
    ) -> Result<OpenConversation, AddressError> {
        let Target { path, leaf, status, resumes, number, is_whole } = target;
        let parts = trace(file.files_beside(), file.file.clone(), history, path, self.rule())?;
        Ok(OpenConversation { file, parts, leaf, status, resumes, number, is_whole })
    }

    /// Returns what a conversation is called (R15); `None` when nothing but its id is known.
    pub fn title(&self, conversation: &OpenConversation) -> Option<String> {
        let digest = Digest::new(conversation.history()?);
        let own = Summaries::default();
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
    /// Returns the history of its own file, which the path ends in.
    pub fn history(&self) -> Option<&Arc<History>> {
        self.parts.last().map(|part| &part.history)
    }

    /// Returns the uuid it ends with; empty if that has none.
    pub fn leaf_uuid(&self) -> String {
        let session = self.history().map(|history| &history.session);
        session.zip(self.leaf).map_or_else(String::new, |(session, leaf)| spell(session, leaf))
    }

    /// Returns what leads to its end within its session, see [`History::place_of`].
    pub fn leaf_place(&self) -> String {
        self.history()
            .zip(self.leaf)
            .map_or_else(String::new, |(history, leaf)| history.place_of(leaf))
    }

    /// Returns the directory it ran in last; empty if it is not known.
    pub fn cwd(&self) -> &str {
        let facts = self.history().map(|history| history.session.facts());
        facts.and_then(|facts| facts.cwd.as_deref()).unwrap_or_default()
    }
}

/// Reads the turns of a part one by one, bodies from the disk as they are needed.
pub fn each_turn<E: From<PathError>>(
    part: &Part,
    each: impl FnMut(Turn) -> Result<(), E>,
) -> Result<(), E> {
    each_turn_with(part, false, each)
}

/// Like [`each_turn`]; with `injected` also what the client put in for the model.
pub fn each_turn_with<E: From<PathError>>(
    part: &Part,
    injected: bool,
    mut each: impl FnMut(Turn) -> Result<(), E>,
) -> Result<(), E> {
    let mut bodies = Bodies::open(&part.file.path)?;
    let mut problem = None;
    let session = &part.history.session;
    let mut body = |id: NodeId| match bodies.bytes(session.record(id).span) {
        Ok(bytes) => Body::parse(&bytes).ok(),
        Err(error) => {
            problem = Some(error);
            None
        }
    };
    for turn in turns(&part.history, &part.path, &mut body).with_injected(injected) {
        each(turn)?;
    }
    match problem {
        Some(problem) => Err(problem.into()),
        None => Ok(()),
    }
}

fn spell(session: &Session, node: NodeId) -> String {
    session.record(node).name.map_or_else(String::new, |name| session.spell(name))
}

/// What an address comes down to within its file.
struct Target {
    path: Path,
    leaf: Option<NodeId>,
    status: Status,
    resumes: bool,
    number: Option<u32>,
    is_whole: bool,
}

impl Target {
    fn new(history: &History, selector: &NodeSelector) -> Result<Self, AddressError> {
        let conversations = &history.branches.conversations;
        let of_leaf = |leaf| conversations.iter().find(|conversation| conversation.leaf == leaf);
        let conversation = match (selector, selector.node(history)?) {
            (_, None) => history.branches.main(),
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
            path: history.path(conversation),
            leaf: Some(conversation.leaf),
            is_whole: true,
            ..Self::on(Some(conversation))
        })
    }

    /// The path to a node, whatever comes after it.
    fn up_to(history: &History, node: NodeId) -> Result<Self, AddressError> {
        let path = history.path_to(node).ok_or(AddressError::EmptySession)?;
        Ok(Self { path, leaf: Some(node), ..Self::on(history.conversation_of(node)) })
    }

    fn on(conversation: Option<&Conversation>) -> Self {
        Self {
            status: conversation.map_or(Status::Active, |conversation| conversation.status),
            resumes: conversation.is_some_and(|conversation| conversation.resumes),
            number: conversation.map(|conversation| conversation.n),
            ..Self::empty()
        }
    }

    fn empty() -> Self {
        Self {
            path: Path { folds: Vec::new(), nodes: Vec::new() },
            leaf: None,
            status: Status::Active,
            resumes: false,
            number: None,
            is_whole: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use ramus_core::resume::Rule;
    use ramus_store::State;
    use ramus_store::place::Place;
    use testkit::Home;

    use super::*;

    const FORKED: &str = "
a      user       one
b < a  assistant  first
c < b  user       two
d < c  assistant  second
e < b  user       @30 other
f < e  assistant  @31 third
";

    fn workspace(home: &Home) -> Workspace {
        let place = Place::open(vec![home.claude()]).unwrap();
        Workspace::new(place, Rule::Client, State::new(home.path().join("state")))
    }

    #[test]
    fn every_form_of_an_address_opens_its_conversation() {
        let home = Home::new();
        home.session("-p/aaaa1111.jsonl", FORKED);
        let workspace = workspace(&home);
        let open = |text: &str| {
            let open = workspace.open(workspace.address(text).unwrap()).unwrap();
            (open.leaf_uuid(), open.number, open.status, open.is_whole, workspace.title(&open))
        };
        let active = ("f".to_owned(), Some(2), Status::Active, true, Some("one".to_owned()));
        for text in ["aaaa", "aaaa1111", "latest", "aaaa1111~-p", "aaaa@2"] {
            assert_eq!(open(text), active, "{text}");
        }
        let path = home.claude().join("projects/-p/aaaa1111.jsonl");
        assert_eq!(open(&path.to_string_lossy()), active);
        let left = ("d".to_owned(), Some(1), Status::Abandoned, true, Some("two".to_owned()));
        assert_eq!(open("aaaa@1"), left);
        let (leaf, number, status, is_whole, _) = open("aaaa:c");
        assert_eq!((&*leaf, number, status, is_whole), ("c", Some(1), Status::Abandoned, false));
    }

    #[test]
    fn an_address_that_leads_nowhere_says_what_to_do() {
        let home = Home::new();
        home.session("-p/aaaa1111.jsonl", FORKED);
        home.session("-q/aaaa2222.jsonl", "a user hello");
        let workspace = workspace(&home);
        let error =
            |text: &str| workspace.address(text).and_then(|at| workspace.open(at)).unwrap_err();
        assert!(matches!(error("zzzz"), AddressError::NoSession(_)));
        assert!(matches!(error("aaaa1@9"), AddressError::NoConversation { n: 9, count: 2 }));
        assert!(matches!(error("aaaa1:zz"), AddressError::NoNode(_)));
        let ambiguous = error("aaaa");
        assert_eq!(ambiguous.candidates().len(), 2);
        assert!(ambiguous.hint().is_some());
    }

    #[test]
    fn a_uuid_that_begins_like_another_is_told_longer() {
        let uuid = |end: &str| format!("0a1b2c3d-0000-4000-8000-0000000000{end}");
        let (a, b, c) = (uuid("11"), uuid("12"), "ffff0000-0000-4000-8000-000000000000");
        let home = Home::new();
        let short = format!("{a} user one\n{b} < {a} assistant two\n{c} < {b} user three");
        home.session("-p/aaaa1111.jsonl", &short);
        let workspace = workspace(&home);
        let history = workspace.read(&workspace.address("aaaa").unwrap().file.file).unwrap();
        assert_eq!(history.short_uuid(&a), a);
        assert_eq!(history.short_uuid(c), "ffff0000");
        assert_eq!(history.short_uuid("0a1b2c3d-1000-4000-8000-000000000000"), "0a1b2c3d-1");
    }
}
