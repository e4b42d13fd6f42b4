//! A real terminal (tmux) for one test.

use std::path::Path;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A terminal of 100 by 30 with its own home directory. It and everything in it end when dropped.
#[derive(Debug)]
pub struct TestTerminal {
    pub dir: TempDir,
}

impl TestTerminal {
    /// Starts a shell command, with `programs` first in `PATH`. `None`: tmux is not installed.
    ///
    /// # Panics
    ///
    /// If tmux cannot start.
    pub fn start_command(command: &str, programs: &Path) -> Option<Self> {
        if Command::new("tmux").arg("-V").output().is_err() {
            crate::skip_test("tmux is not installed");
            return None;
        }
        let dir = tempfile::tempdir().expect("because tests need a scratch directory");
        let terminal = Self { dir };
        let home = terminal.dir.path().display();
        let programs = programs.display();
        let command = format!(
            "cd {home}; env -i HOME={home} TZ=UTC LANG=C.UTF-8 TERM=tmux-256color PATH={programs}:$PATH sh -c '{command}'; cat"
        );
        let new = ["-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", &command];
        let started = terminal.run_tmux(&new);
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        Some(terminal)
    }

    /// Runs a tmux command.
    ///
    /// # Panics
    ///
    /// If tmux has ended.
    pub fn run_tmux(&self, args: &[&str]) -> Output {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(self.dir.path().join("tmux")).args(args);
        tmux.output().expect("because tmux was there before")
    }

    /// Waits until the screen shows a text, and returns the screen with escape codes.
    ///
    /// # Panics
    ///
    /// If it does not within 30 seconds.
    #[track_caller]
    pub fn wait_for_text(&self, text: &str) -> String {
        if let Err(screen) = self.poll_screen(|screen| screen.contains(text)) {
            panic!("no {text:?} on\n{screen}");
        }
        self.tmux_output(&["capture-pane", "-p", "-e"])
    }

    /// Waits until the screen satisfies a condition.
    ///
    /// # Panics
    ///
    /// If it does not within 30 seconds.
    #[track_caller]
    pub fn wait_for_screen(&self, is_right: impl Fn(&str) -> bool) {
        if let Err(screen) = self.poll_screen(is_right) {
            panic!("not as it should be:\n{screen}");
        }
    }

    fn poll_screen(&self, is_right: impl Fn(&str) -> bool) -> Result<(), String> {
        let start = Instant::now();
        loop {
            let screen = self.screen_text();
            if is_right(&screen) {
                return Ok(());
            }
            if start.elapsed() > Duration::from_secs(30) {
                return Err(screen);
            }
            sleep(Duration::from_millis(50));
        }
    }

    /// Presses keys, given by their tmux names.
    pub fn press_keys(&self, keys: &[&str]) {
        for key in keys {
            self.run_tmux(&["send-keys", key]);
        }
    }

    /// Types a literal text.
    pub fn type_text(&self, text: &str) {
        self.run_tmux(&["send-keys", "-l", text]);
    }

    /// Clicks on the first occurrence of a text.
    ///
    /// # Panics
    ///
    /// If the text is not on the screen.
    #[track_caller]
    pub fn click_text(&self, text: &str) {
        let screen = self.screen_text();
        let places = screen.lines().enumerate();
        let place = { places }.find_map(|(row, line)| {
            line.find(text).map(|at| (line[..at].chars().count() + 1, row + 1))
        });
        let (column, row) = place.unwrap_or_else(|| panic!("no {text:?} on\n{screen}"));
        self.type_text(&format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"));
    }

    /// Scrolls down by one step in the middle of the screen.
    pub fn wheel_down(&self) {
        self.type_text("\x1b[<65;50;15M");
    }

    /// Returns the screen as plain text.
    pub fn screen_text(&self) -> String {
        self.tmux_output(&["capture-pane", "-p"])
    }

    /// Returns the value of a tmux format, such as `#{alternate_on}`.
    pub fn query_tmux(&self, question: &str) -> String {
        self.tmux_output(&["display-message", "-p", question]).trim().to_owned()
    }

    fn tmux_output(&self, args: &[&str]) -> String {
        String::from_utf8_lossy(&self.run_tmux(args).stdout).into_owned()
    }
}

impl Drop for TestTerminal {
    fn drop(&mut self) {
        self.run_tmux(&["kill-server"]);
    }
}
