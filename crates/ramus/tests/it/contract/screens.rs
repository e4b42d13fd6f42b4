//! What the terminal screens show.

use std::path::Path;

use testkit::Terminal;

use super::command::one;
use super::{Answer, Question, Row, cells};

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
            Question::Search(words) => Some(self.search(words)),
            Question::Retention => {
                let due = self.list.lines().find(|line| line.contains("Claude Code"));
                Some(one(Row::from([("due", due.unwrap_or_default().trim().to_owned())])))
            }
            _ => None,
        }
    }

    fn search(&self, words: &str) -> Answer {
        self.terminal.keys(&["C-f"]);
        self.terminal.keys(&["C-u"]);
        self.terminal.type_in(words);
        self.terminal.keys(&["Enter"]);
        let title = format!("Find “{words}” ");
        let is_done = |screen: &str| {
            let head = screen.lines().find_map(|line| line.split_once(&title));
            head.is_some_and(|(_, state)| !state.starts_with("looking"))
        };
        self.terminal.wait_for(is_done);
        let screen = self.terminal.screen();
        self.terminal.keys(&["Escape"]);
        self.terminal.wait("type to filter");
        let inner = screen.lines().filter_map(|line| line.trim().strip_prefix('│'));
        let rows = inner.filter_map(|line| hit_row(line.trim()));
        Answer { rows: rows.collect(), ordered: true }
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
