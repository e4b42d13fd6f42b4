//! Checks of the source tree: which crate may depend on which, and that documentation names what exists.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The dependency picture of ARCHITECTURE.md: dependencies point down only.
const CRATE_LAYERS: &[(&str, &[&str])] = &[
    ("ramus-core", &[]),
    ("ramus-store", &["ramus-core"]),
    ("ramus-archive", &["ramus-core", "ramus-store"]),
    ("ramus-render", &["ramus-core"]),
    ("ramus-tui", &["ramus-core", "ramus-store", "ramus-render", "ramus-app"]),
    ("ramus-app", &["ramus-core", "ramus-store", "ramus-archive", "ramus-render"]),
    ("ramus-web", &["ramus-core", "ramus-store", "ramus-render", "ramus-app"]),
    (
        "ramus",
        &[
            "ramus-core",
            "ramus-store",
            "ramus-archive",
            "ramus-render",
            "ramus-app",
            "ramus-tui",
            "ramus-web",
        ],
    ),
    ("testkit", &[]),
];

/// Third-party crates that only one crate of the workspace may use.
const SINGLE_USER_CRATES: &[(&str, &str)] = &[
    ("rayon", "ramus-store"),
    ("notify", "ramus-store"),
    ("rusqlite", "ramus-archive"),
    ("tar", "ramus-store"),
    ("ratatui", "ramus-tui"),
    ("signal-hook", "ramus-tui"),
    ("clap", "ramus"),
    ("csv", "ramus"),
    ("indicatif", "ramus"),
    ("ctrlc", "ramus"),
    ("rmcp", "ramus"),
    ("anyhow", "ramus"),
    ("mimalloc", "ramus"),
    ("pulldown-cmark", "ramus-render"),
    ("similar", "ramus-render"),
    ("axum", "ramus-web"),
    ("tower-http", "ramus-web"),
];

fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the normal dependencies of every crate.
fn crate_dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(workspace_root().join("crates")).unwrap() {
        let dir = entry.unwrap().path();
        let manifest = fs::read_to_string(dir.join("Cargo.toml")).unwrap();
        let section = manifest
            .split("\n[")
            .find(|section| section.starts_with("dependencies]"))
            .unwrap_or_default();
        let names = section.lines().skip(1).filter_map(|line| line.split(['.', ' ', '=']).next());
        let names = names
            .filter(|name| !name.is_empty() && !name.starts_with('#'))
            .map(str::to_owned)
            .collect();
        found.insert(dir.file_name().unwrap().to_string_lossy().into_owned(), names);
    }
    found
}

#[test]
fn dependencies_point_down_only() {
    let found = crate_dependencies();
    let members: Vec<&str> = CRATE_LAYERS.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        found.keys().map(String::as_str).collect::<BTreeSet<_>>(),
        members.iter().copied().collect()
    );
    for (member, allowed) in CRATE_LAYERS {
        for name in &found[*member] {
            let is_ours = members.contains(&name.as_str());
            assert!(
                !is_ours || allowed.contains(&name.as_str()),
                "{member} may not depend on {name}"
            );
        }
    }
}

/// Only the web server, the MCP server and the archive on a server need an async runtime.
#[test]
fn only_servers_and_their_clients_use_an_async_runtime() {
    for (member, names) in crate_dependencies() {
        let serves = matches!(&*member, "ramus-web" | "ramus" | "ramus-archive");
        assert!(!names.contains("tokio") || serves, "{member} may not depend on tokio");
    }
    let mut files = Vec::new();
    collect_sources(&workspace_root().join("crates/ramus/src"), &mut files);
    for file in files.iter().filter(|file| !file.to_string_lossy().contains("/mcp")) {
        let text = fs::read_to_string(file).unwrap();
        assert!(!text.contains("tokio::") && !text.contains("rmcp::"), "{}", file.display());
    }
}

#[test]
fn special_crates_are_used_by_one_member() {
    for (member, names) in crate_dependencies() {
        for (name, home) in SINGLE_USER_CRATES {
            assert!(
                !names.contains(*name) || member == *home,
                "{name} belongs to {home}, not to {member}"
            );
        }
    }
}

fn collect_sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn is_test(file: &Path) -> bool {
    file.ends_with("tests.rs") || file.parent().is_some_and(|dir| dir.ends_with("tests"))
}

/// What is drawn on a terminal is drawn with symbols that common fonts have and that ASCII stands for.
#[test]
fn every_symbol_has_one_in_ascii() {
    // Not drawn on a terminal: files that are exported, the page, and what the demo says.
    let elsewhere = ["/export/", "/html", "/json", "/demo/", "/mcp", "/serve.rs", "/symbols.rs"];
    for member in ["ramus-render", "ramus-tui", "ramus"] {
        let mut files = Vec::new();
        collect_sources(&workspace_root().join("crates").join(member).join("src"), &mut files);
        for file in files.iter().filter(|file| !is_test(file)) {
            let name = file.to_string_lossy();
            if elsewhere.iter().any(|part| name.contains(part)) {
                continue;
            }
            let text = fs::read_to_string(file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            for symbol in lines.flat_map(str::chars).filter(|char| !char.is_ascii()) {
                let is_letter = symbol.is_alphabetic() || is_solid(symbol);
                let plain = ramus_render::symbols::ascii_symbol(symbol);
                assert!(is_letter || plain.is_some(), "{symbol} {}", symbol.escape_unicode());
            }
        }
    }
}

/// Punctuation of scripts that are laid out, not drawn by us.
fn is_solid(symbol: char) -> bool {
    matches!(symbol, '\u{3000}'..='\u{30ff}' | '\u{ff00}'..='\u{ffef}' | '\u{200d}')
}

/// The parts of the store that only `ramus-app` uses for the screens, the web app and MCP.
const APP_ONLY: &[&str] = &[
    "store::survey",
    "store::scan",
    "store::plan",
    "store::export",
    "store::inspect",
    "store::cleanup",
    "store::secrets",
    "store::undo::undo",
    "store::undo::restore",
];

/// The application layer writes documents and JSON, and draws nothing for a screen.
#[test]
fn the_app_draws_nothing() {
    let mut files = Vec::new();
    collect_sources(&workspace_root().join("crates/ramus-app/src"), &mut files);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for used in text.split("ramus_render::").skip(1) {
            let parts = ["export", "json", "text::WithheldThoughts"];
            let is_document = parts.iter().any(|part| used.starts_with(part));
            assert!(is_document, "{} uses ramus_render::{used:.20}", file.display());
        }
    }
}

/// Commands draw plans and report why a directory was refused, so they name types of these two modules.
const COMMANDS_MAY_USE: &[&str] = &["store::plan", "store::export"];

/// Questions are answered in `ramus-app`, once; front ends draw.
#[test]
fn front_ends_read_through_the_app() {
    for member in ["ramus-tui/src", "ramus-web/src", "ramus/src"] {
        let mut files = Vec::new();
        collect_sources(&workspace_root().join("crates").join(member), &mut files);
        for file in files.iter().filter(|file| !is_test(file)) {
            let name = file.to_string_lossy();
            let text = fs::read_to_string(file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            let code = with_expanded_groups(code, "ramus_store");
            let is_command = member == "ramus/src" && !name.contains("/mcp");
            for path in APP_ONLY {
                let allowed = is_command && COMMANDS_MAY_USE.contains(path);
                assert!(allowed || !code.contains(path), "{name} reaches {path}");
            }
        }
    }
}

/// Appends the paths of `use CRATE::{a, b::c}`, so that a search for `CRATE::a` finds them.
fn with_expanded_groups(code: &str, name: &str) -> String {
    let mut expanded = code.to_owned();
    for group in code.split(&format!("{name}::{{")).skip(1) {
        let group = group.split(';').next().unwrap();
        for part in group.split([',', '{', '}']).map(str::trim) {
            expanded.extend(["\n", name, "::", part]);
        }
    }
    expanded
}

#[test]
fn grouped_imports_are_expanded() {
    let code = with_expanded_groups(
        "use ramus_store::{PathError,\n    survey::{a, b}, scan};",
        "ramus_store",
    );
    assert!(code.contains("store::survey") && code.contains("store::scan"), "{code}");
}

#[test]
fn only_the_store_touches_the_disk() {
    for member in ["ramus-core", "ramus-render", "ramus-app", "ramus-tui", "ramus-web", "ramus"] {
        let mut files = Vec::new();
        collect_sources(&workspace_root().join("crates").join(member).join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            let is_test = is_test(&file);
            assert!(is_test || !code.contains("std::fs"), "{} uses std::fs", file.display());
        }
    }
}

/// Variables that only tests set.
const TEST_VARIABLES: &[&str] = &["RAMUS_CACHE_SETTLE_MS"];

#[test]
fn environment_variables_are_documented() {
    let settings = fs::read_to_string(workspace_root().join("docs/shell.md")).unwrap();
    let help = workspace_root().join("crates/ramus/tests/it/snapshots/it__golden__help.snap");
    let documents = settings + &fs::read_to_string(help).unwrap();
    let mut found = 0;
    for (member, _) in CRATE_LAYERS.iter().filter(|(member, _)| *member != "testkit") {
        let mut files = Vec::new();
        collect_sources(&workspace_root().join("crates").join(member).join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            for name in text.split('"').filter(|word| is_variable(word)) {
                assert!(documents.contains(name), "{}: {name}", file.display());
                found += 1;
            }
        }
    }
    assert!(found > 10, "{found}");
}

fn is_variable(word: &str) -> bool {
    let is_name = word.bytes().all(|byte| byte == b'_' || byte.is_ascii_uppercase());
    word.starts_with("RAMUS_") && is_name && !TEST_VARIABLES.contains(&word)
}

#[test]
fn every_file_has_a_module_doc() {
    let mut files = Vec::new();
    collect_sources(&workspace_root().join("crates"), &mut files);
    for file in files {
        // The doc comment of a command's arguments is its help, and says it all.
        let is_command = file.parent().is_some_and(|dir| dir.ends_with("commands"));
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//!") || is_command || is_test(&file), "{}", file.display());
    }
}

/// Returns the numbered rules that a comment cites.
fn cited_paths(line: &str) -> Vec<String> {
    let Some((_, comment)) = line.split_once("//") else { return Vec::new() };
    let words = comment.split(|char: char| !char.is_ascii_alphanumeric());
    let is_rule = |word: &&str| {
        let number = word.strip_prefix('R').unwrap_or_default();
        let digits = number.trim_end_matches(['a', 'b', 'c', 'd']);
        !digits.is_empty() && digits.len() < 3 && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    words.filter(is_rule).map(str::to_owned).collect()
}

#[test]
fn cited_rules_exist() {
    let rules = fs::read_to_string(workspace_root().join("docs/rules.md")).unwrap();
    for number in 1..=30 {
        assert!(rules.contains(&format!("- **R{number} ")), "R{number}");
    }
    let mut files = Vec::new();
    collect_sources(&workspace_root().join("crates"), &mut files);
    let mut found = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for rule in text.lines().flat_map(cited_paths) {
            let number = rule.trim_end_matches(['a', 'b', 'c', 'd']);
            let part = &rule[number.len()..];
            let is_there = rules.contains(&format!("- **{number} "))
                && (part.is_empty() || number == "R8" && rules.contains(&format!("**({part})**")));
            assert!(is_there, "{}: {rule} is not in docs/rules.md", file.display());
            found += 1;
        }
    }
    assert!(found > 100, "{found}");
}

/// The modules that the code map of ARCHITECTURE.md names exist.
#[test]
fn the_code_map_names_existing_modules() {
    let text = fs::read_to_string(workspace_root().join("ARCHITECTURE.md")).unwrap();
    let mut source = PathBuf::new();
    let mut missing = Vec::new();
    let mut found = 0;
    for row in text.lines().filter_map(|line| line.strip_prefix("| ")) {
        let mut cells = row.split('|');
        let (Some(name), Some(modules)) = (cells.next(), cells.next()) else { continue };
        if let Some(name) = quoted_names(name).first() {
            source = workspace_root().join("crates").join(name).join("src");
        }
        for module in quoted_names(modules) {
            let path = source.join(module.trim_end_matches('/'));
            if !path.is_dir() && !path.with_extension("rs").is_file() {
                missing.push(path);
            }
            found += 1;
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(found > 80, "{found} modules were found");
}

/// Returns what is between backquotes.
fn quoted_names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// `docs/rules.md` names the function that decides each rule.
#[test]
fn rules_name_functions_that_exist() {
    let text = fs::read_to_string(workspace_root().join("docs/rules.md")).unwrap();
    let stated: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("- **R")?.split([' ', '.']).next())
        .collect();
    let mut located = BTreeSet::new();
    for row in text.lines().filter_map(|line| line.strip_prefix("| R")) {
        let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [rule, _, function, file, ..] = cells[..] else { panic!("{row}") };
        let source = fs::read_to_string(workspace_root().join("crates").join(file)).unwrap();
        assert!(source.contains(&format!("fn {function}")), "R{rule}: {function} in {file}");
        located.insert(rule);
    }
    assert_eq!(located, stated);
}

/// Collects the Markdown files of the repository.
fn collect_documents(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            let is_foreign = ["target", "node_modules", "fixtures"].contains(&&*name);
            if !is_foreign && !name.starts_with('.') {
                collect_documents(&path, found);
            }
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// Returns the anchors of the headings of a document, as code hosts form them.
fn heading_anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|char| char.is_alphanumeric() || " -_".contains(*char));
        kept.map(|char| if char == ' ' { '-' } else { char }).collect()
    };
    headings.map(anchor).collect()
}

/// Links between documents lead to files and headings that exist.
#[test]
fn links_of_documents_lead_somewhere() {
    let mut documents = Vec::new();
    collect_documents(&workspace_root(), &mut documents);
    let mut checked = 0;
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ', '\n']).next())
        {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            if link.contains(':') || file.is_empty() && anchor.is_empty() {
                continue;
            }
            let target = match file {
                "" => document.clone(),
                file => document.parent().unwrap().join(file),
            };
            assert!(target.exists(), "{} links to {link}", document.display());
            if !anchor.is_empty() {
                let headings = heading_anchors(&fs::read_to_string(&target).unwrap());
                assert!(headings.contains(anchor), "{} links to {link}", document.display());
            }
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked} links were found");
}
