//! How a project is named wherever a person reads: by its directory, the home directory as `~`.

use ramus_render::layout;

/// Returns the name of a project: its directory if the records contain it, else the encoded name.
pub(crate) fn project_name(path: Option<&str>, encoded: &str) -> String {
    let home = std::env::home_dir().unwrap_or_default();
    shorten_home(path.unwrap_or(encoded), &home.to_string_lossy())
}

/// Writes the home directory as `~`.
fn shorten_home(path: &str, home: &str) -> String {
    match path.strip_prefix(home) {
        Some(rest) if !home.is_empty() && (rest.is_empty() || rest.starts_with(['/', '\\'])) => {
            format!("~{rest}")
        }
        _ => path.to_owned(),
    }
}

/// Shortens the name of a project to its end, which is where projects differ; whole directories if
/// one fits.
pub(crate) fn project_end(name: &str, width: usize) -> String {
    if layout::display_width(name) <= width {
        return name.to_owned();
    }
    let fits = |start: &usize| layout::display_width(&name[*start..]) < width;
    let directories = name.match_indices(['/', '\\']).map(|(at, _)| at);
    let letters = name.char_indices().map(|(at, _)| at);
    let start = { directories }.find(fits).or_else(|| { letters }.find(fits)).unwrap_or(name.len());
    format!("…{}", &name[start..])
}

#[cfg(test)]
mod tests {
    use super::{project_end, shorten_home};

    #[test]
    fn the_home_directory_is_a_tilde() {
        assert_eq!(shorten_home("/home/dev/app", "/home/dev"), "~/app");
        assert_eq!(shorten_home("/home/dev", "/home/dev"), "~");
        assert_eq!(shorten_home("/home/developer", "/home/dev"), "/home/developer");
        assert_eq!(shorten_home("/srv/app", ""), "/srv/app");
    }

    #[test]
    fn a_long_name_keeps_its_end() {
        assert_eq!(project_end("~/app", 12), "~/app");
        assert_eq!(project_end("~/work/tools/parser", 12), "…/parser");
        assert_eq!(project_end("~/work/tools/parser", 15), "…/tools/parser");
        assert_eq!(project_end("-home-dev-some-tool", 8), "…me-tool");
        assert_eq!(project_end("漢字漢字", 5), "…漢字");
    }
}
