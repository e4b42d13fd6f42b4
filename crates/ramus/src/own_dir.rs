//! Where ramus keeps its own files: settings, log, archive, cache.

use std::path::{Path, PathBuf};

/// One of ramus's own directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnDir {
    Config,
    /// The log with its backups, marks.
    State,
    /// The archive.
    Data,
    Cache,
}

impl OwnDir {
    /// Returns its path, whether it exists or not.
    pub(crate) fn path(self) -> PathBuf {
        let home = std::env::home_dir().unwrap_or_default();
        self.path_on(cfg!(windows), &home, &path_variable, &|dir| dir.is_dir())
    }

    /// The XDG variables count everywhere. Windows has places of its own; a directory that an earlier version made
    /// in the Unix place stays in use.
    fn path_on(
        self,
        is_windows: bool,
        home: &Path,
        variable: &dyn Fn(&str) -> Option<PathBuf>,
        exists: &dyn Fn(&Path) -> bool,
    ) -> PathBuf {
        let (xdg, on_unix): (&str, &[&str]) = match self {
            Self::Config => ("XDG_CONFIG_HOME", &[".config"]),
            Self::State => ("XDG_STATE_HOME", &[".local", "state"]),
            Self::Data => ("XDG_DATA_HOME", &[".local", "share"]),
            Self::Cache => ("XDG_CACHE_HOME", &[".cache"]),
        };
        let below_home = |names: &[&str]| home.join(names.iter().collect::<PathBuf>());
        let on_unix = variable(xdg).unwrap_or_else(|| below_home(on_unix)).join("ramus");
        if !is_windows || variable(xdg).is_some() || exists(&on_unix) {
            return on_unix;
        }
        let local =
            || variable("LOCALAPPDATA").unwrap_or_else(|| below_home(&["AppData", "Local"]));
        match self {
            // Settings follow a person to other machines; the others are too large for that.
            Self::Config => variable("APPDATA")
                .unwrap_or_else(|| below_home(&["AppData", "Roaming"]))
                .join("ramus"),
            Self::State => local().join("ramus").join("state"),
            Self::Data => local().join("ramus").join("data"),
            Self::Cache => local().join("ramus").join("cache"),
        }
    }
}

/// Returns a variable that names a path; an empty one counts as unset.
pub(crate) fn path_variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|dir| !dir.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::OwnDir;

    #[track_caller]
    fn check(
        dir: OwnDir,
        is_windows: bool,
        variables: &[(&str, &str)],
        existing: &str,
        expected: &str,
    ) {
        let variable = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| PathBuf::from(value))
        };
        let exists = |dir: &Path| dir == Path::new(existing);
        let found = dir.path_on(is_windows, Path::new("/h"), &variable, &exists);
        assert_eq!(found, Path::new(expected), "{dir:?}, {variables:?}");
    }

    #[test]
    fn on_unix_the_xdg_directories_count() {
        check(OwnDir::Config, false, &[], "", "/h/.config/ramus");
        check(OwnDir::State, false, &[("LOCALAPPDATA", "/l")], "", "/h/.local/state/ramus");
        check(OwnDir::Data, false, &[("XDG_DATA_HOME", "/d")], "", "/d/ramus");
        check(OwnDir::Cache, false, &[], "", "/h/.cache/ramus");
    }

    #[test]
    fn on_windows_the_directories_for_application_data_count() {
        let roaming = [("APPDATA", "/r"), ("LOCALAPPDATA", "/l")];
        check(OwnDir::Config, true, &roaming, "", "/r/ramus");
        check(OwnDir::State, true, &roaming, "", "/l/ramus/state");
        check(OwnDir::Data, true, &roaming, "", "/l/ramus/data");
        check(OwnDir::Cache, true, &[], "", "/h/AppData/Local/ramus/cache");
        check(OwnDir::Config, true, &[], "", "/h/AppData/Roaming/ramus");
        check(OwnDir::State, true, &[("XDG_STATE_HOME", "/x")], "", "/x/ramus");
    }

    #[test]
    fn on_windows_what_an_earlier_version_made_is_still_found() {
        let old = "/h/.local/state/ramus";
        check(OwnDir::State, true, &[("LOCALAPPDATA", "/l")], old, old);
        check(OwnDir::Data, true, &[("LOCALAPPDATA", "/l")], old, "/l/ramus/data");
    }
}
