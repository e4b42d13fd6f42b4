//! One path into one transcript, turn by turn.

use std::io::{self, Write};
use std::path::Path as FilePath;
use std::sync::Mutex;

use ramus_core::body::Body;
use ramus_core::branches::{Conversation, ForkKind};
use ramus_core::history::{History, Path};
use ramus_core::redact::{Found, redact, redact_text};
use ramus_core::session::NodeId;
use ramus_core::title::conversation_title;
use ramus_core::turn::{Turn, TurnKind, turns};
use ramus_render::export::{self, Config, Header, Sibling};
use ramus_store::Source;
use ramus_store::export::{Draft, Folder, each};
use ramus_store::survey::Surveyed;

use super::picture::Pictures;
use super::plan::{Job, Plan};
use super::{ExportArgs, Format, Redactions, sums::Sums};
use crate::error::CommandError;

/// A transcript that is written.
pub(super) struct Written {
    pub(super) file: String,
    pub(super) header: Header,
    pub(super) head: String,
    pub(super) bytes: u64,
}

/// Everything that the writing of one transcript needs to know.
pub(super) struct Exporter<'a> {
    pub(super) plan: &'a Plan<'a>,
    args: &'a ExportArgs,
    found: Mutex<Found>,
}

/// A piece of a path that lies in one file.
struct Part<'a> {
    session: &'a Surveyed,
    source: Source,
    history: History,
}

/// How many sessions a path may run through; longer chains are not real.
const LONGEST: usize = 64;

impl<'a> Exporter<'a> {
    pub(super) fn new(plan: &'a Plan<'a>, args: &'a ExportArgs) -> Self {
        Self { plan, args, found: Mutex::new(Found::default()) }
    }

    /// Returns what was taken out. `None`: nothing was to be.
    pub(super) fn redactions(&self) -> Option<Redactions> {
        self.args.redact.then(|| self.found.lock().map(|found| found.clone()).unwrap_or_default())
    }

    /// Writes all transcripts, several at a time; the first error ends it.
    pub(super) fn all(
        &self,
        folder: &Folder,
        on_read: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<Written>, CommandError> {
        let mut jobs: Vec<&Job<'_>> = self.plan.jobs.iter().collect();
        jobs.sort_by_key(|job| std::cmp::Reverse(job.session.file.bytes));
        let failed = Mutex::new(false);
        let has_failed = || failed.lock().map(|failed| *failed).unwrap_or(true);
        let done = each(&jobs, &|job| {
            if has_failed() {
                return Ok(Vec::new());
            }
            let written = self.job(job, folder);
            on_read(job.session.file.bytes);
            if written.is_err()
                && let Ok(mut failed) = failed.lock()
            {
                *failed = true;
            }
            written
        });
        let mut written = Vec::new();
        for paths in done {
            written.extend(paths?);
        }
        written.sort_by(|a: &Written, b| a.file.cmp(&b.file));
        Ok(written)
    }

    /// Writes the only transcript there is.
    pub(super) fn only(&self, draft: &mut Draft) -> Result<Written, CommandError> {
        let job = &self.plan.jobs[0];
        let index = job.files.iter().position(Option::is_some).unwrap_or(0);
        let mut part = self.read(job.session)?;
        let mut pictures = Pictures::new(self.args.images(), "");
        self.path(job, &mut part, index, &mut pictures, draft)
    }

    fn job(&self, job: &Job<'_>, folder: &Folder) -> Result<Vec<Written>, CommandError> {
        let mut part = self.read(job.session)?;
        let mut written = Vec::new();
        for (index, file) in job.files.iter().enumerate() {
            let Some(file) = file else { continue };
            let mut draft = folder.draft(file);
            let mut pictures = Pictures::new(self.args.images(), up(file));
            let mut path = self.path(job, &mut part, index, &mut pictures, &mut draft)?;
            for (name, bytes) in pictures.files() {
                folder.write(&name, &bytes)?;
            }
            path.bytes = folder.finish(file, path.head.as_bytes(), draft)?;
            path.head = String::new();
            written.push(path);
        }
        Ok(written)
    }

    fn read(&self, session: &'a Surveyed) -> Result<Part<'a>, CommandError> {
        let (source, history) = Source::read(&session.file.path, self.plan.rule)?;
        Ok(Part { session, source, history })
    }

    fn path(
        &self,
        job: &Job<'_>,
        part: &mut Part<'a>,
        index: usize,
        pictures: &mut Pictures,
        draft: &mut Draft,
    ) -> Result<Written, CommandError> {
        let (conversation, path) = target(job, &part.history, index)?;
        let mut header = self.header(job, &part.history, &conversation, index);
        let mut earlier = self.earlier(job, &part.history, &path)?;
        let mut sums = Sums::default();
        let mut body = Document { exporter: self, job, draft, pictures, sums: &mut sums, first: true };
        for (part, path) in &mut earlier {
            header.continues.push(part.session.file.id.clone());
            body.part(part, path, false)?;
        }
        body.part(part, &path, true)?;
        body.foot()?;
        sums.into_header(&mut header);
        let mut head = String::new();
        if let Some(format) = self.format() {
            export::head(format, &header, &mut head);
        }
        let file = job.files[index].clone().unwrap_or_default();
        Ok(Written { file, header, head, bytes: 0 })
    }

    fn format(&self) -> Option<export::Format> {
        match self.args.format {
            Format::Md => Some(export::Format::Markdown),
            Format::Html => Some(export::Format::Html),
            Format::Json => Some(export::Format::Json),
            Format::Txt => Some(export::Format::Text),
            Format::Jsonl => None,
        }
    }

    /// Follows a path into the sessions that it continues; the oldest part first.
    fn earlier(
        &self,
        job: &Job<'_>,
        history: &History,
        path: &Path,
    ) -> Result<Vec<(Part<'a>, Path)>, CommandError> {
        let mut parts: Vec<(Part<'a>, Path)> = Vec::new();
        let mut seen = vec![job.session.file.path.clone()];
        while parts.len() < LONGEST {
            let (history, path) = match parts.last() {
                Some((part, path)) => (&part.history, path),
                None => (history, path),
            };
            let root = path.folds.first().map(|fold| history.folds.fold(*fold).head);
            let missing = history.tree.missing().iter().find(|(node, _)| Some(*node) == root);
            let Some(&(_, name)) = missing else { break };
            let Some(home) = self.plan.home(job, name) else { break };
            if seen.contains(&home.file.path) {
                break;
            }
            seen.push(home.file.path.clone());
            let part = self.read(home)?;
            let node = part.history.tree.find(name);
            let Some(path) = node.and_then(|node| part.history.path_to(node)) else { break };
            parts.push((part, path));
        }
        parts.reverse();
        Ok(parts)
    }

    fn header(
        &self,
        job: &Job<'_>,
        history: &History,
        conversation: &Conversation,
        index: usize,
    ) -> Header {
        let Job { project, session, .. } = job;
        let digest = &session.digest;
        let n = conversation.n as usize;
        let short = digest.conversations.get(n - 1);
        let title = short.and_then(|short| conversation_title(digest, short, &project.summaries));
        let fork = conversation.fork.map(|fork| &history.branches.forks[fork]);
        let spell = |id: NodeId| {
            let name = history.session.record(id).name;
            name.map_or_else(|| id.0.to_string(), |name| history.session.spell(name))
        };
        let siblings = (1..).zip(&digest.conversations).map(|(path, other)| Sibling {
            path,
            href: job.files.get(path - 1).cloned().flatten().as_deref().map(base).map(str::to_owned),
            words: self.text(other.first_prompt.as_deref().unwrap_or_default()),
            status: other.status.word(),
            resumes: other.resumes,
            messages: other.messages,
        });
        let file = job.files[index].as_deref().unwrap_or_default();
        let indexed = self.args.out.is_some() && site_name(self.args.format).is_some();
        Header {
            session: session.file.id.clone(),
            title: title.map(|title| self.text(title)),
            project: self.text(project.path.as_deref().unwrap_or(&project.name)),
            git_branch: digest.facts.git_branch.as_deref().map(str::to_owned),
            version: digest.facts.version.as_ref().map(|version| version.text.to_string()),
            path: n,
            paths: digest.conversations.len(),
            status: conversation.status.word(),
            resumes: conversation.resumes,
            draft: conversation.draft,
            leaf: spell(conversation.leaf),
            fork_point: fork.map(|fork| spell(fork.node)),
            fork_kind: fork.map(|fork| ForkKind::word(fork.kind)),
            siblings: siblings.collect(),
            index: site_name(self.args.format)
                .filter(|_| indexed)
                .map(|name| format!("{}{name}", up(file))),
            ..Header::default()
        }
    }

    /// Takes out of a text what is to be taken out.
    pub(super) fn text(&self, text: &str) -> String {
        if !self.args.redact {
            return text.to_owned();
        }
        // Titles are copies of what is counted in the transcript itself.
        redact_text(text, &mut Found::default()).into_owned()
    }
}

/// The name of the page that lists all transcripts, where a format has one.
pub(super) fn site_name(format: Format) -> Option<&'static str> {
    match format {
        Format::Html => Some("index.html"),
        Format::Md => Some("index.md"),
        _ => None,
    }
}

/// Returns the way from a file to the directory of the export.
fn up(file: &str) -> &'static str {
    if file.contains('/') { "../" } else { "" }
}

fn base(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// Finds the conversation to be written, and its path.
fn target(
    job: &Job<'_>,
    history: &History,
    index: usize,
) -> Result<(Conversation, Path), CommandError> {
    let gone = || CommandError::user("the session changed while it was read").hinted("try again");
    match &job.end {
        None => {
            let conversation = history.branches.conversations.get(index).ok_or_else(gone)?;
            Ok((conversation.clone(), history.path(conversation)))
        }
        Some(uuid) => {
            let spot = crate::select::Spot::Uuid(uuid.clone());
            let node = crate::select::node(history, &spot)?.ok_or_else(gone)?;
            let conversation = history.conversation_of(node).ok_or_else(gone)?;
            let conversation = Conversation { leaf: node, ..conversation.clone() };
            Ok((conversation, history.path_to(node).ok_or_else(gone)?))
        }
    }
}

/// The transcript while it is written.
struct Document<'d, 'a> {
    exporter: &'d Exporter<'a>,
    job: &'d Job<'d>,
    draft: &'d mut Draft,
    pictures: &'d mut Pictures,
    sums: &'d mut Sums,
    first: bool,
}

impl Document<'_, '_> {
    fn part(&mut self, part: &mut Part<'_>, path: &Path, own: bool) -> Result<(), CommandError> {
        self.sums.part(&part.history, path);
        match self.exporter.format() {
            Some(format) => self.turns(format, part, path, own),
            None => self.lines(part, path),
        }
    }

    /// Writes the lines of the path as they stand in the file.
    fn lines(&mut self, part: &mut Part<'_>, path: &Path) -> Result<(), CommandError> {
        let mut last = None;
        let mut found = Found::default();
        for node in &path.nodes {
            let record = part.history.session.record(*node);
            if last.replace(record.line) == Some(record.line) {
                continue;
            }
            let line = part.source.line(record.span)?;
            let line = if self.exporter.args.redact { redact(line, &mut found) } else { line };
            self.draft.write_all(&line)?;
            self.draft.write_all(b"\n")?;
        }
        self.found(found);
        Ok(())
    }

    fn turns(
        &mut self,
        format: export::Format,
        part: &mut Part<'_>,
        path: &Path,
        own: bool,
    ) -> Result<(), CommandError> {
        let Self { exporter, job, draft, pictures, sums, first } = self;
        let Part { session, source, history } = part;
        let args = exporter.args;
        let mut found = Found::default();
        let mut problem = None;
        let on_path = sums.on_path(history, path);
        let cwd = exporter.text(history.session.facts().cwd.as_deref().unwrap_or_default());
        let other = |leaf: NodeId| {
            let conversations = &history.branches.conversations;
            let at = conversations.iter().position(|other| other.leaf == leaf)?;
            job.files.get(at).cloned().flatten().as_deref().filter(|_| own).map(base).map(str::to_owned)
        };
        let mut out = String::new();
        let sums = std::cell::RefCell::new(&mut **sums);
        let found_cell = std::cell::RefCell::new(&mut found);
        let mut bodies = |id: NodeId| {
            let line = match source.record(history.session.record(id).span) {
                Ok(line) => line,
                Err(error) => {
                    problem = Some(error);
                    return None;
                }
            };
            let counts = on_path[id.0 as usize];
            let line = match args.redact {
                true if counts => redact(line, &mut found_cell.borrow_mut()),
                true => redact(line, &mut Found::default()),
                false => line,
            };
            let body = Body::parse(&line).ok()?;
            if counts {
                sums.borrow_mut().body(&body);
            }
            Some(body)
        };
        for mut turn in turns(history, path, &mut bodies) {
            if args.tools == super::HowMuch::Full {
                turn.read_spilled(&mut |path| {
                    let text = ramus_store::spilled(&session.file.path, FilePath::new(path))?;
                    Some(if args.redact {
                        redact_text(&text, &mut found_cell.borrow_mut()).into_owned()
                    } else {
                        text
                    })
                });
            }
            if args.redact {
                redact_words(&mut turn);
            }
            let pictures = std::cell::RefCell::new(&mut **pictures);
            let config = Config {
                thinking: args.thinking,
                tools: args.tools.tools(),
                cwd: &cwd,
                other: &other,
                picture: &|media| pictures.borrow_mut().address(media),
            };
            export::turn(format, &history.session, &turn, *first, &config, &mut out);
            *first &= out.is_empty();
            draft.write_all(out.as_bytes())?;
            out.clear();
        }
        self.found(found);
        match problem {
            Some(problem) => Err(problem.into()),
            None => Ok(()),
        }
    }

    fn foot(&mut self) -> io::Result<()> {
        let mut out = String::new();
        if let Some(format) = self.exporter.format() {
            export::foot(format, &mut out);
        }
        self.draft.write_all(out.as_bytes())
    }

    fn found(&self, found: Found) {
        if let Ok(mut all) = self.exporter.found.lock() {
            for (rule, times) in found {
                *all.entry(rule).or_default() += times;
            }
        }
    }
}

/// The first words of other ways do not come from records that are read here.
fn redact_words(turn: &mut Turn) {
    if let TurnKind::Fork(fork) = &mut turn.kind {
        for way in &mut fork.ways {
            way.words = redact_text(&way.words, &mut Found::default()).into_owned();
        }
    }
}
