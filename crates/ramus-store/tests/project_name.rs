//! Names of project directories, compared with what real clients made of the same paths (R19).
//!
//! `tests/client/names.py` records the table.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use ramus_store::project_name::{is_encoded_path, project_dir_name};
use serde_json::Value;

struct Row {
    client: String,
    path: String,
    name: String,
}

fn recorded_rows() -> Vec<Row> {
    let table = include_str!("fixtures/project_names.json");
    let rows: Vec<Value> = serde_json::from_str(table).unwrap();
    let text = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
    rows.iter()
        .map(|row| Row {
            client: text(row, "client"),
            path: text(row, "path"),
            name: text(row, "name"),
        })
        .collect()
}

#[test]
fn every_recorded_name_is_found() {
    let rows = recorded_rows();
    for row in &rows {
        let Row { client, path, name } = row;
        assert!(is_encoded_path(name, path), "{client} named {path:?} {name:?}");
        // A combining accent has two names: older clients composed the characters.
        let is_composed = |path: &str| !path.contains('\u{301}');
        let others = rows.iter().filter(|other| other.path != *path && other.name != *name);
        for other in others.filter(|_| is_composed(path)) {
            let is_same_but_for_case = other.name.eq_ignore_ascii_case(name);
            assert!(is_same_but_for_case || !is_encoded_path(&other.name, path), "{path:?}");
        }
    }
}

// On macOS the client composes characters, and this table was recorded on Linux.
#[cfg(not(target_os = "macos"))]
#[test]
fn new_names_are_those_of_the_newest_client() {
    let rows = recorded_rows();
    let is_recorded =
        |path: &str| rows.iter().any(|row| row.client == "2.1.325" && row.path == path);
    let newest = rows.iter().filter(|row| row.client == "2.1.325" || !is_recorded(&row.path));
    for Row { path, name, .. } in newest {
        assert_eq!(project_dir_name(path), *name, "{path:?}");
    }
}

#[test]
fn names_of_other_hashes_and_other_cases() {
    let long = format!("/home/{}", "x".repeat(240));
    let start = &project_dir_name(&long)[..200];
    for (name, is_found) in [
        (format!("{start}-2n9gh1qy5x4k8"), true),
        (format!("-home-{}", "x".repeat(240)), true),
        (format!("{start}-other-directory"), false),
        (format!("{start}xx"), false),
        (format!("{start}-"), false),
        (start.to_owned(), false),
        (format!("{}-1a2b3c", &start[1..]), false),
    ] {
        assert_eq!(is_encoded_path(&name, &long), is_found, "{name}");
    }
    assert!(is_encoded_path("c--users-DEV-app", r"C:\Users\dev\app"));
    assert!(!is_encoded_path("-home-dev-app", "/home/dev/other"));
    if cfg!(target_os = "linux") {
        assert!(!is_encoded_path("-home-DEV-app", "/home/dev/app"));
    }
}
