//! One path into one transcript, turn by turn.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::survey::SurveyedFile;
use crate::workspace::ProgressSink;
use ramus_core::branches::{Conversation, ForkKind};
use ramus_core::digest::ConversationDigest;
use ramus_core::history::{ConversationPath, History};
use ramus_core::ids::{RecordUuid, ShortIds};
use ramus_core::redact::{RedactionCounts, redact_text};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_core::title::branch_title;
use ramus_render::export::{self, OutlineCounts, SiblingPath, TranscriptHeader};
use ramus_store::SessionReader;
use ramus_store::export::{ExportDir, SpoolBuffer, map_in_parallel};

use super::part::{ExportPart, ExportPiece, ExportStyle};
use super::picture::ExportPictures;
use super::plan::{ExportJob, ExportPlan};
use super::target::{find_target, unnamed_agents};
use super::{ExportError, ExportRequest, sums::TranscriptSums};

/// A transcript that is written.
#[derive(Debug)]
pub struct WrittenTranscript {
    /// Its path in the directory of the export.
    pub file: String,
    pub header: TranscriptHeader,
    /// When the session began.
    pub(super) began: Option<Time>,
    pub bytes: u64,
}

/// A planned export, with the counts collected while writing.
pub struct Exporter<'a> {
    pub(super) plan: ExportPlan<'a>,
    pub(super) request: &'a ExportRequest,
    pub(super) progress: &'a dyn ProgressSink,
    /// Everything in the scope could be read.
    pub(super) is_complete: bool,
    pub(super) short_ids: ShortIds,
    pub(super) found: Mutex<RedactionCounts>,
    /// Agents that transcripts point to.
    pub(super) used: Mutex<BTreeSet<String>>,
    pub(super) pictures: Mutex<BTreeSet<String>>,
}

/// The session that is written, and those that it continues.
struct ExportParts<'a> {
    own: ExportPart<'a>,
    earlier: Vec<(&'a SurveyedFile, ExportPart<'a>)>,
    /// All paths of the session.
    siblings: Arc<[SiblingPath]>,
}

impl<'a> ExportParts<'a> {
    /// Returns one of the earlier sessions, or the session itself.
    fn part_at(&mut self, at: Option<usize>) -> &mut ExportPart<'a> {
        match at {
            Some(at) => &mut self.earlier[at].1,
            None => &mut self.own,
        }
    }
}

/// A transcript whose pieces are rendered.
struct TranscriptDocument {
    header: TranscriptHeader,
    segments: Vec<DocumentSegment>,
}

/// The part of a path that is in one session.
struct DocumentSegment {
    part: Option<usize>,
    path: ConversationPath,
    pieces: Vec<ExportPiece>,
}

impl TranscriptDocument {
    fn into_written(self, job: &ExportJob<'_>, index: usize) -> WrittenTranscript {
        let file = job.files[index].clone().unwrap_or_default();
        WrittenTranscript {
            file,
            header: self.header,
            began: job.session.digest.facts.started,
            bytes: 0,
        }
    }
}

/// How many sessions a path may run through; longer chains are not real.
const MAX_SESSIONS: usize = 64;

impl std::fmt::Debug for Exporter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exporter").field("request", self.request).finish_non_exhaustive()
    }
}

impl<'a> Exporter<'a> {
    /// Returns how many transcripts will be written, without those of agents.
    pub fn transcript_count(&self) -> usize {
        self.plan.transcript_count()
    }

    /// Returns what was redacted so far. `None`: nothing is to be redacted.
    pub fn redaction_counts(&self) -> Option<RedactionCounts> {
        self.request
            .redact
            .then(|| self.found.lock().map(|found| found.clone()).unwrap_or_default())
    }

    /// Writes all transcripts, and those of agents; the first error ends it.
    pub(super) fn write_all(
        &self,
        folder: &ExportDir,
    ) -> Result<(Vec<WrittenTranscript>, Vec<WrittenTranscript>), ExportError> {
        let jobs: Vec<&ExportJob<'a>> = self.plan.jobs.iter().collect();
        let transcripts = self.write_jobs(jobs, folder)?;
        let mut agents: Vec<WrittenTranscript> = Vec::new();
        let mut left: Vec<&ExportJob<'a>> = self.plan.agents.iter().collect();
        loop {
            // Of a part of a session only the agents that it calls come along, and those that they call.
            let used = self.used.lock().map(|used| used.clone()).unwrap_or_default();
            let is_wanted = |job: &&ExportJob<'_>| {
                self.plan.is_whole || job.files.iter().flatten().any(|file| used.contains(file))
            };
            let (wave, rest): (Vec<_>, _) = left.into_iter().partition(is_wanted);
            left = rest;
            if wave.is_empty() {
                break;
            }
            agents.extend(self.write_jobs(wave, folder)?);
        }
        agents.sort_by(|a, b| a.file.cmp(&b.file));
        Ok((transcripts, agents))
    }

    /// Returns the names of the pictures that were written as files.
    pub(super) fn written_pictures(&self) -> BTreeSet<String> {
        self.pictures.lock().map(|found| found.clone()).unwrap_or_default()
    }

    /// Writes the transcripts of some files, several at a time.
    fn write_jobs(
        &self,
        mut jobs: Vec<&ExportJob<'a>>,
        folder: &ExportDir,
    ) -> Result<Vec<WrittenTranscript>, ExportError> {
        jobs.sort_by_key(|job| std::cmp::Reverse(job.session.file.bytes));
        let failed = AtomicBool::new(false);
        let done = map_in_parallel(&jobs, &|job| {
            if failed.load(Ordering::Relaxed) {
                return Ok(Vec::new());
            }
            let written = self.write_job(job, folder);
            self.progress.advance_bytes(job.session.file.bytes);
            failed.fetch_or(written.is_err(), Ordering::Relaxed);
            written
        });
        let mut written = Vec::new();
        for paths in done {
            written.extend(paths?);
        }
        written.sort_by(|a: &WrittenTranscript, b| a.file.cmp(&b.file));
        Ok(written)
    }

    /// Writes the only transcript there is.
    pub(super) fn write_single(
        &self,
        out: &mut dyn Write,
    ) -> Result<WrittenTranscript, ExportError> {
        let job = &self.plan.jobs[0];
        let index = job.files.iter().position(Option::is_some).unwrap_or(0);
        let made = || SpoolBuffer::new(&std::env::temp_dir());
        let mut parts = self.read_parts(job, made())?;
        let pictures = RefCell::new(ExportPictures::new(self.request.image_placement(), ""));
        let document = self.make_document(job, &mut parts, index, &pictures, &made)?;
        self.copy_document(&document, &mut parts, out)?;
        self.add_redactions(&parts);
        Ok(document.into_written(job, index))
    }

    fn write_job(
        &self,
        job: &ExportJob<'a>,
        folder: &ExportDir,
    ) -> Result<Vec<WrittenTranscript>, ExportError> {
        let made = || folder.new_spool();
        let mut parts = self.read_parts(job, made())?;
        let conversations = parts.own.history.branches.conversations.iter().zip(&job.files);
        parts.own.links = conversations
            .filter_map(|(conversation, file)| {
                Some((conversation.leaf, file_name(file.as_deref()?).to_owned()))
            })
            .collect();
        let up = path_to_root(job.files.iter().flatten().next().map_or("", |file| file));
        let pictures = RefCell::new(ExportPictures::new(self.request.image_placement(), up));
        let mut written = Vec::new();
        for (index, file) in job.files.iter().enumerate() {
            let Some(file) = file.as_ref().filter(|file| self.is_called(job, file)) else {
                continue;
            };
            let document = self.make_document(job, &mut parts, index, &pictures, &made)?;
            let bytes = folder
                .write_streamed(file, |out| self.copy_document(&document, &mut parts, out))?;
            written.push(WrittenTranscript { bytes, ..document.into_written(job, index) });
        }
        for (name, bytes) in pictures.into_inner().into_files() {
            folder.write_file(&name, &bytes)?;
            if let Ok(mut pictures) = self.pictures.lock() {
                pictures.insert(name);
            }
        }
        self.add_redactions(&parts);
        Ok(written)
    }

    /// Whether to write a transcript: for a part of a session, only agents inside its file that it calls.
    fn is_called(&self, job: &ExportJob<'_>, file: &str) -> bool {
        self.plan.is_whole
            || job.inline.is_empty()
            || self.used.lock().is_ok_and(|used| used.contains(file))
    }

    fn read_parts(
        &self,
        job: &ExportJob<'a>,
        made: SpoolBuffer,
    ) -> Result<ExportParts<'a>, ExportError> {
        let own = self.read_part(job, job.session, made)?;
        Ok(ExportParts { own, earlier: Vec::new(), siblings: self.sibling_paths(job) })
    }

    fn read_part(
        &self,
        job: &ExportJob<'a>,
        session: &'a SurveyedFile,
        made: SpoolBuffer,
    ) -> Result<ExportPart<'a>, ExportError> {
        let read = SessionReader::open_with_history(
            &session.file,
            session.history.clone(),
            self.plan.rule,
        )?;
        let mut part = ExportPart::new(&session.file.path, read, made);
        if !self.plan.agents.is_empty() {
            part.agents = unnamed_agents(job, session, &part.history);
        }
        Ok(part)
    }

    /// Returns the relative link from a transcript to that of an agent.
    fn agent_link(&self, job: &ExportJob<'_>, id: &str) -> Option<String> {
        let file = self.plan.agent_file(job, id)?;
        if let Ok(mut used) = self.used.lock() {
            used.insert(file.to_owned());
        }
        Some(if job.is_agent() {
            file_name(file).to_owned()
        } else {
            format!("agents/{}", file_name(file))
        })
    }

    /// Makes everything of a path that is still missing; its head sums this up.
    fn make_document(
        &self,
        job: &ExportJob<'a>,
        parts: &mut ExportParts<'a>,
        index: usize,
        pictures: &RefCell<ExportPictures>,
        made: &dyn Fn() -> SpoolBuffer,
    ) -> Result<TranscriptDocument, ExportError> {
        let (conversation, path) = find_target(job, &parts.own.history, index)?;
        let mut header = self.transcript_header(job, parts, &conversation, index);
        if let Some(root) = job.inline.get(index) {
            self.inline_header(job, &parts.own.history, *root, &mut header);
        }
        let agent = |id: &str| self.agent_link(job, id);
        let style = ExportStyle { request: self.request, pictures, agent: &agent };
        let mut sums = TranscriptSums::default();
        let mut segments = Vec::new();
        let earlier = match job.inline.is_empty() {
            true => self.earlier_paths(job, parts, &path, made)?,
            false => Vec::new(),
        };
        header.continues = earlier
            .iter()
            .map(|(at, _)| self.redact_title(&parts.earlier[*at].0.file.id))
            .collect();
        let earlier = earlier.into_iter().map(|(at, path)| (Some(at), path));
        for (at, path) in earlier.chain([(None, path)]) {
            let part = parts.part_at(at);
            let pieces = match self.request.format.document_format() {
                Some(format) => part.make_pieces(&path, format, style)?,
                None => Vec::new(),
            };
            sums.add_part(&part.history, &path, &part.facts);
            segments.push(DocumentSegment { part: at, path, pieces });
        }
        sums.into_header(&mut header);
        Ok(TranscriptDocument { header, segments })
    }

    /// Writes a document, all of which is made.
    fn copy_document(
        &self,
        document: &TranscriptDocument,
        parts: &mut ExportParts<'a>,
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        let Some(format) = self.request.format.document_format() else {
            return document.segments.iter().try_for_each(|segment| {
                parts.part_at(segment.part).write_raw_lines(&segment.path, self.request, out)
            });
        };
        let mut text = String::new();
        export::write_head(format, &document.header, &mut text);
        out.write_all(text.as_bytes())?;
        let mut between = "";
        for segment in &document.segments {
            for piece in &segment.pieces {
                out.write_all(between.as_bytes())?;
                parts.part_at(segment.part).copy_piece(piece.range.clone(), out)?;
                between = export::turn_separator(format);
            }
        }
        let mut counts = OutlineCounts::default();
        let pieces = document.segments.iter().flat_map(|segment| &segment.pieces);
        pieces.for_each(|piece| counts.add(piece.outline_counts));
        text.clear();
        export::write_outline_start(format, counts, &mut text);
        out.write_all(text.as_bytes())?;
        for segment in &document.segments {
            for piece in &segment.pieces {
                parts.part_at(segment.part).copy_outline(piece.outline.clone(), out)?;
            }
        }
        text.clear();
        export::write_outline_end(format, counts, &mut text);
        Ok(out.write_all(text.as_bytes())?)
    }

    /// Follows a path into the sessions that it continues; the oldest part first.
    fn earlier_paths(
        &self,
        job: &ExportJob<'a>,
        parts: &mut ExportParts<'a>,
        path: &ConversationPath,
        made: &dyn Fn() -> SpoolBuffer,
    ) -> Result<Vec<(usize, ConversationPath)>, ExportError> {
        let mut found: Vec<(usize, ConversationPath)> = Vec::new();
        while found.len() < MAX_SESSIONS {
            let (history, path) = match found.last() {
                Some((at, path)) => (&parts.earlier[*at].1.history, path),
                None => (&parts.own.history, path),
            };
            let root =
                path.messages.first().map(|message| history.message_tree.message(*message).head);
            let missing =
                history.record_tree.missing_parents().iter().find(|(node, _)| Some(*node) == root);
            let Some(&(_, name)) = missing else { break };
            let Some(home) = self.plan.home_session(job, name) else { break };
            let held = parts.earlier.iter().position(|(part, _)| part.file.path == home.file.path);
            let at = match held {
                Some(at) if found.iter().any(|(other, _)| *other == at) => break,
                _ if home.file.path == job.session.file.path => break,
                Some(at) => at,
                None => {
                    parts.earlier.push((home, self.read_part(job, home, made())?));
                    parts.earlier.len() - 1
                }
            };
            let history = &parts.earlier[at].1.history;
            let node = history.node_by_uuid(name);
            let Some(path) = node.and_then(|node| history.path_to(node)) else { break };
            found.push((at, path));
        }
        found.reverse();
        Ok(found)
    }

    fn add_redactions(&self, parts: &ExportParts<'_>) {
        let Ok(mut all) = self.found.lock() else { return };
        let earlier = parts.earlier.iter().map(|(_, part)| part);
        for (rule, times) in earlier.chain([&parts.own]).flat_map(|part| &part.found) {
            *all.entry(rule).or_default() += times;
        }
    }

    fn transcript_header(
        &self,
        job: &ExportJob<'_>,
        parts: &ExportParts<'_>,
        conversation: &Conversation,
        index: usize,
    ) -> TranscriptHeader {
        let ExportJob { project, session, .. } = job;
        let history = &parts.own.history;
        let digest = &session.digest;
        let n = conversation.number as usize;
        let title = branch_title(digest, Some(conversation.number), &project.summaries);
        let fork = conversation.fork_index.map(|fork| &history.branches.forks[fork]);
        let spell = |id: NodeId| {
            let name = history.session.record(id).uuid;
            name.map_or_else(
                || id.0.to_string(),
                |name| self.redact_title(&history.session.uuid_text(name)),
            )
        };
        let file = job.files[index].as_deref().unwrap_or_default();
        let index = self.request.format.index_name().filter(|_| self.request.into_directory);
        TranscriptHeader {
            session: self.redact_title(&session.file.id),
            parent: session.parent_session().map(|parent| self.redact_title(parent)),
            title: title.map(|title| self.redact_title(title)),
            project: self.redact_title(project.path.as_deref().unwrap_or(&project.name)),
            git_branch: digest.facts.git_branch.as_deref().map(|branch| self.redact_title(branch)),
            version: digest.facts.version.as_ref().map(|version| self.redact_title(&version.text)),
            path: n,
            paths: digest.conversations.len(),
            status: conversation.status.as_str(),
            resumes: conversation.resumes,
            draft: conversation.draft,
            leaf: spell(conversation.leaf),
            fork_point: fork.map(|fork| spell(fork.node)),
            fork_kind: fork.map(|fork| ForkKind::as_str(fork.kind)),
            siblings: parts.siblings.clone(),
            index: index.map(|name| format!("{}{name}", path_to_root(file))),
            ..TranscriptHeader::default()
        }
    }

    /// Makes the header that of an agent inside the session's own file.
    fn inline_header(
        &self,
        job: &ExportJob<'_>,
        history: &History,
        root: RecordUuid,
        header: &mut TranscriptHeader,
    ) {
        let words = history.node_by_uuid(root).and_then(|root| history.session.preview_text(root));
        let words = self.redact_title(words.unwrap_or_default());
        header.session = self.redact_title(&history.session.uuid_text(root));
        header.parent = Some(self.redact_title(&job.session.file.id));
        header.title = Some(words.clone()).filter(|words| !words.is_empty());
        header.paths = 1;
        header.siblings = Arc::new([SiblingPath { path: 1, words, ..SiblingPath::default() }]);
    }

    fn sibling_paths(&self, job: &ExportJob<'_>) -> Arc<[SiblingPath]> {
        let format = self.request.format.document_format().unwrap_or(export::DocumentFormat::Text);
        let sibling = |(path, other): (usize, &ConversationDigest)| {
            let words = match (&other.first_prompt, other.fork_kind) {
                (Some(prompt), _) => self.redact_title(prompt),
                (None, Some(kind)) => format!("(other branch: {kind})"),
                (None, None) => String::new(),
            };
            let file = job.files.get(path - 1).and_then(Option::as_deref);
            SiblingPath {
                path,
                href: file.map(file_name).map(str::to_owned),
                formatted_words: export::format_first_words(format, &words),
                words,
                status: other.status.as_str(),
                resumes: other.resumes,
                messages: other.messages,
            }
        };
        (1..).zip(&job.session.digest.conversations).map(sibling).collect()
    }

    /// Redacts a text, if that is wanted.
    pub(super) fn redact_title(&self, text: &str) -> String {
        if !self.request.redact {
            return text.to_owned();
        }
        // Titles are copies of texts that the transcript itself counts.
        redact_text(text, &mut RedactionCounts::default()).into_owned()
    }
}

/// Returns the relative path from a file to the directory of the export.
fn path_to_root(file: &str) -> &'static str {
    match file.matches('/').count() {
        0 => "",
        1 => "../",
        _ => "../../",
    }
}

fn file_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}
