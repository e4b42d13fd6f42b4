//! The environment of the command line: directories, clock, time zone.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use ramus_app::{ClientProgram, CurrentDir, ProgressSink, TeamFilter, Workspace};
use ramus_archive::{ArchiveLocation, LazyArchive};
use ramus_core::time::Time;
use ramus_store::StateDir;
use ramus_store::cache::HistoryCache;
use ramus_store::claude_dir::{ClaudeDirError, ClaudeDirs};
use ramus_store::pack::OpenPack;
use ramus_store::pack::read::is_pack;
use ramus_store::real_path::real_path_or_given;

use crate::args::Global;
use crate::config::{TimeStyle, UsualScope};
use crate::error::CommandError;
use crate::own_dir::{OwnDir, path_variable};
use crate::send_policy::load_send_policy;
use crate::ui::Ui;

/// Opens the requested Claude directories, or the default ones. None needs to exist where an archive has something to
/// read.
pub(crate) fn open_claude_dirs(global: &Global) -> Result<ClaudeDirs, ClaudeDirError> {
    match ClaudeDirs::open(claude_dir_candidates(global)) {
        Ok(dirs) => Ok(dirs.with_cache(session_cache(global))),
        Err(_) if has_archived_history(global) => Ok(dirs_to_fill(global)),
        Err(error) => Err(error),
    }
}

/// Whether a team's sessions are asked for, or some of the requested Claude directories are archived.
fn has_archived_history(global: &Global) -> bool {
    let archive = LazyArchive::new(archive_location(global));
    let is_archived = |root: PathBuf| match archive.open_existing() {
        Ok(Some(archive)) => {
            archive.files(Some(&real_path_or_given(&root))).is_ok_and(|files| !files.is_empty())
        }
        _ => false,
    };
    let mut roots = claude_dir_candidates(global).into_iter();
    !global.no_archive && (team_filter(global).is_some() || roots.any(is_archived))
}

/// Takes the Claude directories that exist, or the first that could.
fn dirs_to_fill(global: &Global) -> ClaudeDirs {
    let all = claude_dir_candidates(global);
    let existing: Vec<PathBuf> = all.iter().filter(|dir| dir.is_dir()).cloned().collect();
    let roots = if existing.is_empty() { all.into_iter().take(1).collect() } else { existing };
    ClaudeDirs::at(roots, session_cache(global))
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

/// Opens the Claude directories with a sink for progress and warnings.
pub(crate) fn open_workspace(
    global: &Global,
    progress: Arc<dyn ProgressSink>,
) -> Result<Workspace, CommandError> {
    let workspace = configured_workspace(global, open_claude_dirs(global)?, progress);
    let workspace = with_team(workspace, global)?;
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

/// Opens Claude directories without requiring that they exist or have sessions.
pub(crate) fn workspace_to_fill(ui: &Ui, global: &Global) -> Workspace {
    configured_workspace(global, dirs_to_fill(global), ui.progress_sink())
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
    // The directories of a pack are those of another machine.
    let workspace = configured_workspace(global, place, ui.progress_sink())
        .with_confinement(true)
        .with_current_dir(None);
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
    CommandError::user_error(format!(
        "the pack contains {} sessions: {}",
        ids.len(),
        ids.join(", ")
    ))
    .with_hint("choose one with FILE#SESSION")
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
        .with_send_policy(load_send_policy())
        .with_confinement(global.confined)
        .with_client(client_program(global))
        .with_current_dir(current_dir(global))
        .with_like_model(like_model_dir(global))
        .reporting_to(progress)
}

/// Returns the directory of the embedding model: the configured one, or the usual one if it is there.
fn like_model_dir(global: &Global) -> Option<PathBuf> {
    let settings = &global.settings;
    let dir = settings.like_model_dir();
    (settings.like_model.value.is_some() || dir.is_dir()).then_some(dir)
}

/// Returns the Claude Code program, and the Claude directory that it uses by default.
pub(crate) fn client_program(global: &Global) -> ClientProgram {
    let named = OsString::from(&global.settings.resume_program.value);
    let program = match Path::new(&named).components().count() > 1 {
        // A path is seen from here, not from where the client runs.
        true => std::path::absolute(&named).map_or(named, PathBuf::into_os_string),
        false => named,
    };
    let usual_dir = match std::env::var_os("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty()) {
        // The client would look for a relative one from where it runs.
        Some(dir) => Some(PathBuf::from(dir)).filter(|dir| dir.is_absolute()),
        None => Some(home_dir().join(".claude")),
    };
    ClientProgram { program, usual_dir }
}

/// Puts the lines of standard input in the place of `-`, each up to its first tab.
pub(crate) fn expand_addresses(typed: &[String]) -> Result<Vec<String>, CommandError> {
    let mut addresses = Vec::with_capacity(typed.len());
    for address in typed {
        if address != "-" {
            addresses.push(address.clone());
            continue;
        }
        let before = addresses.len();
        for line in std::io::stdin().lines() {
            let line = line?;
            let address = line.split('\t').next().unwrap_or_default().trim();
            addresses.extend((!address.is_empty()).then(|| address.to_owned()));
        }
        if addresses.len() == before {
            return Err(CommandError::nothing_found("no addresses on standard input"));
        }
    }
    Ok(addresses)
}

/// Returns the current directory. `None`: it no longer exists.
pub(crate) fn current_dir(global: &Global) -> Option<CurrentDir> {
    let path = std::env::current_dir().ok()?;
    let decides = global.settings.scope.value == UsualScope::Project;
    let home = std::env::home_dir().map(|home| real_path_or_given(&home));
    Some(CurrentDir { path, home, decides })
}

/// Returns the path of one of ramus's configuration files.
pub(crate) fn config_file(name: &str) -> PathBuf {
    OwnDir::Config.path().join(name)
}

/// Returns the directories that count, whether they exist or not.
pub(crate) fn claude_dir_candidates(global: &Global) -> Vec<PathBuf> {
    if let Some(dir) = &global.claude_dir {
        return vec![dir.clone()];
    }
    if let Some(dirs) = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|dirs| !dirs.is_empty()) {
        // Other tools of the field take a comma-separated list here.
        let dirs = dirs.to_string_lossy();
        // An empty one would be the current directory.
        let named = dirs.split(',').map(str::trim).filter(|dir| !dir.is_empty());
        return named.map(PathBuf::from).collect();
    }
    let home = home_dir();
    let config = path_variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
    vec![home.join(".claude"), config.join("claude")]
}

/// Returns where ramus remembers what it did.
pub(crate) fn state_dir() -> StateDir {
    let dir = path_variable("RAMUS_STATE_DIR").unwrap_or_else(|| OwnDir::State.path());
    // The journal stores paths below it, which must be valid from any directory.
    StateDir::new(std::path::absolute(&dir).unwrap_or(dir))
}

/// Returns the archive unless it is turned off. An unusable one is reported and ignored.
pub(crate) fn archive(global: &Global, progress: &dyn ProgressSink) -> Option<Arc<LazyArchive>> {
    if global.no_archive {
        return None;
    }
    let archive = LazyArchive::new(archive_location(global));
    match archive.open_existing() {
        Ok(_) => Some(Arc::new(archive)),
        Err(error) => {
            progress.report_problem(&error.reading(Path::new(&archive.name())));
            None
        }
    }
}

/// Adds the sessions of a team to a workspace, if they are asked for.
pub(crate) fn with_team(workspace: Workspace, global: &Global) -> Result<Workspace, CommandError> {
    match team_filter(global) {
        Some(filter) => Ok(workspace.with_team(&filter)?),
        None => Ok(workspace),
    }
}

/// Returns whose archived sessions are asked for. `None`: those of this machine.
fn team_filter(global: &Global) -> Option<TeamFilter> {
    let Global { everyone, owner, machine, .. } = global;
    let is_asked = *everyone || owner.is_some() || machine.is_some();
    is_asked.then(|| TeamFilter { owner: owner.clone(), machine: machine.clone() })
}

/// Returns where the archive is.
pub(crate) fn archive_location(global: &Global) -> ArchiveLocation {
    let named = global.archive.clone().or_else(|| std::env::var("RAMUS_ARCHIVE").ok());
    match named.filter(|text| ArchiveLocation::is_server_url(text)) {
        Some(url) => ArchiveLocation::Server { url, machine: machine_name() },
        None => ArchiveLocation::File(archive_path(global)),
    }
}

/// Returns what this machine is called on a team's server.
fn machine_name() -> String {
    let named =
        ["RAMUS_MACHINE", "COMPUTERNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    let asked = || {
        let output = std::process::Command::new("hostname").output().ok()?;
        String::from_utf8(output.stdout).ok()
    };
    let name = named.or_else(asked).unwrap_or_default();
    match name.trim() {
        "" => "unknown".to_owned(),
        name => name.to_owned(),
    }
}

/// Returns the file that the archive is in.
fn archive_path(global: &Global) -> PathBuf {
    let usual = || OwnDir::Data.path().join("archive.db");
    let named = global.archive.as_ref().map(PathBuf::from);
    let path = named.or_else(|| path_variable("RAMUS_ARCHIVE")).unwrap_or_else(usual);
    std::path::absolute(&path).unwrap_or(path)
}

/// Returns where ramus remembers what it read.
pub(crate) fn session_cache(global: &Global) -> HistoryCache {
    if global.no_cache {
        return HistoryCache::disabled();
    }
    let dir = path_variable("RAMUS_CACHE_DIR").unwrap_or_else(|| OwnDir::Cache.path());
    HistoryCache::in_dir(dir)
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
    /// Times are written as ages.
    is_relative: bool,
}

impl LocalClock {
    pub(crate) fn new() -> Self {
        Self { now: Timestamp::now().to_zoned(TimeZone::system()), is_relative: false }
    }

    /// The clock of a list: ages for a person, unless dates are wanted.
    pub(crate) fn for_list(ui: &Ui, global: &Global, absolute: bool) -> Self {
        let is_wanted = global.settings.times.value == TimeStyle::Relative;
        Self { is_relative: ui.terminal && is_wanted && !absolute, ..Self::new() }
    }

    /// The clock of the list in the screens.
    pub(crate) fn for_screens(is_relative: bool) -> Self {
        Self { is_relative, ..Self::new() }
    }

    /// Writes how long ago something was.
    fn age(&self, time: Time) -> String {
        let seconds = self.now.timestamp().as_second() - time.to_timestamp().as_second();
        let (count, unit) = match seconds {
            ..0 => return self.short_date(time),
            0..60 => return "now".to_owned(),
            60..3_600 => (seconds / 60, "min"),
            3_600..86_400 => (seconds / 3_600, "h"),
            86_400..1_209_600 => (seconds / 86_400, "d"),
            1_209_600..5_184_000 => (seconds / 604_800, "weeks"),
            5_184_000..63_072_000 => (seconds / 2_629_800, "months"),
            _ => (seconds / 31_557_600, "years"),
        };
        format!("{count} {unit} ago")
    }

    /// Formats a time as short as possible: its age in a list, else the hour today, the day this year.
    pub(crate) fn short_time(&self, time: Time) -> String {
        if self.is_relative { self.age(time) } else { self.short_date(time) }
    }

    fn short_date(&self, time: Time) -> String {
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

    /// Formats the time of a message as briefly as possible, always with the time of day.
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
