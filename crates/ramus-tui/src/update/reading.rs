//! Keys in a transcript and its tree.

use ramus_app::ExportFormat;
use ramus_app::change::shell_quoted;
use ramus_core::edit::ConflictPolicy;
use ramus_core::session::NodeId;
use ramus_render::{Label, Line};
use ramus_store::claude_dir::HistoryFile;

use crate::event::{
    AgentInfo, ChangeCommand, Chapter, DocumentRequest, Effect, JumpTarget, MarkedBranch,
    NodeAddress, OpenMode, OpenedChapter,
};
use crate::keys::KeyAction;
use crate::panes::agents::AgentsPane;
use crate::panes::branches::BranchesPane;
use crate::panes::menu::{MenuChoice, MenuPane};
use crate::panes::transcript::TranscriptPane;
use crate::panes::tree::TreePane;
use crate::state::{Focus, InputPromptKind, Overlay, ScreenState};
use crate::work::documents::PAGE_MARGIN;

impl ScreenState {
    pub(super) fn reading_action(&mut self, action: KeyAction) -> Vec<Effect> {
        if self.focus == Focus::Tree
            && let Some(effects) = self.tree_action(action)
        {
            return effects;
        }
        let Some(reading) = self.stack.last_mut() else { return Vec::new() };
        let before = reading.cursor;
        if reading.apply_action(action) {
            if reading.cursor == before
                && matches!(action, KeyAction::NextFork | KeyAction::PreviousFork)
            {
                self.show_status("no more fork points in this direction", Label::Dim);
            }
            return Vec::new();
        }
        match action {
            KeyAction::Left | KeyAction::Right => {
                let by = if action == KeyAction::Right { 1 } else { -1 };
                if reading.switch_branch(by) {
                    return self.earlier_effect().into_iter().collect();
                }
                let [back, on] = [KeyAction::PreviousFork, KeyAction::NextFork]
                    .map(|action| self.keys.main_key(action, false));
                let text = format!("no fork point on screen; use {back} and {on} to find one");
                self.show_status(&text, Label::Dim);
            }
            KeyAction::Enter => reading.toggle_block(),
            KeyAction::Tools => reading.tools = !reading.tools,
            KeyAction::Thinking => reading.thinking = !reading.thinking,
            KeyAction::Usage => reading.usage = !reading.usage,
            KeyAction::NextHit | KeyAction::PreviousHit if reading.search.is_some() => {
                reading.next_hit(action == KeyAction::NextHit);
                return self.earlier_effect().into_iter().collect();
            }
            KeyAction::NextHit | KeyAction::PreviousHit => {
                let key = self.keys.main_key(KeyAction::Search, false);
                self.show_status(
                    &format!("no search here; {key} searches this session"),
                    Label::Dim,
                );
            }
            KeyAction::Search => return self.open_prompt(InputPromptKind::Here),
            KeyAction::Back => return self.go_back(),
            KeyAction::Tree => return self.toggle_tree(),
            KeyAction::AgentHere | KeyAction::AgentPane if !reading.agents_known => {
                reading.asked = Some(action);
                self.show_status("loading agents …", Label::Dim);
            }
            KeyAction::AgentHere => return self.agents_here(),
            KeyAction::AgentPane => self.list_agents(),
            KeyAction::Branches => {
                let (chapter, conversation) = (reading.chapter.clone(), reading.conversation);
                let listed = self.list.session_of(&chapter.file.path);
                let title = listed.and_then(|session| session.title.clone());
                let branches = BranchesPane::new(chapter.clone(), conversation, title.as_deref());
                self.overlay = Some(Overlay::Branches(branches));
                return vec![Effect::Answers(chapter)];
            }
            KeyAction::Diff => {
                return self
                    .branch_on_screen()
                    .map(|side| self.mark_or_compare(side))
                    .unwrap_or_default();
            }
            KeyAction::Files => {
                let place = reading.node_of(reading.cursor);
                let address = place.map(|(stage, node)| stage.chapter.node_address(node));
                self.show_status("loading files …", Label::Dim);
                return address
                    .map(|at| self.look_up(DocumentRequest::Files(at)))
                    .into_iter()
                    .collect();
            }
            KeyAction::Goto => return self.at_cursor(ChangeCommand::Goto),
            KeyAction::Fork => return self.at_cursor(ChangeCommand::Fork),
            KeyAction::Merge => return self.merge_marked(),
            KeyAction::Undo => return vec![Effect::ApplyChange(ChangeCommand::Undo(None))],
            KeyAction::Live => {
                self.live = !self.live;
                if let Some(reading) = self.stack.last_mut().filter(|_| self.live) {
                    let resuming =
                        reading.chapter.history.branches.resuming_conversation().map(|c| c.number);
                    if let Some(n) = resuming {
                        reading.read_conversation(n);
                    }
                    reading.go_to_end();
                }
                return vec![self.follow_live()];
            }
            KeyAction::Copy => self.copy_menu(),
            KeyAction::Images => {
                let want = reading.new_render_request(reading.cursor);
                return want.map(|want| Effect::OpenImages(Box::new(want))).into_iter().collect();
            }
            _ => {}
        }
        Vec::new()
    }

    fn tree_action(&mut self, action: KeyAction) -> Option<Vec<Effect>> {
        let height = self.screen_areas().tree.map_or(1, |area| usize::from(area.height));
        let tree = self.tree.as_mut()?;
        if action == KeyAction::Enter {
            if let Some(id) = tree.selected_agent().map(str::to_owned) {
                let agent =
                    self.open_transcript()?.agents.iter().find(|agent| agent.id == id)?.clone();
                return Some(self.open_agent_pane(&agent));
            }
            self.focus = Focus::Transcript;
            return Some(Vec::new());
        }
        let node = tree.apply_action(action, height)?;
        if let (Some(node), Some(reading)) = (node, self.stack.last_mut()) {
            reading.show_node(node);
        }
        Some(self.earlier_effect().into_iter().collect())
    }

    /// Goes back: out of a search, an agent, the tree, and then to the list.
    fn go_back(&mut self) -> Vec<Effect> {
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
            let watch = self.watch_effect();
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
        self.tree = Some(TreePane::default());
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
            let key = self.keys.main_key(KeyAction::AgentPane, false);
            let text = format!("this message started no agents; {key} lists all agents");
            self.show_status(&text, Label::Dim);
            return Vec::new();
        }
        let mut requests = Vec::new();
        for agent in agents {
            let Some(call) = agent.call else { continue };
            let opening = OpenMode::Here { stage, call, label: agent.label.clone() };
            match reading.agent_request(&agent, opening.clone()) {
                Some(request) => requests.push(request),
                // It is in this very file.
                None => reading.open_agent(OpenedChapter {
                    chapter: reading.chapter.clone(),
                    target: JumpTarget::Node(agent.last),
                    opening,
                    agents: Vec::new(),
                }),
            }
        }
        if requests.is_empty() { Vec::new() } else { vec![Effect::OpenHere(requests)] }
    }

    /// Runs the action that waited for the list of agents.
    pub(super) fn agents_came(&mut self) -> Vec<Effect> {
        let known = self.stack.last_mut().filter(|reading| reading.agents_known);
        let Some(asked) = known.and_then(|reading| reading.asked.take()) else {
            return Vec::new();
        };
        self.status_line = None;
        if asked == KeyAction::AgentHere {
            return self.agents_here();
        }
        self.list_agents();
        Vec::new()
    }

    fn list_agents(&mut self) {
        let Some(reading) = self.stack.last() else { return };
        if reading.agents.is_empty() {
            return self.show_status("this session started no agents", Label::Dim);
        }
        let here = reading.agents_here().1.first().map(|agent| agent.id.clone());
        let agents = reading.agents.clone();
        let at = agents.iter().position(|agent| Some(&agent.id) == here.as_ref()).unwrap_or(0);
        let cursor = crate::cursor::RowCursor::at_row(at);
        self.overlay = Some(Overlay::Agents(AgentsPane { agents, cursor }));
    }

    /// Opens an agent as a separate pane.
    pub(super) fn open_agent_pane(&mut self, agent: &AgentInfo) -> Vec<Effect> {
        let Some(reading) = self.stack.last_mut() else { return Vec::new() };
        if let Some(request) = reading.agent_request(agent, OpenMode::Pane) {
            return vec![Effect::Open(Box::new(request))];
        }
        // It is in this very file.
        let (chapter, target) = (reading.chapter.clone(), JumpTarget::Node(agent.last));
        let opening = OpenMode::Pane;
        let effects =
            self.show_opened(OpenedChapter { chapter, target, opening, agents: Vec::new() });
        if let Some(reading) = self.stack.last_mut() {
            reading.apply_action(KeyAction::First);
        }
        effects
    }

    /// Marks a branch; compares it with the one that was marked before.
    pub(super) fn mark_or_compare(&mut self, side: MarkedBranch) -> Vec<Effect> {
        let same = |other: &MarkedBranch| {
            other.chapter.file.path == side.chapter.file.path
                && other.conversation == side.conversation
        };
        match self.marked.take() {
            Some(marked) if same(&marked) => self.show_status("unmarked", Label::Dim),
            Some(marked) => {
                self.show_status("comparing …", Label::Dim);
                let question = DocumentRequest::Compare(marked.node_address(), side.node_address());
                return vec![self.look_up(question)];
            }
            None => {
                let address = side.branch_address(&self.list);
                let key = self.keys.main_key(KeyAction::Diff, false);
                let text = format!("marked {address}; press {key} on another branch to compare");
                self.show_status(&text, Label::Note);
                self.marked = Some(side);
            }
        }
        Vec::new()
    }

    fn at_cursor(&mut self, make_command: fn(NodeAddress) -> ChangeCommand) -> Vec<Effect> {
        let place = self.open_transcript().and_then(|reading| reading.node_of(reading.cursor));
        let Some((stage, node)) = place else { return Vec::new() };
        let address = stage.chapter.node_address(node);
        self.show_status("planning …", Label::Dim);
        vec![Effect::ApplyChange(make_command(address))]
    }

    /// Returns the open conversation; shows a message if there is none.
    fn branch_on_screen(&mut self) -> Option<MarkedBranch> {
        let reading = self.stack.last()?;
        let side =
            MarkedBranch { chapter: reading.chapter.clone(), conversation: reading.conversation };
        if reading.aside.is_some() {
            let key = self.keys.main_key(KeyAction::Fork, false);
            let text = format!("an agent is not a conversation; press {key} to fork it into one");
            self.show_status(&text, Label::Dim);
            return None;
        }
        Some(side)
    }

    fn merge_marked(&mut self) -> Vec<Effect> {
        let Some(marked) = self.marked.clone() else {
            let key = self.keys.main_key(KeyAction::Diff, false);
            self.show_status(&format!("mark another branch first with {key}"), Label::Dim);
            return Vec::new();
        };
        let Some(here) = self.branch_on_screen().map(|side| side.node_address()) else {
            return Vec::new();
        };
        let there = marked.node_address();
        let choice = |letter, label, policy| {
            let merge_command = ChangeCommand::Merge(here.clone(), there.clone(), policy);
            MenuChoice::new(letter, label, Some(Effect::ApplyChange(merge_command)))
        };
        let choices = vec![
            choice('s', "do not merge", ConflictPolicy::Stop),
            choice('o', "use this conversation's version", ConflictPolicy::Ours),
            choice('t', "use the marked conversation's version", ConflictPolicy::Theirs),
            choice('b', "keep all versions", ConflictPolicy::KeepBoth),
        ];
        let mut menu = MenuPane::new("Merge with the marked branch", choices);
        menu.lines = vec![Line::plain("If both changed a file:"), Line::default()];
        self.overlay = Some(Overlay::Menu(menu));
        Vec::new()
    }

    /// Asks for a page as wide as the screen.
    pub(super) fn look_up(&self, question: DocumentRequest) -> Effect {
        Effect::OpenDocument(
            question,
            self.screen_areas().body.width.saturating_sub(PAGE_MARGIN as u16),
        )
    }

    fn copy_menu(&mut self) {
        let Some(reading) = self.stack.last() else { return };
        let Some((stage, node)) = reading.node_of(reading.cursor) else { return };
        let address = self.node_address(&stage.chapter, node);
        let mut choices = vec![MenuChoice::new(
            'a',
            format!("address  {address}"),
            Some(Effect::Copy(address.clone(), "the address")),
        )];
        if let Some(want) = reading.new_render_request(reading.cursor) {
            let effect = Effect::CopyMessage(Box::new(want));
            choices.push(MenuChoice::new('m', "message", Some(effect)));
        }
        choices.extend(self.shell_commands(reading));
        self.overlay = Some(Overlay::Menu(MenuPane::new("Copy", choices)));
    }

    pub(super) fn export_menu(&mut self) {
        let address = match self.focus {
            Focus::List => self.list.selected_branch(),
            Focus::Transcript | Focus::Tree => {
                // It says itself why there is none.
                let Some(side) = self.branch_on_screen() else { return };
                Some(side.node_address())
            }
        };
        let Some(address) = address else {
            return self.show_status("no session here", Label::Dim);
        };
        let formats = [
            ('m', ExportFormat::Markdown, "Markdown"),
            ('h', ExportFormat::Html, "HTML, one file"),
            ('j', ExportFormat::Json, "JSON"),
            ('l', ExportFormat::Jsonl, "JSONL, the original lines"),
            ('t', ExportFormat::Text, "text"),
        ];
        let choices = formats.map(|(letter, format, label)| {
            MenuChoice::new(letter, label, Some(Effect::Export(address.clone(), format)))
        });
        self.overlay =
            Some(Overlay::Menu(MenuPane::new("Export this conversation as", choices.into())));
    }

    /// Returns the menu choices with shell commands that continue the open conversation.
    ///
    /// Claude Code resumes one branch of a session only. Another one must be made that first, or a
    /// session of its own; an agent cannot be resumed at all.
    fn shell_commands(&self, reading: &TranscriptPane) -> Vec<MenuChoice> {
        let chapter = &reading.chapter;
        let root = self.unusual_root(&chapter.file);
        let ramus = root.as_ref().map_or_else(
            || "ramus".to_owned(),
            |root| format!("ramus --claude-dir {}", shell_quoted(root)),
        );
        let last = reading
            .main()
            .path
            .messages
            .last()
            .map(|fold| chapter.history.message_tree.message(*fold).head);
        let last = reading.current_conversation().map(|current| current.leaf).or(last);
        let address = last.map(|last| shell_quoted(&self.node_address(chapter, last)));
        let fork = address.as_ref().map(|address| format!("{ramus} fork {address}"));
        let fork = fork.map(|command| {
            let label = format!("fork     {command}");
            MenuChoice::new('f', label, Some(Effect::Copy(command, "the command")))
        });
        if chapter.file.role.is_agent() || reading.aside.is_some() {
            return fork.into_iter().collect();
        }
        let resume = last.map(|last| {
            let target = JumpTarget::Node(last);
            Effect::CopyResume(Box::new(self.list.request_for(&chapter.file, target)))
        });
        let resume =
            resume.map(|effect| MenuChoice::new('r', "resume   the command", Some(effect)));
        let is_elsewhere = reading.current_conversation().is_some_and(|current| !current.resumes);
        resume.into_iter().chain(fork.filter(|_| is_elsewhere)).collect()
    }

    /// Returns the address of a node, in full if a short one could mean another node.
    fn node_address(&self, chapter: &Chapter, node: NodeId) -> String {
        match self.list.short_id(&chapter.file) {
            Some(id) if chapter.is_only(node) => chapter.address_of(id, node),
            _ => chapter.full_address(node),
        }
    }

    /// Returns the Claude directory of a file if commands need it as an option.
    fn unusual_root(&self, file: &HistoryFile) -> Option<String> {
        let is_usual = self.usual_roots.iter().any(|root| file.path.starts_with(root));
        let path = file.path.to_string_lossy();
        let root = path.strip_suffix(&*file.relative)?.trim_end_matches('/');
        (!is_usual && !self.usual_roots.is_empty() && !root.is_empty()).then(|| root.to_owned())
    }
}
