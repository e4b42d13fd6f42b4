//! Sessions by their titles: whole, or by words of them.

use std::path::Path;

use ramus_core::title::session_title;
use ramus_store::survey::ProjectSurvey;

use super::{
    AddressError, AddressResolver, AmbiguousAddress, CERTAIN_PREFIX, CandidateKind, ResolvedFile,
    Scope,
};

/// How well a title fits what was typed, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TitleMatch {
    /// Letter by letter.
    Exact,
    /// In any case.
    AnyCase,
    /// All words are words of it.
    Words,
    /// All words occur in it somewhere.
    Parts,
}

/// What was typed, compared with titles.
struct TypedTitle<'a> {
    text: &'a str,
    lower: String,
}

impl<'a> TypedTitle<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, lower: text.to_lowercase() }
    }

    fn compare_with(&self, title: &str) -> Option<TitleMatch> {
        if title == self.text {
            return Some(TitleMatch::Exact);
        }
        let title = title.to_lowercase();
        if title == self.lower {
            return Some(TitleMatch::AnyCase);
        }
        let mut typed = self.lower.split_whitespace().peekable();
        typed.peek()?;
        let is_word = |word: &str| {
            let mut words = title.split(|c: char| !c.is_alphanumeric());
            words.any(|other| other == word)
        };
        if typed.clone().all(is_word) {
            return Some(TitleMatch::Words);
        }
        typed.all(|word| title.contains(word)).then_some(TitleMatch::Parts)
    }
}

impl AddressResolver<'_> {
    /// Finds the one session whose title fits best, which takes reading them all. Of equally good ones
    /// those of the current project are meant.
    pub(super) fn titled_session(&self, text: &str) -> Result<ResolvedFile, AddressError> {
        let survey = self.workspace.survey_all();
        let typed = TypedTitle::new(text);
        let current = self.workspace.current_project();
        let is_elsewhere =
            |project: &ProjectSurvey| current.as_ref().is_none_or(|c| c.project.dir != project.dir);
        let mut best: Option<(bool, TitleMatch, bool)> = None;
        let mut found: Vec<(&Path, &str)> = Vec::new();
        for project in &survey.projects {
            for session in &project.sessions {
                let Some(title) = session_title(&session.digest, &project.summaries) else {
                    continue;
                };
                let Some(fit) = typed.compare_with(title) else { continue };
                // A file that no list shows (R18), such as one with titles of other sessions, matches only if nothing
                // else does.
                let fit = (session.digest.class.is_hidden(), fit, is_elsewhere(project));
                if best.is_none_or(|best| fit < best) {
                    best = Some(fit);
                    found.clear();
                }
                if best == Some(fit) {
                    found.push((&session.file.path, title));
                }
            }
        }
        let files = self.files_where(|file| found.iter().any(|(path, _)| *path == file.path));
        match <[ResolvedFile; 1]>::try_from(files) {
            Ok([file]) => Ok(file),
            Err(files) if files.is_empty() => Err(self.no_session(text)),
            Err(files) => {
                let title = |file: &ResolvedFile| {
                    let of_file = found.iter().find(|(path, _)| *path == file.file.path);
                    of_file.map(|(_, title)| (*title).to_owned())
                };
                let titles = files.iter().map(title).collect();
                Err(self.several_files(text, CandidateKind::Titles, &files, titles))
            }
        }
    }

    /// Says that no session has such an id or title, or that it was deleted.
    fn no_session(&self, text: &str) -> AddressError {
        let has_prompts = || {
            let lost = self.workspace.lost_prompts(&Scope::All);
            lost.prompts.iter().any(|prompt| prompt.session.starts_with(text))
        };
        if text.len() >= CERTAIN_PREFIX && has_prompts() {
            AddressError::DeletedSession(text.to_owned())
        } else {
            AddressError::NoSession(text.to_owned())
        }
    }

    /// Says that several files could be meant, each by the first letters of its id and its title.
    pub(super) fn several_files(
        &self,
        text: &str,
        among: CandidateKind,
        files: &[ResolvedFile],
        titles: Vec<Option<String>>,
    ) -> AddressError {
        let short_ids = self.workspace.short_ids();
        let ids: Vec<String> = files.iter().map(ResolvedFile::address_id).collect();
        let is_shared = |id: &String| ids.iter().filter(|other| *other == id).count() > 1;
        let address = |file: &ResolvedFile, id: &String| match (file.file.role.is_agent(), id) {
            // Files of one id go by their path.
            (_, id) if is_shared(id) => file.file.relative.clone(),
            (true, id) => id.clone(),
            (false, _) => short_ids.shorten_id(&file.file.id).to_owned(),
        };
        let candidates = files.iter().zip(&ids).map(|(file, id)| address(file, id)).collect();
        AddressError::Ambiguous(AmbiguousAddress {
            text: text.to_owned(),
            among,
            candidates,
            titles,
        })
    }

    /// Returns the titles of files, as far as they are sessions.
    pub(super) fn titles_of(&self, files: &[ResolvedFile]) -> Vec<Option<String>> {
        let survey = self.workspace.survey_all();
        let title = |file: &ResolvedFile| {
            let project = survey.projects.iter().find(|known| known.dir == file.project_dir())?;
            let session =
                project.sessions.iter().find(|known| known.file.path == file.file.path)?;
            session_title(&session.digest, &project.summaries).map(str::to_owned)
        };
        files.iter().map(title).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{TitleMatch, TypedTitle};

    #[test]
    fn a_title_fits_whole_by_words_and_by_parts() {
        let title = "Fix the Connection pool (again)";
        for (typed, expected) in [
            ("Fix the Connection pool (again)", Some(TitleMatch::Exact)),
            ("fix the connection pool (AGAIN)", Some(TitleMatch::AnyCase)),
            ("pool fix", Some(TitleMatch::Words)),
            ("AGAIN", Some(TitleMatch::Words)),
            ("conn", Some(TitleMatch::Parts)),
            ("pool conn", Some(TitleMatch::Parts)),
            ("pool fixture", None),
            ("", None),
            (" ", None),
        ] {
            assert_eq!(TypedTitle::new(typed).compare_with(title), expected, "{typed:?}");
        }
    }
}
