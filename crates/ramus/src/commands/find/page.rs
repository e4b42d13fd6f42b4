//! Hits for a person: sessions one below the other, each with its messages.

use std::collections::BTreeMap;

use ramus_core::branches::Status;
use ramus_render::Line;
use ramus_render::json::HitNeighbour;
use ramus_render::snippet::Snippet;
use ramus_store::place::{FileRole, is_encoded};

use super::rows::{Heading, Row, neighbour};
use super::search::Search;
use crate::env::Clock;
use crate::error::CommandError;
use crate::project::project_name;
use crate::ui::Ui;

impl Search<'_> {
    /// Writes sessions in the order of their first hits, each with all of its hits.
    pub(super) fn write_rows(&mut self, ui: &mut Ui) -> Result<(), CommandError> {
        if !self.has_begun {
            ui.page();
        }
        let clock = Clock::new();
        let mut shown = 0_usize;
        for group in self.groups() {
            if std::mem::replace(&mut self.has_begun, true) {
                ui.line(&Line::default())?;
            }
            for (position, index) in group.into_iter().enumerate() {
                self.look_up(ui, index);
                if position == 0 {
                    let heading = self.heading(index).line(ui.width, &clock);
                    ui.line(&heading)?;
                }
                for line in self.rows(ui, index, &clock) {
                    ui.line(&line)?;
                }
                // The first of them at once, the others when there are enough.
                shown += 1;
                if shown.is_power_of_two() {
                    ui.out().flush()?;
                }
            }
        }
        Ok(())
    }

    /// Puts together the hits of one session's files, in the order in which they come.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut known: BTreeMap<(Option<usize>, &str), usize> = BTreeMap::new();
        for (index, hit) in self.hits.iter().enumerate() {
            let source = &self.sources[hit.place.source as usize];
            let session = match &source.file.role {
                FileRole::NestedAgent { session } | FileRole::Journal { session } => session,
                FileRole::Session => &source.file.id,
                FileRole::FlatAgent => {
                    self.said.sessions.get(&hit.place.source).unwrap_or(&source.file.id)
                }
            };
            let group = *known.entry((source.project, session)).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(index);
        }
        groups
    }

    fn heading(&self, index: usize) -> Heading<'_> {
        let place = &self.hits[index].place;
        let source = &self.sources[place.source as usize];
        let encoded = source.project.map_or("", |project| &*self.projects[project].name);
        let cwd = self.cwds.get(&place.source).map(String::as_str);
        let project = project_name(cwd.filter(|cwd| is_encoded(encoded, cwd)), encoded);
        let (session, title) = match self.titles.get(&place.source) {
            Some((session, title)) => (session.as_str(), title.as_deref()),
            None => (source.file.id.as_str(), None),
        };
        Heading { project, title, session, time: place.time }
    }

    fn rows(&mut self, ui: &mut Ui, index: usize, clock: &Clock) -> Vec<Line> {
        let address = self.address(index);
        let known = std::mem::take(&mut self.known[index]);
        let branch = known.spot.branch;
        let (width, query) = (ui.width, self.query);
        let statuses: Vec<Option<Status>> =
            known.branches().map(|branch| branch.map(|branch| branch.status)).collect();
        let source = self.hits[index].place.source;
        let is_agent = self.sources[source as usize].file.role.is_agent();
        let shown = self.show(ui, index, |finding| {
            let row = Row {
                time: finding.time,
                kind: finding.text_kind.word(),
                status: branch.map(|branch| branch.status),
                conversation: branch.map(|branch| branch.n),
                is_agent: is_agent || finding.sidechain,
                address: &address,
                copies: &statuses[1..],
            };
            let snippet = Snippet::new(&finding.text, &finding.range, row.room(width, clock));
            row.lines(width, clock, &snippet, |text| query.marks(text))
        });
        let mut lines = shown.unwrap_or_default();
        if let Some(context) = &known.context {
            let row = |sign, near: &HitNeighbour| {
                neighbour(sign, near.role, &near.text, near.uuid.as_deref().unwrap_or(""), width)
            };
            let before: Vec<Line> = context.before.iter().map(|near| row("↑", near)).collect();
            lines.splice(0..0, before);
            lines.extend(context.after.iter().map(|near| row("↓", near)));
        }
        lines
    }
}
