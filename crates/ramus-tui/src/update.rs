//! (state, event) → effects.

mod mouse;

mod overlay;

mod palette;

mod preview;

mod prompts;

mod reading;

mod resume;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::mpsc::Sender;

use ramus_core::session::NodeId;
use ramus_render::{Label, Line};
use ratatui::crossterm::event::{KeyEvent, KeyEventKind};

use crate::event::{
    AnnotationEdit, Chapter, DocumentRequest, Effect, OpenMode, OpenedChapter, ScreenEvent,
};
use crate::keys::{self, KeyAction, KeyContext};
use crate::panes::document::DocumentPane;
use crate::panes::help;
use crate::panes::list::SurveyProgress;
use crate::panes::menu::{MenuChoice, MenuPane};
use crate::panes::preview::PreviewPane;
use crate::panes::transcript::{TranscriptPane, TranscriptSearch};
use crate::panes::tree::TreePane;
use crate::panes::tree::TreeRequest;
use crate::state::{Focus, InputPromptKind, Overlay, ScreenState};
use crate::work::documents::PAGE_MARGIN;
use crate::work::live::LiveRequest;

/// Lines of prose longer than this are hard to read.
const MAX_TEXT_WIDTH: u16 = 100;

/// Returns how many columns of an area are for text: there is a margin on the left, a scrollbar on the right.
fn text_width(width: u16) -> u16 {
    width.saturating_sub(4).clamp(16, MAX_TEXT_WIDTH)
}

/// Handles an event and returns its effects.
pub(crate) fn update_state(state: &mut ScreenState, event: ScreenEvent) -> Vec<Effect> {
    let is_rendered = matches!(event, ScreenEvent::Rendered(_));
    // Most rendered blocks are not visible.
    state.changed |= !is_rendered;
    let mut effects = match event {
        ScreenEvent::Key(key) if key.kind == KeyEventKind::Release => Vec::new(),
        ScreenEvent::Key(key) => state.handle_key(key),
        ScreenEvent::Mouse(mouse) => state.handle_mouse(mouse),
        ScreenEvent::Paste(text) => state.paste_text(&text),
        ScreenEvent::Resize(width, height) => {
            state.size = (width, height);
            // A window that shrank and grew again has lost cells, although it is as large as before.
            let mut effects = state.draw_tree();
            effects.push(Effect::Redraw);
            effects
        }
        event => state.apply_result(event),
    };
    state.resize_transcript();
    if let Some(reading) = state.stack.last_mut() {
        reading.note_seen();
    }
    state.follow_cursor();
    effects.extend(state.preview_effect());
    let is_read = state.screen_areas().transcript.is_some();
    if let Some(reading) = state.stack.last_mut().filter(|_| is_read) {
        effects.extend(reading.blocks_to_render(is_rendered).map(Effect::Render));
        effects.extend(reading.blocks_to_prepare(is_rendered).map(Effect::Prepare));
    } else if let Some(preview) = &mut state.preview {
        effects.extend(preview.reading.blocks_to_render(is_rendered).map(Effect::Render));
    }
    effects
}

impl ScreenState {
    /// Takes the result of work that was done elsewhere.
    fn apply_result(&mut self, event: ScreenEvent) -> Vec<Effect> {
        match event {
            ScreenEvent::CurrentProject(dir) => self.list.current = dir,
            ScreenEvent::Listed(projects, bytes) => {
                self.no_history_reason = None;
                self.list.progress = Some(SurveyProgress { bytes_read: 0, total_bytes: bytes });
                self.list.replace_projects(projects);
                self.list.select_newest();
            }
            ScreenEvent::Read { bytes, sessions } => {
                if let Some(progress) = &mut self.list.progress {
                    progress.bytes_read += bytes;
                }
                sessions.into_iter().for_each(|session| self.list.update_session(session));
            }
            ScreenEvent::Surveyed(projects, problems) => {
                let untouched = self.stack.is_empty() && self.list.cursor.at <= 1;
                self.list.progress = None;
                self.list.replace_projects(projects);
                if untouched && self.list.filter.text.is_empty() {
                    self.list.select_newest();
                }
                if let Some(first) = problems.first() {
                    let more = match problems.len() {
                        1 => String::new(),
                        all => format!(" and {} more", all - 1),
                    };
                    self.show_status(&format!("{first}{more}"), Label::Warning);
                }
            }
            ScreenEvent::Cleanup { due, unarchived, gone } => {
                self.list.unarchived = unarchived;
                self.list.set_cleanup(due, gone);
            }
            ScreenEvent::Unarchived(files) => self.list.unarchived = files,
            ScreenEvent::NoHistory(why) => self.no_history_reason = Some(why),
            ScreenEvent::Opened(opened) => return self.show_opened(*opened),
            ScreenEvent::Earlier { file, root, stages } => {
                // An agent in the session has no earlier part.
                if let Some(reading) = self.transcripts_of(&file).next() {
                    reading.set_earlier(root, stages);
                }
            }
            ScreenEvent::Agents { file, agents } => {
                for reading in self.transcripts_of(&file) {
                    // The file may have been rewritten in the meantime.
                    let records = reading.chapter.history.session.records().len();
                    let is_there = |node: NodeId| (node.0 as usize) < records;
                    reading.agents.clone_from(&agents);
                    reading
                        .agents
                        .retain(|agent| agent.call.is_none_or(is_there) && is_there(agent.last));
                    reading.agents_known = true;
                }
                if self.transcript_of(&file).is_some() {
                    let mut effects = self.draw_tree();
                    effects.extend(self.agents_came());
                    return effects;
                }
            }
            ScreenEvent::Answers { file, answers } => {
                if let Some(Overlay::Branches(pane)) = &mut self.overlay
                    && pane.chapter.file.path == file
                {
                    pane.set_answers(&answers);
                }
            }
            ScreenEvent::Rendered(rendered) => {
                let preview = self.preview.as_mut().map(|preview| &mut preview.reading);
                let is_own = |reading: &&mut TranscriptPane| reading.has_file(&rendered.chapter);
                let reading = self.stack.last_mut().filter(is_own);
                let reading = match preview.filter(is_own) {
                    Some(preview) if reading.is_none() || self.focus == Focus::List => {
                        Some(preview)
                    }
                    _ => reading,
                };
                if let Some(reading) = reading {
                    self.changed |= reading.take_rendered(*rendered);
                }
            }
            ScreenEvent::Previewed(opened) => self.show_preview(*opened),
            ScreenEvent::PreviewFacts(path, facts) => {
                let preview = self.preview.as_mut();
                if let Some(preview) =
                    preview.filter(|preview| preview.reading.chapter.file.path == path)
                {
                    preview.set_facts(facts);
                }
            }
            ScreenEvent::Annotations(annotations) => self.list.annotations = annotations,
            ScreenEvent::Costs(costs) => self.list.set_costs(costs),
            ScreenEvent::Text(text, what) => return vec![Effect::Copy(text, what)],
            ScreenEvent::Drawn(drawing) => self.show_drawing(*drawing),
            ScreenEvent::Hits { file, hits } => {
                if let Some(reading) = self.transcript_of(&file) {
                    reading.set_hits(hits);
                }
            }
            ScreenEvent::Found(found) => {
                self.list.add_results(*found);
            }
            ScreenEvent::Document(page) => {
                self.status_line = None;
                let under = match self.overlay.take() {
                    Some(Overlay::Document(pane)) if !pane.page.links.is_empty() => {
                        Some(Box::new(Overlay::Document(pane)))
                    }
                    Some(Overlay::Document(pane)) => pane.under,
                    _ => None,
                };
                self.overlay = Some(Overlay::Document(DocumentPane::new(page).on_top_of(under)));
            }
            ScreenEvent::Status(line) => self.status_line = Some(line),
            ScreenEvent::Asked(lines, question, answer) => {
                self.asked_about(&lines, &question, answer);
            }
            ScreenEvent::Grew(chapter) => return self.apply_grown(chapter),
            ScreenEvent::Changed(label, session) => {
                let path = &session.file.path;
                if self.preview_wanted.as_ref().is_some_and(|(wanted, _)| wanted == path) {
                    // It is read again.
                    self.preview_wanted = None;
                }
                self.list.insert_changed(&label, *session);
            }
            ScreenEvent::Moved(from, chapter) => return self.apply_moved(&from, chapter),
            ScreenEvent::Writing(files) => self.list.writing = files,
            ScreenEvent::LiveStatus(file, status) => {
                let is_open = self.stack.first().is_some_and(|open| open.chapter.file.path == file);
                self.live_status = Some(status).filter(|_| self.live && is_open);
                self.show_running();
            }
            ScreenEvent::Removed(path) => {
                self.list.remove_file(&path);
                if self.transcript_of(&path).is_some() {
                    self.show_status("this session no longer exists", Label::Warning);
                }
            }
            ScreenEvent::ResumePlanned(request, choice) => {
                return self.resume_planned(*request, choice);
            }
            ScreenEvent::Broken(why) => self.broken = Some(why),
            ScreenEvent::Signal(signal) => self.killed_by = Some(signal),
            ScreenEvent::Continued => return vec![Effect::Reopen],
            ScreenEvent::Key(_)
            | ScreenEvent::Mouse(_)
            | ScreenEvent::Paste(_)
            | ScreenEvent::Resize(..) => {}
        }
        Vec::new()
    }

    pub(crate) fn show_status(&mut self, text: &str, label: Label) {
        self.status_line = Some(Line::new(text, label));
    }

    fn transcript_of(&mut self, file: &std::path::Path) -> Option<&mut TranscriptPane> {
        self.stack.iter_mut().rev().find(|reading| reading.chapter.file.path == file)
    }

    /// Returns all that is read of a file: the session, and maybe an agent in it.
    fn transcripts_of(
        &mut self,
        file: &std::path::Path,
    ) -> impl Iterator<Item = &mut TranscriptPane> {
        self.stack.iter_mut().filter(move |reading| reading.chapter.file.path == file)
    }

    fn show_opened(&mut self, opened: OpenedChapter) -> Vec<Effect> {
        self.status_line = None;
        if let OpenMode::Here { .. } = opened.opening {
            if let Some(reading) = self.stack.last_mut() {
                reading.open_agent(opened);
            }
            return Vec::new();
        }
        let OpenedChapter { chapter, target, opening, .. } = opened;
        self.overlay = None;
        let mut found = None;
        let is_quiet = opening == OpenMode::Titled;
        match opening {
            OpenMode::Hit | OpenMode::Titled => {
                found = self.list.search.words_to_mark();
                self.stack.clear();
            }
            OpenMode::New => {
                self.stack.clear();
                self.list.select_session(&chapter.file.path);
            }
            OpenMode::Pane | OpenMode::Here { .. } => {}
        }
        self.focus = Focus::Transcript;
        self.stack.push(TranscriptPane::new(chapter.clone(), &target));
        self.resize_transcript();
        let mut effects = vec![Effect::Agents(chapter.clone()), self.watch_effect()];
        if let (Some((text, query)), Some(reading)) = (found, self.stack.last_mut()) {
            let is_given = true;
            let search =
                TranscriptSearch { text: text.clone(), query, hits: None, is_given, is_quiet };
            reading.show_hit(search, &target);
            effects.push(Effect::SearchHere(chapter, text));
        }
        effects.extend(self.live.then(|| self.follow_live()));
        effects.extend(self.earlier_effect());
        effects.extend(self.draw_tree());
        effects
    }

    fn apply_moved(&mut self, from: &std::path::Path, chapter: Arc<Chapter>) -> Vec<Effect> {
        let live = self.live;
        if self.transcript_of(from).is_none() {
            return Vec::new();
        }
        for reading in self.transcripts_of(from) {
            reading.replace_chapter(chapter.clone(), live);
        }
        self.show_status(&format!("this session moved to {}", chapter.file.relative), Label::Dim);
        vec![Effect::Agents(chapter)]
    }

    fn apply_grown(&mut self, chapter: Arc<Chapter>) -> Vec<Effect> {
        let live = self.live;
        let Some(reading) = self.transcript_of(&chapter.file.path) else { return Vec::new() };
        // An agent started or wrote something, or the call that started it became known.
        let known = |chapter: &Chapter| {
            let session = &chapter.history.session;
            let aside = session.nodes().filter(|(_, record)| record.sidechain).count();
            (session.agent_results().len(), aside)
        };
        let before = &reading.chapter;
        let agents =
            !Arc::ptr_eq(&before.files, &chapter.files) || known(before) != known(&chapter);
        let mut goes_on = true;
        for reading in self.transcripts_of(&chapter.file.path) {
            goes_on &= reading.replace_chapter(chapter.clone(), live);
        }
        if !goes_on {
            // They name records that are not there any more.
            self.overlay = None;
            self.tree = self.tree.take().map(|_| TreePane::default());
        }
        let mut effects = self.draw_tree();
        effects.extend(self.live.then(|| self.follow_live()));
        if agents || !goes_on {
            effects.push(Effect::Agents(chapter));
        }
        effects
    }

    /// Asks for the live status of the session that is followed.
    pub(crate) fn follow_live(&mut self) -> Effect {
        if !self.live {
            self.live_status = None;
            self.show_running();
        }
        let open = self.stack.first().filter(|_| self.live);
        Effect::FollowLive(open.map(|open| LiveRequest {
            chapter: open.chapter.clone(),
            path: open.main().path.clone(),
        }))
    }

    /// Shows in the transcript which calls are running.
    fn show_running(&mut self) {
        let calls = self.live_status.as_ref().map(|status| &*status.calls).unwrap_or_default();
        if let Some(open) = self.stack.first_mut() {
            open.set_running(calls);
        }
    }

    /// Asks to follow the open session.
    pub(crate) fn watch_effect(&self) -> Effect {
        Effect::Watch(self.stack.iter().map(|reading| reading.chapter.clone()).collect())
    }

    /// Shows a plan and asks whether to carry it out.
    fn asked_about(&mut self, lines: &[Line], question: &str, answer: Sender<bool>) {
        let yes = MenuChoice::new('y', "yes", Some(Effect::Answer(answer.clone(), true)));
        let no = MenuChoice::new('n', "no, cancel", Some(Effect::Answer(answer, false)));
        let mut menu = MenuPane::new("Plan", vec![yes, no]);
        menu.lines = lines.to_vec();
        question.clone_into(&mut menu.question);
        self.status_line = None;
        self.overlay = Some(Overlay::Menu(menu));
    }

    /// Asks where the conversation that is read began, if that is elsewhere.
    pub(crate) fn earlier_effect(&self) -> Option<Effect> {
        let reading = self.open_transcript()?;
        Some(Effect::Earlier(reading.chapter.clone(), reading.missing_root()?))
    }

    /// Asks for a drawing of the tree, if it is seen.
    pub(crate) fn draw_tree(&mut self) -> Vec<Effect> {
        let width = self.screen_areas().tree.map(|area| area.width);
        let (Some(reading), Some(width)) = (self.open_transcript(), width) else {
            return Vec::new();
        };
        let (chapter, agents) = (reading.chapter.clone(), reading.agents.clone());
        // A gap and a scrollbar on the right.
        let width = width.saturating_sub(2);
        let short_ids = self.list.short_ids.clone();
        vec![Effect::Draw(Box::new(TreeRequest { chapter, agents, short_ids, width }))]
    }

    fn show_drawing(&mut self, drawing: crate::panes::tree::TreeDrawing) {
        let is_current =
            self.open_transcript().is_some_and(|r| r.chapter.file.path == drawing.file);
        let node = self.open_transcript().and_then(|reading| reading.node_of(reading.cursor));
        let node = node.map(|(_, node)| node);
        if let Some(tree) = self.tree.as_mut().filter(|_| is_current) {
            // Rows change places when a session grows or resumes elsewhere; the cursor stays on what
            // it was on, which is what the transcript shows.
            let is_same = tree.drawing.as_ref().is_some_and(|old| old.file == drawing.file);
            let node = tree.selected_node().filter(|_| is_same).or(node);
            tree.drawing = Some(drawing);
            if let Some(node) = node {
                tree.select_node(node);
            }
        }
    }

    /// Sets the size of the transcript.
    pub(crate) fn resize_transcript(&mut self) {
        let area = self.screen_areas().transcript;
        if let (Some(reading), Some(area)) = (self.stack.last_mut(), area) {
            reading.set_size(text_width(area.width), area.height);
        }
        let preview = self.screen_areas().preview.map(PreviewPane::transcript_area);
        if let (Some(pane), Some(area)) = (&mut self.preview, preview) {
            pane.reading.set_size(text_width(area.width), area.height);
        }
        let areas = self.screen_areas();
        if let Some(list) = areas.list {
            self.list.fit_area(list, areas.transcript.is_some());
        }
    }

    /// Moves the tree's cursor along with the transcript's.
    fn follow_cursor(&mut self) {
        if self.focus == Focus::Tree {
            return;
        }
        let Some(reading) = self.stack.last() else { return };
        let node = reading.node_of(reading.cursor).map(|(_, node)| node);
        if let (Some(tree), Some(node)) = (&mut self.tree, node) {
            tree.select_node(node);
        }
    }

    fn handle_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        self.status_line = None;
        let action = self.keys.action_for(key, self.key_context());
        match action {
            Some(KeyAction::Quit) => return vec![Effect::Quit],
            Some(KeyAction::Redraw) => return vec![Effect::Redraw],
            Some(KeyAction::Suspend) => return vec![Effect::Suspend],
            _ => {}
        }
        if self.no_history_reason.is_some() && self.overlay.is_none() {
            return self.welcome_key(key);
        }
        if self.prompt.is_some() {
            return self.prompt_key(key);
        }
        // In a menu its letters take precedence over other key bindings.
        if let Some(Overlay::Menu(menu)) = &mut self.overlay
            && let Some(effect) = menu.choose_letter(key)
        {
            return self.apply_choice(effect);
        }
        match action {
            Some(
                action @ (KeyAction::FileChanges
                | KeyAction::AllFileChanges
                | KeyAction::SaveFile
                | KeyAction::SaveAllFiles
                | KeyAction::RestoreFile
                | KeyAction::RestoreAllFiles),
            ) => return self.file_action(action),
            Some(KeyAction::Find) => return self.open_search(),
            Some(KeyAction::Help) => return self.show_help(),
            Some(KeyAction::Resume) => return self.resume_here(),
            Some(KeyAction::Archive) => return self.archive_all(),
            Some(KeyAction::Palette) if !matches!(self.overlay, Some(Overlay::Palette(_))) => {
                return self.open_palette();
            }
            Some(KeyAction::Rename) if self.overlay.is_none() => {
                return self.open_prompt(InputPromptKind::Rename);
            }
            Some(KeyAction::Trash) if self.overlay.is_none() => return self.trash_session(),
            Some(KeyAction::Log) if self.overlay.is_none() => {
                return vec![self.look_up(DocumentRequest::Log)];
            }
            Some(KeyAction::Pin) if self.overlay.is_none() => {
                return self.annotate_here(AnnotationEdit::TogglePin);
            }
            Some(KeyAction::Tag) if self.overlay.is_none() => {
                return self.open_prompt(InputPromptKind::Tag);
            }
            Some(KeyAction::Note) if self.overlay.is_none() => {
                return self.open_prompt(InputPromptKind::Note);
            }
            Some(
                action @ (KeyAction::SessionUsage
                | KeyAction::Pack
                | KeyAction::Restore
                | KeyAction::ForkResume
                | KeyAction::CopyResume
                | KeyAction::Export),
            ) if self.overlay.is_none() => return self.session_action(action),
            _ => {}
        }
        if self.overlay.is_some() {
            return self.overlay_key(key, action);
        }
        if action == Some(KeyAction::NextPane) {
            return self.next_pane();
        }
        match self.focus {
            Focus::List => self.list_key(key, action),
            Focus::Transcript | Focus::Tree => {
                action.map(|action| self.reading_action(action)).unwrap_or_default()
            }
        }
    }

    /// Returns where a key is pressed.
    fn key_context(&self) -> KeyContext {
        if self.prompt.is_some() {
            return KeyContext::Anywhere;
        }
        match (&self.overlay, self.focus) {
            (Some(Overlay::Palette(_)), _) | (None, Focus::List) => KeyContext::Anywhere,
            (Some(Overlay::Document(pane)), _) if pane.page.files.is_some() => KeyContext::Files,
            (Some(Overlay::Menu(_)), _) => KeyContext::Moving,
            _ => KeyContext::Reading,
        }
    }

    /// Shows the keys over the current pane, which returns when they are closed.
    fn show_help(&mut self) -> Vec<Effect> {
        let is_help = matches!(&self.overlay, Some(Overlay::Document(pane)) if pane.is_help);
        if !is_help {
            let place = self.key_context();
            let under = self.overlay.take().map(Box::new);
            let width = usize::from(self.screen_areas().body.width).saturating_sub(PAGE_MARGIN);
            let page = match self.focus {
                Focus::List => help::help_pane(&self.keys, KeyContext::Anywhere, width),
                _ => help::help_pane(&self.keys, place, width),
            };
            self.overlay = Some(Overlay::Document(page.on_top_of(under)));
        }
        Vec::new()
    }

    fn archive_all(&mut self) -> Vec<Effect> {
        self.close_overlay();
        self.show_status("checking which files are not archived …", Label::Dim);
        vec![Effect::ArchiveAll]
    }

    fn welcome_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        if keys::plain_letter(key) == Some('d') {
            self.show_status("writing a sample history …", Label::Dim);
            return vec![Effect::WriteDemo];
        }
        match self.keys.action_for(key, KeyContext::Moving) {
            Some(KeyAction::Back) => vec![Effect::Quit],
            Some(KeyAction::Help) => self.show_help(),
            _ => Vec::new(),
        }
    }

    fn list_key(&mut self, key: KeyEvent, action: Option<KeyAction>) -> Vec<Effect> {
        let height = self.screen_areas().list.map_or(1, |area| usize::from(area.height.max(2)) - 1);
        if let Some(action) = action {
            if action == KeyAction::Enter
                && let Some(opened) = self.previewed_chapter()
            {
                return self.show_opened(opened);
            }
            if let Some(effects) = self.list.apply_action(action, height) {
                return effects;
            }
            return if action == KeyAction::Back { vec![Effect::Quit] } else { Vec::new() };
        }
        if self.list.filter.text.is_empty() {
            match keys::plain_letter(key) {
                Some('?') => return self.show_help(),
                Some(':') => return self.open_palette(),
                _ => {}
            }
        }
        if self.list.filter.type_key(key) {
            return self.list.apply_filter();
        }
        Vec::new()
    }

    /// Goes to the search box, which keeps its text.
    fn open_search(&mut self) -> Vec<Effect> {
        let effects = self.close_overlay();
        self.focus = Focus::List;
        effects
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
}
