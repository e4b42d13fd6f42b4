//! What the terminal screens show.

use std::path::Path;

use testkit::Terminal;

use super::command::{export_row, nothing_to_do, one, up_to};
use super::mcp::{file_rows, tree_rows};
use super::{Answer, MessageAt, Question, Row, cells};

pub(super) struct Screens {
    terminal: Terminal,
    /// The screen with the list of sessions.
    list: String,
}

impl Screens {
    /// Starts the screens with room for everything; `None`: there is no tmux.
    pub(super) fn start(claude: &Path) -> Option<Self> {
        let terminal = crate::terminal::start(&format!("ramus --claude-dir {}", claude.display()))?;
        terminal.tmux(&["resize-window", "-x", "100", "-y", "500"]);
        terminal
            .wait_for(|screen| screen.lines().count() > 490 && screen.contains("type to filter"));
        let list = terminal.screen();
        Some(Self { terminal, list })
    }

    pub(super) fn answer(&self, question: &Question) -> Option<Answer> {
        match question {
            Question::Sessions => {
                let rows = self.list.lines().skip(2).filter_map(session_row).collect();
                Some(Answer { rows, ordered: false })
            }
            // The screens search without filters.
            Question::Search(search) => search.is_plain().then(|| self.search(search.words)),
            Question::Conversations { title, .. } => self.open(title).then(|| self.branches()),
            Question::Tree { title, .. } => self.open(title).then(|| self.tree()),
            Question::Retention => {
                let due = self.list.lines().find(|line| line.contains("Claude Code"));
                Some(one(Row::from([("due", due.unwrap_or_default().trim().to_owned())])))
            }
            Question::Goto(place) => self.open_end(place).then(|| self.goto_end()),
            Question::Fork(place) => self.open_end(place).then(|| self.fork_end()),
            Question::Files(place) => self.open_end(place).then(|| self.files_at_end()),
            Question::Export { place, n } => {
                self.open_end(place).then(|| self.export(&place.session, *n))
            }
            Question::Diff { .. }
            | Question::Projects
            | Question::Usage
            | Question::Merge { .. }
            | Question::Resume(_)
            | Question::Rename { .. } => None,
        }
    }

    /// Opens a session whose end is the message that is meant, and goes there.
    fn open_end(&self, place: &MessageAt) -> bool {
        let is_open = place.opened_by.as_ref().is_some_and(|title| self.open(title));
        if is_open {
            self.terminal.keys(&["End"]);
        }
        is_open
    }

    fn goto_end(&self) -> Answer {
        self.terminal.keys(&["g"]);
        self.terminal.wait("The session resumes there already; nothing was written.");
        self.leave_said();
        one(nothing_to_do())
    }

    fn fork_end(&self) -> Answer {
        self.terminal.keys(&["F"]);
        self.terminal.wait("Make it?");
        let screen = self.terminal.screen();
        self.terminal.keys(&["n"]);
        self.terminal.wait("nothing was written");
        self.leave_said();
        one(Row::from([("what", "fork".to_owned()), ("up to", up_to(&screen))]))
    }

    fn files_at_end(&self) -> Answer {
        self.terminal.keys(&["o"]);
        self.terminal.wait_for(|screen| {
            screen.contains("Files as of this message") || screen.contains("This could not be done")
        });
        let screen = self.terminal.screen();
        self.terminal.keys(&["q"]);
        self.leave();
        let inner = screen.lines().skip_while(|line| !line.contains("─ Files as of this message"));
        let inner = inner.skip(1).map_while(|line| line.trim().strip_prefix('│'));
        let inner = inner.map(|line| line.trim_end_matches(['│', '▐']).trim_matches([' ', '❯']));
        let inner: Vec<&str> = inner.filter(|line| !line.is_empty()).collect();
        file_rows(&inner)
    }

    fn export(&self, session: &str, n: u64) -> Answer {
        self.terminal.keys(&["e"]);
        self.terminal.wait("Export this conversation as");
        self.terminal.keys(&["j"]);
        let dir = format!("ramus-export-{}-{n}", super::short(session));
        self.terminal.wait(&format!(" to {dir}"));
        self.leave_said();
        let files = std::fs::read_dir(self.terminal.dir.path().join(dir)).unwrap();
        let mut names = files.map(|file| file.unwrap().path());
        let is_transcript = |path: &std::path::PathBuf| {
            path.file_name().unwrap().to_string_lossy().starts_with("transcript_")
        };
        let file = names.find(is_transcript).unwrap();
        let transcript = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        one(export_row(&transcript, false))
    }

    /// Asks to go to the first message of the only session; returns what is offered.
    pub(super) fn goto_first(&self) -> String {
        self.terminal.keys(&["Enter"]);
        self.terminal.wait("b branches");
        self.terminal.keys(&["g"]);
        self.terminal.wait("Make it?");
        let screen = self.terminal.screen().replace('│', " ");
        screen.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Asks to undo where nothing was done; returns what is answered.
    pub(super) fn undo_nothing(&self) -> String {
        self.terminal.keys(&["Enter"]);
        self.terminal.wait("b branches");
        self.terminal.keys(&["u"]);
        self.terminal.wait("This could not be done");
        self.terminal.screen()
    }

    /// Opens a session that has branches; `false`: its title does not tell it from others.
    fn open(&self, title: &str) -> bool {
        let titled = |line: &&str| line.trim_start_matches([' ', '▸']).starts_with(title);
        let rows: Vec<&str> = self.list.lines().filter(titled).collect();
        if !matches!(rows[..], [row] if row.contains('┬')) {
            return false;
        }
        self.terminal.type_in(title);
        self.terminal.wait(&format!("filter: {title}"));
        self.terminal.keys(&["Enter"]);
        self.terminal.wait("b branches");
        true
    }

    /// Leaves where something was said, which stands in the place of the keys until one is pressed.
    fn leave_said(&self) {
        self.terminal.keys(&["Up"]);
        self.leave();
    }

    fn leave(&self) {
        self.terminal.wait("b branches");
        self.terminal.keys(&["q"]);
        self.terminal.wait("filter: ");
        self.terminal.keys(&["C-u"]);
        self.terminal.wait("type to filter");
    }

    fn branches(&self) -> Answer {
        self.terminal.keys(&["b"]);
        self.terminal.wait("─ Branches ");
        let screen = self.terminal.screen();
        self.terminal.keys(&["Escape"]);
        self.leave();
        let inner = screen.lines().skip_while(|line| !line.contains("─ Branches ")).skip(1);
        let inner = inner.take_while(|line| line.contains('│'));
        Answer { rows: inner.map(branch_row).collect(), ordered: true }
    }

    fn tree(&self) -> Answer {
        self.terminal.keys(&["t"]);
        self.terminal.wait("● active  ○ abandoned");
        let screen = self.terminal.screen();
        self.terminal.keys(&["q"]);
        self.leave();
        // The tree is on the right.
        let right = |line: &str| line.chars().skip(56).collect::<String>();
        let lines: Vec<String> = screen.lines().map(right).collect();
        tree_rows(&lines.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn search(&self, words: &str) -> Answer {
        self.terminal.keys(&["C-f"]);
        self.terminal.keys(&["C-u"]);
        self.terminal.type_in(words);
        self.terminal.keys(&["Enter"]);
        let title = format!("Find “{words}” ");
        let rows = |screen: &str| -> Vec<Row> {
            let inner = screen.lines().filter_map(|line| line.trim().strip_prefix('│'));
            inner.filter_map(|line| hit_row(line.trim())).collect()
        };
        // The number of hits is drawn before all of them are.
        let is_done = |screen: &str| {
            let head = screen.lines().find_map(|line| line.split_once(&title));
            let count = head.and_then(|(_, state)| match state.split_once(' ')? {
                ("looking", _) => None,
                ("nothing", _) => Some(0),
                (count, _) => count.parse().ok(),
            });
            count.is_some_and(|count: usize| rows(screen).len() == count)
        };
        self.terminal.wait_for(is_done);
        let screen = self.terminal.screen();
        self.terminal.keys(&["Escape"]);
        self.terminal.wait("type to filter");
        Answer { rows: rows(&screen), ordered: true }
    }
}

/// Reads `▸ TITLE ┬BRANCHES ▸AGENTS MESSAGES TIME`.
fn session_row(line: &str) -> Option<Row> {
    let line = line.strip_prefix("  ")?.trim_end();
    let mut words: Vec<&str> = line.split_whitespace().collect();
    // A time is three words: day, month, and hour or year.
    words.truncate(words.len().checked_sub(3)?);
    let messages = words.pop().filter(|word| word.parse::<u32>().is_ok())?;
    let mut row = Row::from([
        ("messages", messages.to_owned()),
        ("branches", "1".to_owned()),
        ("agents", "0".to_owned()),
    ]);
    while let Some(word) = words.pop() {
        if let Some(branches) = word.strip_prefix('┬') {
            row.insert("branches", branches.to_owned());
        } else if let Some(agents) = word.strip_prefix('▸') {
            row.insert("agents", agents.to_owned());
        } else if !word.starts_with('↳') {
            words.push(word);
            break;
        }
    }
    let title = words.join(" ");
    row.insert("title", title.trim_start_matches("▸ ").to_owned());
    Some(row)
}

/// Reads `│ ❯ SIGN @N KIND TITLE resumes here N messages TIME │`.
fn branch_row(line: &str) -> Row {
    let line = line.trim().trim_matches('│').trim().trim_start_matches("❯ ");
    let mut words: Vec<&str> = line.split_whitespace().collect();
    // A time is three words, and `messages` stands before it.
    words.truncate(words.len() - 4);
    let messages = words.pop().unwrap();
    let resumes = words.ends_with(&["resumes", "here"]);
    words.truncate(words.len() - if resumes { 2 } else { 0 });
    let status = if matches!(words[0], "◉" | "●") { "active" } else { "abandoned" };
    let is_fork = ["edit", "retry", "rewind", "interrupt"].contains(&words[2]);
    let fork = if is_fork { words.remove(2) } else { "" };
    let mut row = Row::from([
        ("n", words[1].trim_start_matches('@').to_owned()),
        ("status", status.to_owned()),
        ("resumes", resumes.to_string()),
        ("fork", fork.to_owned()),
        ("messages", messages.to_owned()),
    ]);
    let title = words[2..].join(" ");
    // Branches of one prompt are told apart by a number before it, or by the reply behind it.
    let title = match title.strip_prefix('(').and_then(|rest| rest.split_once(") ")) {
        Some((number, title)) if number.parse::<u32>().is_ok() => title,
        _ => &title,
    };
    let title = title.split_once(" → ").map_or(title, |(prompt, _)| prompt);
    row.insert("branch title", title.to_owned());
    row
}

/// Reads `●@N KIND TITLE STATUS TIME`; the line below it has the words.
fn hit_row(line: &str) -> Option<Row> {
    let sign = line.chars().next().filter(|sign| "●○·".contains(*sign))?;
    let cells = cells(line);
    let status = match sign {
        '●' => "active",
        '○' => "abandoned",
        _ => "",
    };
    let conversation =
        cells[0].trim_start_matches(sign).trim_start_matches('@').trim_end_matches('▸');
    Some(Row::from([
        ("status", status.to_owned()),
        ("conversation", conversation.trim().to_owned()),
    ]))
}
