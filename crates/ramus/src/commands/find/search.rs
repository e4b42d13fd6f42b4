//! Hits, and where they lie: found out when they are shown, a file at a time.

use std::collections::BTreeMap;

use ramus_core::branches::Status;
use ramus_core::name::short_id;
use ramus_core::query::{Finding, Query};
use ramus_core::resume::Rule;
use ramus_core::title::Summaries;
use ramus_render::json::HitContext;
use ramus_store::place::Project;
use ramus_store::scan::{Again, Branch, Content, Histories, Hit, Place, Said, Source, Spot};
use ramus_store::{Bodies, PathError};

use super::{BranchFilter, context};
use crate::error::CommandError;
use crate::ui::Ui;

/// Hits and what is known of them so far.
pub(super) struct Search<'a> {
    pub(super) projects: &'a [Project],
    pub(super) sources: &'a [Source],
    pub(super) query: &'a Query,
    /// How many messages of context are wanted.
    depth: usize,
    histories: Histories,
    again: Again,
    pub(super) hits: Vec<Hit>,
    /// Where each hit lies; found out for all hits of a file at once.
    pub(super) known: Vec<Known>,
    /// The hits of each source, and which of their places it is; empty until the first is asked for.
    by_source: Vec<Vec<(usize, usize)>>,
    /// The session and title of each source that was looked at.
    pub(super) titles: BTreeMap<u32, (String, Option<String>)>,
    /// The directory of each source's session, where its records tell it.
    pub(super) cwds: BTreeMap<u32, String>,
    pub(super) said: Said,
    /// Only files of one session are looked into.
    pub(super) is_one_session: bool,
    /// The summaries of its project.
    elsewhere: Option<Summaries>,
    /// Whether rows were written before.
    pub(super) has_begun: bool,
}

#[derive(Default)]
pub(super) struct Known {
    pub(super) spot: Spot,
    /// The branches of its copies, in their order.
    pub(super) copies: Vec<Option<Branch>>,
    pub(super) context: Option<HitContext>,
}

impl Known {
    fn of(hit: &Hit) -> Self {
        Self { copies: vec![None; hit.copies.len()], ..Self::default() }
    }

    /// Returns the branches of all places, the eldest first.
    pub(super) fn branches(&self) -> impl Iterator<Item = Option<Branch>> {
        std::iter::once(self.spot.branch).chain(self.copies.iter().copied())
    }
}

impl<'a> Search<'a> {
    pub(super) fn new(
        rule: Rule,
        projects: &'a [Project],
        sources: &'a [Source],
        query: &'a Query,
        depth: usize,
    ) -> Self {
        Self {
            projects,
            sources,
            query,
            depth,
            histories: Histories::new(rule),
            again: Again::default(),
            known: Vec::new(),
            titles: BTreeMap::new(),
            cwds: BTreeMap::new(),
            by_source: Vec::new(),
            said: Said::default(),
            is_one_session: false,
            elsewhere: None,
            has_begun: false,
            hits: Vec::new(),
        }
    }

    /// Turns to other hits.
    pub(super) fn turn_to(&mut self, hits: Vec<Hit>) {
        self.known = hits.iter().map(Known::of).collect();
        self.by_source.clear();
        self.hits = hits;
    }

    /// Tells of all hits, after those that were told before.
    pub(super) fn write(&mut self, ui: &mut Ui) -> Result<(), CommandError> {
        if ui.json {
            self.write_json(ui)?;
        } else {
            self.write_rows(ui)?;
        }
        Ok(ui.out().flush()?)
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
        // One of its copies is enough.
        let fits = |known: &Known| {
            known.branches().flatten().any(|branch: Branch| branch.status == status)
        };
        let kept: Vec<bool> = self.known.iter().map(fits).collect();
        let mut keep = kept.iter();
        self.hits.retain(|_| keep.next() == Some(&true));
        let mut keep = kept.iter();
        self.known.retain(|_| keep.next() == Some(&true));
        self.by_source.clear();
    }

    /// Finds out where a hit and its copies lie, and with it all others of their files.
    pub(super) fn look_up(&mut self, ui: &mut Ui, index: usize) {
        if self.by_source.is_empty() {
            self.by_source = vec![Vec::new(); self.sources.len()];
            for (at, hit) in self.hits.iter().enumerate() {
                for (nth, place) in hit.places().enumerate() {
                    self.by_source[place.source as usize].push((at, nth));
                }
            }
        }
        let sources: Vec<u32> = self.hits[index].places().map(|place| place.source).collect();
        for source in sources {
            let together = std::mem::take(&mut self.by_source[source as usize]);
            if together.is_empty() {
                continue;
            }
            if let Err(problem) = self.look_up_all(source, &together) {
                ui.warn(&problem);
            }
        }
    }

    fn look_up_all(&mut self, index: u32, together: &[(usize, usize)]) -> Result<(), PathError> {
        let source = &self.sources[index as usize];
        let files = source.project.map_or(&[][..], |project| &self.projects[project].files);
        let places: Vec<Place> = together
            .iter()
            .filter_map(|(at, nth)| self.hits[*at].places().nth(*nth).copied())
            .collect();
        // Files that were not looked into may name nodes of this one.
        let elsewhere = self
            .is_one_session
            .then(|| self.elsewhere.get_or_insert_with(|| ramus_store::scan::summaries(files)));
        let known = self.said.summaries.entry(source.project).or_default();
        let summaries = elsewhere.unwrap_or(known);
        let found = self.histories.whereabouts(source, &places, files, summaries)?;
        self.cwds.extend(found.cwd.map(|cwd| (index, cwd)));
        self.titles.insert(index, (found.session, found.title));
        let mut bodies = match source.content {
            Content::Records if self.depth > 0 => Some(Bodies::open(&source.file.path)?),
            _ => None,
        };
        for ((at, nth), spot) in together.iter().zip(found.spots) {
            let known = &mut self.known[*at];
            if let Some(copy) = nth.checked_sub(1) {
                known.copies[copy] = spot.branch;
                continue;
            }
            if let (Some(bodies), Some(node)) = (&mut bodies, spot.node) {
                known.context = Some(context::context(&found.history, bodies, node, self.depth)?);
            }
            known.spot = spot;
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
        let short = |id: &str| short_id(id).to_owned();
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
        match &self.known[index].spot {
            Spot { is_hidden: true, branch: Some(branch), .. } => format!("{session}@{}", branch.n),
            Spot { uuid: Some(uuid), .. } => format!("{session}:{}", short(uuid)),
            _ => session,
        }
    }
}
