//! Search hits and their locations. Locations are looked up when a hit is drawn, for all hits of a file at once.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use ramus_core::branches::BranchStatus;
use ramus_core::ids::ShortIds;
use ramus_core::query::{
    HitBranch, HitContext, HitCopy, HitRank, Passage, SearchHit, TextKind, WordForm,
    is_function_word,
};
use ramus_core::title::ProjectSummaries;
use ramus_store::claude_dir::{HistoryFile, Project};
use ramus_store::project_name::project_dir_name;
use ramus_store::prompt_history::NotedPrompt;
use ramus_store::scan::{
    Hit, HitContextReader, HitNode, HitReader, MatchLocation, ScanNotes, SearchSource, SourceFormat,
};
use ramus_store::{PathError, RecordReader};

use super::context::read_context;
use super::rank::{RankedHits, source_session};
use super::{SearchCounts, SearchFiles, SearchRequest};
use crate::workspace::{ProgressSink, Workspace};

/// The limits up to which branches are examined to order hits: number of sessions, and size of their files.
const ACTIVE_SESSIONS: usize = 10;
const ACTIVE_BYTES: u64 = 4 * 1024 * 1024;

/// The file that has the prompts of deleted sessions.
pub(super) const PROMPT_HISTORY: &str = "history.jsonl";

/// Some hits of a search, in order. Each is looked up when [`read_hit`](Self::read_hit) asks for it.
pub struct SearchBatch<'a> {
    workspace: &'a Workspace,
    request: &'a SearchRequest,
    progress: &'a dyn ProgressSink,
    files: &'a SearchFiles,
    projects: &'a [Project],
    sources: &'a [SearchSource],
    histories: HitContextReader,
    hit_reader: HitReader,
    hits: Vec<Hit>,
    /// Prompts of deleted sessions, in a separate batch.
    prompts: Vec<NotedPrompt>,
    located: Vec<LocatedHit>,
    /// The ranks of the hits; empty unless the best come first.
    ranks: Vec<HitRank>,
    /// How many hits the search has found, those of this batch included.
    pub(super) found: usize,
    /// The hits of each source, and which of their places it is; empty until the first is asked for.
    by_source: Vec<Vec<(usize, usize)>>,
    /// The sessions of the sources that were looked up.
    owners: BTreeMap<u32, HitOwner>,
    said: ScanNotes,
    /// The summaries of projects, which are titles of their sessions.
    summaries: BTreeMap<Option<usize>, Arc<ProjectSummaries>>,
    /// The working directories of projects.
    project_paths: RefCell<BTreeMap<usize, Option<String>>>,
    short_ids: OnceCell<ShortIds>,
}

/// The session that a source belongs to.
struct HitOwner {
    session: String,
    title: Option<String>,
    cwd: Option<String>,
}

/// The location of a hit.
#[derive(Default)]
struct LocatedHit {
    hit_context: HitNode,
    short_uuid: Option<String>,
    /// The branches of its copies, in their order.
    copies: Vec<Option<HitBranch>>,
    context: Option<HitContext>,
}

impl LocatedHit {
    fn new(hit: &Hit) -> Self {
        Self { copies: vec![None; hit.copies.len()], ..Self::default() }
    }

    /// Returns the branches of all places, the oldest first.
    fn copy_branches(&self) -> impl Iterator<Item = Option<HitBranch>> {
        std::iter::once(self.hit_context.branch).chain(self.copies.iter().copied())
    }
}

impl<'a> SearchBatch<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        request: &'a SearchRequest,
        files: &'a SearchFiles,
        progress: &'a dyn ProgressSink,
    ) -> Self {
        Self {
            workspace,
            request,
            progress,
            files,
            projects: &files.projects,
            sources: &files.sources,
            histories: HitContextReader::new(workspace.resume_rule()),
            hit_reader: HitReader::default(),
            hits: Vec::new(),
            prompts: Vec::new(),
            located: Vec::new(),
            ranks: Vec::new(),
            found: 0,
            by_source: Vec::new(),
            owners: BTreeMap::new(),
            said: ScanNotes::default(),
            summaries: BTreeMap::new(),
            project_paths: RefCell::default(),
            short_ids: OnceCell::new(),
        }
    }

    /// Replaces the hits.
    pub(super) fn set_hits(&mut self, hits: Vec<Hit>, said: &ScanNotes) {
        self.located = hits.iter().map(LocatedHit::new).collect();
        self.by_source.clear();
        self.hits = hits;
        self.ranks.clear();
        self.said.clone_from(said);
    }

    /// Replaces the hits by others that are ranked.
    pub(super) fn set_ranked_hits(&mut self, ranked: RankedHits, said: &ScanNotes) {
        self.set_hits(ranked.hits, said);
        self.ranks = ranked.ranks;
    }

    /// Moves hits on abandoned branches behind equally close hits of the same session, for the sessions that are
    /// shown first: it takes reading their files.
    pub(super) fn prefer_active(&mut self) {
        let is_first = |rank: &&HitRank| rank.session < ACTIVE_SESSIONS;
        let first = self.ranks.iter().take_while(is_first).count();
        let is_small =
            |hit: &Hit| self.sources[hit.location.source as usize].file.bytes <= ACTIVE_BYTES;
        let small: Vec<usize> = (0..first).filter(|index| is_small(&self.hits[*index])).collect();
        for index in small {
            self.look_up(index);
        }
        let is_abandoned = |index: usize| {
            let mut branches = self.located[index].copy_branches().flatten().peekable();
            branches.peek().is_some() && branches.all(|it| it.status == BranchStatus::Abandoned)
        };
        let mut order: Vec<usize> = (0..self.hits.len()).collect();
        order[..first].sort_by_key(|index| {
            let rank = &self.ranks[*index];
            (rank.session, rank.level, is_abandoned(*index))
        });
        self.move_new_words_up(&mut order[..first]);
        self.move_ownerless_to_end(&mut order);
        if !order.is_sorted() {
            self.hits = order.iter().map(|index| self.hits[*index].clone()).collect();
            self.ranks = order.iter().map(|index| self.ranks[*index].clone()).collect();
            self.located = self.hits.iter().map(LocatedHit::new).collect();
            self.by_source.clear();
        }
    }

    /// Where the words of a session are in several messages, moves up those with words that none before them has.
    fn move_new_words_up(&self, order: &mut [usize]) {
        let mut seen: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut has_new = vec![false; self.hits.len()];
        for &index in order.iter() {
            let HitRank { session, terms, .. } = &self.ranks[index];
            for (at, term) in terms.iter().enumerate() {
                let is_here = term.form != WordForm::Elsewhere && !is_function_word(&term.word);
                has_new[index] |= is_here && seen.insert((*session, at));
            }
        }
        order.sort_by_key(|index| {
            let rank = &self.ranks[*index];
            (rank.session, rank.level, !has_new[*index])
        });
    }

    /// Moves sessions to the end that are nothing but titles of other sessions, as far as their files were read.
    fn move_ownerless_to_end(&self, order: &mut [usize]) {
        let is_ownerless = |index: usize| {
            self.owners.contains_key(&self.hits[index].location.source)
                && self.located[index].hit_context.node.is_none()
        };
        let has_node: BTreeSet<usize> = (0..self.ranks.len())
            .filter(|index| !is_ownerless(*index))
            .map(|index| self.ranks[index].session)
            .collect();
        if let Some(ranks) = Some(&self.ranks).filter(|ranks| !ranks.is_empty()) {
            order.sort_by_key(|index| !has_node.contains(&ranks[*index].session));
        }
    }

    /// Keeps the best hits of each session, and returns how many others there were.
    pub(super) fn keep_best(&mut self, count: usize) -> usize {
        let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
        let mut kept = Vec::with_capacity(self.ranks.len());
        for rank in &self.ranks {
            let size = sizes.entry(rank.session).or_default();
            *size += 1;
            kept.push(*size <= count);
        }
        for rank in &mut self.ranks {
            rank.more = sizes[&rank.session].saturating_sub(count);
        }
        let before = self.ranks.len();
        if before > 0 {
            self.retain_hits(|index| kept.get(index).is_none_or(|kept| *kept));
        }
        before - self.ranks.len()
    }

    /// Returns the id of a session or an agent as short as it can be.
    pub fn shorten_id(&self, id: &str) -> String {
        self.short_ids().shorten_id(id).to_owned()
    }

    /// Returns where the words of the search occur in a text: those that were searched for in the end.
    pub fn match_ranges(&self, text: &str) -> Vec<Range<usize>> {
        self.request.query.match_ranges(text)
    }

    /// Replaces the hits by prompts of deleted sessions.
    pub(super) fn set_prompts(&mut self, prompts: Vec<NotedPrompt>) {
        self.set_hits(Vec::new(), &ScanNotes::default());
        self.prompts = prompts;
    }

    /// Leaves out the first hits, and those beyond a limit.
    pub(super) fn keep_range(&mut self, skip: usize, limit: usize) {
        let mut beyond: BTreeMap<usize, usize> = BTreeMap::new();
        for rank in self.ranks.iter().skip(skip.saturating_add(limit)) {
            *beyond.entry(rank.session).or_default() += 1;
        }
        for rank in &mut self.ranks {
            rank.more += beyond.get(&rank.session).unwrap_or(&0);
        }
        self.retain_hits(|index| index >= skip && index - skip < limit);
    }

    fn retain_hits(&mut self, keep: impl Fn(usize) -> bool) {
        let mut index = 0..;
        self.hits.retain(|_| index.next().is_some_and(&keep));
        let mut index = 0..;
        self.located.retain(|_| index.next().is_some_and(&keep));
        let mut index = 0..;
        self.ranks.retain(|_| index.next().is_some_and(&keep));
        let mut index = 0..;
        self.prompts.retain(|_| index.next().is_some_and(&keep));
        self.by_source.clear();
    }

    /// Keeps the hits on branches of one status; that takes reading all files with hits.
    pub(super) fn keep_status(&mut self, status: BranchStatus) {
        for index in 0..self.hits.len() {
            self.look_up(index);
        }
        // One copy on such a branch is enough.
        let fits = |known: &LocatedHit| {
            known.copy_branches().flatten().any(|branch| branch.status == status)
        };
        let kept: Vec<bool> = self.located.iter().map(fits).collect();
        self.retain_hits(|index| kept[index]);
    }

    pub fn len(&self) -> usize {
        self.hits.len() + self.prompts.len()
    }

    /// Returns how many hits the search has found, those of this batch included.
    pub fn found_so_far(&self) -> usize {
        self.found
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the hits of each session together, the sessions in the order of their first hits.
    pub fn by_session(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut known: BTreeMap<(Option<usize>, &str), usize> = BTreeMap::new();
        for (index, hit) in self.hits.iter().enumerate() {
            let session = source_session(self.sources, hit.location.source, &self.said);
            let group = *known.entry(session).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(index);
        }
        if !self.prompts.is_empty() {
            groups.push((self.hits.len()..self.len()).collect());
        }
        groups
    }

    /// Counts the messages, and the messages in each file.
    pub(super) fn count_messages(&self) -> SearchCounts {
        let mut order = Vec::new();
        let mut messages: BTreeMap<u32, usize> = BTreeMap::new();
        for place in self.hits.iter().flat_map(Hit::all_locations) {
            let count = messages.entry(place.source).or_default();
            if *count == 0 {
                order.push(place.source);
            }
            *count += 1;
        }
        let file = |source: &u32| self.sources[*source as usize].file.relative.clone();
        SearchCounts {
            messages: self.hits.len(),
            files: order.iter().map(|source| (file(source), messages[source])).collect(),
            unknown_bytes: 0,
            ignored_case: false,
        }
    }

    /// Returns the file that has a hit; `None`: its session was deleted.
    pub fn source_file(&self, index: usize) -> Option<&HistoryFile> {
        self.hit_source(index).map(|source| &source.file)
    }

    /// Returns the working directory of the project of a hit, as lists of sessions name it.
    pub fn project_path(&self, index: usize) -> Option<String> {
        let project = self.hit_source(index)?.project?;
        let mut known = self.project_paths.borrow_mut();
        let read = || self.workspace.project_path(&self.projects[project]);
        known.entry(project).or_insert_with(read).clone()
    }

    /// Whether a hit is in a spilled tool result, which has a separate file.
    pub fn is_spilled(&self, index: usize) -> bool {
        self.hit_source(index).is_some_and(|source| source.content == SourceFormat::Spilled)
    }

    /// Returns the complete text of a prompt of a deleted session.
    pub fn deleted_prompt(&self, index: usize) -> Option<&NotedPrompt> {
        self.prompts.get(index.checked_sub(self.hits.len())?)
    }

    fn hit_source(&self, index: usize) -> Option<&'a SearchSource> {
        self.hits.get(index).map(|hit| &self.sources[hit.location.source as usize])
    }

    /// Looks up a hit and reads its text; `None`: the record is not there any more.
    pub fn read_hit(&mut self, index: usize) -> Option<SearchHit> {
        if let Some(prompt) = self.deleted_prompt(index) {
            return Some(self.prompt_hit(prompt));
        }
        self.look_up(index);
        let source = self.hit_source(index)?;
        let (place, room) = (self.hits[index].location, self.request.passage_chars);
        // A message that is only alike has none of the words.
        let any_text = self.request.like.as_ref().map(|like| &like.any_text);
        let mut shown = None;
        for (query, has_words) in [(Some(&self.request.query), true), (any_text, false)] {
            let Some(query) = query else { continue };
            let read = self.hit_reader.read_hit(source, &place, query, |finding| {
                let range = if has_words { finding.range.clone() } else { 0..0 };
                let passage = Passage::cut(&finding.text, &range, room);
                (finding.text_kind, finding.time, finding.sidechain, passage)
            });
            shown = self.report_problem(read)?;
            if shown.is_some() {
                break;
            }
        }
        let (kind, time, sidechain, passage) = shown?;
        let known = std::mem::take(&mut self.located[index]);
        let (address, short_address, short_session) = self.hit_addresses(index, &known);
        let copies = { self.hits[index].all_locations().zip(known.copy_branches()) }
            .map(|(place, branch)| HitCopy {
                file: self.sources[place.source as usize].file.relative.clone(),
                line: place.line,
                branch,
            })
            .collect();
        let owner = self.owners.get(&place.source);
        let is_agent = source.file.role.is_agent();
        Some(SearchHit {
            session: owner.map_or_else(|| source.file.id.clone(), |owner| owner.session.clone()),
            title: owner.and_then(|owner| owner.title.clone()),
            project: source.project.map(|project| self.projects[project].name.clone()),
            cwd: owner.and_then(|owner| owner.cwd.clone()),
            agent: is_agent.then(|| source.file.id.clone()),
            is_sidechain: is_agent || sidechain,
            file: source.file.relative.clone(),
            line: place.line,
            node: known.hit_context.node,
            uuid: known.hit_context.uuid.filter(|_| known.hit_context.is_own),
            kind,
            is_prompt_only: false,
            branch: known.hit_context.branch,
            time,
            sort_time: place.time,
            passage,
            address,
            short_address,
            short_session,
            copies,
            context: known.context,
            rank: self.ranks.get(index).cloned(),
        })
    }

    fn prompt_hit(&self, prompt: &NotedPrompt) -> SearchHit {
        let range = self.request.query.find_in_text(&prompt.text).unwrap_or_default();
        let short = self.short_ids().shorten_id(&prompt.session).to_owned();
        SearchHit {
            session: prompt.session.clone(),
            title: None,
            project: self.prompt_project(prompt),
            cwd: prompt.project.clone(),
            agent: None,
            is_sidechain: false,
            file: PROMPT_HISTORY.to_owned(),
            line: prompt.line,
            node: None,
            uuid: None,
            kind: TextKind::Prompt,
            is_prompt_only: true,
            branch: None,
            time: prompt.time,
            sort_time: prompt.time,
            passage: Passage::cut(&prompt.text, &range, self.request.passage_chars),
            address: prompt.session.clone(),
            short_address: short.clone(),
            short_session: short,
            copies: Vec::new(),
            context: None,
            rank: None,
        }
    }

    /// Returns the encoded name of the project of a prompt, as other hits have it.
    fn prompt_project(&self, prompt: &NotedPrompt) -> Option<String> {
        let known = self.projects.iter().find(|project| prompt.belongs_to(&project.name));
        let encoded = || prompt.project.as_deref().map(project_dir_name);
        known.map(|project| project.name.clone()).or_else(encoded)
    }

    /// Returns what leads to a hit, with whole ids and with short ones, and the session's short id.
    fn hit_addresses(&self, index: usize, known: &LocatedHit) -> (String, String, String) {
        let place = &self.hits[index].location;
        let source = &self.sources[place.source as usize];
        let owner = self.owners.get(&place.source);
        let session = owner.map_or(&*source.file.id, |owner| &owner.session);
        let short_session = self.short_ids().shorten_id(session).to_owned();
        let (whole, short) = match source {
            // A file outside of the Claude directories has no other name than its path.
            SearchSource { project: None, file, .. } => {
                (file.relative.clone(), file.relative.clone())
            }
            SearchSource { file, .. } if file.role.is_agent() => (
                format!("agent-{}", file.id),
                format!("agent-{}", self.short_ids().shorten_id(&file.id)),
            ),
            _ => (session.to_owned(), short_session.clone()),
        };
        let (address, short) = match (&known.hit_context, &known.short_uuid) {
            (HitNode { is_hidden: true, branch: Some(branch), .. }, _) => {
                (format!("{whole}@{}", branch.n), format!("{short}@{}", branch.n))
            }
            (HitNode { is_hidden: false, uuid: Some(uuid), .. }, Some(start)) => {
                (format!("{whole}:{uuid}"), format!("{short}:{start}"))
            }
            _ => (whole, short),
        };
        (address, short, short_session)
    }

    fn short_ids(&self) -> &ShortIds {
        self.short_ids.get_or_init(|| self.workspace.short_ids())
    }

    /// Locates a hit and its copies, together with all other hits in their files.
    fn look_up(&mut self, index: usize) {
        if self.by_source.is_empty() {
            self.by_source = vec![Vec::new(); self.sources.len()];
            for (at, hit) in self.hits.iter().enumerate() {
                for (nth, place) in hit.all_locations().enumerate() {
                    self.by_source[place.source as usize].push((at, nth));
                }
            }
        }
        let sources: Vec<u32> =
            self.hits[index].all_locations().map(|place| place.source).collect();
        for source in sources {
            let together = std::mem::take(&mut self.by_source[source as usize]);
            if !together.is_empty() {
                let looked_up = self.look_up_all(source, &together);
                self.report_problem(looked_up);
            }
        }
    }

    fn look_up_all(&mut self, index: u32, together: &[(usize, usize)]) -> Result<(), PathError> {
        let source = &self.sources[index as usize];
        let files = source.project.map_or(&[][..], |project| &self.projects[project].files);
        let places: Vec<MatchLocation> = together
            .iter()
            .filter_map(|(at, nth)| self.hits[*at].all_locations().nth(*nth).copied())
            .collect();
        let Self { workspace, files: searched, said, summaries, .. } = self;
        let find_summaries = || searched.project_summaries(workspace, source, said);
        let summaries = || summaries.entry(source.project).or_insert_with(find_summaries).clone();
        let found = self.histories.find_context(source, &places, files, summaries)?;
        let (session, title, cwd) = (found.session, found.title, found.cwd);
        self.owners.insert(index, HitOwner { session, title, cwd });
        let depth = self.request.context;
        let mut bodies = match source.content {
            SourceFormat::Records if depth > 0 => Some(RecordReader::open(&source.file.path)?),
            _ => None,
        };
        for ((at, nth), copy_context) in together.iter().zip(found.nodes) {
            let known = &mut self.located[*at];
            if let Some(copy) = nth.checked_sub(1) {
                known.copies[copy] = copy_context.branch;
                continue;
            }
            if let (Some(bodies), Some(node)) = (&mut bodies, copy_context.node) {
                known.context = Some(read_context(&found.history, bodies, node, depth)?);
            }
            let short =
                copy_context.uuid.as_deref().map(|uuid| found.history.short_uuid(uuid).to_owned());
            known.short_uuid = short;
            known.hit_context = copy_context;
        }
        Ok(())
    }

    fn report_problem<T>(&self, read: Result<T, PathError>) -> Option<T> {
        read.inspect_err(|problem| self.progress.report_problem(problem)).ok()
    }
}
