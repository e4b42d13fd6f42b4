//! How files differ between two moments.

use std::collections::BTreeSet;

use ramus_core::files::place::in_tree;
use ramus_core::files::{FileState, Held, Source};
use ramus_render::diff::{DiffConfig, diff, stat, unified};
use ramus_render::files::{moment_line, shown_path};
use ramus_render::json::{self, Answer};
use ramus_render::layout::truncate;
use ramus_render::{Label, Line};

use super::{FilesArgs, Point, one};
use crate::env::Clock;
use crate::error::CommandError;
use crate::table::{Table, bytes, cell};
use crate::ui::Ui;

/// One file at two moments.
struct Pair {
    path: String,
    files: [FileState; 2],
    contents: [Content; 2],
}

/// What can be compared.
#[derive(PartialEq)]
enum Content {
    /// Not there is an empty text.
    Text(String),
    /// No text, or too large for one.
    Binary(Option<Vec<u8>>, u64),
    Unknown,
}

pub(super) fn show(
    ui: &mut Ui,
    args: &FilesArgs,
    a: &mut Point,
    b: &mut Point,
) -> Result<(), CommandError> {
    let pairs = pairs(args, a, b)?;
    if ui.json {
        let files = pairs.iter().map(|pair| to_json(pair, a, b)).collect();
        let body = json::FilesDiff {
            a: json::files_point(&a.session, &a.moment),
            b: json::files_point(&b.session, &b.moment),
            files,
        };
        return ui.json(&Answer::new("ramus.files.diff/1", body));
    }
    let changed: Vec<&Pair> = pairs.iter().filter(|pair| pair.differs() != Some(false)).collect();
    if changed.is_empty() {
        ui.say(&Line::plain("No file differs."));
        return Ok(());
    }
    if args.stat {
        ui.page();
        for line in numbers(&changed, &a.moment.cwd).lines(ui.width) {
            ui.line(&line)?;
        }
        return Ok(());
    }
    if !ui.terminal {
        return changed.iter().try_for_each(|pair| patch(ui, pair, [&a.moment.cwd, &b.moment.cwd]));
    }
    ui.page();
    let clock = Clock::new();
    for (sign, label, point) in [("A  ", Label::Removed, &*a), ("B  ", Label::Added, &*b)] {
        let mut line = Line::new(sign, label);
        line.append(&moment_line(&point.moment, &|time| clock.short(time)));
        ui.line(&truncate(&line, ui.width))?;
    }
    for pair in changed {
        ui.line(&Line::default())?;
        for line in pair.lines(&a.moment.cwd) {
            ui.line(&line)?;
        }
    }
    Ok(())
}

/// Pairs the files of both moments; a file that one of them does not know was not changed there.
fn pairs(args: &FilesArgs, a: &mut Point, b: &mut Point) -> Result<Vec<Pair>, CommandError> {
    let wanted = match &args.path {
        Some(path) => Some(one(a, path).or_else(|_| one(b, path))?.path),
        None => None,
    };
    let changed = |file: &&FileState| !file.only_read;
    let own = |point: &Point| {
        point.files.iter().filter(changed).map(|file| file.path.clone()).collect::<BTreeSet<_>>()
    };
    let mut paths: BTreeSet<String> = own(a).union(&own(b)).cloned().collect();
    if let Some(wanted) = wanted {
        paths = BTreeSet::from([wanted]);
    }
    let pair = |path: String| {
        let find = |point: &Point| point.files.iter().find(|file| file.path == path).cloned();
        let unknown = || FileState {
            path: path.clone(),
            held: Held::Unknown,
            source: Source::Nothing,
            doubt: None,
            only_read: false,
        };
        let files = [find(a).unwrap_or_else(unknown), find(b).unwrap_or_else(unknown)];
        let contents = [content(a, &files[0]), content(b, &files[1])];
        Pair { path, files, contents }
    };
    Ok(paths.into_iter().map(pair).collect())
}

fn content(point: &mut Point, file: &FileState) -> Content {
    match &file.held {
        Held::Unknown => Content::Unknown,
        Held::Absent => Content::Text(String::new()),
        Held::Backup(_) | Held::Bytes(_) => {
            let size = point.size(file).unwrap_or(0);
            match point.bytes(file).map(String::from_utf8) {
                Some(Ok(text)) if !text.contains('\0') => Content::Text(text),
                Some(Ok(text)) => Content::Binary(Some(text.into_bytes()), size),
                Some(Err(error)) => Content::Binary(Some(error.into_bytes()), size),
                None => Content::Binary(None, size),
            }
        }
    }
}

impl Pair {
    /// `None`: one of them is not known.
    fn differs(&self) -> Option<bool> {
        let [a, b] = &self.files;
        match &self.contents {
            [Content::Unknown, _] | [_, Content::Unknown] => None,
            [Content::Binary(None, _), _] | [_, Content::Binary(None, _)] => Some(a.held != b.held),
            [x, y] => Some(x != y || (a.held == Held::Absent) != (b.held == Held::Absent)),
        }
    }

    fn texts(&self) -> Option<(&str, &str)> {
        match &self.contents {
            [Content::Text(a), Content::Text(b)] => Some((a, b)),
            _ => None,
        }
    }

    /// What happened to the file, in a word or two.
    fn words(&self) -> &'static str {
        match [&self.files[0].held, &self.files[1].held] {
            [Held::Unknown, Held::Unknown] => "unknown on both sides",
            [Held::Unknown, _] => "unknown on A",
            [_, Held::Unknown] => "unknown on B",
            [Held::Absent, _] => "new",
            [_, Held::Absent] => "deleted",
            _ if self.texts().is_none() => "binary",
            _ => "",
        }
    }

    fn lines(&self, cwd: &str) -> Vec<Line> {
        let mut title = Line::new(shown_path(&self.path, cwd), Label::Strong);
        if !self.words().is_empty() {
            title.push(&format!("  {}", self.words()), Label::Note);
        }
        for (letter, file) in ["A", "B"].iter().zip(&self.files) {
            let note = file.note();
            if !note.is_empty() {
                title.push(&format!("  {letter}: {note}"), Label::Note);
            }
        }
        let mut lines = vec![title];
        if let Some((a, b)) = self.texts() {
            lines.extend(diff(a, b, &DiffConfig::default()));
        }
        lines
    }
}

/// Writes a difference as programs read it.
fn patch(ui: &mut Ui, pair: &Pair, cwds: [&str; 2]) -> Result<(), CommandError> {
    let name = |side: usize, sign: &str| match pair.files[side].held {
        Held::Absent => "/dev/null".to_owned(),
        _ => format!("{sign}/{}", in_tree(&pair.path, cwds[side])),
    };
    let (a, b) = (name(0, "a"), name(1, "b"));
    match pair.texts() {
        Some(("", "")) => {
            let word = pair.words();
            writeln!(ui.out(), "Empty file {} is {word}", in_tree(&pair.path, cwds[0]))?;
        }
        Some((old, new)) => ui.out().write_all(unified(old, new, (&a, &b)).as_bytes())?,
        None if pair.differs().is_none() => {
            let name = in_tree(&pair.path, cwds[0]);
            ui.say(&Line::plain(&format!("{name} is {}", pair.words())));
        }
        None => writeln!(ui.out(), "Binary files {a} and {b} differ")?,
    }
    Ok(())
}

fn numbers(pairs: &[&Pair], cwd: &str) -> Table {
    let mut table = Table::new(&["*FILE", ">ADDED", ">REMOVED", "NOTE"]);
    for pair in pairs {
        let (added, removed) = match pair.texts().map(|(a, b)| stat(a, b)) {
            Some((added, removed)) => (format!("+{added}"), format!("−{removed}")),
            None => ("·".to_owned(), "·".to_owned()),
        };
        let sizes = match &pair.contents {
            [Content::Binary(_, a), Content::Binary(_, b)] => {
                format!("binary, {} → {}", bytes(*a), bytes(*b))
            }
            _ => pair.words().to_owned(),
        };
        table.row(vec![
            cell(shown_path(&pair.path, cwd), Label::Plain),
            cell(added, Label::Added),
            cell(removed, Label::Removed),
            cell(sizes, Label::Note),
        ]);
    }
    table
}

fn to_json(pair: &Pair, a: &mut Point, b: &mut Point) -> json::FileDiff {
    let name = in_tree(&pair.path, &a.moment.cwd);
    let lines = pair.texts().map(|(old, new)| stat(old, new));
    let names = (format!("a/{name}"), format!("b/{name}"));
    json::FileDiff {
        path: pair.path.clone(),
        a: json::file(&pair.files[0], a.size(&pair.files[0])),
        b: json::file(&pair.files[1], b.size(&pair.files[1])),
        differs: pair.differs(),
        added: lines.map(|(added, _)| added),
        removed: lines.map(|(_, removed)| removed),
        diff: pair.texts().map(|(old, new)| unified(old, new, (&names.0, &names.1))),
    }
}
