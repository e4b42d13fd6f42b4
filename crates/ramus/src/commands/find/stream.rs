//! Hits for scripts: one object a line.

use ramus_render::json::{Answer, Hit as JsonHit, HitPlace};
use ramus_render::snippet::Snippet;
use ramus_store::scan::Place;

use super::search::Search;
use crate::error::CommandError;
use crate::ui::Ui;

impl Search<'_> {
    pub(super) fn write_json(&mut self, ui: &mut Ui) -> Result<(), CommandError> {
        for index in 0..self.hits.len() {
            self.look_up(ui, index);
            let Some(hit) = self.json_hit(ui, index) else { continue };
            ui.json(&Answer::new("ramus.find/1", hit))?;
            if index.is_power_of_two() {
                ui.out().flush()?;
            }
        }
        Ok(())
    }

    fn json_hit(&mut self, ui: &mut Ui, index: usize) -> Option<JsonHit> {
        /// How many characters of a text are given to scripts.
        const ROOM: usize = 240;
        let (kind, time, snippet) = self.show(ui, index, |finding| {
            let snippet = Snippet::new(&finding.text, &finding.range, ROOM);
            (finding.text_kind, finding.time, snippet)
        })?;
        let address = self.address(index);
        let known = std::mem::take(&mut self.known[index]);
        let hit = &self.hits[index];
        let source = &self.sources[hit.place.source as usize];
        let file = |place: &Place| self.sources[place.source as usize].file.relative.clone();
        let (session, title) =
            self.titles.get(&hit.place.source).cloned().unwrap_or((source.file.id.clone(), None));
        let branch = known.spot.branch;
        Some(JsonHit {
            session,
            title,
            project: source.project.map(|project| self.projects[project].name.clone()),
            agent: source.file.role.is_agent().then(|| source.file.id.clone()),
            address,
            file: file(&hit.place),
            line: hit.place.line,
            uuid: known.spot.uuid.clone().filter(|_| known.spot.is_own),
            role: kind.role().word(),
            kind: kind.word(),
            class: None,
            conversation: branch.map(|branch| branch.n),
            status: branch.map(|branch| branch.status.word()),
            resumes: branch.is_some_and(|branch| branch.resumes),
            timestamp: time.map(|time| time.to_string()),
            matched: snippet.range(),
            snippet: snippet.text(),
            places: hit
                .places()
                .zip(known.branches())
                .map(|(place, branch)| HitPlace {
                    file: file(place),
                    line: place.line,
                    status: branch.map(|branch| branch.status.word()),
                    conversation: branch.map(|branch| branch.n),
                })
                .collect(),
            context: known.context,
        })
    }
}
