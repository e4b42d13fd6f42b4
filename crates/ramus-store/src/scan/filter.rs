//! Uses the cached gram filters to skip what cannot match.

use ramus_core::query::{Clue, Query};
use rayon::prelude::*;

use super::Source;
use super::summary::Named;
use crate::index::{FileSketch, Index, Sight, Sketches};
use crate::place::Project;

/// The gram filters of all projects that are searched, if there are any.
#[derive(Debug, Default)]
pub struct Filter {
    by_project: Vec<Option<Sketches>>,
}

impl Filter {
    /// Opens the filters of projects, in the order that sources refer to.
    pub fn open(index: &Index, projects: &[Project]) -> Self {
        let open = |project: &Project| Sketches::open(index, project);
        Self { by_project: projects.par_iter().map(open).collect() }
    }

    /// Returns how many bytes have to be read because they have no filter.
    pub fn unknown(&self, sources: &[Source]) -> u64 {
        let unknown = sources.iter().filter(|source| self.kept(source).is_none());
        unknown.map(|source| source.file.bytes).sum()
    }

    /// Returns which parts of each source may match.
    pub(super) fn sights(&self, sources: &[Source], query: &Query) -> Vec<Sight> {
        let clues = query.clues();
        sources.par_iter().map(|source| self.sight(source, &clues)).collect()
    }

    fn sight(&self, source: &Source, clues: &[&Clue]) -> Sight {
        let kept = self.kept(source).filter(|_| !clues.is_empty());
        // If the filter cannot be read, search the whole file.
        let sight = kept.and_then(|(sketches, file)| sketches.look(file, clues).ok());
        // The file may have changed since it was listed.
        let is_so =
            |_: &Sight| source.file.identity.is_some_and(|it| it.still_is(&source.file.path));
        sight.filter(is_so).unwrap_or(Sight::All)
    }

    /// Returns the cached summaries of a file that is not searched completely.
    pub(super) fn summaries(&self, source: &Source) -> &[Named] {
        self.kept(source).map(|(_, file)| &*file.summaries).unwrap_or_default()
    }

    fn kept(&self, source: &Source) -> Option<(&Sketches, &FileSketch)> {
        let sketches = self.by_project.get(source.project?)?.as_ref()?;
        Some((sketches, sketches.of(&source.file)?))
    }
}
