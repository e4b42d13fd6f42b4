//! Finds the git repository that a directory belongs to (R33). Git itself is never run.
//!
//! The directories come from records, so they could be anything. Only `.git`, `commondir` and `config` are
//! read, only if they are small regular files, and of `config` only the address of a remote is kept.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::real_path::real_path;
use crate::regular_file;

/// The size limits of a file with one path, and of a config file.
const LONGEST_PATH: u64 = 8 * 1024;
const LONGEST_CONFIG: u64 = 1024 * 1024;
/// How many parent directories are checked.
const MAX_ANCESTORS: usize = 64;

/// A git repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// Shared by all its worktrees and clones: the address of its remote, or else its common directory.
    pub name: String,
    /// The directory that all its worktrees share.
    pub common_dir: PathBuf,
    /// `host/owner/name`. `None`: it has no remote.
    pub remote: Option<String>,
}

/// Finds the repositories of directories, in the same order. `None`: not in a repository, or unknown.
pub fn find_repositories(dirs: &[Option<&str>]) -> Vec<Option<Repository>> {
    let mut known: HashMap<&Path, Repository> = HashMap::new();
    let mut roots: HashMap<&Path, Repository> = HashMap::new();
    for dir in dirs.iter().flatten().map(Path::new) {
        if let Some((root, repository)) = find_repository_above(dir).filter(|_| dir.is_absolute()) {
            if root == dir {
                roots.insert(dir, repository.clone());
            }
            known.insert(dir, repository);
        }
    }
    let find = |dir: &str| {
        let path = Path::new(dir);
        let found =
            known.get(path).or_else(|| is_gone(path).then(|| session_root_above(path, &roots))?);
        found
            .cloned()
            .or_else(|| find_repository_above(worktree_origin(path)?).map(|(_, found)| found))
    };
    dirs.iter().map(|dir| dir.and_then(find)).collect()
}

/// Whether a directory no longer exists.
fn is_gone(dir: &Path) -> bool {
    dir.is_absolute() && !dir.exists()
}

/// Finds the repository of a directory that no longer exists, if a session ran at the repository's root.
fn session_root_above<'a>(
    dir: &Path,
    roots: &'a HashMap<&Path, Repository>,
) -> Option<&'a Repository> {
    dir.ancestors().take(MAX_ANCESTORS).find_map(|above| roots.get(above))
}

/// Returns the directory that a worktree of the client was made from. The client puts them into
/// `.claude/worktrees`.
fn worktree_origin(dir: &Path) -> Option<&Path> {
    let mut above = dir.ancestors().take(MAX_ANCESTORS);
    above.find(|above| above.ends_with(".claude/worktrees"))?.parent()?.parent()
}

/// Finds the repository that contains a directory, and the root of its worktree.
fn find_repository_above(dir: &Path) -> Option<(&Path, Repository)> {
    if !dir.is_dir() {
        return None;
    }
    let mut above = dir.ancestors().take(MAX_ANCESTORS);
    above.find_map(|root| Some((root, read_repository(root)?)))
}

fn read_repository(root: &Path) -> Option<Repository> {
    let common_dir = real_path(&find_common_dir(&root.join(".git"))?).ok()?;
    let config = regular_file::read_limited(&common_dir.join("config"), LONGEST_CONFIG).ok();
    let remote = config.and_then(|bytes| remote_address(&String::from_utf8_lossy(&bytes)));
    let named = match common_dir.file_name() {
        Some(name) if name == ".git" => common_dir.parent().unwrap_or(&common_dir),
        _ => &common_dir,
    };
    let name = remote.clone().unwrap_or_else(|| named.display().to_string());
    Some(Repository { name, common_dir, remote })
}

/// Returns the directory that all worktrees share.
fn find_common_dir(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return is_git_dir(git).then(|| git.to_owned());
    }
    let pointer = read_path_file(git)?;
    let git_dir = git.parent()?.join(pointer.strip_prefix("gitdir:")?.trim());
    let common = match read_path_file(&git_dir.join("commondir")) {
        Some(common) => git_dir.join(common),
        // A worktree that was pruned from git still names its old location.
        None if !git_dir.exists() => git_dir.parent()?.parent()?.to_owned(),
        None => git_dir,
    };
    is_git_dir(&common).then_some(common)
}

fn is_git_dir(dir: &Path) -> bool {
    dir.join("HEAD").is_file() && dir.join("objects").is_dir()
}

fn read_path_file(file: &Path) -> Option<String> {
    let text = String::from_utf8(regular_file::read_limited(file, LONGEST_PATH).ok()?).ok()?;
    Some(text.trim().to_owned()).filter(|path| !path.is_empty() && !path.contains('\0'))
}

/// Returns the normalized address of `origin`, or else of the first remote.
fn remote_address(config: &str) -> Option<String> {
    let mut section = "";
    let mut remotes: Vec<(&str, &str)> = Vec::new();
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if section.starts_with("[remote ")
            && let Some((key, url)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case("url")
        {
            remotes.push((section, url.trim().trim_matches('"')));
        }
    }
    let origin = remotes.iter().find(|(section, _)| section.contains("\"origin\""));
    let (_, url) = origin.or(remotes.first())?;
    Some(normalize_url(url)).filter(|url| !url.is_empty())
}

/// Normalizes the address of a remote to `host/path`, without scheme, user, port or `.git`.
fn normalize_url(url: &str) -> String {
    let (rest, is_url) = match url.split_once("://") {
        Some((_, rest)) => (rest, true),
        None => (url, false),
    };
    let slash = rest.find('/').unwrap_or(rest.len());
    let (mut host, mut path) = rest.split_at(slash);
    // The short form of ssh: `host:owner/name`.
    if let Some((before, after)) =
        rest.split_once(':').filter(|(host, _)| !is_url && !host.contains('/'))
    {
        (host, path) = (before, after);
    }
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let path = path.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    match host.is_empty() {
        true => path.to_owned(),
        false => format!("{}/{}", host.to_lowercase(), path.trim_start_matches('/')),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn one_remote_has_one_name() {
        for url in [
            "git@github.com:acme/kettle.git",
            "ssh://git@github.com:22/acme/kettle.git",
            "https://github.com/acme/kettle",
            "https://me:secret@GitHub.com/acme/kettle.git/",
        ] {
            assert_eq!(normalize_url(url), "github.com/acme/kettle", "{url}");
        }
        assert_eq!(normalize_url("/srv/kettle.git"), "/srv/kettle");
    }

    #[test]
    fn origin_comes_before_other_remotes() {
        let config = "[core]\n\turl = no\n[remote \"fork\"]\n\turl = a:b/c\n[remote \"origin\"]\n  URL = d:e/f.git\n";
        assert_eq!(remote_address(config).as_deref(), Some("d/e/f"));
        assert_eq!(remote_address("[remote \"fork\"]\nurl = a:b/c").as_deref(), Some("a/b/c"));
        assert_eq!(remote_address("[branch \"main\"]\nurl = a:b/c"), None);
    }

    fn repository(root: &Path) -> PathBuf {
        let git = root.join(".git");
        fs::create_dir_all(git.join("objects")).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        git
    }

    #[test]
    fn worktrees_and_what_lies_below_belong_to_their_repository() {
        let dir = tempfile::tempdir().unwrap();
        let top = real_path(dir.path()).unwrap();
        let (main, tree) = (top.join("main"), top.join("tree"));
        let git = repository(&main);
        let kept = git.join("worktrees/tree");
        fs::create_dir_all(&kept).unwrap();
        fs::create_dir_all(&tree).unwrap();
        fs::create_dir_all(main.join("src")).unwrap();
        fs::write(kept.join("commondir"), "../..\n").unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", kept.display())).unwrap();
        let paths = [
            main.clone(),
            main.join("src"),
            tree.clone(),
            main.join("gone/for/ever"),
            main.join(".claude/worktrees/gone"),
            top.join("elsewhere"),
            top,
        ];
        let names: Vec<Option<&str>> = paths.iter().map(|path| path.to_str()).collect();
        let found = find_repositories(&names);
        let related: Vec<bool> = found
            .iter()
            .map(|found| found.as_ref().is_some_and(|found| Path::new(&found.name) == main))
            .collect();
        assert_eq!(related, [true, true, true, true, true, false, false]);
        // Without the root, it is unknown what a deleted directory belonged to.
        assert_eq!(find_repositories(&names[3..4]), [None]);
        assert!(find_repositories(&names[4..5])[0].is_some());
        // The worktree was removed from git, not from the disk.
        fs::remove_dir_all(&kept).unwrap();
        assert!(find_repositories(&names[2..3])[0].is_some());
    }

    #[test]
    fn clones_of_one_remote_are_one_repository() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        fs::write(repository(&a).join("config"), "[remote \"origin\"]\nurl = h:o/n.git\n").unwrap();
        fs::write(repository(&b).join("config"), "[remote \"origin\"]\nurl = https://h/o/n\n")
            .unwrap();
        let found = find_repositories(&[a.to_str(), b.to_str()]);
        let names: Vec<_> = found.iter().flatten().map(|found| found.name.as_str()).collect();
        assert_eq!(names, ["h/o/n", "h/o/n"]);
    }

    #[test]
    fn anything_may_be_in_the_place_of_git() {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join(".git");
        for content in ["", "gitdir:", "gitdir: /nowhere\n", "gitdir: \0", "noise"] {
            fs::write(&git, content).unwrap();
            assert_eq!(find_repositories(&[dir.path().to_str()]), [None], "{content:?}");
        }
        fs::write(&git, "x".repeat(100_000)).unwrap();
        assert_eq!(
            find_repositories(&[dir.path().to_str(), None, Some("relative")]),
            [None, None, None]
        );
        fs::remove_file(&git).unwrap();
        fs::create_dir(&git).unwrap();
        assert_eq!(find_repositories(&[dir.path().to_str()]), [None]);
    }
}
