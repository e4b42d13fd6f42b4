//! What may leave this machine for an archive on a server.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ramus_archive::{Archive, ArchiveError, FileKey};
use ramus_store::owned::OwnedFile;
use ramus_store::project_name::is_encoded_path;

use crate::address::Scope;
use crate::workspace::Workspace;

/// The user's rules. An archive in a file on this machine is not affected by them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendPolicy {
    /// Only these projects are sent; empty: all.
    pub include: Vec<ProjectPattern>,
    /// These are not, whatever `include` says.
    pub exclude: Vec<ProjectPattern>,
    /// Secrets and personal data are removed before sending.
    pub redact: bool,
    /// The login that history is sent as. `None`: any.
    pub owner: Option<String>,
}

/// Which projects are meant: a path, or the name of a project's directory; `*` stands for anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectPattern {
    text: String,
}

impl ProjectPattern {
    /// Makes the pattern of a text; `~` at its beginning is the home directory.
    pub fn new(text: &str, home: Option<&Path>) -> Self {
        let below_home =
            text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let text = match (below_home, home) {
            (Some(rest), Some(home)) => format!("{}{rest}", home.display()),
            _ => text.to_owned(),
        };
        Self { text: text.trim_end_matches('/').to_owned() }
    }

    /// Whether it means a project. The directory's name is all that counts: it is there for every project, and the
    /// client writes `/` and other signs in it as `-`.
    fn matches(&self, project: &str) -> bool {
        let is_path = self.text.contains(['/', '\\']);
        if !is_path {
            return matches_glob(&self.text, project);
        }
        if !self.text.contains('*') && is_encoded_path(project, &self.text) {
            return true;
        }
        let encoded = self.text.chars().flat_map(|sign| match sign {
            '*' => "*".chars().collect(),
            sign if sign.is_ascii_alphanumeric() => vec![sign],
            sign => vec!['-'; sign.len_utf16()],
        });
        matches_glob(&encoded.collect::<String>(), project)
    }
}

/// Whether a text is what a pattern with `*` says.
fn matches_glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    let mut rest = rest;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

impl SendPolicy {
    fn allows_project(&self, project: &str) -> bool {
        let is_any = |patterns: &[ProjectPattern]| patterns.iter().any(|one| one.matches(project));
        (self.include.is_empty() || is_any(&self.include)) && !is_any(&self.exclude)
    }

    fn is_limited(&self) -> bool {
        !(self.include.is_empty() && self.exclude.is_empty())
    }

    /// Leaves out what may not be sent. File backups belong to the project of their session; one that no session
    /// claims belongs to none, and stays.
    fn filter_files(&self, files: Vec<OwnedFile>) -> Vec<OwnedFile> {
        if !self.is_limited() {
            return files;
        }
        let mut projects: HashMap<(PathBuf, String), Vec<String>> = HashMap::new();
        for file in &files {
            if let (Some(session), Some(project)) = (&file.session, project_of(file)) {
                projects.entry((file.root.clone(), session.clone())).or_default().push(project);
            }
        }
        let is_allowed = |file: &OwnedFile| match (project_of(file), &file.session) {
            (Some(project), _) => self.allows_project(&project),
            (None, Some(session)) => projects
                .get(&(file.root.clone(), session.clone()))
                .is_some_and(|projects| projects.iter().all(|one| self.allows_project(one))),
            (None, None) => false,
        };
        let allowed: Vec<bool> = files.iter().map(is_allowed).collect();
        files
            .into_iter()
            .zip(allowed)
            .filter(|(_, allowed)| *allowed)
            .map(|(file, _)| file)
            .collect()
    }

    /// Refuses to send as somebody else than the user wants.
    fn check_owner(&self, archive: &Archive) -> Result<(), ArchiveError> {
        match (&self.owner, archive.own_source()) {
            (Some(wanted), Some((owner, _))) if wanted != owner => {
                Err(ArchiveError::Policy(format!(
                    "archive.toml says that history is sent as {wanted}, but the login is {owner}"
                )))
            }
            _ => Ok(()),
        }
    }
}

fn project_of(file: &OwnedFile) -> Option<String> {
    FileKey { root: file.root.clone(), path: file.relative.clone() }.project()
}

/// Files that may be sent.
#[derive(Clone, Debug)]
pub struct SendableFiles {
    pub files: Vec<OwnedFile>,
    /// How many others there are.
    pub held_back: usize,
    /// Secrets and personal data are removed first.
    pub redact: bool,
}

impl Workspace {
    /// Lists the files of some scopes that may go to an archive. What the user's rules hold back stays on this machine;
    /// rules that cannot be read hold back everything.
    pub fn sendable_files(
        &self,
        archive: &Archive,
        scopes: &[Scope],
    ) -> Result<SendableFiles, ArchiveError> {
        if archive.own_source().is_none() {
            let files = self.owned_files_of(scopes);
            return Ok(SendableFiles { files, held_back: 0, redact: false });
        }
        let policy = self.send_policy().as_ref();
        let policy = policy.map_err(|problem| ArchiveError::Policy(problem.clone()))?;
        policy.check_owner(archive)?;
        // The project of a file backup is that of its session, which may not be in the scopes.
        let all = self.owned_files_of(scopes);
        let before = all.len();
        let files = policy.filter_files(all);
        let held_back = before - files.len();
        Ok(SendableFiles { files, held_back, redact: policy.redact })
    }
}

#[cfg(test)]
mod tests {
    use ramus_core::resume::ResumeRule;
    use ramus_store::StateDir;
    use ramus_store::claude_dir::ClaudeDirs;

    use super::*;

    fn policy(include: &[&str], exclude: &[&str]) -> SendPolicy {
        let patterns = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| ProjectPattern::new(text, Some(Path::new("/home/al"))))
                .collect()
        };
        SendPolicy {
            include: patterns(include),
            exclude: patterns(exclude),
            ..SendPolicy::default()
        }
    }

    #[track_caller]
    fn check(include: &[&str], exclude: &[&str], project: &str, expected: bool) {
        assert_eq!(policy(include, exclude).allows_project(project), expected, "{project}");
    }

    #[test]
    fn a_pattern_means_a_path_or_a_name() {
        check(&[], &[], "-home-al-app", true);
        check(&["~/work/*"], &[], "-home-al-work-app", true);
        check(&["~/work/*"], &[], "-home-al-app", false);
        check(&["~/work"], &[], "-home-al-work-app", false);
        check(&[], &["*-secret"], "-home-al-secret", false);
        check(&[], &["*-secret"], "-home-al-secretary", true);
        check(&["/srv/*"], &["/srv/x.y"], "-srv-x-y", false);
        check(&["*"], &["*a*b*"], "-xaybz", false);
        check(&["*"], &["*a*b*"], "-xbya", true);
        check(&["-home-al-app"], &[], "-home-al-app", true);
        check(&["/"], &[], "-home-al-app", false);
    }

    #[test]
    fn everything_of_a_session_follows_its_project() {
        let home = testkit::TestHome::new();
        for (project, id) in [("-open", "aaaa1111"), ("-closed", "bbbb2222")] {
            home.write_session(&format!("{project}/{id}.jsonl"), "a user hello");
            home.write_file(&format!("{project}/{id}/tool-results/x.txt"), "output");
            let backup = home.claude_dir().join(format!("file-history/{id}/0123456789abcdef@v1"));
            std::fs::create_dir_all(backup.parent().unwrap()).unwrap();
            std::fs::write(backup, "fn main() {}").unwrap();
        }
        let lost = home.claude_dir().join("file-history/cccc3333/0123456789abcdef@v1");
        std::fs::create_dir_all(lost.parent().unwrap()).unwrap();
        std::fs::write(lost, "whose?").unwrap();
        let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
        let state = StateDir::new(home.path().join("state"));
        let workspace = Workspace::new(place, ResumeRule::Client, state);
        let files = workspace.owned_files_of(&[Scope::All]);
        assert_eq!(files.len(), 7);
        let sent = policy(&[], &["-closed"]).filter_files(files.clone());
        assert_eq!(sent.len(), 3);
        assert!(sent.iter().all(|file| file.session.as_deref() == Some("aaaa1111")), "{sent:?}");
        assert_eq!(SendPolicy::default().filter_files(files).len(), 7);
    }
}
