//! On a real terminal: colour, the pager, and lists to choose from.

use std::path::Path;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A terminal of 100 by 30, gone when dropped.
pub(crate) struct Terminal {
    pub(crate) dir: TempDir,
}

impl Terminal {
    /// Starts a shell command in it; `None` when there is no tmux here.
    pub(crate) fn start(command: &str) -> Option<Self> {
        if Command::new("tmux").arg("-V").output().is_err() {
            eprintln!("skipped: tmux is not installed");
            return None;
        }
        let terminal = Self { dir: tempfile::tempdir().unwrap() };
        let home = terminal.dir.path().display();
        let ramus = Path::new(env!("CARGO_BIN_EXE_ramus")).parent().unwrap().display();
        let command = format!(
            "cd {home}; env -i HOME={home} TZ=UTC LANG=C.UTF-8 TERM=tmux-256color PATH={ramus}:$PATH sh -c '{command}'; cat"
        );
        let started = terminal.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "100",
            "-y",
            "30",
            &command,
        ]);
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        Some(terminal)
    }

    pub(crate) fn tmux(&self, args: &[&str]) -> Output {
        Command::new("tmux")
            .arg("-S")
            .arg(self.dir.path().join("tmux"))
            .args(args)
            .output()
            .unwrap()
    }

    /// Waits until the screen shows a text, and returns it with its escape codes.
    pub(crate) fn wait(&self, text: &str) -> String {
        let start = Instant::now();
        loop {
            let plain = String::from_utf8(self.tmux(&["capture-pane", "-p"]).stdout).unwrap();
            if plain.contains(text) {
                return String::from_utf8(self.tmux(&["capture-pane", "-p", "-e"]).stdout).unwrap();
            }
            assert!(start.elapsed() < Duration::from_secs(30), "no {text:?} on\n{plain}");
            sleep(Duration::from_millis(50));
        }
    }
}

impl Terminal {
    /// Presses keys by their names.
    pub(crate) fn keys(&self, keys: &[&str]) {
        for key in keys {
            self.tmux(&["send-keys", key]);
        }
    }

    /// Types a text as it is.
    pub(crate) fn type_in(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Returns the screen as plain text.
    pub(crate) fn screen(&self) -> String {
        String::from_utf8(self.tmux(&["capture-pane", "-p"]).stdout).unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn a_tree_is_drawn_in_colour() {
    let Some(terminal) =
        Terminal::start("ramus demo d >/dev/null; ramus --claude-dir d --no-pager tree 7ea9")
    else {
        return;
    };
    let screen = terminal.wait("◌ draft");
    assert!(screen.contains("resumes here") && screen.contains("\u{1b}["), "{screen}");
}

#[test]
fn a_long_transcript_goes_through_the_pager() {
    let Some(terminal) = Terminal::start(
        "ramus demo d >/dev/null; PAGER=less ramus --claude-dir d show 7ea9; echo done",
    ) else {
        return;
    };
    let screen = terminal.wait("build a teapot");
    assert!(!screen.contains("Dockerfile"), "the end is not on the first page:\n{screen}");
    terminal.tmux(&["send-keys", "q"]);
    terminal.wait("done");
}

#[test]
fn what_to_watch_is_chosen_from_lists() {
    let Some(terminal) =
        Terminal::start("ramus demo d >/dev/null; echo $$ > pid; exec ramus --claude-dir d watch")
    else {
        return;
    };
    terminal.wait("Watch which project?");
    terminal.tmux(&["send-keys", "teapot", "Enter"]);
    terminal.tmux(&["send-keys", "Enter"]);
    terminal.wait("Which session?");
    terminal.tmux(&["send-keys", "1", "Enter"]);
    terminal.wait("watching 1 session; Ctrl-C ends");
    let dir = terminal.dir.path().join("d/projects/-home-dev-teapot");
    let newest = std::fs::read_dir(&dir).unwrap().map(|file| file.unwrap().path());
    for path in newest.filter(|path| path.extension().is_some_and(|end| end == "jsonl")) {
        let line = testkit::jsonl("new-node call:t9:Bash @10 sleep 1000");
        let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
        std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
    }
    terminal.wait("⏵ Bash sleep 1000");
    // A real Ctrl-C would also end the shell around it.
    let pid = std::fs::read_to_string(terminal.dir.path().join("pid")).unwrap();
    assert!(Command::new("kill").args(["-INT", pid.trim()]).status().unwrap().success());
    terminal.wait("watched 15 tokens");
}

#[test]
fn the_running_block_is_drawn_in_its_place() {
    let Some(terminal) =
        Terminal::start("mkdir -p d/projects/p; exec ramus --claude-dir d usage --watch")
    else {
        return;
    };
    terminal.wait("No block is running");
    let file = terminal.dir.path().join("d/projects/p/11111111-0000-4000-8000-000000000001.jsonl");
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S").to_string();
    let mut lines = String::new();
    for (n, width) in [("1", "60"), ("2", "40"), ("3", "90")] {
        terminal.tmux(&["resize-window", "-x", width, "-y", "20"]);
        let line = testkit::jsonl(&format!("a{n} assistant @0 hi"));
        lines += &line.replace("2026-01-01T00:00:00", &now);
        std::fs::write(&file, &lines).unwrap();
        let screen = terminal.wait(&format!("messages  {n}"));
        assert_eq!(screen.matches("Block").count(), 1, "{screen}");
    }
}
