//! Files read and changed.

use super::StructuredPatch;
use crate::body::block::{Media, MediaSource};
use crate::body::fields::Fields;
use serde_json::Value;

/// A file or a part of it, as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOutput {
    /// `None`: not recorded, as for images.
    pub file_path: Option<String>,
    /// Size of the file on disk in bytes, for images and PDFs.
    pub original_size: Option<u64>,
    pub content: ReadContent,
}

/// What was in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadContent {
    Text {
        content: String,
        num_lines: u64,
        start_line: u64,
        total_lines: u64,
        truncated: bool,
    },
    Image(Media),
    Notebook {
        cells: Vec<Value>,
    },
    Pdf(Media),
    /// The model had it before and it had not changed.
    Unchanged,
    Other {
        kind: String,
        file: Value,
    },
}

impl ReadOutput {
    pub(super) fn of(mut fields: Fields) -> Self {
        let kind = fields.string("type");
        let mut file = fields.object("file").unwrap_or_default();
        Self {
            file_path: file.text("filePath"),
            original_size: file.number("originalSize"),
            content: ReadContent::of(kind, file),
        }
    }
}

impl ReadContent {
    fn of(kind: String, mut file: Fields) -> Self {
        match kind.as_str() {
            "text" => Self::Text {
                content: file.string("content"),
                num_lines: file.count("numLines"),
                start_line: file.number("startLine").unwrap_or(1),
                total_lines: file.count("totalLines"),
                truncated: file.flag("truncatedByTokenCap"),
            },
            "image" => Self::Image(media(&mut file)),
            "pdf" => Self::Pdf(media(&mut file)),
            "notebook" => Self::Notebook { cells: file.values("cells") },
            "file_unchanged" => Self::Unchanged,
            _ => Self::Other { kind, file: file.into_value() },
        }
    }
}

fn media(file: &mut Fields) -> Media {
    Media {
        media_type: file.text("type"),
        title: None,
        source: file.text("base64").map_or(MediaSource::Absent, MediaSource::Base64),
    }
}

/// One replacement in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditOutput {
    pub file_path: String,
    pub replacement: Replacement,
    /// The whole file before; `None` where the client left it out, as it does for large files.
    pub original_file: Option<String>,
    pub patch: StructuredPatch,
    /// The person changed the proposal before taking it.
    pub user_modified: bool,
}

impl EditOutput {
    pub(super) fn of(mut fields: Fields) -> Self {
        Self {
            file_path: fields.string("filePath"),
            replacement: Replacement {
                old: fields.string("oldString"),
                new: fields.string("newString"),
                all: fields.flag("replaceAll"),
            },
            original_file: fields.text("originalFile"),
            patch: StructuredPatch::of(&mut fields),
            user_modified: fields.flag("userModified"),
        }
    }
}

/// A text and its replacement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replacement {
    pub old: String,
    pub new: String,
    /// Everywhere in the file, not once.
    pub all: bool,
}

/// Several replacements in one file; written up to 2.0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MultiEditOutput {
    pub file_path: String,
    pub edits: Vec<Replacement>,
    pub original_file: Option<String>,
    pub patch: StructuredPatch,
    pub user_modified: bool,
}

impl MultiEditOutput {
    pub(super) fn of(mut fields: Fields) -> Self {
        let edit = |mut edit: Fields| Replacement {
            old: edit.string("old_string"),
            new: edit.string("new_string"),
            all: edit.flag("replace_all"),
        };
        Self {
            file_path: fields.string("filePath"),
            edits: fields.objects("edits").map(edit).collect(),
            original_file: fields.text("originalFileContents"),
            patch: StructuredPatch::of(&mut fields),
            user_modified: fields.flag("userModified"),
        }
    }
}

/// A file written whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteOutput {
    pub kind: WriteKind,
    pub file_path: String,
    pub content: String,
    pub original_file: Option<String>,
    /// Empty for a new file.
    pub patch: StructuredPatch,
    pub user_modified: bool,
}

/// Whether the file was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    Create,
    Update,
}

impl WriteOutput {
    pub(super) fn of(mut fields: Fields) -> Self {
        Self {
            kind: match fields.peek_text("type").as_deref() {
                Some("update") => WriteKind::Update,
                _ => WriteKind::Create,
            },
            file_path: fields.string("filePath"),
            content: fields.string("content"),
            original_file: fields.text("originalFile"),
            patch: StructuredPatch::of(&mut fields),
            user_modified: fields.flag("userModified"),
        }
    }
}

/// One cell of a notebook, changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotebookEditOutput {
    pub notebook_path: Option<String>,
    pub new_source: String,
    pub cell_type: Option<String>,
    pub cell_id: Option<String>,
    pub language: Option<String>,
    /// `replace`, `insert` or `delete`.
    pub edit_mode: String,
    pub error: Option<String>,
}

impl NotebookEditOutput {
    pub(super) fn of(mut fields: Fields) -> Self {
        Self {
            notebook_path: fields.text("notebook_path"),
            new_source: fields.string("new_source"),
            cell_type: fields.text("cell_type"),
            cell_id: fields.text("cell_id"),
            language: fields.text("language"),
            edit_mode: fields.string("edit_mode"),
            error: fields.text("error").filter(|error| !error.is_empty()),
        }
    }
}
