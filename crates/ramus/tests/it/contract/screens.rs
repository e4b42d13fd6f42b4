//! What the terminal screens show.

use std::path::Path;

use testkit::TestTerminal;

use super::command::{export_row, nothing_to_do, single_row, up_to};
use super::mcp::{file_rows, tree_rows};
use super::{AnswerRow, ContractAnswer, MessageAt, Question, table_cells};

pub(super) struct ScreensDriver {
    terminal: TestTerminal,
    /// The screen with the list of sessions.
    list: String,
}

impl ScreensDriver {
    /// Starts the screens with room for everything; `None`: there is no tmux.
    pub(super) fn start_screens(claude: &Path) -> Option<Self> {
        let terminal =
            crate::terminal::start_terminal(&format!("ramus --claude-dir {}", claude.display()))?;
        terminal.run_tmux(&["resize-window", "-x", "100", "-y", "500"]);
        terminal.wait_for_screen(|screen| {
            screen.lines().count() > 490 && screen.contains("type to filter")
        });
        let list = terminal.screen_text();
        Some(Self { terminal, list })
    }

    pub(super) fn answer_question(&self, question: &Question) -> Option<ContractAnswer> {
        match question {
            Question::Sessions => {
                let rows = self.list.lines().skip(2).filter_map(session_row).collect();
                Some(ContractAnswer { rows, ordered: false })
            }
            // The screens search without filters.
            Question::Search(search) => search.is_plain().then(|| self.search_answer(search.words)),
            Question::Conversations { title, .. } => {
                self.open_title(title).then(|| self.branches_answer())
            }
            Question::Tree { title, .. } => self.open_title(title).then(|| self.tree_answer()),
            Question::Retention => {
                let due = self.list.lines().find(|line| line.contains("Claude Code"));
                Some(single_row(AnswerRow::from([(
                    "due",
                    due.unwrap_or_default().trim().to_owned(),
                )])))
            }
            Question::Goto(place) => self.open_end(place).then(|| self.goto_end()),
            Question::Fork(place) => self.open_end(place).then(|| self.fork_end()),
            Question::Files(place) => self.open_end(place).then(|| self.files_at_end()),
            Question::Export { place, n } => {
                self.open_end(place).then(|| self.export_answer(&place.session, *n))
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
        let is_open = place.opened_by.as_ref().is_some_and(|title| self.open_title(title));
        if is_open {
            self.terminal.press_keys(&["End"]);
        }
        is_open
    }

    fn goto_end(&self) -> ContractAnswer {
        self.terminal.press_keys(&["g"]);
        self.terminal.wait_for_text("The session resumes there already; nothing was written.");
        self.leave_said();
        single_row(nothing_to_do())
    }

    fn fork_end(&self) -> ContractAnswer {
        self.terminal.press_keys(&["F"]);
        self.terminal.wait_for_text("Make it?");
        let screen = self.terminal.screen_text();
        self.terminal.press_keys(&["n"]);
        self.terminal.wait_for_text("nothing was written");
        self.leave_said();
        single_row(AnswerRow::from([("what", "fork".to_owned()), ("up to", up_to(&screen))]))
    }

    fn files_at_end(&self) -> ContractAnswer {
        self.terminal.press_keys(&["o"]);
        self.terminal.wait_for_screen(|screen| {
            screen.contains("Files as of this message") || screen.contains("This could not be done")
        });
        let screen = self.terminal.screen_text();
        self.terminal.press_keys(&["q"]);
        self.leave_session();
        let inner = screen.lines().skip_while(|line| !line.contains("─ Files as of this message"));
        let inner = inner.skip(1).map_while(|line| line.trim().strip_prefix('│'));
        let inner = inner.map(|line| line.trim_end_matches(['│', '▐']).trim_matches([' ', '❯']));
        let inner: Vec<&str> = inner.filter(|line| !line.is_empty()).collect();
        file_rows(&inner)
    }

    fn export_answer(&self, session: &str, n: u64) -> ContractAnswer {
        self.terminal.press_keys(&["e"]);
        self.terminal.wait_for_text("Export this conversation as");
        self.terminal.press_keys(&["j"]);
        let dir = format!("ramus-export-{}-{n}", super::shorten_id(session));
        self.terminal.wait_for_text(&format!(" to {dir}"));
        self.leave_said();
        let files = std::fs::read_dir(self.terminal.dir.path().join(dir)).unwrap();
        let mut names = files.map(|file| file.unwrap().path());
        let is_transcript = |path: &std::path::PathBuf| {
            path.file_name().unwrap().to_string_lossy().starts_with("transcript_")
        };
        let file = names.find(is_transcript).unwrap();
        let transcript = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        single_row(export_row(&transcript, false))
    }

    /// Asks to go to the first message of the only session; returns what is offered.
    pub(super) fn goto_first(&self) -> String {
        self.terminal.press_keys(&["Enter"]);
        self.terminal.wait_for_text("b branches");
        self.terminal.press_keys(&["g"]);
        self.terminal.wait_for_text("Make it?");
        let screen = self.terminal.screen_text().replace('│', " ");
        screen.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Asks to undo where nothing was done; returns what is answered.
    pub(super) fn undo_nothing(&self) -> String {
        self.terminal.press_keys(&["Enter"]);
        self.terminal.wait_for_text("b branches");
        self.terminal.press_keys(&["u"]);
        self.terminal.wait_for_text("This could not be done");
        self.terminal.screen_text()
    }

    /// Opens a session that has branches; `false`: its title does not tell it from others.
    fn open_title(&self, title: &str) -> bool {
        let titled = |line: &&str| line.trim_start_matches([' ', '▸']).starts_with(title);
        let rows: Vec<&str> = self.list.lines().filter(titled).collect();
        if !matches!(rows[..], [row] if row.contains('┬')) {
            return false;
        }
        self.terminal.type_text(title);
        self.terminal.wait_for_text(&format!("filter: {title}"));
        self.terminal.press_keys(&["Enter"]);
        self.terminal.wait_for_text("b branches");
        true
    }

    /// Leaves where something was said, which stands in the place of the keys until one is pressed.
    fn leave_said(&self) {
        self.terminal.press_keys(&["Up"]);
        self.leave_session();
    }

    fn leave_session(&self) {
        self.terminal.wait_for_text("b branches");
        self.terminal.press_keys(&["q"]);
        self.terminal.wait_for_text("filter: ");
        self.terminal.press_keys(&["C-u"]);
        self.terminal.wait_for_text("type to filter");
    }

    fn branches_answer(&self) -> ContractAnswer {
        self.terminal.press_keys(&["b"]);
        self.terminal.wait_for_text("─ Branches ");
        let screen = self.terminal.screen_text();
        self.terminal.press_keys(&["Escape"]);
        self.leave_session();
        let inner = screen.lines().skip_while(|line| !line.contains("─ Branches ")).skip(1);
        let inner = inner.take_while(|line| line.contains('│'));
        ContractAnswer { rows: inner.map(branch_row).collect(), ordered: true }
    }

    fn tree_answer(&self) -> ContractAnswer {
        self.terminal.press_keys(&["t"]);
        self.terminal.wait_for_text("● active  ○ abandoned");
        let screen = self.terminal.screen_text();
        self.terminal.press_keys(&["q"]);
        self.leave_session();
        // The tree is on the right.
        let right = |line: &str| line.chars().skip(56).collect::<String>();
        let lines: Vec<String> = screen.lines().map(right).collect();
        tree_rows(&lines.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn search_answer(&self, words: &str) -> ContractAnswer {
        self.terminal.press_keys(&["C-f"]);
        self.terminal.press_keys(&["C-u"]);
        self.terminal.type_text(words);
        self.terminal.press_keys(&["Enter"]);
        let title = format!("Find “{words}” ");
        let rows = |screen: &str| -> Vec<AnswerRow> {
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
        self.terminal.wait_for_screen(is_done);
        let screen = self.terminal.screen_text();
        self.terminal.press_keys(&["Escape"]);
        self.terminal.wait_for_text("type to filter");
        ContractAnswer { rows: rows(&screen), ordered: true }
    }
}

/// Reads `▸ TITLE ┬BRANCHES ▸AGENTS MESSAGES TIME_WIDTH`.
fn session_row(line: &str) -> Option<AnswerRow> {
    let line = line.strip_prefix("  ")?.trim_end();
    let mut words: Vec<&str> = line.split_whitespace().collect();
    // A time is three words: day, month, and hour or year.
    words.truncate(words.len().checked_sub(3)?);
    let messages = words.pop().filter(|word| word.parse::<u32>().is_ok())?;
    let mut row = AnswerRow::from([
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

/// Reads `│ ❯ SIGN @N KIND_WIDTH TITLE resumes here N messages TIME_WIDTH │`.
fn branch_row(line: &str) -> AnswerRow {
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
    let mut row = AnswerRow::from([
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

/// Reads `●@N KIND_WIDTH TITLE STATUS TIME_WIDTH`; the line below it has the words.
fn hit_row(line: &str) -> Option<AnswerRow> {
    let sign = line.chars().next().filter(|sign| "●○·".contains(*sign))?;
    let cells = table_cells(line);
    let status = match sign {
        '●' => "active",
        '○' => "abandoned",
        _ => "",
    };
    let conversation =
        cells[0].trim_start_matches(sign).trim_start_matches('@').trim_end_matches('▸');
    Some(AnswerRow::from([
        ("status", status.to_owned()),
        ("conversation", conversation.trim().to_owned()),
    ]))
}
