//! Transcripts as documents: selects the paths, names the files, writes their contents.
//!
//! All front ends export through here. The command line writes a directory or stdout, the screens a
//! directory, and the web app sends what [`Exporter::write_document`] makes.

mod part;
mod picture;
mod plan;
mod site;
mod sums;
mod target;
mod transcripts;

use std::io;
use std::path::Path;
use std::sync::Mutex;

use ramus_core::redact::RedactionCounts;
use ramus_core::time::Time;
use ramus_render::export::DocumentFormat;
pub use ramus_render::export::ToolDetail;
use ramus_store::PathError;
pub use ramus_store::export::SpoolBuffer;
use ramus_store::export::{ExportDir, ExportDirError};

use crate::address::{AddressError, NodeSelector, ResolvedFile, Scope};
use crate::survey::Survey;
use crate::workspace::{SurveyDetail, Workspace};
use plan::ExportPlan;
pub use transcripts::{Exporter, WrittenTranscript};

/// What to export, and how.
#[derive(Clone, Debug)]
pub struct ExportRequest {
    pub scope: Scope,
    /// Which conversation of a session; [`NodeSelector::Resume`]: all of them.
    pub selector: NodeSelector,
    pub format: ExportFormat,
    /// Whether a directory is written; else it is one document.
    pub into_directory: bool,
    /// Only the conversations that the client would resume.
    pub active_only: bool,
    /// Only conversations that were active since then.
    pub since: Option<Time>,
    /// Sub-agents, too: as linked files of a directory.
    pub agents: bool,
    /// Empty files and warm-ups, too.
    pub includes_hidden: bool,
    pub thinking: bool,
    pub tools: ToolDetail,
    /// Where images go; `None`: where the format usually has them.
    pub images: Option<ImagePlacement>,
    /// Takes out passwords, keys, tokens, e-mail addresses and home directories.
    pub redact: bool,
}

impl ExportRequest {
    /// Asks for one conversation in full; `selector` names it.
    pub fn for_conversation(
        file: ResolvedFile,
        selector: NodeSelector,
        format: ExportFormat,
    ) -> Self {
        Self {
            scope: Scope::Session(Box::new(file)),
            selector,
            format,
            into_directory: false,
            active_only: false,
            since: None,
            agents: false,
            includes_hidden: false,
            thinking: true,
            tools: ToolDetail::Brief,
            images: None,
            redact: false,
        }
    }

    fn image_placement(&self) -> ImagePlacement {
        self.images.unwrap_or(match self.format {
            ExportFormat::Html => ImagePlacement::Inline,
            ExportFormat::Markdown if self.into_directory => ImagePlacement::Files,
            _ => ImagePlacement::None,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    Markdown,
    Html,
    Json,
    /// The records as they are in their files.
    Jsonl,
    Text,
}

impl ExportFormat {
    pub const ALL: [Self; 5] = [Self::Markdown, Self::Html, Self::Json, Self::Jsonl, Self::Text];

    /// Returns the name of the format, which is the extension of its files too.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Text => "txt",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// Returns how transcripts are drawn. `None`: their records are copied.
    fn document_format(self) -> Option<DocumentFormat> {
        match self {
            Self::Markdown => Some(DocumentFormat::Markdown),
            Self::Html => Some(DocumentFormat::Html),
            Self::Json => Some(DocumentFormat::Json),
            Self::Text => Some(DocumentFormat::Text),
            Self::Jsonl => None,
        }
    }

    /// Returns the name of the document that lists all transcripts, if the format has one.
    fn index_name(self) -> Option<&'static str> {
        match self {
            Self::Html => Some("index.html"),
            Self::Markdown => Some("index.md"),
            _ => None,
        }
    }
}

/// Where images go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImagePlacement {
    Inline,
    Files,
    None,
}

/// Everything that was written.
#[derive(Debug, Default)]
pub struct ExportReport {
    pub transcripts: Vec<WrittenTranscript>,
    pub agents: Vec<WrittenTranscript>,
    /// How many files of an earlier export were removed.
    pub removed: usize,
    /// What was taken out, by rule. `None`: nothing was to be.
    pub redactions: Option<RedactionCounts>,
}

/// Why something was not exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("no conversations to export")]
    Nothing,
    #[error("{0} transcripts need an output directory")]
    NeedsDirectory(usize),
    #[error("the session changed while it was read")]
    Changed,
    #[error(transparent)]
    Read(#[from] PathError),
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error(transparent)]
    Directory(#[from] ExportDirError),
    #[error(transparent)]
    Write(#[from] io::Error),
}

impl Workspace {
    /// Reads what an export needs to know of its scope.
    pub fn survey_export(&self, request: &ExportRequest) -> Survey {
        let detail = match request.scope.sessions() {
            // Of all the sessions of their projects only these are read again.
            Some(_) => SurveyDetail::Digests,
            None => SurveyDetail::Histories,
        };
        self.survey_scope(request.scope.clone(), detail)
    }

    /// Plans an export; nothing is written yet. The survey has at least the projects of the scope.
    pub fn plan_export<'a>(
        &'a self,
        survey: &'a Survey,
        request: &'a ExportRequest,
    ) -> Result<Exporter<'a>, ExportError> {
        let plan = ExportPlan::new(survey, request, self.resume_rule())?;
        // A session that cannot be read for a moment is no reason to remove its earlier transcript.
        let is_complete = survey.problems.is_empty() && self.could_read_everything();
        Ok(Exporter {
            plan,
            request,
            progress: self.progress_sink(),
            short_ids: self.short_ids(),
            is_complete,
            found: Mutex::default(),
            used: Mutex::default(),
            pictures: Mutex::default(),
        })
    }
}

/// An export is called large from this many bytes on, and if it is this many times as large as its input.
const LARGE_EXPORT_BYTES: u64 = 64 * 1024 * 1024;
const LARGE_EXPORT_FACTOR: u64 = 8;

impl Exporter<'_> {
    /// Returns how many bytes are read and about how many are written, if these are many more: every
    /// transcript repeats the beginning that it shares with others.
    pub fn large_output(&self) -> Option<(u64, u64)> {
        let (read, expected) = (self.plan.total_bytes(), self.plan.expected_bytes());
        let is_large =
            expected > LARGE_EXPORT_BYTES && expected > read.saturating_mul(LARGE_EXPORT_FACTOR);
        is_large.then_some((read, expected))
    }

    /// Writes the only transcript there is.
    pub fn write_document(&self, out: &mut dyn io::Write) -> Result<ExportReport, ExportError> {
        let transcripts = match self.transcript_count() {
            0 => return Err(ExportError::Nothing),
            1 => vec![self.write_single(out)?],
            many => return Err(ExportError::NeedsDirectory(many)),
        };
        let redactions = self.redaction_counts();
        Ok(ExportReport { transcripts, redactions, ..ExportReport::default() })
    }

    /// Writes all transcripts and their index to a directory that is new, empty or an earlier export;
    /// `force` allows any other.
    pub fn write_directory(&self, dir: &Path, force: bool) -> Result<ExportReport, ExportError> {
        if self.transcript_count() == 0 {
            return Err(ExportError::Nothing);
        }
        let dir = ExportDir::open(dir, force)?;
        let index = self.request.format.index_name();
        dir.claim_files(self.plan.file_names().chain(index))?;
        self.progress.begin_reading(self.plan.total_bytes());
        let written = self.write_all(&dir);
        self.progress.end_reading();
        let (transcripts, agents) = written?;
        if let Some(name) = index {
            let text =
                site::site_index(self.request.format, &transcripts, &agents, &self.short_ids);
            dir.write_file(name, text.as_bytes())?;
        }
        let pictures = self.written_pictures();
        let names = transcripts.iter().chain(&agents).map(|path| path.file.as_str());
        let names = names.chain(pictures.iter().map(String::as_str)).chain(index).collect();
        let removed = match self.is_complete {
            true => dir.remove_stale_files(&names)?,
            false => dir.keep_earlier_files(&names).map(|()| 0)?,
        };
        Ok(ExportReport { transcripts, agents, removed, redactions: self.redaction_counts() })
    }
}
