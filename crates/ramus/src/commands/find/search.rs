//! Hits, and where they lie: found out when they are shown, a file at a time.

use std::collections::BTreeMap;

use ramus_core::branches::Status;
use ramus_core::query::{Finding, Query};
use ramus_render::json::HitContext;
use ramus_store::scan::{Again, Branch, Content, Histories, Hit, Place, Source, Spot};
use ramus_store::{Bodies, PathError};

use super::{BranchFilter, context};
use crate::select::Library;
use crate::ui::Ui;

/// Hits and what is known of them so far.
pub(super) struct Search<'a> {
    pub(super) library: &'a Library,
    pub(super) sources: &'a [Source],
    pub(super) query: &'a Query,
    /// How many messages of context are wanted.
    depth: usize,
    histories: Histories,
    again: Again,
    pub(super) hits: Vec<Hit>,
    /// Where each hit lies; found out for all hits of a file at once.
    pub(super) known: Vec<Option<Known>>,
    /// The hits of each source; empty until the first is asked for.
    by_source: Vec<Vec<usize>>,
    /// The session and title of each source that was looked at.
    pub(super) titles: BTreeMap<u32, (String, Option<String>)>,
    /// The session that started the agent of a source, where only its records say so.
    pub(super) sessions: BTreeMap<u32, String>,
}

#[derive(Default)]
pub(super) struct Known {
    pub(super) spot: Spot,
    pub(super) context: Option<HitContext>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        library: &'a Library,
        sources: &'a [Source],
        query: &'a Query,
        depth: usize,
        hits: Vec<Hit>,
    ) -> Self {
        Self {
            library,
            sources,
            query,
            depth,
            histories: Histories::new(library.rule),
            again: Again::default(),
            known: hits.iter().map(|_| None).collect(),
            titles: BTreeMap::new(),
            by_source: Vec::new(),
            sessions: BTreeMap::new(),
            hits,
        }
    }

    pub(super) fn truncate(&mut self, limit: usize) {
        self.hits.truncate(limit);
        self.known.truncate(limit);
        self.by_source.clear();
    }

    /// Keeps the hits on branches of one status; that takes reading all files with hits.
    pub(super) fn keep_branch(&mut self, ui: &mut Ui, wanted: BranchFilter) {
        let status = match wanted {
            BranchFilter::Any => return,
            BranchFilter::Active => Status::Active,
            BranchFilter::Abandoned => Status::Abandoned,
        };
        for index in 0..self.hits.len() {
            self.look_up(ui, index);
        }
        let fits = |known: &Option<Known>| {
            let branch = known.as_ref().and_then(|known| known.spot.branch);
            branch.is_some_and(|branch: Branch| branch.status == status)
        };
        let kept: Vec<bool> = self.known.iter().map(fits).collect();
        let mut keep = kept.iter();
        self.hits.retain(|_| keep.next() == Some(&true));
        let mut keep = kept.iter();
        self.known.retain(|_| keep.next() == Some(&true));
        self.by_source.clear();
    }

    /// Finds out where a hit lies, and with it all others of its file.
    pub(super) fn look_up(&mut self, ui: &mut Ui, index: usize) {
        if self.known[index].is_some() {
            return;
        }
        let source = self.hits[index].place.source;
        if self.by_source.is_empty() {
            self.by_source = vec![Vec::new(); self.sources.len()];
            for (at, hit) in self.hits.iter().enumerate() {
                self.by_source[hit.place.source as usize].push(at);
            }
        }
        let together = std::mem::take(&mut self.by_source[source as usize]);
        let places: Vec<Place> = together.iter().map(|at| self.hits[*at].place).collect();
        if let Err(problem) = self.look_up_all(source, &together, &places) {
            ui.warn(&problem);
        }
        for at in together {
            self.known[at].get_or_insert_default();
        }
    }

    fn look_up_all(
        &mut self,
        index: u32,
        together: &[usize],
        places: &[Place],
    ) -> Result<(), PathError> {
        let source = &self.sources[index as usize];
        let files = source.project.map_or(&[][..], |project| &self.library.projects[project].files);
        let found = self.histories.whereabouts(source, places, files)?;
        self.titles.insert(index, (found.session, found.title));
        let mut nearby = if self.depth > 0 && source.content == Content::Records {
            Some((self.histories.read(&source.file.path)?, Bodies::open(&source.file.path)?))
        } else {
            None
        };
        for (at, spot) in together.iter().zip(found.spots) {
            let context = match (&mut nearby, spot.node) {
                (Some((history, bodies)), Some(node)) => {
                    Some(context::context(history, bodies, node, self.depth)?)
                }
                _ => None,
            };
            self.known[*at] = Some(Known { spot, context });
        }
        Ok(())
    }

    pub(super) fn show<T>(
        &mut self,
        ui: &mut Ui,
        index: usize,
        show: impl FnOnce(&Finding<'_>) -> T,
    ) -> Option<T> {
        let place = &self.hits[index].place;
        let source = &self.sources[place.source as usize];
        match self.again.read(source, place, self.query, show) {
            Ok(shown) => shown,
            Err(problem) => {
                ui.warn(&problem);
                None
            }
        }
    }

    /// Returns what to give to the next command to get to a hit.
    pub(super) fn address(&self, index: usize) -> String {
        let short = |id: &str| id.chars().take(8).collect::<String>();
        let source = self.hits[index].place.source;
        let file = &self.sources[source as usize].file;
        let session = match self.titles.get(&source) {
            Some((session, _)) if !file.role.is_agent() => short(session),
            _ if file.role.is_agent() => format!("agent-{}", short(&file.id)),
            _ => short(&file.id),
        };
        // A file that lies elsewhere has no other name than its path.
        let is_elsewhere = self.sources[source as usize].project.is_none();
        let session = if is_elsewhere { file.relative.clone() } else { session };
        let spot = self.known[index].as_ref().map(|known| &known.spot);
        match spot.and_then(|spot| spot.uuid.as_deref()) {
            Some(uuid) => format!("{session}:{}", short(uuid)),
            None => session,
        }
    }
}
