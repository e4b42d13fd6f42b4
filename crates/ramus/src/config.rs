//! The user's settings: options, environment variables and a file, in that order, each with its origin.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use ramus_store::{PathError, open_regular};
use ramus_tui::KeyMap;
use toml::de::{DeTable, DeValue};

use crate::args::{ColorChoice, Global};
use crate::env;
use crate::error::CommandError;

/// The settings that apply if no option is given.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The file, whether it is there or not.
    pub(crate) file: PathBuf,
    pub(crate) file_exists: bool,
    pub(crate) theme: Setting<ColorChoice>,
    pub(crate) screen_colors: Setting<ScreenColorChoice>,
    pub(crate) ascii: Setting<bool>,
    pub(crate) scope: Setting<UsualScope>,
    pub(crate) times: Setting<TimeStyle>,
    /// The fields of `sessions` on a terminal; empty: the usual table.
    pub(crate) columns: Setting<Vec<String>>,
    pub(crate) pager: Setting<String>,
    pub(crate) prices: Setting<Option<PathBuf>>,
    pub(crate) resume_program: Setting<String>,
    /// The directory of the embedding model for `find --like`.
    pub(crate) like_model: Setting<Option<PathBuf>>,
    /// The keys of the screens.
    pub(crate) keys: KeyMap,
    /// Unknown keys of the file, each with its line.
    pub(crate) unknown: Vec<String>,
}

/// A value, and where it came from.
#[derive(Clone, Debug)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) origin: SettingOrigin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingOrigin {
    Default,
    /// The line of the file.
    File(usize),
    Environment(&'static str),
    CommandLine(&'static str),
}

/// The default scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UsualScope {
    /// The project of the current directory, if it has sessions
    Project,
    /// All projects
    Everywhere,
}

/// The colours of the screens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScreenColorChoice {
    /// 24-bit colours where the terminal has them and tells its background
    Auto,
    /// The terminal's 16 colours
    Terminal,
    Dark,
    Light,
}

/// How lists write times on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeStyle {
    Relative,
    Absolute,
}

/// The maximum size of the file that is read.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The names that the file may use.
const KEYS: [&str; 11] = [
    "theme",
    "screen_colors",
    "ascii",
    "scope",
    "times",
    "columns",
    "pager",
    "prices",
    "resume_program",
    "like_model",
    "keys",
];

impl Settings {
    /// Reads the file and the environment. A value that cannot be meant is an error, a name that nobody
    /// knows is remembered.
    pub(crate) fn load(global: &Global) -> Result<Self, CommandError> {
        let path = config_path();
        let text = match open_regular(&path).and_then(read_text) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(PathError::new(&path, source).into()),
        };
        let file = ConfigFile::parse(&path, text.as_deref().unwrap_or_default())?;
        Self::merge(global, path, text.is_some(), file)
    }

    /// Like [`load`](Self::load) without the file, for commands that must not fail.
    pub(crate) fn without_file(global: &Global) -> Self {
        let merged = Self::merge(global, config_path(), false, ConfigFile::default());
        merged.unwrap_or_else(|_| Self {
            scope: Setting::usual(UsualScope::Project),
            ..Self::default()
        })
    }

    fn merge(
        global: &Global,
        path: PathBuf,
        file_exists: bool,
        file: ConfigFile,
    ) -> Result<Self, CommandError> {
        use SettingOrigin::{CommandLine, Environment};
        let option = |given: bool, name| given.then_some(CommandLine(name));
        let text = |name: &'static str| variable(name).map(|text| (text, Environment(name)));
        let scope = match text("RAMUS_SCOPE") {
            Some((text, origin)) => Some((parse_word("RAMUS_SCOPE", &text)?, origin)),
            None => None,
        };
        let ascii = text("RAMUS_ASCII").map(|(text, origin)| (is_truthy(&text), origin));
        let no_color = text("NO_COLOR").map(|(_, origin)| (ColorChoice::Never, origin));
        let everywhere = option(global.everywhere, "--everywhere");
        let any = |name: &'static str| Some((std::env::var(name).ok()?, Environment(name)));
        let pager = option(global.no_pager, "--no-pager").map(|origin| (String::new(), origin));
        let prices = text("RAMUS_PRICES").map(|(text, origin)| (Some(text.into()), origin));
        let like_model = text("RAMUS_LIKE_MODEL").map(|(text, origin)| (Some(text.into()), origin));
        Ok(Self {
            theme: Setting::first(
                [global.color.map(|color| (color, CommandLine("--color"))), no_color, file.theme],
                ColorChoice::Auto,
            ),
            screen_colors: Setting::first(
                [None, None, file.screen_colors],
                ScreenColorChoice::Auto,
            ),
            ascii: Setting::first(
                [option(global.ascii, "--ascii").map(|origin| (true, origin)), ascii, file.ascii],
                false,
            ),
            scope: Setting::first(
                [everywhere.map(|origin| (UsualScope::Everywhere, origin)), scope, file.scope],
                UsualScope::Project,
            ),
            times: Setting::first([None, None, file.times], TimeStyle::Relative),
            columns: Setting::first([None, None, file.columns], Vec::new()),
            pager: Setting::first(
                // A pager for ramus alone, then the file's, then the one of all programs. An empty one is none.
                [pager, any("RAMUS_PAGER"), file.pager.or_else(|| any("PAGER"))],
                "less".to_owned(),
            ),
            prices: Setting::first(
                [None, prices, file.prices.map(|(path, origin)| (Some(path), origin))],
                None,
            ),
            resume_program: Setting::first(
                [None, text("RAMUS_CLAUDE"), file.resume_program],
                "claude".to_owned(),
            ),
            like_model: Setting::first(
                [None, like_model, file.like_model.map(|(path, origin)| (Some(path), origin))],
                None,
            ),
            keys: file.keys,
            unknown: file.unknown,
            file: path,
            file_exists,
        })
    }

    /// Lists every setting: its name, its value as text, where it came from.
    pub(crate) fn rows(&self) -> Vec<(&'static str, String, SettingOrigin)> {
        let prices = self.prices.value.clone().unwrap_or_else(|| env::config_file("prices.json"));
        vec![
            ("theme", word(&self.theme.value), self.theme.origin),
            ("screen_colors", word(&self.screen_colors.value), self.screen_colors.origin),
            ("ascii", self.ascii.value.to_string(), self.ascii.origin),
            ("scope", word(&self.scope.value), self.scope.origin),
            ("times", word(&self.times.value), self.times.origin),
            ("columns", self.columns.value.join(","), self.columns.origin),
            ("pager", self.pager.value.clone(), self.pager.origin),
            ("prices", prices.display().to_string(), self.prices.origin),
            ("resume_program", self.resume_program.value.clone(), self.resume_program.origin),
            ("like_model", self.like_model_dir().display().to_string(), self.like_model.origin),
        ]
    }

    /// Returns where the embedding model is, whether it is there or not.
    pub(crate) fn like_model_dir(&self) -> PathBuf {
        self.like_model.value.clone().unwrap_or_else(|| env::config_file("model"))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            file: PathBuf::new(),
            file_exists: false,
            theme: Setting::usual(ColorChoice::Auto),
            screen_colors: Setting::usual(ScreenColorChoice::Auto),
            ascii: Setting::usual(false),
            scope: Setting::usual(UsualScope::Project),
            times: Setting::usual(TimeStyle::Relative),
            columns: Setting::usual(Vec::new()),
            pager: Setting::usual("less".to_owned()),
            prices: Setting::usual(None),
            resume_program: Setting::usual("claude".to_owned()),
            like_model: Setting::usual(None),
            keys: KeyMap::default(),
            unknown: Vec::new(),
        }
    }
}

impl<T> Setting<T> {
    fn usual(value: T) -> Self {
        Self { value, origin: SettingOrigin::Default }
    }

    /// Takes the first value that is set.
    fn first(set: [Option<(T, SettingOrigin)>; 3], usual: T) -> Self {
        match set.into_iter().flatten().next() {
            Some((value, origin)) => Self { value, origin },
            None => Self::usual(usual),
        }
    }
}

fn read_text(file: impl Read) -> io::Result<String> {
    let mut text = String::new();
    file.take(MAX_FILE_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// Returns where the file is: `RAMUS_CONFIG`, else the usual place.
fn config_path() -> PathBuf {
    variable("RAMUS_CONFIG").map_or_else(|| env::config_file("config.toml"), PathBuf::from)
}

fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
    Some(value.to_string_lossy().into_owned())
}

/// Whether a variable that is on or off is on, as other programs read it.
fn is_truthy(text: &str) -> bool {
    !matches!(text.to_lowercase().as_str(), "0" | "n" | "no" | "f" | "false" | "off")
}

fn word<T: ValueEnum>(value: &T) -> String {
    value.to_possible_value().map(|word| word.get_name().to_owned()).unwrap_or_default()
}

fn parse_word<T: ValueEnum>(name: &str, text: &str) -> Result<T, CommandError> {
    T::from_str(text, true).map_err(|_| {
        let words = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let words: Vec<String> = words.map(|word| word.get_name().to_owned()).collect();
        CommandError::user_error(format!(
            "{name} cannot be {text:?}; it can be {}",
            words.join(", ")
        ))
    })
}

type FileSetting<T> = Option<(T, SettingOrigin)>;

/// The contents of the file.
#[derive(Debug, Default)]
struct ConfigFile {
    theme: FileSetting<ColorChoice>,
    screen_colors: FileSetting<ScreenColorChoice>,
    ascii: FileSetting<bool>,
    scope: FileSetting<UsualScope>,
    times: FileSetting<TimeStyle>,
    columns: FileSetting<Vec<String>>,
    pager: FileSetting<String>,
    prices: FileSetting<PathBuf>,
    resume_program: FileSetting<String>,
    like_model: FileSetting<PathBuf>,
    keys: KeyMap,
    unknown: Vec<String>,
}

impl ConfigFile {
    fn parse(path: &Path, text: &str) -> Result<Self, CommandError> {
        let line_of = |at: usize| text.get(..at).unwrap_or(text).matches('\n').count() + 1;
        let table = DeTable::parse(text).map_err(|error| {
            let line = line_of(error.span().map_or(0, |span| span.start));
            let message = error.message().lines().collect::<Vec<_>>().join("; ");
            CommandError::user_error(format!("{}:{line}: {message}", path.display()))
        })?;
        let mut config = Self::default();
        for (key, value) in table.get_ref() {
            let line = line_of(key.span().start);
            let entry = FileEntry { place: format!("{}:{line}", path.display()), line };
            let (name, value) = (&**key.get_ref(), value.get_ref());
            match name {
                "theme" => config.theme = entry.word(name, value)?,
                "screen_colors" => config.screen_colors = entry.word(name, value)?,
                "ascii" => config.ascii = entry.flag(name, value)?,
                "scope" => config.scope = entry.word(name, value)?,
                "times" => config.times = entry.word(name, value)?,
                "columns" => config.columns = entry.list(name, value)?,
                "pager" => config.pager = entry.text(name, value)?,
                "prices" => config.prices = entry.path(path, name, value)?,
                "resume_program" => config.resume_program = entry.text(name, value)?,
                "like_model" => config.like_model = entry.path(path, name, value)?,
                "keys" => {
                    let Some(table) = value.as_table() else {
                        return Err(entry.refuse(name, "a table"));
                    };
                    for (action, keys) in table {
                        let line = line_of(action.span().start);
                        let entry = FileEntry { place: format!("{}:{line}", path.display()), line };
                        let bound =
                            entry.bind_keys(&mut config.keys, action.get_ref(), keys.get_ref());
                        // A wrong key binding is a warning: screens with the usual keys are better than none.
                        config.unknown.extend(bound.err());
                    }
                }
                _ => config.unknown.push(format!(
                    "{}: unknown key `{name}`; the keys are {}",
                    entry.place,
                    KEYS.join(", ")
                )),
            }
        }
        Ok(config)
    }
}

/// The position of a value in the file, for messages.
struct FileEntry {
    place: String,
    line: usize,
}

impl FileEntry {
    /// Binds an action of the screens to a key or several.
    fn bind_keys(
        &self,
        bound: &mut KeyMap,
        action: &str,
        value: &DeValue<'_>,
    ) -> Result<(), String> {
        let keys: Option<Vec<String>> = match value {
            DeValue::String(key) => Some(vec![key.to_string()]),
            DeValue::Array(keys) => {
                keys.iter().map(|key| key.get_ref().as_str().map(str::to_owned)).collect()
            }
            _ => None,
        };
        let problem = match keys {
            Some(keys) => bound.bind_action(action, &keys).err(),
            None => Some(format!("`{action}` must be a key or a list of keys")),
        };
        problem.map_or(Ok(()), |why| Err(format!("{}: {why}", self.place)))
    }

    fn refuse(&self, name: &str, expected: &str) -> CommandError {
        CommandError::user_error(format!("{}: `{name}` must be {expected}", self.place))
    }

    fn set<T>(&self, value: T) -> FileSetting<T> {
        Some((value, SettingOrigin::File(self.line)))
    }

    fn text(&self, name: &str, value: &DeValue<'_>) -> Result<FileSetting<String>, CommandError> {
        match value {
            DeValue::String(text) => Ok(self.set(text.to_string())),
            _ => Err(self.refuse(name, "a text in quotes")),
        }
    }

    fn flag(&self, name: &str, value: &DeValue<'_>) -> Result<FileSetting<bool>, CommandError> {
        match value {
            DeValue::Boolean(flag) => Ok(self.set(*flag)),
            _ => Err(self.refuse(name, "true or false")),
        }
    }

    fn word<T: ValueEnum>(
        &self,
        name: &str,
        value: &DeValue<'_>,
    ) -> Result<FileSetting<T>, CommandError> {
        let DeValue::String(text) = value else {
            return Err(self.refuse(name, "a word in quotes"));
        };
        Ok(self.set(parse_word(&format!("{}: `{name}`", self.place), text)?))
    }

    fn list(
        &self,
        name: &str,
        value: &DeValue<'_>,
    ) -> Result<FileSetting<Vec<String>>, CommandError> {
        let refuse = || self.refuse(name, "a list of field names in quotes");
        let DeValue::Array(array) = value else { return Err(refuse()) };
        let mut names = Vec::new();
        for item in array {
            match item.get_ref() {
                DeValue::String(text) => names.push(text.to_string()),
                _ => return Err(refuse()),
            }
        }
        Ok(self.set(names))
    }

    /// A path is seen from the directory of the file; `~` is the home directory.
    fn path(
        &self,
        file: &Path,
        name: &str,
        value: &DeValue<'_>,
    ) -> Result<FileSetting<PathBuf>, CommandError> {
        let Some((text, _)) = self.text(name, value)? else { return Ok(None) };
        let home = std::env::home_dir().unwrap_or_default();
        let path = match text.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None => file.parent().unwrap_or(Path::new("")).join(&text),
        };
        Ok(self.set(path))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::CommandFactory;

    use super::{ColorChoice, ConfigFile, KEYS, SettingOrigin, UsualScope};
    use crate::args::Args;

    fn parse(text: &str) -> Result<ConfigFile, String> {
        ConfigFile::parse(Path::new("c.toml"), text).map_err(|error| format!("{:#}", error.error))
    }

    #[test]
    fn a_file_is_read_with_the_lines_of_its_values() {
        let text = "# mine\ntheme = \"never\"\nscope = 'everywhere'\ncolumns = [\"id\", \"title\"]\n[keys]\nquit = 'q'\n";
        let config = parse(text).unwrap();
        assert_eq!(config.theme, Some((ColorChoice::Never, SettingOrigin::File(2))));
        assert_eq!(config.scope, Some((UsualScope::Everywhere, SettingOrigin::File(3))));
        let columns = config.columns.unwrap().0;
        assert_eq!(columns, ["id", "title"]);
        assert!(config.unknown.is_empty());
    }

    #[test]
    fn the_help_names_every_key() {
        let command = Args::command();
        let help = command.find_subcommand("config").unwrap().get_long_about().unwrap();
        let help = help.to_string();
        let words: Vec<&str> =
            help.lines().filter_map(|line| line.split_whitespace().next()).collect();
        for key in KEYS {
            let heading = format!("`[{key}]`");
            assert!(words.iter().any(|word| *word == key || *word == heading), "{key}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let unknown = parse("ascii = true\nthem = 1\n").unwrap().unknown;
        assert!(unknown[0].starts_with("c.toml:2: unknown key `them`"), "{unknown:?}");
        for (text, message) in [
            ("\n\ntheme = 1", "c.toml:3: `theme` must be a word in quotes"),
            (
                "scope = 'here'",
                "c.toml:1: `scope` cannot be \"here\"; it can be project, everywhere",
            ),
            ("ascii = 'yes'", "c.toml:1: `ascii` must be true or false"),
            ("columns = 'id'", "c.toml:1: `columns` must be a list"),
            ("pager = 'less'\npager = 'more'", "c.toml:2: "),
            ("theme = ", "c.toml:1: "),
            ("keys = 1", "c.toml:1: `keys` must be a table"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(message), "{error:?} for {text:?}");
        }
    }
}
