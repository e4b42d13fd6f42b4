//! What a test does when something it needs is not here.

use std::path::{Path, PathBuf};

/// Reports that a test is skipped, and why. With `RAMUS_REQUIRE_ALL=1` the test fails instead.
///
/// Every test that cannot run for lack of a program or of material calls this, and nothing else decides it.
///
/// # Panics
///
/// When everything is required.
#[expect(clippy::print_stderr, reason = "a test that is skipped reports it")]
#[track_caller]
pub fn skip(missing: &str) {
    let required = std::env::var_os("RAMUS_REQUIRE_ALL").is_some_and(|value| value == "1");
    assert!(!required, "RAMUS_REQUIRE_ALL=1, but {missing}");
    eprintln!("skipped: {missing}");
}

/// Finds a part of the shared material (samples of real histories, generators) beside the project.
///
/// It is expected where its directory is: a checkout without one goes without, even if everything is
/// required.
///
/// # Panics
///
/// When everything is required and the directory lacks the part.
#[expect(clippy::print_stderr, reason = "a test that is skipped reports it")]
#[track_caller]
pub fn shared(part: &str) -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    if !dir.is_dir() {
        eprintln!("skipped: there is no shared material beside the project");
        return None;
    }
    let path = dir.join(part);
    if path.exists() {
        return Some(path);
    }
    skip(&format!("the shared material has no {part}"));
    None
}
