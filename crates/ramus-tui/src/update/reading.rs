//! What keys do in a transcript and its tree.

use ramus_app::change::{quoted, resume_command};
use ramus_core::edit::Policy;
use ramus_core::session::NodeId;
use ramus_render::Label;
use ramus_store::place::HistoryFile;

use crate::event::{
    AgentInfo, Chapter, Deed, Effect, NodeAddress, Opened, Opening, Question, Side, Target,
};
use crate::keys::Action;
use crate::panes::agents::Agents;
use crate::panes::branches::Branches;
use crate::panes::menu::{Choice, Menu};
use crate::panes::transcript::Transcript;
use crate::panes::tree::Tree;
use crate::state::{Focus, Overlay, PromptKind, State};

impl State {
    pub(super) fn reading_action(&mut self, action: Action) -> Vec<Effect> {
        if self.focus == Focus::Tree
            && let Some(effects) = self.tree_action(action)
        {
            return effects;
        }
        let Some(reading) = self.stack.last_mut() else { return Vec::new() };
        let before = reading.cursor;
        if reading.go(action) {
            if reading.cursor == before && matches!(action, Action::NextFork | Action::PreviousFork)
            {
                self.say("no more forks that way", Label::Dim);
            }
            return Vec::new();
        }
        match action {
            Action::Left | Action::Right => {
                let by = if action == Action::Right { 1 } else { -1 };
                if reading.switch(by) {
                    return self.earlier().into_iter().collect();
                }
                self.say("there is no fork on the screen; ( and ) go to forks", Label::Dim);
            }
            Action::Enter => reading.toggle(),
            Action::Tools => reading.tools = !reading.tools,
            Action::Thinking => reading.thinking = !reading.thinking,
            Action::Usage => reading.usage = !reading.usage,
            Action::NextHit | Action::PreviousHit if reading.search.is_some() => {
                reading.next_hit(action == Action::NextHit);
            }
            Action::Search => return self.ask(PromptKind::Here),
            Action::Back => return self.back(),
            Action::Tree => return self.toggle_tree(),
            Action::AgentHere | Action::AgentPane if !reading.agents_known => {
                reading.asked = Some(action);
                self.say("looking for the agents …", Label::Dim);
            }
            Action::AgentHere => return self.agents_here(),
            Action::AgentPane => self.list_agents(),
            Action::Branches => {
                let (chapter, conversation) = (reading.chapter.clone(), reading.conversation);
                let listed = self.list.of(&chapter.file.path);
                let title = listed.and_then(|session| session.title.clone());
                let branches = Branches::new(chapter.clone(), conversation, title.as_deref());
                self.overlay = Some(Overlay::Branches(branches));
                return vec![Effect::Answers(chapter)];
            }
            Action::Diff => {
                return self.side().map(|side| self.mark(side)).unwrap_or_default();
            }
            Action::Files => {
                let place = reading.node(reading.cursor);
                let address = place.map(|(stage, node)| stage.chapter.node_address(node));
                self.say("putting files together …", Label::Dim);
                return address.map(|at| self.look_up(Question::Files(at))).into_iter().collect();
            }
            Action::Goto => return self.at_cursor(Deed::Goto),
            Action::Fork => return self.at_cursor(Deed::Fork),
            Action::Merge => return self.merge(),
            Action::Undo => return vec![Effect::Do(Deed::Undo)],
            Action::Live => {
                self.live = !self.live;
                if let Some(reading) = self.stack.last_mut().filter(|_| self.live) {
                    let resuming = reading.chapter.history.branches.resuming().map(|c| c.n);
                    if let Some(n) = resuming {
                        reading.read_conversation(n);
                    }
                    reading.go_to_end();
                }
            }
            Action::Copy => self.copy_menu(),
            Action::Export => self.export_menu(),
            _ => {}
        }
        Vec::new()
    }

    fn tree_action(&mut self, action: Action) -> Option<Vec<Effect>> {
        let height = self.areas().tree.map_or(1, |area| usize::from(area.height));
        let tree = self.tree.as_mut()?;
        if action == Action::Enter {
            if let Some(id) = tree.agent().map(str::to_owned) {
                let agent = self.reading()?.agents.iter().find(|agent| agent.id == id)?.clone();
                return Some(self.open_agent_pane(&agent));
            }
            self.focus = Focus::Transcript;
            return Some(Vec::new());
        }
        let node = tree.update(action, height)?;
        if let (Some(node), Some(reading)) = (node, self.stack.last_mut()) {
            reading.show_node(node);
        }
        Some(self.earlier().into_iter().collect())
    }

    /// Goes back: out of a search, an agent, the tree, and then to the list.
    fn back(&mut self) -> Vec<Effect> {
        if let Some(reading) = self.stack.last_mut()
            && reading.search.take().is_some_and(|search| !search.is_given)
        {
            return Vec::new();
        }
        if self.focus == Focus::Tree {
            self.tree = None;
            self.focus = Focus::Transcript;
        } else if self.stack.len() > 1 {
            self.stack.pop();
            let watch = self.watch();
            return [watch].into_iter().chain(self.draw_tree()).collect();
        } else if let Some(from) = self.searched_from.pop() {
            (self.stack, self.focus) = (from.stack, from.focus);
            self.overlay = Some(Overlay::Results(from.results));
            if let Some(reading) = self.stack.first() {
                self.list.select(&reading.chapter.file.path);
            }
            let watch = self.watch();
            return [watch].into_iter().chain(self.draw_tree()).collect();
        } else {
            self.focus = Focus::List;
        }
        Vec::new()
    }

    fn toggle_tree(&mut self) -> Vec<Effect> {
        if self.tree.take().is_some() {
            self.focus = Focus::Transcript;
            return Vec::new();
        }
        self.tree = Some(Tree::default());
        self.focus = Focus::Tree;
        self.draw_tree()
    }

    fn agents_here(&mut self) -> Vec<Effect> {
        let Some(reading) = self.stack.last_mut() else { return Vec::new() };
        if reading.close_agents() {
            return Vec::new();
        }
        let (stage, agents) = reading.agents_here();
        let agents: Vec<AgentInfo> = agents.into_iter().cloned().collect();
        if agents.is_empty() {
            self.say("this message started no agent; A lists all of them", Label::Dim);
            return Vec::new();
        }
        let mut requests = Vec::new();
        for agent in agents {
            let Some(call) = agent.call else { continue };
            let opening = Opening::Here { stage, call, label: agent.label.clone() };
            match reading.agent_request(&agent, opening.clone()) {
                Some(request) => requests.push(request),
                // It is in this very file.
                None => reading.open_agent(Opened {
                    chapter: reading.chapter.clone(),
                    target: Target::Node(agent.last),
                    opening,
                    agents: Vec::new(),
                }),
            }
        }
        if requests.is_empty() { Vec::new() } else { vec![Effect::OpenHere(requests)] }
    }

    /// Does what was asked for before the agents were known.
    pub(super) fn agents_came(&mut self) -> Vec<Effect> {
        let known = self.stack.last_mut().filter(|reading| reading.agents_known);
        let Some(asked) = known.and_then(|reading| reading.asked.take()) else {
            return Vec::new();
        };
        self.said = None;
        if asked == Action::AgentHere {
            return self.agents_here();
        }
        self.list_agents();
        Vec::new()
    }

    fn list_agents(&mut self) {
        let Some(reading) = self.stack.last() else { return };
        if reading.agents.is_empty() {
            return self.say("this session started no agents", Label::Dim);
        }
        let here = reading.agents_here().1.first().map(|agent| agent.id.clone());
        let agents = reading.agents.clone();
        let at = agents.iter().position(|agent| Some(&agent.id) == here.as_ref()).unwrap_or(0);
        let cursor = crate::cursor::Cursor { at, top: 0 };
        self.overlay = Some(Overlay::Agents(Agents { agents, cursor }));
    }

    /// Opens an agent as a pane of its own.
    pub(super) fn open_agent_pane(&mut self, agent: &AgentInfo) -> Vec<Effect> {
        let Some(reading) = self.stack.last_mut() else { return Vec::new() };
        if let Some(request) = reading.agent_request(agent, Opening::Pane) {
            return vec![Effect::Open(Box::new(request))];
        }
        // It is in this very file.
        let (chapter, target) = (reading.chapter.clone(), Target::Node(agent.last));
        let opening = Opening::Pane;
        let effects = self.opened(Opened { chapter, target, opening, agents: Vec::new() });
        if let Some(reading) = self.stack.last_mut() {
            reading.go(Action::First);
        }
        effects
    }

    /// Marks a branch; compares it with the one that was marked before.
    pub(super) fn mark(&mut self, side: Side) -> Vec<Effect> {
        let same = |other: &Side| {
            other.chapter.file.path == side.chapter.file.path
                && other.conversation == side.conversation
        };
        match self.marked.take() {
            Some(marked) if same(&marked) => self.say("unmarked", Label::Dim),
            Some(marked) => {
                self.say("comparing …", Label::Dim);
                let question = Question::Compare(marked.node_address(), side.node_address());
                return vec![self.look_up(question)];
            }
            None => {
                let address = side.address();
                self.say(
                    &format!("marked {address}; d on another branch compares the two"),
                    Label::Note,
                );
                self.marked = Some(side);
            }
        }
        Vec::new()
    }

    fn at_cursor(&mut self, deed: fn(NodeAddress) -> Deed) -> Vec<Effect> {
        let place = self.reading().and_then(|reading| reading.node(reading.cursor));
        let Some((stage, node)) = place else { return Vec::new() };
        let address = stage.chapter.node_address(node);
        self.say("planning …", Label::Dim);
        vec![Effect::Do(deed(address))]
    }

    /// Returns the conversation that is read; says so if there is none.
    fn side(&mut self) -> Option<Side> {
        let reading = self.stack.last()?;
        let side = Side { chapter: reading.chapter.clone(), conversation: reading.conversation };
        if reading.aside.is_some() {
            self.say("an agent is no conversation of its own; F makes one of it", Label::Dim);
            return None;
        }
        Some(side)
    }

    fn merge(&mut self) -> Vec<Effect> {
        let Some(marked) = self.marked.clone() else {
            self.say("mark the other branch first: d", Label::Dim);
            return Vec::new();
        };
        let Some(here) = self.side().map(|side| side.node_address()) else { return Vec::new() };
        let there = marked.node_address();
        let choice = |letter, label, policy| {
            let deed = Deed::Merge(here.clone(), there.clone(), policy);
            Choice::new(letter, label, Some(Effect::Do(deed)))
        };
        let choices = vec![
            choice('s', "do not merge", Policy::Stop),
            choice('o', "what this conversation left holds", Policy::Ours),
            choice('t', "what the marked one left holds", Policy::Theirs),
            choice('b', "all of it, to be put together later", Policy::KeepBoth),
        ];
        let menu = Menu::new("Merge with the marked one; where both changed a file", choices);
        self.overlay = Some(Overlay::Menu(menu));
        Vec::new()
    }

    /// Asks for a page as wide as the screen.
    pub(super) fn look_up(&self, question: Question) -> Effect {
        Effect::Ask(question, self.areas().body.width.saturating_sub(4))
    }

    fn copy_menu(&mut self) {
        let Some(reading) = self.stack.last() else { return };
        let Some((stage, node)) = reading.node(reading.cursor) else { return };
        let address = self.address(&stage.chapter, node);
        let mut choices = vec![Choice::new(
            'a',
            format!("address  {address}"),
            Some(Effect::Copy(address.clone(), "the address")),
        )];
        if let Some(want) = reading.want_anyway(reading.cursor) {
            let effect = Effect::CopyMessage(Box::new(want));
            choices.push(Choice::new('m', "message", Some(effect)));
        }
        for (letter, label, command) in self.commands(reading) {
            let label = format!("{label}  {command}");
            choices.push(Choice::new(letter, label, Some(Effect::Copy(command, "the command"))));
        }
        self.overlay = Some(Overlay::Menu(Menu::new("Copy", choices)));
    }

    fn export_menu(&mut self) {
        let Some(side) = self.side() else { return };
        let formats = [
            ('m', "md", "Markdown"),
            ('h', "html", "HTML, one file"),
            ('j', "json", "JSON"),
            ('l', "jsonl", "JSONL, the lines as they are"),
            ('t', "txt", "text"),
        ];
        let choices = formats.map(|(letter, format, label)| {
            Choice::new(letter, label, Some(Effect::Export(side.clone(), format)))
        });
        self.overlay =
            Some(Overlay::Menu(Menu::new("Export this conversation as", choices.into())));
    }

    /// Returns what to type in a shell to go on with what is read: a letter, what it does, the command.
    ///
    /// Claude Code resumes one branch of a session only. Another one must be made that first, or a
    /// session of its own; an agent cannot be resumed at all.
    fn commands(&self, reading: &Transcript) -> Vec<(char, &'static str, String)> {
        let chapter = &reading.chapter;
        let root = self.unusual_root(&chapter.file);
        let ramus = root.as_ref().map_or_else(
            || "ramus".to_owned(),
            |root| format!("ramus --claude-dir {}", quoted(root)),
        );
        let last =
            reading.main().path.folds.last().map(|fold| chapter.history.folds.fold(*fold).head);
        let last = reading.current().map(|current| current.leaf).or(last);
        let address = last.map(|last| quoted(&self.address(chapter, last)));
        let fork = address.as_ref().map(|address| format!("{ramus} fork {address}"));
        let fork = fork.map(|command| ('f', "fork   ", command));
        if chapter.file.role.is_agent() || reading.aside.is_some() {
            return fork.into_iter().collect();
        }
        let mut resume = resume_command(&chapter.file.id);
        if let Some(root) = &root {
            resume = format!("CLAUDE_CONFIG_DIR={} {resume}", quoted(root));
        }
        if let Some(cwd) = chapter.history.session.facts().cwd.as_deref() {
            resume = format!("cd {} && {resume}", quoted(cwd));
        }
        match (reading.current(), address) {
            (Some(current), Some(address)) if !current.resumes => {
                let command = format!("{ramus} goto {address} && {resume}");
                [('r', "resume ", command)].into_iter().chain(fork).collect()
            }
            _ => vec![('r', "resume ", resume)],
        }
    }

    /// Returns the address of a node, in full if a short one could mean another node.
    fn address(&self, chapter: &Chapter, node: NodeId) -> String {
        match self.list.short_id(&chapter.file) {
            Some(id) if chapter.is_only(node) => chapter.address(id, node),
            _ => chapter.full_address(node),
        }
    }

    /// Returns the Claude directory of a file if commands must be told of it.
    fn unusual_root(&self, file: &HistoryFile) -> Option<String> {
        let is_usual = self.usual_roots.iter().any(|root| file.path.starts_with(root));
        let path = file.path.to_string_lossy();
        let root = path.strip_suffix(&*file.relative)?.trim_end_matches('/');
        (!is_usual && !self.usual_roots.is_empty() && !root.is_empty()).then(|| root.to_owned())
    }
}
