//! Renders Markdown as labelled lines of a given width.
//!
//! Models and people wrote it for a terminal, so it is rendered as they saw it: a line break in
//! the source is a line break here, and HTML is text.

mod inline;

pub(crate) mod numbering;

mod page;

mod table;

use pulldown_cmark::{
    CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd, TextMergeWithOffset,
};

use crate::{
    highlight::{self, Highlight},
    layout,
    sanitize::sanitize,
    span::{Label, Line},
};
use inline::Inline;
use numbering::{Number, Numbering};
use page::Page;
use table::Table;

/// How many bytes of code are highlighted in one text.
const HIGHLIGHT_LIMIT: usize = 4 * highlight::LIMIT;

/// Returns the lines of a text, none wider than `width` if that is at least a dozen columns.
pub fn lines(text: &str, width: usize, highlight: Highlight) -> Vec<Line> {
    let text = sanitize(text);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let left = match highlight {
        Highlight::On => HIGHLIGHT_LIMIT,
        Highlight::Off => 0,
    };
    let mut reader = Reader { page: Page::new(width), left, ..Reader::default() };
    for (event, range) in
        TextMergeWithOffset::new(Parser::new_ext(&text, options).into_offset_iter())
    {
        match event {
            Event::Start(Tag::Item) => reader.item(&text[range]),
            event => reader.event(event),
        }
    }
    reader.page.lines
}

/// Reads the events of the Markdown parser.
#[derive(Default)]
struct Reader {
    page: Page,
    inline: Inline,
    lists: Numbering,
    code: Option<Code>,
    table: Table,
    /// How many more bytes of code may be highlighted.
    left: usize,
}

struct Code {
    language: String,
    text: String,
}

impl Reader {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.text.push_str(&text),
                None => self.inline.text(&text),
            },
            Event::Code(text) => self.inline.push(&text, Label::Code),
            Event::Html(text) | Event::InlineHtml(text) => self.inline.html(&text),
            Event::SoftBreak | Event::HardBreak => self.inline.next_line(),
            Event::Rule => self.rule(),
            Event::TaskListMarker(true) => self.inline.push("[x] ", Label::Active),
            Event::TaskListMarker(false) => self.inline.push("[ ] ", Label::Dim),
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.inline.text(&text);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.block(),
            Tag::Heading { level, .. } => {
                self.block();
                self.inline.start(Label::Heading);
                self.inline.text(&("#".repeat(level as usize) + " "));
            }
            Tag::BlockQuote(_) => {
                self.block();
                let bar = Line::new("▎ ", Label::Dim);
                self.page.open(bar.clone(), bar);
                self.inline.start(Label::Quote);
            }
            Tag::CodeBlock(kind) => {
                self.block();
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some(Code { language, text: String::new() });
            }
            Tag::List(first) => {
                self.block();
                self.lists.open(first);
            }
            Tag::Table(alignments) => {
                self.block();
                self.table = Table { alignments, rows: Vec::new() };
            }
            Tag::TableHead => {
                self.inline.start(Label::Strong);
                self.table.rows.push(Vec::new());
            }
            Tag::TableRow => self.table.rows.push(Vec::new()),
            Tag::Emphasis => self.inline.start(Label::Emphasis),
            Tag::Strong => self.inline.start(Label::Strong),
            Tag::Strikethrough => self.inline.start(Label::Strike),
            Tag::Link { dest_url, .. } => self.inline.open_link(&dest_url),
            Tag::Image { dest_url, .. } => self.inline.open_image(&dest_url),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.write_text(0),
            TagEnd::HtmlBlock => {
                self.inline.drop_empty_line();
                self.write_text(0);
            }
            TagEnd::Heading(level) => {
                self.inline.end();
                self.write_text(hanging(level));
            }
            TagEnd::BlockQuote(_) => {
                self.inline.end();
                self.page.close();
                self.page.gap = true;
            }
            TagEnd::CodeBlock => self.write_code(),
            TagEnd::List(_) => {
                self.lists.close();
                self.page.gap = true;
            }
            TagEnd::Item => {
                self.write_tight_text();
                self.page.close();
            }
            TagEnd::TableCell => {
                let cell = self.inline.take();
                if let Some(row) = self.table.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::TableHead => self.inline.end(),
            TagEnd::Table => self.write_table(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.inline.end(),
            TagEnd::Link => self.inline.close_link(),
            TagEnd::Image => self.inline.close_image(),
            _ => {}
        }
    }

    /// Starts a new block.
    fn block(&mut self) {
        self.write_tight_text();
        self.page.blank();
    }

    /// Starts a list item, which was written as `source`.
    fn item(&mut self, source: &str) {
        let mark = match self.lists.number(source) {
            Some(Number { number, sign, .. }) => format!("{number}{sign} "),
            None if self.lists.depth().is_multiple_of(2) => "◦ ".to_owned(),
            None => "• ".to_owned(),
        };
        let rest = Line::plain(&" ".repeat(layout::width(&mark)));
        self.page.open(Line::new(&mark, Label::Dim), rest);
    }

    fn rule(&mut self) {
        self.block();
        self.page.write(&Line::new(&"─".repeat(self.page.room()), Label::Dim));
        self.page.gap = true;
    }

    fn write_text(&mut self, indent: usize) {
        for line in self.inline.take() {
            for line in layout::wrap(&line, self.page.room(), indent) {
                self.page.write(&line);
            }
        }
        self.page.gap = true;
    }

    /// Writes the text of a list item that is not a paragraph.
    fn write_tight_text(&mut self) {
        if !self.inline.is_empty() {
            self.write_text(0);
            self.page.gap = false;
        }
    }

    fn write_code(&mut self) {
        let Some(Code { language, text }) = self.code.take() else { return };
        let limit = self.left.min(highlight::LIMIT);
        self.left -= text.len().min(limit);
        let room = self.page.room().saturating_sub(2).max(1);
        for line in highlight::limited_code(&language, &text, limit) {
            let mut mark = "│ ";
            for part in layout::fold(&line, room) {
                let mut line = Line::new(mark, Label::Dim);
                line.append(&part);
                self.page.write(&line);
                mark = "↳ ";
            }
        }
        self.page.gap = true;
    }

    fn write_table(&mut self) {
        for line in std::mem::take(&mut self.table).draw(self.page.room()) {
            self.page.write(&line);
        }
        self.page.gap = true;
    }
}

/// Returns the width of the marks before a heading.
fn hanging(level: HeadingLevel) -> usize {
    level as usize + 1
}

#[cfg(test)]
mod tests;
