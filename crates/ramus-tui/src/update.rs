//! (state, event) → effects.

mod mouse;

mod overlay;

mod reading;

mod resume;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::mpsc::Sender;

use ramus_core::query::Query;
use ramus_core::session::NodeId;
use ramus_render::layout::wrap;
use ramus_render::{Label, Line};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

use crate::event::{Chapter, Effect, Event, Opened, Opening};
use crate::keys::{self, Action};
use crate::panes::help;
use crate::panes::list::Progress;
use crate::panes::menu::{Choice, Menu};
use crate::panes::page::Pane;
use crate::panes::results::Results;
use crate::panes::transcript::{Search, Transcript};
use crate::panes::tree::Tree;
use crate::panes::tree::Wanted;
use crate::state::{Focus, Overlay, Prompt, PromptKind, SearchedFrom, State};

/// Takes an event and returns what is to be done about it.
pub(crate) fn update(state: &mut State, event: Event) -> Vec<Effect> {
    let is_rendered = matches!(event, Event::Rendered(_));
    // Most of what is rendered is not on the screen.
    state.changed |= !is_rendered;
    let mut effects = match event {
        Event::Key(key) if key.kind == KeyEventKind::Release => Vec::new(),
        Event::Key(key) => state.key(key),
        Event::Mouse(mouse) => state.mouse(mouse),
        Event::Paste(text) => state.paste(&text),
        Event::Resize(width, height) => {
            state.size = (width, height);
            state.draw_tree()
        }
        event => state.news(event),
    };
    state.measure();
    state.follow_cursor();
    if let Some(reading) = state.stack.last_mut() {
        effects.extend(reading.wanted(is_rendered).map(Effect::Render));
        effects.extend(reading.wanted_next(is_rendered).map(Effect::Prepare));
    }
    effects
}

impl State {
    /// Takes the result of work that was done elsewhere.
    fn news(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Listed(projects, bytes) => {
                self.nothing = None;
                self.list.progress = Some(Progress { read: 0, of: bytes });
                self.list.set(projects);
                self.list.select_newest();
            }
            Event::Read { bytes, sessions } => {
                if let Some(progress) = &mut self.list.progress {
                    progress.read += bytes;
                }
                sessions.into_iter().for_each(|session| self.list.read(session));
            }
            Event::Surveyed(projects, problems) => {
                let untouched = self.stack.is_empty() && self.list.cursor.at <= 1;
                self.list.progress = None;
                self.list.set(projects);
                if untouched && self.list.filter.text.is_empty() {
                    self.list.select_newest();
                }
                if let Some(first) = problems.first() {
                    let more = match problems.len() {
                        1 => String::new(),
                        all => format!(" and {} more", all - 1),
                    };
                    self.say(&format!("{first}{more}"), Label::Warning);
                }
            }
            Event::Cleanup { due, gone } => self.list.set_cleanup(due, gone),
            Event::Nothing(why) => self.nothing = Some(why),
            Event::Opened(opened) => return self.opened(*opened),
            Event::Earlier { file, root, stages } => {
                // An agent in the session has no earlier part.
                if let Some(reading) = self.all(&file).next() {
                    reading.set_earlier(root, stages);
                }
            }
            Event::Agents { file, agents } => {
                for reading in self.all(&file) {
                    // The file may have been rewritten meanwhile.
                    let records = reading.chapter.history.session.records().len();
                    let is_there = |node: NodeId| (node.0 as usize) < records;
                    reading.agents.clone_from(&agents);
                    reading
                        .agents
                        .retain(|agent| agent.call.is_none_or(is_there) && is_there(agent.last));
                    reading.agents_known = true;
                }
                if self.find(&file).is_some() {
                    let mut effects = self.draw_tree();
                    effects.extend(self.agents_came());
                    return effects;
                }
            }
            Event::Answers { file, answers } => {
                if let Some(Overlay::Branches(pane)) = &mut self.overlay
                    && pane.chapter.file.path == file
                {
                    pane.set_answers(&answers);
                }
            }
            Event::Rendered(rendered) => {
                if let Some(reading) = self.stack.last_mut() {
                    self.changed |= reading.take(*rendered);
                }
            }
            Event::Text(text, what) => return vec![Effect::Copy(text, what)],
            Event::Drawn(drawing) => self.drawn(*drawing),
            Event::Hits { file, hits } => {
                if let Some(reading) = self.find(&file) {
                    reading.set_hits(hits);
                }
            }
            Event::Found(found) => {
                if let Some(Overlay::Results(results)) = &mut self.overlay {
                    results.take(*found);
                }
            }
            Event::Page(page) => {
                self.said = None;
                let under = match self.overlay.take() {
                    Some(Overlay::Page(pane)) if !pane.page.links.is_empty() => {
                        Some(Box::new(Overlay::Page(pane)))
                    }
                    Some(Overlay::Page(pane)) => pane.under,
                    Some(results @ Overlay::Results(_)) => Some(Box::new(results)),
                    _ => None,
                };
                self.overlay = Some(Overlay::Page(Pane::new(page).over(under)));
            }
            Event::Said(line) => self.said = Some(line),
            Event::Asked(lines, question, answer) => self.asked_about(&lines, &question, answer),
            Event::Grew(chapter) => return self.grew(chapter),
            Event::Changed(label, session) => self.list.changed(&label, *session),
            Event::Moved(from, chapter) => return self.moved(&from, chapter),
            Event::Gone(path) => {
                self.list.gone(&path);
                if self.find(&path).is_some() {
                    self.say("this session is not on the disk any more", Label::Warning);
                }
            }
            Event::Broken(why) => self.broken = Some(why),
            Event::Signal(signal) => self.killed_by = Some(signal),
            Event::Continued => return vec![Effect::Reopen],
            Event::Key(_) | Event::Mouse(_) | Event::Paste(_) | Event::Resize(..) => {}
        }
        Vec::new()
    }

    pub(crate) fn say(&mut self, text: &str, label: Label) {
        self.said = Some(Line::new(text, label));
    }

    fn find(&mut self, file: &std::path::Path) -> Option<&mut Transcript> {
        self.stack.iter_mut().rev().find(|reading| reading.chapter.file.path == file)
    }

    /// Returns all that is read of a file: the session, and maybe an agent in it.
    fn all(&mut self, file: &std::path::Path) -> impl Iterator<Item = &mut Transcript> {
        self.stack.iter_mut().filter(move |reading| reading.chapter.file.path == file)
    }

    fn opened(&mut self, opened: Opened) -> Vec<Effect> {
        self.said = None;
        if let Opening::Here { .. } = opened.opening {
            if let Some(reading) = self.stack.last_mut() {
                reading.open_agent(opened);
            }
            return Vec::new();
        }
        let Opened { chapter, target, opening, .. } = opened;
        let overlay = self.overlay.take();
        let mut found = None;
        match (&opening, overlay) {
            (Opening::Hit, Some(Overlay::Results(results))) => {
                found = Some((results.text.clone(), results.query.clone()));
                // Back leads to the results, and from there to what was read before.
                let stack = std::mem::take(&mut self.stack);
                self.searched_from.push(SearchedFrom { results, stack, focus: self.focus });
                self.list.select(&chapter.file.path);
            }
            (Opening::New | Opening::Hit, _) => {
                self.stack.clear();
                self.searched_from.clear();
                self.list.select(&chapter.file.path);
            }
            _ => {}
        }
        self.focus = Focus::Transcript;
        self.stack.push(Transcript::new(chapter.clone(), &target));
        self.measure();
        let mut effects = vec![Effect::Agents(chapter.clone()), self.watch()];
        if let (Some((text, query)), Some(reading)) = (found, self.stack.last_mut()) {
            reading.show_hit(
                Search { text: text.clone(), query, hits: None, is_given: true },
                &target,
            );
            effects.push(Effect::SearchHere(chapter, text));
        }
        effects.extend(self.earlier());
        effects.extend(self.draw_tree());
        effects
    }

    fn moved(&mut self, from: &std::path::Path, chapter: Arc<Chapter>) -> Vec<Effect> {
        let live = self.live;
        if self.find(from).is_none() {
            return Vec::new();
        }
        for reading in self.all(from) {
            reading.grew(chapter.clone(), live);
        }
        self.say(&format!("this session lies at {} now", chapter.file.relative), Label::Dim);
        vec![Effect::Agents(chapter)]
    }

    fn grew(&mut self, chapter: Arc<Chapter>) -> Vec<Effect> {
        let live = self.live;
        let Some(reading) = self.find(&chapter.file.path) else { return Vec::new() };
        // An agent began or said something, or it became known which call started it.
        let known = |chapter: &Chapter| {
            let session = &chapter.history.session;
            let aside = session.nodes().filter(|(_, record)| record.sidechain).count();
            (session.agent_results().len(), aside)
        };
        let before = &reading.chapter;
        let agents =
            !Arc::ptr_eq(&before.files, &chapter.files) || known(before) != known(&chapter);
        let mut goes_on = true;
        for reading in self.all(&chapter.file.path) {
            goes_on &= reading.grew(chapter.clone(), live);
        }
        if !goes_on {
            // They name records that are not there any more.
            self.overlay = None;
            self.tree = self.tree.take().map(|_| Tree::default());
        }
        let mut effects = self.draw_tree();
        if agents || !goes_on {
            effects.push(Effect::Agents(chapter));
        }
        effects
    }

    /// Asks to keep an eye on what is read.
    pub(crate) fn watch(&self) -> Effect {
        Effect::Watch(self.stack.iter().map(|reading| reading.chapter.clone()).collect())
    }

    /// Shows a plan and asks whether to carry it out.
    fn asked_about(&mut self, lines: &[Line], question: &str, answer: Sender<bool>) {
        let width = usize::from(self.areas().body.width).clamp(24, 104) - 8;
        let yes = Choice::new('y', "yes", Some(Effect::Answer(answer.clone(), true)));
        let no =
            Choice::new('n', "no, leave everything as it is", Some(Effect::Answer(answer, false)));
        let mut menu = Menu::new("Plan", vec![yes, no]);
        menu.lines = lines.iter().flat_map(|line| wrap(line, width, 4)).collect();
        question.clone_into(&mut menu.question);
        self.said = None;
        self.overlay = Some(Overlay::Menu(menu));
    }

    /// Asks where the conversation that is read began, if that is elsewhere.
    pub(crate) fn earlier(&self) -> Option<Effect> {
        let reading = self.reading()?;
        Some(Effect::Earlier(reading.chapter.clone(), reading.missing_root()?))
    }

    /// Asks for a drawing of the tree, if it is seen.
    pub(crate) fn draw_tree(&mut self) -> Vec<Effect> {
        let width = self.areas().tree.map(|area| area.width);
        let (Some(reading), Some(width)) = (self.reading(), width) else { return Vec::new() };
        let (chapter, agents) = (reading.chapter.clone(), reading.agents.clone());
        // A gap and a scrollbar on the right.
        let width = width.saturating_sub(2);
        vec![Effect::Draw(Box::new(Wanted { chapter, agents, width }))]
    }

    fn drawn(&mut self, drawing: crate::panes::tree::Drawing) {
        let is_current = self.reading().is_some_and(|r| r.chapter.file.path == drawing.file);
        let node = self.reading().and_then(|reading| reading.node(reading.cursor));
        let node = node.map(|(_, node)| node);
        if let Some(tree) = self.tree.as_mut().filter(|_| is_current) {
            // Rows change places when a session grows or resumes elsewhere; the cursor stays on what
            // it was on, which is what the transcript shows.
            let is_same = tree.drawing.as_ref().is_some_and(|old| old.file == drawing.file);
            let node = tree.node().filter(|_| is_same).or(node);
            tree.drawing = Some(drawing);
            if let Some(node) = node {
                tree.follow(node);
            }
        }
    }

    /// Tells the transcript how much room it has.
    pub(crate) fn measure(&mut self) {
        let area = self.areas().transcript;
        if let (Some(reading), Some(area)) = (self.stack.last_mut(), area) {
            // A margin on the left, a scrollbar on the right.
            reading.resize(area.width.saturating_sub(4).max(16), area.height);
        }
    }

    /// Moves the tree's cursor along with the transcript's.
    fn follow_cursor(&mut self) {
        if self.focus == Focus::Tree {
            return;
        }
        let Some(reading) = self.stack.last() else { return };
        let node = reading.node(reading.cursor).map(|(_, node)| node);
        if let (Some(tree), Some(node)) = (&mut self.tree, node) {
            tree.follow(node);
        }
    }

    fn key(&mut self, key: KeyEvent) -> Vec<Effect> {
        self.said = None;
        let typing = self.prompt.is_some() || (self.focus == Focus::List && self.overlay.is_none());
        let reading = self.overlay.is_none() && self.focus != Focus::List;
        let action = keys::action(key, typing, reading);
        match action {
            Some(Action::Quit) => return vec![Effect::Quit],
            Some(Action::Redraw) => return vec![Effect::Redraw],
            Some(Action::Suspend) => return vec![Effect::Suspend],
            _ => {}
        }
        if self.nothing.is_some() && self.overlay.is_none() {
            return self.welcome_key(key);
        }
        if self.prompt.is_some() {
            return self.prompt_key(key);
        }
        // The letters of a menu mean what it says, whatever they mean elsewhere.
        if let Some(Overlay::Menu(menu)) = &mut self.overlay
            && let Some(effect) = menu.choose(key)
        {
            return self.chosen(effect);
        }
        match action {
            Some(Action::Find) => return self.ask(PromptKind::All),
            Some(Action::Help) => return self.show_help(),
            Some(Action::Resume) => return self.resume_here(),
            _ => {}
        }
        if self.overlay.is_some() {
            return self.overlay_key(key, action);
        }
        if action == Some(Action::NextPane) {
            return self.next_pane();
        }
        match self.focus {
            Focus::List => self.list_key(key, action),
            Focus::Transcript | Focus::Tree => {
                action.map(|action| self.reading_action(action)).unwrap_or_default()
            }
        }
    }

    /// Shows the keys over what is there, which is there again when they are closed.
    fn show_help(&mut self) -> Vec<Effect> {
        let is_help = matches!(&self.overlay, Some(Overlay::Page(pane)) if pane.is_help);
        if !is_help {
            let under = self.overlay.take().map(Box::new);
            self.overlay = Some(Overlay::Page(help::page().over(under)));
        }
        Vec::new()
    }

    fn welcome_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        if keys::plain_letter(key) == Some('d') {
            self.say("writing a sample history …", Label::Dim);
            return vec![Effect::WriteDemo];
        }
        match keys::action(key, false, false) {
            Some(Action::Back) => vec![Effect::Quit],
            Some(Action::Help) => self.show_help(),
            _ => Vec::new(),
        }
    }

    fn list_key(&mut self, key: KeyEvent, action: Option<Action>) -> Vec<Effect> {
        let height = self.areas().list.map_or(1, |area| usize::from(area.height.max(2)) - 1);
        if let Some(action) = action {
            if let Some(effects) = self.list.update(action, height) {
                return effects;
            }
            return if action == Action::Back { vec![Effect::Quit] } else { Vec::new() };
        }
        if keys::plain_letter(key) == Some('?') && self.list.filter.text.is_empty() {
            return self.show_help();
        }
        if self.list.filter.key(key) {
            self.list.refilter();
        }
        Vec::new()
    }

    pub(crate) fn next_pane(&mut self) -> Vec<Effect> {
        self.focus = match self.focus {
            _ if self.stack.is_empty() => Focus::List,
            Focus::List => Focus::Transcript,
            Focus::Transcript if self.tree.is_some() => Focus::Tree,
            Focus::Transcript | Focus::Tree => Focus::List,
        };
        Vec::new()
    }

    pub(crate) fn ask(&mut self, kind: PromptKind) -> Vec<Effect> {
        let text = match kind {
            PromptKind::All => self.last_find.clone(),
            PromptKind::Here => String::new(),
        };
        self.prompt = Some(Prompt { kind, input: crate::input::Input { text } });
        Vec::new()
    }

    fn prompt_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let Some(prompt) = &mut self.prompt else { return Vec::new() };
        match key.code {
            KeyCode::Esc => self.prompt = None,
            KeyCode::Backspace if prompt.input.text.is_empty() => self.prompt = None,
            KeyCode::Enter => return self.asked(),
            _ => {
                prompt.input.key(key);
            }
        }
        Vec::new()
    }

    fn asked(&mut self) -> Vec<Effect> {
        let Some(Prompt { kind, input }) = self.prompt.take() else { return Vec::new() };
        let text = input.text;
        let Ok(query) = Query::words(&text) else {
            if let Some(reading) = self.stack.last_mut() {
                reading.search = None;
            }
            return Vec::new();
        };
        match kind {
            PromptKind::All => {
                self.last_find.clone_from(&text);
                self.overlay = Some(Overlay::Results(Results::new(text.clone(), query)));
                vec![Effect::FindAll(text)]
            }
            PromptKind::Here => {
                let Some(reading) = self.stack.last_mut() else { return Vec::new() };
                reading.search =
                    Some(Search { text: text.clone(), query, hits: None, is_given: false });
                vec![Effect::SearchHere(reading.chapter.clone(), text)]
            }
        }
    }

    fn paste(&mut self, text: &str) -> Vec<Effect> {
        let text: String = text.chars().filter(|char| !char.is_control()).collect();
        if let Some(prompt) = &mut self.prompt {
            prompt.input.text.push_str(&text);
        } else if self.focus == Focus::List && self.overlay.is_none() {
            self.list.filter.text.push_str(&text);
            self.list.refilter();
        }
        Vec::new()
    }
}
