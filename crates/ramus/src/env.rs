//! What the command line knows of the world: directories, the clock, the time zone.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use ramus_app::{ClientProgram, ProgressSink, Workspace};
use ramus_archive::Archive;
use ramus_core::time::Time;
use ramus_store::StateDir;
use ramus_store::cache::HistoryCache;
use ramus_store::claude_dir::{ClaudeDirError, ClaudeDirs};
use ramus_store::pack::OpenPack;
use ramus_store::pack::read::is_pack;

use crate::args::Global;
use crate::error::CommandError;
use crate::ui::Ui;

/// Opens the Claude directories that were asked for, or the usual ones.
pub(crate) fn open_claude_dirs(global: &Global) -> Result<ClaudeDirs, ClaudeDirError> {
    Ok(ClaudeDirs::open(claude_dir_candidates(global))?.with_cache(session_cache(global)))
}

/// Opens the Claude directories for one command, and lists their files.
pub(crate) fn command_workspace(ui: &Ui, global: &Global) -> Result<Workspace, CommandError> {
    open_workspace(global, ui.progress_sink())
}

/// The same; a file named by its path needs no Claude directory.
pub(crate) fn workspace_for(
    ui: &Ui,
    global: &Global,
    address: &str,
) -> Result<Workspace, CommandError> {
    open_for(global, address, ui.progress_sink())
}

/// Opens the Claude directories for whoever hears of long work and of what cannot be read.
pub(crate) fn open_workspace(
    global: &Global,
    progress: Arc<dyn ProgressSink>,
) -> Result<Workspace, CommandError> {
    let workspace = configured_workspace(global, open_claude_dirs(global)?, progress);
    workspace.list_projects();
    Ok(workspace)
}

/// The same; a file named by its path needs no Claude directory.
pub(crate) fn open_for(
    global: &Global,
    address: &str,
    progress: Arc<dyn ProgressSink>,
) -> Result<Workspace, CommandError> {
    let session = address
        .rsplit_once(".jsonl")
        .map_or(address, |(stem, _)| &address[..stem.len() + ".jsonl".len()]);
    match open_workspace(global, progress.clone()) {
        Err(_) if !global.confined && Path::new(session).is_file() => {
            let place = ClaudeDirs::at(Vec::new(), session_cache(global));
            Ok(configured_workspace(global, place, progress))
        }
        workspace => workspace,
    }
}

/// Opens the Claude directory that new sessions go to, which need not exist.
pub(crate) fn workspace_to_fill(ui: &Ui, global: &Global) -> Workspace {
    let all = claude_dir_candidates(global);
    let existing: Vec<PathBuf> = all.iter().filter(|dir| dir.is_dir()).cloned().collect();
    let roots = if existing.is_empty() { all.into_iter().take(1).collect() } else { existing };
    configured_workspace(global, ClaudeDirs::at(roots, session_cache(global)), ui.progress_sink())
}

/// What an address is read from: the Claude directories, or a pack.
pub(crate) struct ReadSource {
    pub(crate) workspace: Workspace,
    /// The address in that workspace; `None`: everything in a pack of several sessions.
    pub(crate) address: Option<String>,
    /// The directory of an open pack goes with it.
    pack: Option<OpenPack>,
}

/// Opens what an address is to be read from; it may name a pack, or something in one.
pub(crate) fn read_source(
    ui: &Ui,
    global: &Global,
    text: &str,
) -> Result<ReadSource, CommandError> {
    let Some((file, rest)) = pack_address(text).filter(|_| !global.confined) else {
        let workspace = workspace_for(ui, global, text)?;
        return Ok(ReadSource { workspace, address: Some(text.to_owned()), pack: None });
    };
    let pack = OpenPack::read(Path::new(file), &std::env::temp_dir())?;
    let place = ClaudeDirs::at(vec![pack.root().to_owned()], HistoryCache::disabled());
    let workspace = configured_workspace(global, place, ui.progress_sink()).with_confinement(true);
    let address = match (rest.strip_prefix('#'), &pack.manifest.sessions[..]) {
        (Some(named), _) => Some(named.to_owned()),
        (None, [only]) => Some(format!("{}{rest}", only.id)),
        (None, _) if rest.is_empty() => None,
        (None, _) => return Err(several_sessions(&pack)),
    };
    Ok(ReadSource { workspace, address, pack: Some(pack) })
}

impl ReadSource {
    /// Returns the address of one session.
    pub(crate) fn single_address(&self) -> Result<&str, CommandError> {
        match (&self.address, &self.pack) {
            (None, Some(pack)) => Err(several_sessions(pack)),
            (address, _) => Ok(address.as_deref().unwrap_or_default()),
        }
    }
}

fn several_sessions(pack: &OpenPack) -> CommandError {
    let ids: Vec<&str> = pack.manifest.sessions.iter().map(|session| &*session.id).collect();
    CommandError::user_error(format!("the pack holds {} sessions: {}", ids.len(), ids.join(", ")))
        .with_hint("name one of them as FILE#SESSION")
}

/// Splits an address into a pack on disk and what it names in there; `None`: it is about no pack.
fn pack_address(text: &str) -> Option<(&str, &str)> {
    let ends = text.rmatch_indices(['#', '@', ':']).map(|(at, _)| at);
    let mut splits = std::iter::once(text.len()).chain(ends).map(|at| text.split_at(at));
    splits.find(|(file, _)| is_pack(Path::new(file)))
}

fn configured_workspace(
    global: &Global,
    place: ClaudeDirs,
    progress: Arc<dyn ProgressSink>,
) -> Workspace {
    Workspace::new(place, global.active.resume_rule(), state_dir())
        .with_archive(archive(global, &*progress))
        .with_confinement(global.confined)
        .with_client(client_program())
        .reporting_to(progress)
}

/// Returns the Claude Code program, and the Claude directory that it uses by itself.
pub(crate) fn client_program() -> ClientProgram {
    let named = std::env::var_os("RAMUS_CLAUDE").filter(|program| !program.is_empty());
    let program = match named {
        // A path is seen from here, not from where the client runs.
        Some(path) if Path::new(&path).components().count() > 1 => {
            std::path::absolute(&path).map_or(path, PathBuf::into_os_string)
        }
        Some(name) => name,
        None => "claude".into(),
    };
    let usual_dir = match std::env::var_os("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty()) {
        // The client would look for a relative one from where it runs.
        Some(dir) => Some(PathBuf::from(dir)).filter(|dir| dir.is_absolute()),
        None => Some(home_dir().join(".claude")),
    };
    ClientProgram { program, usual_dir }
}

/// Returns where a file of the user's own settings for ramus lies.
pub(crate) fn config_file(name: &str) -> PathBuf {
    let config = path_variable("XDG_CONFIG_HOME").unwrap_or_else(|| home_dir().join(".config"));
    config.join("ramus").join(name)
}

/// Returns the directories that count, whether they exist or not.
pub(crate) fn claude_dir_candidates(global: &Global) -> Vec<PathBuf> {
    if let Some(dir) = &global.claude_dir {
        return vec![dir.clone()];
    }
    if let Some(dirs) = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|dirs| !dirs.is_empty()) {
        // Other tools of the field take a comma-separated list here.
        return dirs.to_string_lossy().split(',').map(|dir| PathBuf::from(dir.trim())).collect();
    }
    let home = std::env::home_dir().unwrap_or_default();
    let config =
        std::env::var_os("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    vec![home.join(".claude"), config.join("claude")]
}

/// Returns where ramus remembers what it did.
pub(crate) fn state_dir() -> StateDir {
    let usual = || {
        path_variable("XDG_STATE_HOME")
            .unwrap_or_else(|| home_dir().join(".local/state"))
            .join("ramus")
    };
    let dir = path_variable("RAMUS_STATE_DIR").unwrap_or_else(usual);
    // What is written down there must be found again from another directory.
    StateDir::new(std::path::absolute(&dir).unwrap_or(dir))
}

/// Opens the archive, if there is one and it is wanted. One that cannot be used is reported and left out.
pub(crate) fn archive(global: &Global, progress: &dyn ProgressSink) -> Option<Archive> {
    if global.no_archive {
        return None;
    }
    let path = archive_path();
    Archive::open_existing(&path).unwrap_or_else(|error| {
        progress.report_problem(&error.reading(&path));
        None
    })
}

/// Returns the file that the archive is in.
pub(crate) fn archive_path() -> PathBuf {
    let usual = || {
        let data =
            path_variable("XDG_DATA_HOME").unwrap_or_else(|| home_dir().join(".local/share"));
        data.join("ramus/archive.db")
    };
    let path = path_variable("RAMUS_ARCHIVE").unwrap_or_else(usual);
    std::path::absolute(&path).unwrap_or(path)
}

/// Returns where ramus remembers what it read.
pub(crate) fn session_cache(global: &Global) -> HistoryCache {
    if global.no_cache {
        return HistoryCache::disabled();
    }
    let usual = || {
        path_variable("XDG_CACHE_HOME").unwrap_or_else(|| home_dir().join(".cache")).join("ramus")
    };
    HistoryCache::in_dir(path_variable("RAMUS_CACHE_DIR").unwrap_or_else(usual))
}

fn path_variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|dir| !dir.is_empty()).map(PathBuf::from)
}

fn home_dir() -> PathBuf {
    std::env::home_dir().unwrap_or_default()
}

/// Returns the present.
pub(crate) fn current_time() -> Time {
    Time::from_millis(Timestamp::now().as_millisecond())
}

/// The present, in the zone of the person at the screen.
#[derive(Clone, Debug)]
pub(crate) struct LocalClock {
    now: Zoned,
}

impl LocalClock {
    pub(crate) fn new() -> Self {
        Self { now: Timestamp::now().to_zoned(TimeZone::system()) }
    }

    /// Writes a time as short as it can be told: the hour today, the day this year.
    pub(crate) fn short_time(&self, time: Time) -> String {
        let zoned = time.to_timestamp().to_zoned(self.now.time_zone().clone());
        let format = if zoned.date() == self.now.date() {
            "%H:%M"
        } else if zoned.year() == self.now.year() {
            "%d %b %H:%M"
        } else {
            "%d %b %Y"
        };
        zoned.strftime(format).to_string()
    }

    /// Writes when something was said: as short as it can be told, but always with the time of day.
    pub(crate) fn message_time(&self, time: Time) -> String {
        let zoned = time.to_timestamp().to_zoned(self.now.time_zone().clone());
        if zoned.year() == self.now.year() {
            return self.short_time(time);
        }
        zoned.strftime("%d %b %Y %H:%M").to_string()
    }

    /// Writes the time of day.
    pub(crate) fn time_with_seconds(&self, time: Time) -> String {
        let zoned = time.to_timestamp().to_zoned(self.now.time_zone().clone());
        zoned.strftime("%H:%M:%S").to_string()
    }

    /// Returns the present.
    pub(crate) fn local_now(&self) -> &Zoned {
        &self.now
    }

    /// Writes a time given as text; nothing for none.
    pub(crate) fn short_text(&self, time: Option<&str>) -> String {
        time.and_then(|time| Time::parse(time.as_bytes()))
            .map(|time| self.short_time(time))
            .unwrap_or_default()
    }
}
