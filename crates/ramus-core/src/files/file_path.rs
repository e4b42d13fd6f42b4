//! Path arithmetic on strings, and where a copy of a file goes.

/// The directory for files from outside the project, in a tree that is written out.
pub const OUTSIDE_DIR: &str = "__outside__";

/// Returns the absolute path of a file in a checkpoint, where paths are relative to the working directory.
pub fn absolute_path(cwd: &str, key: &str) -> String {
    if is_absolute(key) || cwd.is_empty() {
        return normalize_path(key);
    }
    normalize_path(&format!("{cwd}/{key}"))
}

/// Whether a path begins at a root, as Unix or Windows write it.
pub fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || is_drive(path)
}

fn is_drive(path: &str) -> bool {
    path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && path.get(1..2) == Some(":")
}

/// Returns a path without `.`, `..` and doubled separators, without access to the file system.
pub fn normalize_path(path: &str) -> String {
    let windows = is_drive(path) || path.starts_with('\\');
    let separator = if windows { '\\' } else { '/' };
    let splits = |c: char| c == '/' || windows && c == '\\';
    let rooted = path.starts_with(splits);
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(splits) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != ".." && !is_drive(last)) => {
                parts.pop();
            }
            ".." if rooted || parts.first().is_some_and(|first| is_drive(first)) => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join(&separator.to_string());
    if rooted { format!("{separator}{joined}") } else { joined }
}

/// Returns a path relative to a directory. `None` if it is not below it.
pub fn path_below<'p>(path: &'p str, dir: &str) -> Option<&'p str> {
    let dir = dir.trim_end_matches(['/', '\\']);
    if dir.is_empty() {
        return None;
    }
    path.strip_prefix(dir)?.strip_prefix(['/', '\\']).filter(|rest| !rest.is_empty())
}

/// Returns the path of a copy below an output directory, with `/`: never above that directory.
///
/// Files of the project keep their relative path; all others go below [`OUTSIDE_DIR`] with their
/// whole path.
pub fn path_in_tree(path: &str, cwd: &str) -> String {
    let cwd = normalize_path(cwd);
    let clean = |path: &str| {
        let parts = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".");
        let safe = |part: &str| match part {
            ".." => "up".to_owned(),
            // The colon of a drive would start a new path.
            part => part.replace([':', '\0'], "_"),
        };
        parts.map(safe).collect::<Vec<_>>().join("/")
    };
    match path_below(path, &cwd) {
        // The project may have a directory of that name itself.
        Some(inside) if !clean(inside).starts_with(OUTSIDE_DIR) => clean(inside),
        _ => format!("{OUTSIDE_DIR}/{}", clean(path)),
    }
}

/// Returns the files that a person may mean: by the whole path, from `here` or the project on, or by
/// how the path ends.
pub fn paths_named<'p>(
    paths: impl Iterator<Item = &'p str> + Clone,
    wanted: &str,
    bases: &[&str],
) -> Vec<&'p str> {
    for base in bases {
        let whole = absolute_path(base, wanted);
        if let Some(found) = paths.clone().find(|path| *path == whole) {
            return vec![found];
        }
    }
    let tail = normalize_path(wanted);
    let ends = |path: &&str| {
        path.strip_suffix(tail.as_str()).is_some_and(|rest| rest.ends_with(['/', '\\']))
    };
    paths.filter(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_from_the_working_directory_on() {
        for (cwd, key, expected) in [
            ("/home/dev/app", "src/a.rs", "/home/dev/app/src/a.rs"),
            ("/home/dev/app", "../x", "/home/dev/x"),
            ("/home/dev/app/", "./a//b/../c", "/home/dev/app/a/c"),
            ("/home/dev/app", "../../../../../etc/passwd", "/etc/passwd"),
            ("/home/dev/app", "/etc/hosts", "/etc/hosts"),
            ("", "../x", "../x"),
            ("", "", ""),
            ("/a", "", "/a"),
            ("C:\\dev\\app", "src\\a.rs", "C:\\dev\\app\\src\\a.rs"),
            ("C:\\dev", "..\\..\\..\\x", "C:\\x"),
        ] {
            assert_eq!(absolute_path(cwd, key), expected, "{cwd} {key}");
        }
    }

    #[test]
    fn copies_stay_in_their_tree() {
        for (path, expected) in [
            ("/home/dev/app/src/a.rs", "src/a.rs"),
            ("/home/dev/application/a", "__outside__/home/dev/application/a"),
            ("/etc/passwd", "__outside__/etc/passwd"),
            ("../../x", "__outside__/up/up/x"),
            ("/home/dev/app/__outside__/a", "__outside__/home/dev/app/__outside__/a"),
            ("C:\\x\\y", "__outside__/C_/x/y"),
            ("/home/dev/app/a\0b", "a_b"),
        ] {
            assert_eq!(path_in_tree(path, "/home/dev/app"), expected);
        }
    }

    #[test]
    fn a_file_is_found_by_any_of_its_names() {
        let paths = ["/app/src/lib.rs", "/app/lib.rs", "/app/core/src/lib.rs", "/x/main.rs"];
        let check = |wanted: &str, expected: &[&str]| {
            assert_eq!(
                paths_named(paths.iter().copied(), wanted, &["/app", "/x"]),
                expected,
                "{wanted}"
            );
        };
        check("/app/lib.rs", &["/app/lib.rs"]);
        check("lib.rs", &["/app/lib.rs"]);
        check("./src/lib.rs", &["/app/src/lib.rs"]);
        check("main.rs", &["/x/main.rs"]);
        check("core/src/lib.rs", &["/app/core/src/lib.rs"]);
        check("../x/main.rs", &["/x/main.rs"]);
        check("b.rs", &[]);
    }
}
