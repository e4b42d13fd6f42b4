//! What the terminal screens show.

use std::cell::RefCell;
use std::path::Path;

use testkit::TestTerminal;

use super::command::{export_row, nothing_to_do, single_row, up_to};
use super::mcp::{file_rows, tree_rows};
use super::{AnswerRow, ContractAnswer, MessageAt, Question};

/// What the screens say where no file was changed.
const NO_FILES: &str = "no files to show: up to this message, no tool changed one";

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
        // Without a preview beside the list.
        terminal.run_tmux(&["resize-window", "-x", "99", "-y", "500"]);
        terminal.wait_for_screen(|screen| {
            screen.lines().count() > 490 && screen.contains("type to search")
        });
        let list = terminal.screen_text();
        Some(Self { terminal, list })
    }

    pub(super) fn answer_question(&self, question: &Question) -> Option<ContractAnswer> {
        match question {
            Question::Sessions => {
                let lines: Vec<&str> = self.list.lines().skip(2).collect();
                let rows = lines.windows(2).filter_map(|two| session_row(two[0], two[1]));
                Some(ContractAnswer { rows: rows.collect(), ordered: false })
            }
            // The screens search without filters.
            Question::Search(search) => search.is_plain().then(|| self.search_answer(search.words)),
            Question::Conversations { title, .. } => {
                self.open_title(title).then(|| self.branches_answer())
            }
            Question::Tree { title, .. } => self.open_title(title).then(|| self.tree_answer()),
            Question::Retention => {
                // The sentence may continue on the next line, above the offer to archive the files.
                let lines = self.list.lines().skip_while(|line| !line.contains("Claude Code"));
                let due = lines.take_while(|line| !line.contains(" of these files"));
                let due: Vec<&str> = due.map(str::trim).collect();
                let offer = self.list.lines().find_map(|line| line.split_once(" of these files"));
                let unarchived = offer.and_then(|(text, _)| text.split(' ').next_back());
                let unarchived = unarchived.unwrap_or("0");
                Some(single_row(AnswerRow::from([
                    ("due", due.join(" ")),
                    ("unarchived", unarchived.to_owned()),
                ])))
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
            | Question::Rename { .. }
            | Question::Trash { .. }
            | Question::RestoreFiles(_) => None,
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
        self.terminal.wait_for_text("Nothing to do: the session already resumes there.");
        self.leave_said();
        single_row(nothing_to_do())
    }

    fn fork_end(&self) -> ContractAnswer {
        self.terminal.press_keys(&["F"]);
        self.terminal.wait_for_text("Create it?");
        let screen = self.terminal.screen_text();
        self.terminal.press_keys(&["n"]);
        self.terminal.wait_for_text("nothing changed");
        self.leave_said();
        single_row(AnswerRow::from([("what", "fork".to_owned()), ("up to", up_to(&screen))]))
    }

    fn files_at_end(&self) -> ContractAnswer {
        self.terminal.press_keys(&["o"]);
        // The frame is drawn from its top to its bottom.
        self.terminal.wait_for_screen(|screen| {
            let title = screen.find("Files as of this message").or(screen.find("This failed"));
            title.is_some_and(|title| screen[title..].contains('╰')) || screen.contains(NO_FILES)
        });
        let screen = self.terminal.screen_text();
        if screen.contains(NO_FILES) {
            self.leave_said();
            return file_rows(&[]);
        }
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
        let dir = self.terminal.dir.path().join(dir);
        self.terminal.wait_for_text(&format!(" to {}", dir.display()));
        self.leave_said();
        let files = std::fs::read_dir(dir).unwrap();
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
        self.terminal.wait_for_text("Create it?");
        let screen = self.terminal.screen_text().replace('│', " ");
        screen.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Asks to undo where nothing was done; returns what is answered.
    pub(super) fn undo_nothing(&self) -> String {
        self.terminal.press_keys(&["Enter"]);
        self.terminal.wait_for_text("b branches");
        self.terminal.press_keys(&["u"]);
        self.terminal.wait_for_text("This failed");
        self.terminal.screen_text()
    }

    /// Opens a session that has branches; `false`: its title does not tell it from others.
    fn open_title(&self, title: &str) -> bool {
        let titled = |line: &str| line.trim_start_matches([' ', '▸']).starts_with(title);
        let lines: Vec<&str> = self.list.lines().collect();
        let rows: Vec<&[&str]> = lines.windows(2).filter(|two| titled(two[0])).collect();
        if !matches!(rows[..], [[_, facts]] if facts.contains('┬')) {
            return false;
        }
        self.terminal.type_text(title);
        self.terminal.wait_for_text(&format!("search: {title}"));
        self.terminal.press_keys(&["Enter"]);
        self.terminal.wait_for_text("b branches");
        true
    }

    /// Dismisses a status message, which hides the keys until one is pressed.
    fn leave_said(&self) {
        self.terminal.press_keys(&["Up"]);
        self.leave_session();
    }

    fn leave_session(&self) {
        self.terminal.wait_for_text("b branches");
        self.terminal.press_keys(&["q"]);
        self.terminal.wait_for_text("search: ");
        self.terminal.press_keys(&["C-u"]);
        self.terminal.wait_for_text("type to search");
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
        // The tree is below the transcript.
        let lines = screen.lines().skip_while(|line| !line.starts_with("──────────"));
        tree_rows(&lines.skip(1).collect::<Vec<_>>())
    }

    fn search_answer(&self, words: &str) -> ContractAnswer {
        self.terminal.type_text(words);
        let head = format!(" search: {words}▏ ");
        let is_done = |screen: &str| {
            let state = screen.lines().find_map(|line| line.strip_prefix(&head));
            state.is_some_and(|state| state.contains(" found") && !state.contains('…'))
        };
        // The head is drawn before the rows are.
        let before = RefCell::new(String::new());
        self.terminal.wait_for_screen(|screen| {
            is_done(screen) && before.replace(screen.to_owned()) == screen
        });
        let screen = self.terminal.screen_text();
        self.terminal.press_keys(&["Escape"]);
        self.terminal.wait_for_text("type to search");
        let rows = screen.lines().filter_map(hit_row).collect();
        ContractAnswer { rows, ordered: false }
    }
}

/// Reads ` ▸ TITLE ↳ORIGIN AGE` and, below it, `PROJECT PROMPT ┬BRANCHES ▸AGENTS DURATION N msgs COST`.
fn session_row(title: &str, facts: &str) -> Option<AnswerRow> {
    let mut row = AnswerRow::from([
        ("branches", "1".to_owned()),
        ("agents", "0".to_owned()),
        ("origin", String::new()),
    ]);
    let mut words: Vec<&str> = facts.split_whitespace().collect();
    while words.pop()? != "msgs" {}
    row.insert("messages", words.pop()?.to_owned());
    let is_duration = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    while words.last().is_some_and(is_duration) {
        words.pop();
    }
    for (sign, field) in [('▸', "agents"), ('┬', "branches")] {
        let count = words.last().and_then(|word| word.strip_prefix(sign));
        if let Some(count) = count.filter(|count| count.parse::<u32>().is_ok()) {
            row.insert(field, count.to_owned());
            words.pop();
        }
    }
    let mut words: Vec<&str> = title.split_whitespace().collect();
    // An age is three words, such as `2 h ago`.
    let age = if words.last() == Some(&"now") { 1 } else { 3 };
    words.truncate(words.len().checked_sub(age)?);
    if let Some(origin) = words.last().and_then(|word| word.strip_prefix('↳')) {
        row.insert("origin", origin.to_owned());
        words.pop();
    }
    row.insert("title", words.join(" ").trim_start_matches("▸ ").to_owned());
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
    // Branches of one prompt have a number before it, or the reply after it.
    let title = match title.strip_prefix('(').and_then(|rest| rest.split_once(") ")) {
        Some((number, title)) if number.parse::<u32>().is_ok() => title,
        _ => &title,
    };
    let title = title.split_once(" → ").map_or(title, |(prompt, _)| prompt);
    row.insert("branch title", title.to_owned());
    row
}

/// Reads `SIGN PASSAGE … ●@N AGE`, below the row of its session.
fn hit_row(line: &str) -> Option<AnswerRow> {
    let passage = line.strip_prefix("     ").filter(|rest| !rest.starts_with(' '));
    let is_prompt = line.trim_start().starts_with("prompt only");
    passage.or(is_prompt.then_some(line))?;
    let branch = |word: &str| {
        let status = match word.chars().next()? {
            '●' => "active",
            '○' => "abandoned",
            _ => return None,
        };
        let number = word.trim_start_matches(['●', '○']).strip_prefix('@')?;
        number.parse::<u32>().is_ok().then(|| (status.to_owned(), number.to_owned()))
    };
    let (status, conversation) = line.split_whitespace().rev().find_map(branch).unwrap_or_default();
    Some(AnswerRow::from([("status", status), ("conversation", conversation)]))
}
