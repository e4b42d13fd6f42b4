//! What is kept of all files of one project.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bitcode::{Decode, Encode};
use ramus_core::activity::Activity;
use ramus_core::digest::Digest;
use ramus_core::resume::Rule;
use ramus_core::usage::Account;
use rustc_hash::FxHashMap;

use super::identity::Identity;
use super::{Index, Lock, pack};
use crate::place::{HistoryFile, Project};
use crate::spare;
use crate::survey::Surveyed;

/// How many things that no longer count may stay before all is written anew.
const STALE: usize = 16;

/// What is kept, and by which rule it was told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) name: &'static str,
    pub(crate) rule: Rule,
    /// What else it depends on, such as prices.
    pub(crate) tag: u64,
}

/// The files of a project as they were when somebody read them.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    /// `None`: nothing is kept.
    path: Option<PathBuf>,
    project: PathBuf,
    tag: u64,
    known: FxHashMap<Box<str>, Kept>,
    /// The length of the file, and how much of it is whole.
    length: u64,
    whole: u64,
    /// How much of it counts, how much does not any more, and whether that tells of files that are gone.
    counts: usize,
    stale: usize,
    gone: bool,
}

/// What is kept of one file.
#[derive(Debug, Encode, Decode)]
pub(crate) struct Kept {
    path: Box<str>,
    identity: Identity,
    digest: Arc<Digest>,
    account: Option<Arc<Account>>,
    activity: Option<Arc<Activity>>,
}

impl Kept {
    /// Returns it as if the file had been read.
    pub(crate) fn of(self, file: HistoryFile) -> Surveyed {
        let Self { account, activity, digest, .. } = self;
        Surveyed { account, activity, ..Surveyed::new(file, digest) }
    }
}

impl Shelf {
    /// Reads what is kept of a project's files.
    pub(crate) fn open(index: &Index, project: &Project, level: Level) -> Self {
        let name = format!("{}{}", level.name, level.rule as u8);
        // A file that lies nowhere in particular has no project.
        let path = index.pack(&project.dir, &name).filter(|_| !project.name.is_empty());
        let mut shelf =
            Self { path, project: project.dir.clone(), tag: level.tag, ..Self::default() };
        if let Some(bytes) = shelf.path.as_ref().and_then(|path| read(path).ok()) {
            shelf.load(&bytes, project);
            spare::give(bytes);
        }
        shelf
    }

    fn load(&mut self, bytes: &[u8], project: &Project) {
        let (frames, whole) = pack::frames(bytes);
        (self.length, self.whole) = (bytes.len() as u64, whole as u64);
        let mut things = 0;
        for frame in frames {
            let Ok((tag, kept)) = bitcode::decode::<(u64, Vec<Kept>)>(frame) else { continue };
            things += kept.len();
            if tag == self.tag {
                self.known.extend(kept.into_iter().map(|kept| (kept.path.clone(), kept)));
            }
        }
        let there: FxHashMap<_, _> =
            project.files.iter().map(|file| (file.path.to_string_lossy(), file.identity)).collect();
        self.known.retain(|path, kept| {
            let now = there.get(&**path);
            self.gone |= now.is_none();
            now.is_some_and(|now| *now == Some(kept.identity))
        });
        self.counts = self.known.len();
        self.stale = things - self.counts;
    }

    /// Takes what is known of a file, if it is still as it was.
    pub(crate) fn take(&mut self, path: &Path) -> Option<Kept> {
        self.known.remove(&*path.to_string_lossy())
    }

    /// Writes down what is known of a project's files; `fresh` ones were not known before.
    pub(crate) fn keep(&self, _lock: &Lock, old: &[Surveyed], fresh: &[Surveyed]) {
        let Some(path) = &self.path else { return };
        let fresh: Vec<Kept> = fresh.iter().filter_map(still_so).collect();
        let is_mine = fs::metadata(path).map_or(0, |meta| meta.len()) == self.length;
        // What cannot be written is read again next time.
        if self.whole == 0 || self.gone || self.stale > STALE.max(self.counts) || !is_mine {
            let old = old.iter().filter_map(keep);
            let all = self.encode(old.chain(fresh).collect());
            drop(pack::replace(path, &self.project, &all));
        } else if !fresh.is_empty() {
            drop(pack::append(path, self.whole, &self.encode(fresh)));
        }
    }

    /// Whether there is something to write although nothing was read.
    pub(crate) fn is_untidy(&self) -> bool {
        self.gone
    }

    fn encode(&self, kept: Vec<Kept>) -> Vec<u8> {
        bitcode::encode(&(self.tag, kept))
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = spare::take(file.metadata()?.len() as usize + 1);
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns what is to be kept of a file, unless it changed while it was read.
fn still_so(file: &Surveyed) -> Option<Kept> {
    keep(file).filter(|keep| keep.identity.still_is(&file.file.path))
}

fn keep(file: &Surveyed) -> Option<Kept> {
    Some(Kept {
        // A path that is no text cannot be told from others like it.
        path: file.file.path.to_str()?.into(),
        identity: file.file.identity?,
        digest: file.digest.clone(),
        account: file.account.clone(),
        activity: file.activity.clone(),
    })
}
