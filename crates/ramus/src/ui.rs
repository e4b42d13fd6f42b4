//! stdout is data, stderr is talk; only this file prints.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ramus_app::ProgressSink;
use ramus_render::ansi::{AnsiTheme, to_ansi};
use ramus_render::highlight::Highlight;
use ramus_render::json::{Answer, Document, write_json};
use ramus_render::layout::truncate_line;
use ramus_render::symbols::SymbolSet;
use ramus_render::{Label, Line};
use ramus_store::PathError;

use crate::args::{ColorChoice, Global};
use crate::error::{CommandError, ErrorKind};

/// Output to the person or program that runs the command.
pub(crate) struct Ui {
    out: OutputStream,
    theme: AnsiTheme,
    error_theme: AnsiTheme,
    pub(crate) width: usize,
    pub(crate) json: bool,
    /// A person reads along, on a terminal that follows escape codes.
    pub(crate) terminal: bool,
    /// The program for long output; empty: none.
    pager: String,
    uses_pager: bool,
    /// The last line on the terminal is temporary and will be replaced.
    status: bool,
    /// Something could not be read; the rest was shown.
    incomplete: Arc<AtomicBool>,
    /// The lines on the alternate screen.
    drawn: Vec<Line>,
}

enum OutputStream {
    Plain(BufWriter<io::Stdout>),
    Pager { child: Child, pipe: BufWriter<std::process::ChildStdin> },
}

/// The default width.
pub(crate) const WIDTH: usize = 100;

impl Ui {
    pub(crate) fn new(global: &Global) -> Self {
        let terminal = io::stdout().is_terminal() && !is_dumb();
        let settings = &global.settings;
        let symbols = if settings.ascii.value { SymbolSet::Ascii } else { SymbolSet::Unicode };
        let theme = |terminal: bool| match settings.theme.value {
            ColorChoice::Auto if terminal && !is_dumb() => AnsiTheme { symbols, ..AnsiTheme::BASE },
            ColorChoice::Always => AnsiTheme { symbols, ..AnsiTheme::BASE },
            ColorChoice::Auto | ColorChoice::Never => AnsiTheme { symbols, ..AnsiTheme::NONE },
        };
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        Self {
            out: OutputStream::Plain(BufWriter::new(io::stdout())),
            theme: theme(terminal),
            error_theme: theme(io::stderr().is_terminal()),
            width: width.or(columns).unwrap_or(WIDTH).clamp(30, 400),
            json: global.json,
            terminal,
            status: false,
            pager: settings.pager.value.clone(),
            uses_pager: terminal && !global.json,
            incomplete: Arc::default(),
            drawn: Vec::new(),
        }
    }

    /// Whether a person sits at the screen and the keys.
    pub(crate) fn is_interactive(&self) -> bool {
        !self.json && self.terminal && io::stdin().is_terminal()
    }

    /// Whether output is coloured.
    pub(crate) fn has_color(&self) -> bool {
        !(self.theme.sgr)(Label::Error).is_empty()
    }

    /// Returns whether code should be highlighted.
    pub(crate) fn highlight_mode(&self) -> Highlight {
        if self.has_color() { Highlight::On } else { Highlight::Off }
    }

    /// Returns which symbols are written.
    pub(crate) fn symbol_set(&self) -> SymbolSet {
        self.theme.symbols
    }

    /// Sends the following output through a pager, on a terminal and unless turned off.
    pub(crate) fn start_pager(&mut self) {
        if !self.uses_pager || matches!(self.out, OutputStream::Pager { .. }) {
            return;
        }
        let mut words = self.pager.split_whitespace();
        let Some(program) = words.next() else { return };
        let child = Command::new(program)
            .args(words)
            // Keep colours, quit if the output fits on one screen, don't clear the screen.
            .env("LESS", std::env::var("LESS").unwrap_or_else(|_| "FRX".into()))
            .env("LESSCHARSET", "utf-8")
            .stdin(Stdio::piped())
            .spawn();
        if let Ok(mut child) = child
            && let Some(pipe) = child.stdin.take()
        {
            self.out = OutputStream::Pager { child, pipe: BufWriter::new(pipe) };
        }
    }

    /// Writes a labelled line to stdout.
    pub(crate) fn print_line(&mut self, line: &Line) -> io::Result<()> {
        self.clear_status()?;
        let text = to_ansi(line, &self.theme);
        writeln!(self.output_writer(), "{}", text.trim_end())
    }

    /// Shows a line that the next one takes the place of; only to a person.
    pub(crate) fn show_status(&mut self, line: &Line) -> io::Result<()> {
        if !self.terminal {
            return Ok(());
        }
        self.measure_width();
        let text = to_ansi(&truncate_line(line, self.width - 1), &self.theme);
        self.status = true;
        write!(self.output_writer(), "\r\x1b[2K{text}")
    }

    /// Takes that line away.
    pub(crate) fn clear_status(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.status) {
            write!(self.output_writer(), "\r\x1b[2K")?;
        }
        Ok(())
    }

    /// Rings.
    pub(crate) fn ring_bell(&self) {
        let _ = write!(io::stderr(), "\x07");
    }

    /// Replaces the lines on the alternate screen. In a pipe, prints them below the earlier ones.
    ///
    /// Terminals don't rewrap the lines of the alternate screen when their size changes.
    pub(crate) fn redraw_screen(&mut self, lines: Vec<Line>) -> io::Result<()> {
        if self.terminal {
            self.measure_width();
            let begin = if self.drawn.is_empty() { "\x1b[?1049h\x1b[?25l" } else { "" };
            write!(self.output_writer(), "{begin}\x1b[H\x1b[J")?;
        }
        for line in &lines {
            self.print_line(&truncate_line(line, self.width))?;
        }
        self.drawn = lines;
        self.flush_output()
    }

    /// Restores the normal screen and leaves the last drawing there.
    pub(crate) fn end_redraw(&mut self) -> io::Result<()> {
        if self.terminal && !self.drawn.is_empty() {
            write!(self.output_writer(), "\x1b[?25h\x1b[?1049l")?;
            for line in std::mem::take(&mut self.drawn) {
                self.print_line(&truncate_line(&line, self.width))?;
            }
        }
        self.flush_output()
    }

    /// Finds out how wide the terminal is by now.
    fn measure_width(&mut self) {
        if let Some((width, _)) = terminal_size::terminal_size() {
            self.width = usize::from(width.0).clamp(30, 400);
        }
    }

    /// Hands everything over that was written so far.
    pub(crate) fn flush_output(&mut self) -> io::Result<()> {
        self.output_writer().flush()
    }

    /// Drops output that could not be written.
    pub(crate) fn discard_output(&mut self) {
        if let OutputStream::Plain(out) = &mut self.out {
            let _ = std::mem::replace(out, BufWriter::new(io::stdout())).into_parts();
        }
    }

    /// Writes raw bytes to stdout.
    pub(crate) fn output_writer(&mut self) -> &mut dyn Write {
        match &mut self.out {
            OutputStream::Plain(out) => out,
            OutputStream::Pager { pipe, .. } => pipe,
        }
    }

    /// Writes one JSON object to stdout.
    pub(crate) fn print_json(&mut self, value: &impl serde::Serialize) -> Result<(), CommandError> {
        write_json(self.output_writer(), value)?;
        writeln!(self.output_writer())?;
        Ok(())
    }

    /// Prints a text unchanged, or with `--json` as the field of an object.
    pub(crate) fn print_document(
        &mut self,
        schema: &'static str,
        text: &str,
    ) -> Result<(), CommandError> {
        if self.json {
            return self.print_json(&Answer::new(schema, Document { text }));
        }
        Ok(self.output_writer().write_all(text.as_bytes())?)
    }

    /// Leaks a large value: the program ends soon, and the system frees its memory faster.
    pub(crate) fn let_go<T>(&self, held: T) {
        if matches!(self.out, OutputStream::Plain(_) | OutputStream::Pager { .. }) {
            std::mem::forget(held);
        }
    }

    /// Prints a message on stderr.
    pub(crate) fn print_message(&self, line: &Line) {
        write_message(line, &self.error_theme);
    }

    /// Prints a message about the whole output below it: a pager shows its rows after what is on stderr.
    pub(crate) fn print_closing_note(&mut self, text: &str) -> Result<(), CommandError> {
        let line = Line::new(text, Label::Dim);
        match self.out {
            OutputStream::Pager { .. } => self.print_line(&line)?,
            OutputStream::Plain(_) => self.print_message(&line),
        }
        Ok(())
    }

    /// Returns a function that prints messages from any thread while a server runs.
    pub(crate) fn log_writer(&self) -> fn(&str) {
        |text| {
            let line = Line::new(text, Label::Dim);
            let _ = writeln!(io::stderr(), "{}", to_ansi(&line, &AnsiTheme::NONE).trim_end());
        }
    }

    /// Reports something that could not be read; the exit code reflects it.
    pub(crate) fn warn_unreadable(&self, error: &(dyn std::error::Error + 'static)) {
        self.mark_incomplete();
        self.print_message(&warning_of(error));
    }

    /// Makes the exit code say that something could not be read.
    pub(crate) fn mark_incomplete(&self) {
        self.incomplete.store(true, Ordering::Relaxed);
    }

    /// Ignores earlier read failures, because the request was completed.
    pub(crate) fn clear_incomplete(&self) {
        self.incomplete.store(false, Ordering::Relaxed);
    }

    /// Whether something could not be read so far.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.incomplete.load(Ordering::Relaxed)
    }

    /// Reports a problem that does not stop the work.
    pub(crate) fn print_warning(&self, message: &str) {
        self.print_message(&warning_line(message));
    }

    /// Whether there is a terminal to ask on.
    pub(crate) fn can_ask(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Asks for confirmation. `false` without a terminal.
    pub(crate) fn confirm_question(&self, question: &str) -> bool {
        let answer = self.ask_line(&format!("{question} [Y/n] "));
        answer.is_some_and(|answer| matches!(&*answer, "" | "y" | "Y" | "yes"))
    }

    /// Lets the user choose one of `count` items. `None` if they chose none.
    pub(crate) fn choose_number(&self, question: &str, count: usize) -> Option<usize> {
        let answer = self.ask_line(&format!("{question} [1-{count}] "))?;
        answer.parse().ok().filter(|n| (1..=count).contains(n))
    }

    /// Asks for a line. `None` without an answer.
    pub(crate) fn ask_line(&self, question: &str) -> Option<String> {
        if !self.can_ask() {
            return None;
        }
        let _ = write!(io::stderr(), "{question}");
        let mut answer = String::new();
        let read = io::stdin().read_line(&mut answer).unwrap_or(0);
        (read > 0).then(|| answer.trim().to_owned())
    }

    /// Shows how far long work has come; never in a pipe.
    pub(crate) fn progress_bar(&self, bytes: u64) -> ProgressBar {
        progress_bar(bytes, progress_target())
    }

    /// Returns the sink for progress of long work and for read errors.
    pub(crate) fn progress_sink(&self) -> Arc<dyn ProgressSink> {
        Arc::new(UiSink {
            bar: Mutex::default(),
            theme: self.error_theme,
            incomplete: self.incomplete.clone(),
        })
    }

    /// Ends the program: flushes, waits for the pager, prints an error, chooses the exit code.
    pub(crate) fn finish_program(mut self, result: Result<(), CommandError>) -> ExitCode {
        let result = result.and_then(|()| self.output_writer().flush().map_err(CommandError::from));
        if let OutputStream::Pager { mut child, pipe } = self.out {
            drop(pipe);
            let _ = child.wait();
            self.out = OutputStream::Plain(BufWriter::new(io::stdout()));
        }
        let Err(error) = result else {
            return ExitCode::from(if self.is_incomplete() { 2 } else { 0 });
        };
        if error.kind == ErrorKind::BrokenPipe {
            return ExitCode::SUCCESS;
        }
        let (heading, label) = match error.kind {
            ErrorKind::Nothing => ("", Label::Plain),
            _ => ("Error: ", Label::Error),
        };
        let message = format!("{:#}", error.error);
        let mut lines = message.lines();
        self.print_message(
            &Line::new(heading, label).with(lines.next().unwrap_or_default(), Label::Plain),
        );
        for line in lines {
            self.print_message(&Line::plain(line));
        }
        for hint in &error.hints {
            self.print_message(&Line::new("Hint: ", Label::Note).with(hint, Label::Plain));
        }
        ExitCode::from(if error.kind == ErrorKind::Nothing { 1 } else { 2 })
    }
}

/// Waits until the user has read the output on the terminal.
pub(crate) fn wait_for_enter(words: &str) {
    let _ = write!(io::stderr(), "{words} ");
    let _ = io::stdin().read_line(&mut String::new());
}

/// Reports on stderr what could not be read, and nothing else.
pub(crate) struct WarningsOnly;

impl ProgressSink for WarningsOnly {
    fn report_problem(&self, problem: &PathError) {
        write_message(&warning_of(problem), &AnsiTheme::NONE);
    }
}

/// How long work takes before its progress is shown, so that fast answers do not flicker.
const PROGRESS_DELAY: Duration = Duration::from_millis(300);

/// A progress bar that is hidden at first.
struct DelayedBar {
    bar: ProgressBar,
    /// When it was made, until it is shown.
    hidden_since: Option<Instant>,
}

/// Shows long work on stderr.
struct UiSink {
    bar: Mutex<Option<DelayedBar>>,
    theme: AnsiTheme,
    incomplete: Arc<AtomicBool>,
}

impl ProgressSink for UiSink {
    fn begin_reading(&self, bytes: u64) {
        let bar = progress_bar(bytes, ProgressDrawTarget::hidden());
        *lock_mutex(&self.bar) = Some(DelayedBar { bar, hidden_since: Some(Instant::now()) });
    }

    fn advance_bytes(&self, bytes: u64) {
        if let Some(DelayedBar { bar, hidden_since }) = &mut *lock_mutex(&self.bar) {
            if hidden_since.take_if(|since| since.elapsed() >= PROGRESS_DELAY).is_some() {
                bar.set_draw_target(progress_target());
            }
            bar.inc(bytes);
        }
    }

    fn end_reading(&self) {
        if let Some(DelayedBar { bar, .. }) = lock_mutex(&self.bar).take() {
            bar.finish_and_clear();
        }
    }

    fn report_problem(&self, problem: &PathError) {
        self.incomplete.store(true, Ordering::Relaxed);
        write_message(&warning_of(problem), &self.theme);
    }

    fn has_problems(&self) -> bool {
        self.incomplete.load(Ordering::Relaxed)
    }
}

fn progress_target() -> ProgressDrawTarget {
    if is_dumb() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
}

fn progress_bar(bytes: u64, target: ProgressDrawTarget) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(bytes), target);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {msg}") {
        bar.set_style(style);
    }
    bar
}

fn write_message(line: &Line, theme: &AnsiTheme) {
    let _ = writeln!(io::stderr(), "{}", to_ansi(line, theme).trim_end());
}

/// Returns an error with its causes as a warning.
fn warning_of(error: &(dyn std::error::Error + 'static)) -> Line {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        message = format!("{message}: {source}");
        cause = source.source();
    }
    warning_line(&message)
}

fn warning_line(message: &str) -> Line {
    Line::new("Warning: ", Label::Warning).with(message, Label::Plain)
}

fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the terminal shows escape codes instead of following them.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}
