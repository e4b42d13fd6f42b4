//! Caches one kind of result, such as digests, for all files of a project.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bitcode::{Decode, DecodeOwned, Encode};
use ramus_core::resume::Rule;
use rustc_hash::FxHashMap;

use super::identity::Identity;
use super::{Index, Lock, pack};
use crate::place::Project;
use crate::regular;
use crate::spare;
use crate::survey::Surveyed;

/// How many stale entries are tolerated before the file is rewritten.
const STALE: usize = 16;

/// Which kind of result is cached, by which rule it was made, and a tag for what else it depends on, such as prices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) name: &'static str,
    pub(crate) rule: Rule,
    pub(crate) tag: u64,
}

/// The cached results of a project's files.
#[derive(Debug)]
pub(crate) struct Shelf<T> {
    /// `None`: nothing is cached.
    path: Option<PathBuf>,
    project: PathBuf,
    tag: u64,
    known: FxHashMap<Box<str>, Kept<T>>,
    /// The length of the cache file, and how much of it is valid.
    length: u64,
    whole: u64,
    /// How many entries are current, how many are stale, and whether some describe files that no longer exist.
    counts: usize,
    stale: usize,
    gone: bool,
}

/// The cached result of one file.
#[derive(Debug, Encode, Decode)]
struct Kept<T> {
    path: Box<str>,
    identity: Identity,
    what: T,
}

impl<T: Clone + Encode + DecodeOwned> Shelf<T> {
    /// Loads the cached results of a project's files.
    pub(crate) fn open(index: &Index, project: &Project, level: Level) -> Self {
        let name = format!("{}{}", level.name, level.rule as u8);
        let mut shelf = Self {
            // A file outside of a Claude directory has no project.
            path: index.pack(&project.dir, &name).filter(|_| !project.name.is_empty()),
            project: project.dir.clone(),
            tag: level.tag,
            known: FxHashMap::default(),
            length: 0,
            whole: 0,
            counts: 0,
            stale: 0,
            gone: false,
        };
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
            let Ok((tag, kept)) = bitcode::decode::<(u64, Vec<Kept<T>>)>(frame) else { continue };
            things += kept.len();
            if tag == self.tag {
                self.known.extend(kept.into_iter().map(|kept| (kept.path.clone(), kept)));
            }
        }
        let there: FxHashMap<_, _> = project
            .files
            .iter()
            .filter_map(|file| Some((file.path.to_str()?, file.identity)))
            .collect();
        self.known.retain(|path, kept| {
            let now = there.get(&**path);
            self.gone |= now.is_none();
            now.is_some_and(|now| *now == Some(kept.identity))
        });
        self.counts = self.known.len();
        self.stale = things - self.counts;
    }

    /// Takes the result of a file, if the file has not changed.
    pub(crate) fn take(&mut self, path: &Path) -> Option<T> {
        self.known.remove(path.to_str()?).map(|kept| kept.what)
    }

    /// Saves the results of a project's files. Those of `fresh` were not cached before.
    pub(crate) fn keep(
        &self,
        _lock: &Lock,
        old: &[&Surveyed],
        fresh: &[&Surveyed],
        what: impl Fn(&Surveyed) -> Option<T>,
    ) {
        let Some(path) = &self.path else { return };
        let keep = |file: &Surveyed| {
            Some(Kept {
                // A path that is not UTF-8 cannot be stored unambiguously.
                path: file.file.path.to_str()?.into(),
                identity: file.file.identity?,
                what: what(file)?,
            })
        };
        let fresh = fresh.iter().filter_map(|file| {
            // The file may have changed while it was read.
            keep(file).filter(|keep| keep.identity.still_is(&file.file.path))
        });
        let fresh: Vec<Kept<T>> = fresh.collect();
        let is_mine = fs::metadata(path).map_or(0, |meta| meta.len()) == self.length;
        // A failed write is harmless: the files are read again next time.
        if self.whole == 0 || self.gone || self.stale > STALE.max(self.counts) || !is_mine {
            let all = self.encode(old.iter().copied().filter_map(keep).chain(fresh).collect());
            drop(pack::replace(path, &self.project, &all));
        } else if !fresh.is_empty() {
            drop(pack::append(path, self.whole, &self.encode(fresh)));
        }
    }

    /// Whether the cache file should be rewritten although no file was read.
    pub(crate) fn is_untidy(&self) -> bool {
        self.gone
    }

    fn encode(&self, kept: Vec<Kept<T>>) -> Vec<u8> {
        bitcode::encode(&(self.tag, kept))
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = regular::open(path)?;
    let mut bytes = spare::take(file.metadata()?.len() as usize + 1);
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
