//! Skips tests that lack a program or data.

use std::path::{Path, PathBuf};

/// Reports that a test is skipped, and why. With `RAMUS_REQUIRE_ALL=1` the test fails instead.
///
/// Every test that lacks a program or data calls this; nothing else decides it.
///
/// # Panics
///
/// If everything is required.
#[expect(clippy::print_stderr, reason = "a test that is skipped reports it")]
#[track_caller]
pub fn skip_test(missing: &str) {
    let required = std::env::var_os("RAMUS_REQUIRE_ALL").is_some_and(|value| value == "1");
    assert!(!required, "RAMUS_REQUIRE_ALL=1, but {missing}");
    eprintln!("skipped: {missing}");
}

/// Finds a part of the shared test data (samples of real histories, generators) next to the repository.
///
/// A checkout without that directory skips it, even if everything is required.
///
/// # Panics
///
/// If everything is required and the directory lacks the part.
#[expect(clippy::print_stderr, reason = "a test that is skipped reports it")]
#[track_caller]
pub fn shared_material(part: &str) -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    if !dir.is_dir() {
        eprintln!("skipped: there is no shared material beside the project");
        return None;
    }
    let path = dir.join(part);
    if path.exists() {
        return Some(path);
    }
    skip_test(&format!("the shared material has no {part}"));
    None
}
