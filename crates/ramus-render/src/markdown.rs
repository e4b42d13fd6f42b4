//! Renders Markdown as labelled lines of a given width.
//!
//! Models and people wrote it for a terminal, so it is rendered as they saw it: a line break in
//! the source is a line break here, and HTML is text.

mod inline_text;

pub(crate) mod numbering;

mod block_writer;

mod table;

use pulldown_cmark::{
    CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd, TextMergeWithOffset,
};

use crate::{
    highlight::{self, Highlight},
    layout,
    sanitize::sanitize_text,
    span::{Label, Line},
};
use block_writer::BlockWriter;
use inline_text::InlineText;
use numbering::{ItemNumber, Numbering};
use table::MarkdownTable;

/// How many bytes of code are highlighted in one text.
const HIGHLIGHT_LIMIT: usize = 4 * highlight::MAX_HIGHLIGHT_BYTES;

/// Returns the lines of a text, none wider than `width` if that is at least a dozen columns.
pub fn markdown_lines(text: &str, width: usize, highlight: Highlight) -> Vec<Line> {
    let text = sanitize_text(text);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let left = match highlight {
        Highlight::On => HIGHLIGHT_LIMIT,
        Highlight::Off => 0,
    };
    let mut reader =
        MarkdownReader { page: BlockWriter::new(width), left, ..MarkdownReader::default() };
    for (event, range) in
        TextMergeWithOffset::new(Parser::new_ext(&text, options).into_offset_iter())
    {
        match event {
            Event::Start(Tag::Item) => reader.start_item(&text[range]),
            event => reader.read_event(event),
        }
    }
    reader.page.lines
}

/// Reads the events of the Markdown parser.
#[derive(Default)]
struct MarkdownReader {
    page: BlockWriter,
    inline: InlineText,
    lists: Numbering,
    code: Option<OpenCodeBlock>,
    table: MarkdownTable,
    /// How many more bytes of code may be highlighted.
    left: usize,
}

struct OpenCodeBlock {
    language: String,
    text: String,
}

impl MarkdownReader {
    fn read_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start_tag(tag),
            Event::End(tag) => self.end_tag(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.text.push_str(&text),
                None => self.inline.push_text(&text),
            },
            Event::Code(text) => self.inline.push(&text, Label::Code),
            Event::Html(text) | Event::InlineHtml(text) => self.inline.push_html(&text),
            Event::SoftBreak | Event::HardBreak => self.inline.next_line(),
            Event::Rule => self.write_rule(),
            Event::TaskListMarker(true) => self.inline.push("[x] ", Label::Active),
            Event::TaskListMarker(false) => self.inline.push("[ ] ", Label::Dim),
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.inline.push_text(&text);
            }
        }
    }

    fn start_tag(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.start_block(),
            Tag::Heading { level, .. } => {
                self.start_block();
                self.inline.start_label(Label::Heading);
                self.inline.push_text(&("#".repeat(level as usize) + " "));
            }
            Tag::BlockQuote(_) => {
                self.start_block();
                let bar = Line::new("▎ ", Label::Dim);
                self.page.open_container(bar.clone(), bar);
                self.inline.start_label(Label::Quote);
            }
            Tag::CodeBlock(kind) => {
                self.start_block();
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some(OpenCodeBlock { language, text: String::new() });
            }
            Tag::List(first) => {
                self.start_block();
                self.lists.open_list(first);
            }
            Tag::Table(alignments) => {
                self.start_block();
                self.table = MarkdownTable { alignments, rows: Vec::new() };
            }
            Tag::TableHead => {
                self.inline.start_label(Label::Strong);
                self.table.rows.push(Vec::new());
            }
            Tag::TableRow => self.table.rows.push(Vec::new()),
            Tag::Emphasis => self.inline.start_label(Label::Emphasis),
            Tag::Strong => self.inline.start_label(Label::Strong),
            Tag::Strikethrough => self.inline.start_label(Label::Strike),
            Tag::Link { dest_url, .. } => self.inline.open_link(&dest_url),
            Tag::Image { dest_url, .. } => self.inline.open_image(&dest_url),
            _ => {}
        }
    }

    fn end_tag(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.write_text(0),
            TagEnd::HtmlBlock => {
                self.inline.drop_empty_line();
                self.write_text(0);
            }
            TagEnd::Heading(level) => {
                self.inline.end_label();
                self.write_text(heading_indent(level));
            }
            TagEnd::BlockQuote(_) => {
                self.inline.end_label();
                self.page.close_container();
                self.page.gap = true;
            }
            TagEnd::CodeBlock => self.write_code(),
            TagEnd::List(_) => {
                self.lists.close_list();
                self.page.gap = true;
            }
            TagEnd::Item => {
                self.write_tight_text();
                self.page.close_container();
            }
            TagEnd::TableCell => {
                let cell = self.inline.take_lines();
                if let Some(row) = self.table.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::TableHead => self.inline.end_label(),
            TagEnd::Table => self.write_table(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.inline.end_label(),
            TagEnd::Link => self.inline.close_link(),
            TagEnd::Image => self.inline.close_image(),
            _ => {}
        }
    }

    /// Starts a new block.
    fn start_block(&mut self) {
        self.write_tight_text();
        self.page.write_blank();
    }

    /// Starts a list item, which was written as `source`.
    fn start_item(&mut self, source: &str) {
        let mark = match self.lists.next_number(source) {
            Some(ItemNumber { number, sign, .. }) => format!("{number}{sign} "),
            None if self.lists.list_depth().is_multiple_of(2) => "◦ ".to_owned(),
            None => "• ".to_owned(),
        };
        let rest = Line::plain(&" ".repeat(layout::display_width(&mark)));
        self.page.open_container(Line::new(&mark, Label::Dim), rest);
    }

    fn write_rule(&mut self) {
        self.start_block();
        self.page.write_line(&Line::new(&"─".repeat(self.page.text_width()), Label::Dim));
        self.page.gap = true;
    }

    fn write_text(&mut self, indent: usize) {
        for line in self.inline.take_lines() {
            for line in layout::wrap_line(&line, self.page.text_width(), indent) {
                self.page.write_line(&line);
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
        let Some(OpenCodeBlock { language, text }) = self.code.take() else { return };
        let limit = self.left.min(highlight::MAX_HIGHLIGHT_BYTES);
        self.left -= text.len().min(limit);
        let room = self.page.text_width().saturating_sub(2).max(1);
        for line in highlight::highlight_limited(&language, &text, limit) {
            let mut mark = "│ ";
            for part in layout::fold_line(&line, room) {
                let mut line = Line::new(mark, Label::Dim);
                line.append(&part);
                self.page.write_line(&line);
                mark = "↳ ";
            }
        }
        self.page.gap = true;
    }

    fn write_table(&mut self) {
        for line in std::mem::take(&mut self.table).draw_table(self.page.text_width()) {
            self.page.write_line(&line);
        }
        self.page.gap = true;
    }
}

/// Returns the width of the marks before a heading.
fn heading_indent(level: HeadingLevel) -> usize {
    level as usize + 1
}

#[cfg(test)]
mod tests;
