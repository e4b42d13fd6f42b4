//! Takes from an archive what it keeps about files, so that they need not be read.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;

use super::SurveyedFile;
use super::cached_project::{CachedProject, FreshFile, SurveyExtra, SurveyRequest, UnreadFile};
use crate::claude_dir::HistoryFile;
use crate::derived::{DerivedKind, decode_value, stored_values};

/// Moves files out of the unread ones of each project, as far as an archive keeps all that is asked for.
pub(super) fn take_stored(
    wants: SurveyRequest,
    projects: &mut [CachedProject],
    on_file: &(dyn Fn(&HistoryFile, Option<&SurveyedFile>) + Sync),
) -> Vec<Vec<FreshFile>> {
    let usage = match wants.extra {
        SurveyExtra::Nothing => None,
        SurveyExtra::Accounts(prices) => Some(DerivedKind::usage(wants.rule, prices)),
        SurveyExtra::Activities | SurveyExtra::Inspections => {
            return projects.iter().map(|_| Vec::new()).collect();
        }
    };
    let unread = || projects.iter().flat_map(|project| &project.unread);
    let lacking = unread().filter(|unread| unread.digest.is_none()).map(|unread| &unread.file);
    let digests = stored_values(&DerivedKind::digest(wants.rule), lacking);
    let usages = usage.map(|kind| stored_values(&kind, unread().map(|unread| &unread.file)));
    projects
        .par_iter_mut()
        .map(|project| {
            let (mut fresh, mut left) = (Vec::new(), Vec::new());
            for unread in std::mem::take(&mut project.unread) {
                match stored_file(&unread, &digests, usages.as_ref()) {
                    Some(surveyed) => {
                        on_file(&surveyed.file, Some(&surveyed));
                        fresh.push(FreshFile { surveyed, had_digest: unread.digest.is_some() });
                    }
                    None => left.push(unread),
                }
            }
            project.unread = left;
            fresh
        })
        .collect()
}

fn stored_file(
    unread: &UnreadFile,
    digests: &HashMap<PathBuf, Vec<u8>>,
    usages: Option<&HashMap<PathBuf, Vec<u8>>>,
) -> Option<SurveyedFile> {
    let path = &unread.file.path;
    let digest = match &unread.digest {
        Some(digest) => digest.clone(),
        None => Arc::new(decode_value(digests.get(path)?)?),
    };
    let account = match usages {
        Some(usages) => Some(Arc::new(decode_value(usages.get(path)?)?)),
        None => None,
    };
    Some(SurveyedFile { account, ..SurveyedFile::new(unread.file.clone(), digest) })
}
