//! `ramus mcp`, spoken to by the official client of the protocol.

use std::path::{Path, PathBuf};
use std::process::Command;

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mcp")
}

/// Puts the client into a virtual environment of its own; `None` where that cannot be had.
fn python() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-client");
    let python = dir.join("bin/python");
    let ready = |python: &Path| {
        Command::new(python)
            .args(["-c", "import mcp"])
            .output()
            .is_ok_and(|out| out.status.success())
    };
    if ready(&python) {
        return Some(python);
    }
    let made = Command::new("python3").args(["-m", "venv"]).arg(&dir).output();
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
    let filled = Command::new(&python).args(install).arg(tests().join("requirements.txt")).output();
    if made.is_ok() && filled.is_ok() && ready(&python) {
        return Some(python);
    }
    testkit::skip("the MCP client cannot be installed with python3 and pip");
    None
}

#[test]
fn the_official_client_gets_along_with_the_server() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    let demo = dir.path().join("demo");
    let ramus = env!("CARGO_BIN_EXE_ramus");
    assert!(Command::new(ramus).arg("demo").arg(&demo).output().unwrap().status.success());
    let spoken = Command::new(python)
        .arg(tests().join("conformance.py"))
        .args([Path::new(ramus), &demo])
        .output()
        .unwrap();
    let told = [spoken.stdout, spoken.stderr].concat();
    assert!(spoken.status.success(), "{}", String::from_utf8_lossy(&told));
}

#[test]
fn a_client_that_hangs_up_at_once_is_no_error() {
    let home = testkit::Home::new();
    let output = crate::ramus(&home.claude(), &["mcp"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}
