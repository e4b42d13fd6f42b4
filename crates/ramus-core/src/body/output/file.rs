//! Files read and changed.

use super::StructuredPatch;
use crate::body::block::{Media, MediaSource};
use crate::body::fields::Fields;
use serde_json::Value;

/// A file that was read, or a part of it.
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
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        let kind = fields.take_string("type");
        let mut file = fields.take_object("file").unwrap_or_default();
        Self {
            file_path: file.take_text("filePath"),
            original_size: file.number("originalSize"),
            content: ReadContent::from_fields(kind, file),
        }
    }
}

impl ReadContent {
    fn from_fields(kind: String, mut file: Fields) -> Self {
        match kind.as_str() {
            "text" => Self::Text {
                content: file.take_string("content"),
                num_lines: file.count("numLines"),
                start_line: file.number("startLine").unwrap_or(1),
                total_lines: file.count("totalLines"),
                truncated: file.flag("truncatedByTokenCap"),
            },
            "image" => Self::Image(media_from_fields(&mut file)),
            "pdf" => Self::Pdf(media_from_fields(&mut file)),
            "notebook" => Self::Notebook { cells: file.take_values("cells") },
            "file_unchanged" => Self::Unchanged,
            _ => Self::Other { kind, file: file.into_value() },
        }
    }
}

fn media_from_fields(file: &mut Fields) -> Media {
    Media {
        media_type: file.take_text("type"),
        title: None,
        source: file.take_text("base64").map_or(MediaSource::Absent, MediaSource::Base64),
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
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            file_path: fields.take_string("filePath"),
            replacement: Replacement {
                old: fields.take_string("oldString"),
                new: fields.take_string("newString"),
                all: fields.flag("replaceAll"),
            },
            original_file: fields.take_text("originalFile"),
            patch: StructuredPatch::from_fields(&mut fields),
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
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        let edit = |mut edit: Fields| Replacement {
            old: edit.take_string("old_string"),
            new: edit.take_string("new_string"),
            all: edit.flag("replace_all"),
        };
        Self {
            file_path: fields.take_string("filePath"),
            edits: fields.take_objects("edits").map(edit).collect(),
            original_file: fields.take_text("originalFileContents"),
            patch: StructuredPatch::from_fields(&mut fields),
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
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            kind: match fields.peek_text("type").as_deref() {
                Some("update") => WriteKind::Update,
                _ => WriteKind::Create,
            },
            file_path: fields.take_string("filePath"),
            content: fields.take_string("content"),
            original_file: fields.take_text("originalFile"),
            patch: StructuredPatch::from_fields(&mut fields),
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
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            notebook_path: fields.take_text("notebook_path"),
            new_source: fields.take_string("new_source"),
            cell_type: fields.take_text("cell_type"),
            cell_id: fields.take_text("cell_id"),
            language: fields.take_text("language"),
            edit_mode: fields.take_string("edit_mode"),
            error: fields.take_text("error").filter(|error| !error.is_empty()),
        }
    }
}
