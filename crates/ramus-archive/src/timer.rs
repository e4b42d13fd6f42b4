//! What runs `ramus archive add` every hour: a systemd timer or a launchd agent, made of files of their own,
//! or a line for cron.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ramus_store::{PathError, read_optional_text};

/// What the timer runs.
#[derive(Clone, Debug)]
pub struct TimerCommand {
    /// The program's path and its arguments.
    pub words: Vec<String>,
    /// What it needs of the environment: a timer has none of a shell's.
    pub environment: Vec<(String, String)>,
}

/// A timer: files that belong to it alone, and the commands that start and stop it.
#[derive(Clone, Debug)]
pub struct TimerSetup {
    pub files: Vec<TimerFile>,
    /// Files that starting it creates next to them; they remain if starting fails.
    links: Vec<PathBuf>,
    pub start: Vec<String>,
    pub stop: Vec<String>,
}

/// A file of a timer.
#[derive(Clone, Debug)]
pub struct TimerFile {
    pub path: PathBuf,
    pub text: String,
}

/// What is there of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerState {
    Missing,
    Installed,
    /// Files of these names hold something else.
    Other,
}

/// Every file of a timer contains this text, so that it is recognised whatever it runs.
const MARKER: &str = "made by ramus archive install";
const UNIT: &str = "ramus-archive";
const AGENT: &str = "ramus.archive";

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

impl TimerSetup {
    /// Describes a timer of systemd; `dir` is the directory of the user's own units.
    pub fn systemd(dir: &Path, command: &TimerCommand) -> Self {
        let quoted = |word: &String| {
            let word = word.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{}\"", word.replace('%', "%%").replace('$', "$$"))
        };
        let run: Vec<String> = command.words.iter().map(quoted).collect();
        let setting = |(name, value): &(String, String)| {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
            format!("Environment=\"{name}={value}\"\n")
        };
        let environment: String = command.environment.iter().map(setting).collect();
        let service = format!(
            "# {MARKER}\n[Unit]\nDescription=Archive Claude Code sessions\n\n[Service]\nType=oneshot\n{environment}ExecStart={}\n",
            run.join(" ")
        );
        let timer = format!(
            "# {MARKER}\n[Unit]\nDescription=Archive Claude Code sessions every hour\n\n[Timer]\nOnCalendar=hourly\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n"
        );
        let file = |ending: &str, text: &str| TimerFile {
            path: dir.join(format!("{UNIT}.{ending}")),
            text: text.to_owned(),
        };
        Self {
            files: vec![file("service", &service), file("timer", &timer)],
            links: vec![dir.join("timers.target.wants").join(format!("{UNIT}.timer"))],
            start: words(&format!("systemctl --user enable --now {UNIT}.timer")),
            stop: words(&format!("systemctl --user disable --now {UNIT}.timer")),
        }
    }

    /// Describes an agent of launchd.
    pub fn launchd(home: &Path, command: &TimerCommand) -> Self {
        let escaped =
            |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let string = |text: &String| format!("    <string>{}</string>\n", escaped(text));
        let arguments: String = command.words.iter().map(string).collect();
        let pair = |(name, value): &(String, String)| {
            format!("    <key>{}</key>\n    <string>{}</string>\n", escaped(name), escaped(value))
        };
        let environment: String = command.environment.iter().map(pair).collect();
        let text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<!-- {MARKER} -->\n<plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>{AGENT}</string>\n  <key>ProgramArguments</key>\n  <array>\n{arguments}  </array>\n  <key>EnvironmentVariables</key>\n  <dict>\n{environment}  </dict>\n  <key>StartInterval</key>\n  <integer>3600</integer>\n</dict>\n</plist>\n"
        );
        let path = home.join("Library/LaunchAgents").join(format!("{AGENT}.plist"));
        let with = |verb: &str| {
            vec![
                "launchctl".to_owned(),
                verb.to_owned(),
                "-w".to_owned(),
                path.display().to_string(),
            ]
        };
        let (start, stop) = (with("load"), with("unload"));
        Self { files: vec![TimerFile { path, text }], links: Vec::new(), start, stop }
    }

    /// Looks whether it is there.
    pub fn look(&self) -> Result<TimerState, PathError> {
        let mut found = 0;
        for file in &self.files {
            match read_optional_text(&file.path)? {
                Some(text) if text.contains(MARKER) => found += 1,
                Some(_) => return Ok(TimerState::Other),
                None => {}
            }
        }
        Ok(if found == self.files.len() { TimerState::Installed } else { TimerState::Missing })
    }

    /// Writes its files; existing ones are not changed.
    pub fn write_files(&self) -> Result<(), PathError> {
        for file in &self.files {
            let write = || {
                fs::create_dir_all(file.path.parent().unwrap_or(Path::new(".")))?;
                let mut new = private_options().open(&file.path)?;
                io::Write::write_all(&mut new, file.text.as_bytes())
            };
            match write() {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                written => written.map_err(|source| PathError::on_write(&file.path, source))?,
            }
        }
        Ok(())
    }

    /// Removes those of its files that ramus wrote, and links to them.
    pub fn remove_files(&self) -> Result<(), PathError> {
        let remove =
            |path: &Path| fs::remove_file(path).map_err(|source| PathError::on_write(path, source));
        for file in &self.files {
            if read_optional_text(&file.path)?.is_some_and(|text| text.contains(MARKER)) {
                remove(&file.path)?;
            }
        }
        for link in self.links.iter().filter(|link| link.is_symlink() && !link.exists()) {
            remove(link)?;
        }
        Ok(())
    }
}

/// Makes files that only their owner can read: they tell where the archive is.
fn private_options() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Returns a line for `crontab -e`; `quoted` writes a word as a shell reads it.
pub fn cron_line(command: &TimerCommand, quoted: &dyn Fn(&str) -> String) -> String {
    let setting = |(name, value): &(String, String)| format!("{name}={}", quoted(value));
    let words = command.words.iter().map(|word| quoted(word));
    let line: Vec<String> = command.environment.iter().map(setting).chain(words).collect();
    // An unquoted percent sign ends the command there.
    format!("@hourly {}", line.join(" ").replace('%', "\\%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> TimerCommand {
        TimerCommand {
            words: ["/opt/my 100%/ramus", "archive", "add", "--quiet"].map(str::to_owned).to_vec(),
            environment: vec![("RAMUS_ARCHIVE".to_owned(), "/a & \"b\"/archive.db".to_owned())],
        }
    }

    #[test]
    fn every_scheduler_gets_the_same_words_in_its_own_quotes() {
        let systemd = TimerSetup::systemd(Path::new("/u"), &command());
        let service = &systemd.files[0].text;
        assert!(
            service.contains("ExecStart=\"/opt/my 100%%/ramus\" \"archive\" \"add\" \"--quiet\"\n"),
            "{service}"
        );
        assert!(
            service.contains("Environment=\"RAMUS_ARCHIVE=/a & \\\"b\\\"/archive.db\"\n"),
            "{service}"
        );
        let launchd = TimerSetup::launchd(Path::new("/h"), &command());
        let plist = &launchd.files[0].text;
        assert!(plist.contains("<string>/a &amp; \"b\"/archive.db</string>"), "{plist}");
        assert_eq!(launchd.files[0].path, Path::new("/h/Library/LaunchAgents/ramus.archive.plist"));
        let line = cron_line(&command(), &|word| format!("'{word}'"));
        assert_eq!(
            line,
            "@hourly RAMUS_ARCHIVE='/a & \"b\"/archive.db' '/opt/my 100\\%/ramus' 'archive' 'add' '--quiet'"
        );
    }

    #[test]
    fn files_come_and_go_and_others_stay() {
        let home = testkit::TestHome::new();
        let setup = TimerSetup::systemd(&home.path().join("units"), &command());
        assert_eq!(setup.look().unwrap(), TimerState::Missing);
        setup.write_files().unwrap();
        assert_eq!(setup.look().unwrap(), TimerState::Installed);
        #[cfg(unix)]
        for file in &setup.files {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(file.path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        // From another environment it is the same timer.
        let other = TimerCommand { words: vec!["ramus".to_owned()], environment: Vec::new() };
        let other = TimerSetup::systemd(&home.path().join("units"), &other);
        assert_eq!(other.look().unwrap(), TimerState::Installed);
        other.remove_files().unwrap();
        assert_eq!(setup.look().unwrap(), TimerState::Missing);
        setup.write_files().unwrap();
        fs::write(&setup.files[1].path, "mine\n").unwrap();
        assert_eq!(setup.look().unwrap(), TimerState::Other);
        setup.write_files().unwrap();
        setup.remove_files().unwrap();
        assert!(!setup.files[0].path.exists());
        assert_eq!(fs::read_to_string(&setup.files[1].path).unwrap(), "mine\n");
    }
}
