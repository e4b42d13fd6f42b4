//! One path into one transcript, turn by turn.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ramus_app::survey::Surveyed;
use ramus_core::branches::{Conversation, ForkKind};
use ramus_core::digest::ConversationDigest;
use ramus_core::history::{History, Path};
use ramus_core::name::Name;
use ramus_core::redact::{Found, redact_text};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_core::title::branch_title;
use ramus_render::export::{self, Header, Sibling};
use ramus_store::Source;
use ramus_store::export::{Draft, Folder, each};

use super::part::{Part, Piece, Style};
use super::picture::Pictures;
use super::plan::{Job, Plan};
use super::whom::{target, unnamed_agents};
use super::{ExportArgs, Format, Redactions, sums::Sums};
use crate::error::CommandError;

/// A transcript that is written.
pub(super) struct Written {
    pub(super) file: String,
    pub(super) header: Header,
    /// When the session began.
    pub(super) began: Option<Time>,
    pub(super) bytes: u64,
}

/// Everything that the writing of one transcript needs to know.
pub(super) struct Exporter<'a> {
    pub(super) plan: &'a Plan<'a>,
    pub(super) args: &'a ExportArgs,
    found: Mutex<Found>,
    /// Agents that transcripts point to.
    used: Mutex<BTreeSet<String>>,
    pictures: Mutex<BTreeSet<String>>,
}

/// All that was written.
#[derive(Default)]
pub(super) struct Site {
    pub(super) transcripts: Vec<Written>,
    pub(super) agents: Vec<Written>,
    pub(super) pictures: BTreeSet<String>,
}

/// The session that is written, and those that it continues.
struct Parts<'a> {
    own: Part<'a>,
    earlier: Vec<(&'a Surveyed, Part<'a>)>,
    /// All paths of the session.
    siblings: Arc<[Sibling]>,
}

impl<'a> Parts<'a> {
    /// Returns one of the earlier sessions, or the session itself.
    fn part(&mut self, at: Option<usize>) -> &mut Part<'a> {
        match at {
            Some(at) => &mut self.earlier[at].1,
            None => &mut self.own,
        }
    }
}

/// A transcript whose pieces are made.
struct Document {
    header: Header,
    stretches: Vec<Stretch>,
}

/// The part of a path that lies in one session.
struct Stretch {
    part: Option<usize>,
    path: Path,
    pieces: Vec<Piece>,
}

impl Document {
    fn written(self, job: &Job<'_>, index: usize) -> Written {
        let file = job.files[index].clone().unwrap_or_default();
        Written { file, header: self.header, began: job.session.digest.facts.started, bytes: 0 }
    }
}

/// How many sessions a path may run through; longer chains are not real.
const LONGEST: usize = 64;

impl<'a> Exporter<'a> {
    pub(super) fn new(plan: &'a Plan<'a>, args: &'a ExportArgs) -> Self {
        Self {
            plan,
            args,
            found: Mutex::default(),
            used: Mutex::default(),
            pictures: Mutex::default(),
        }
    }

    /// Returns what was taken out. `None`: nothing was to be.
    pub(super) fn redactions(&self) -> Option<Redactions> {
        self.args.redact.then(|| self.found.lock().map(|found| found.clone()).unwrap_or_default())
    }

    /// Writes all transcripts; the first error ends it.
    pub(super) fn all(
        &self,
        folder: &Folder,
        on_read: &(dyn Fn(u64) + Sync),
    ) -> Result<Site, CommandError> {
        let jobs: Vec<&Job<'a>> = self.plan.jobs.iter().collect();
        let transcripts = self.jobs(jobs, folder, on_read)?;
        let mut agents: Vec<Written> = Vec::new();
        let mut left: Vec<&Job<'a>> = self.plan.agents.iter().collect();
        loop {
            // Of a part of a session only the agents that it calls come along, and those that they call.
            let used = self.used.lock().map(|used| used.clone()).unwrap_or_default();
            let is_wanted = |job: &&Job<'_>| {
                self.plan.is_whole || job.files.iter().flatten().any(|file| used.contains(file))
            };
            let (wave, rest): (Vec<_>, _) = left.into_iter().partition(is_wanted);
            left = rest;
            if wave.is_empty() {
                break;
            }
            agents.extend(self.jobs(wave, folder, on_read)?);
        }
        agents.sort_by(|a, b| a.file.cmp(&b.file));
        let pictures = self.pictures.lock().map(|found| found.clone()).unwrap_or_default();
        Ok(Site { transcripts, agents, pictures })
    }

    /// Writes the transcripts of some files, several at a time.
    fn jobs(
        &self,
        mut jobs: Vec<&Job<'a>>,
        folder: &Folder,
        on_read: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<Written>, CommandError> {
        jobs.sort_by_key(|job| std::cmp::Reverse(job.session.file.bytes));
        let failed = AtomicBool::new(false);
        let done = each(&jobs, &|job| {
            if failed.load(Ordering::Relaxed) {
                return Ok(Vec::new());
            }
            let written = self.job(job, folder);
            on_read(job.session.file.bytes);
            failed.fetch_or(written.is_err(), Ordering::Relaxed);
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
    pub(super) fn only(&self, out: &mut dyn Write) -> Result<Written, CommandError> {
        let job = &self.plan.jobs[0];
        let index = job.files.iter().position(Option::is_some).unwrap_or(0);
        let made = || Draft::new(&std::env::temp_dir());
        let mut parts = self.parts(job, made())?;
        let pictures = RefCell::new(Pictures::new(self.args.images(), ""));
        let document = self.path(job, &mut parts, index, &pictures, &made)?;
        self.write(&document, &mut parts, out)?;
        self.found(&parts);
        Ok(document.written(job, index))
    }

    fn job(&self, job: &Job<'a>, folder: &Folder) -> Result<Vec<Written>, CommandError> {
        let made = || folder.draft();
        let mut parts = self.parts(job, made())?;
        let conversations = parts.own.history.branches.conversations.iter().zip(&job.files);
        parts.own.links = conversations
            .filter_map(|(conversation, file)| {
                Some((conversation.leaf, base(file.as_deref()?).to_owned()))
            })
            .collect();
        let up = up(job.files.iter().flatten().next().map_or("", |file| file));
        let pictures = RefCell::new(Pictures::new(self.args.images(), up));
        let mut written = Vec::new();
        for (index, file) in job.files.iter().enumerate() {
            let Some(file) = file.as_ref().filter(|file| self.is_called(job, file)) else {
                continue;
            };
            let document = self.path(job, &mut parts, index, &pictures, &made)?;
            let bytes = folder.fill(file, |out| self.write(&document, &mut parts, out))?;
            written.push(Written { bytes, ..document.written(job, index) });
        }
        for (name, bytes) in pictures.into_inner().files() {
            folder.write(&name, &bytes)?;
            if let Ok(mut pictures) = self.pictures.lock() {
                pictures.insert(name);
            }
        }
        self.found(&parts);
        Ok(written)
    }

    /// Whether a transcript is wanted: of a part of a session, those agents inside its file that it calls.
    fn is_called(&self, job: &Job<'_>, file: &str) -> bool {
        self.plan.is_whole
            || job.inline.is_empty()
            || self.used.lock().is_ok_and(|used| used.contains(file))
    }

    fn parts(&self, job: &Job<'a>, made: Draft) -> Result<Parts<'a>, CommandError> {
        let own = self.read(job, job.session, made)?;
        Ok(Parts { own, earlier: Vec::new(), siblings: self.siblings(job) })
    }

    fn read(
        &self,
        job: &Job<'a>,
        session: &'a Surveyed,
        made: Draft,
    ) -> Result<Part<'a>, CommandError> {
        let read = Source::read(&session.file, session.history.clone(), self.plan.rule)?;
        let mut part = Part::new(&session.file.path, read, made);
        if !self.plan.agents.is_empty() {
            part.agents = unnamed_agents(job, session, &part.history);
        }
        Ok(part)
    }

    /// Returns the way from a transcript to that of an agent.
    fn agent(&self, job: &Job<'_>, id: &str) -> Option<String> {
        let file = self.plan.agent_file(job, id)?;
        if let Ok(mut used) = self.used.lock() {
            used.insert(file.to_owned());
        }
        Some(if job.is_agent() { base(file).to_owned() } else { format!("agents/{}", base(file)) })
    }

    /// Makes all of a path that is not there yet; what is above it sums it up.
    fn path(
        &self,
        job: &Job<'a>,
        parts: &mut Parts<'a>,
        index: usize,
        pictures: &RefCell<Pictures>,
        made: &dyn Fn() -> Draft,
    ) -> Result<Document, CommandError> {
        let (conversation, path) = target(job, &parts.own.history, index)?;
        let mut header = self.header(job, parts, &conversation, index);
        if let Some(root) = job.inline.get(index) {
            self.inline_header(job, &parts.own.history, *root, &mut header);
        }
        let agent = |id: &str| self.agent(job, id);
        let style = Style { args: self.args, pictures, agent: &agent };
        let mut sums = Sums::default();
        let mut stretches = Vec::new();
        let earlier = match job.inline.is_empty() {
            true => self.earlier(job, parts, &path, made)?,
            false => Vec::new(),
        };
        header.continues =
            earlier.iter().map(|(at, _)| self.text(&parts.earlier[*at].0.file.id)).collect();
        let earlier = earlier.into_iter().map(|(at, path)| (Some(at), path));
        for (at, path) in earlier.chain([(None, path)]) {
            let part = parts.part(at);
            let pieces = match self.format() {
                Some(format) => part.pieces(&path, format, style)?,
                None => Vec::new(),
            };
            sums.part(&part.history, &path, &part.facts);
            stretches.push(Stretch { part: at, path, pieces });
        }
        sums.into_header(&mut header);
        Ok(Document { header, stretches })
    }

    /// Writes a document, all of which is made.
    fn write(
        &self,
        document: &Document,
        parts: &mut Parts<'a>,
        out: &mut dyn Write,
    ) -> Result<(), CommandError> {
        let Some(format) = self.format() else {
            return document.stretches.iter().try_for_each(|stretch| {
                parts.part(stretch.part).lines(&stretch.path, self.args, out)
            });
        };
        let mut text = String::new();
        export::head(format, &document.header, &mut text);
        out.write_all(text.as_bytes())?;
        let mut between = "";
        for stretch in &document.stretches {
            for piece in &stretch.pieces {
                out.write_all(between.as_bytes())?;
                parts.part(stretch.part).copy(piece.range.clone(), out)?;
                between = export::between(format);
            }
        }
        text.clear();
        let pieces = document.stretches.iter().flat_map(|stretch| &stretch.pieces);
        let outline = pieces.flat_map(|piece| piece.outline.iter());
        export::foot_with_outline(format, outline, &mut text);
        Ok(out.write_all(text.as_bytes())?)
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
        job: &Job<'a>,
        parts: &mut Parts<'a>,
        path: &Path,
        made: &dyn Fn() -> Draft,
    ) -> Result<Vec<(usize, Path)>, CommandError> {
        let mut found: Vec<(usize, Path)> = Vec::new();
        while found.len() < LONGEST {
            let (history, path) = match found.last() {
                Some((at, path)) => (&parts.earlier[*at].1.history, path),
                None => (&parts.own.history, path),
            };
            let root = path.folds.first().map(|fold| history.folds.fold(*fold).head);
            let missing = history.tree.missing().iter().find(|(node, _)| Some(*node) == root);
            let Some(&(_, name)) = missing else { break };
            let Some(home) = self.plan.home(job, name) else { break };
            let held = parts.earlier.iter().position(|(part, _)| part.file.path == home.file.path);
            let at = match held {
                Some(at) if found.iter().any(|(other, _)| *other == at) => break,
                _ if home.file.path == job.session.file.path => break,
                Some(at) => at,
                None => {
                    parts.earlier.push((home, self.read(job, home, made())?));
                    parts.earlier.len() - 1
                }
            };
            let history = &parts.earlier[at].1.history;
            let node = history.tree.find(name);
            let Some(path) = node.and_then(|node| history.path_to(node)) else { break };
            found.push((at, path));
        }
        found.reverse();
        Ok(found)
    }

    fn found(&self, parts: &Parts<'_>) {
        let Ok(mut all) = self.found.lock() else { return };
        let earlier = parts.earlier.iter().map(|(_, part)| part);
        for (rule, times) in earlier.chain([&parts.own]).flat_map(|part| &part.found) {
            *all.entry(rule).or_default() += times;
        }
    }

    fn header(
        &self,
        job: &Job<'_>,
        parts: &Parts<'_>,
        conversation: &Conversation,
        index: usize,
    ) -> Header {
        let Job { project, session, .. } = job;
        let history = &parts.own.history;
        let digest = &session.digest;
        let n = conversation.n as usize;
        let title = branch_title(digest, Some(conversation.n), &project.summaries);
        let fork = conversation.fork.map(|fork| &history.branches.forks[fork]);
        let spell = |id: NodeId| {
            let name = history.session.record(id).name;
            name.map_or_else(|| id.0.to_string(), |name| self.text(&history.session.spell(name)))
        };
        let file = job.files[index].as_deref().unwrap_or_default();
        let indexed = self.args.out.is_some() && site_name(self.args.format).is_some();
        Header {
            session: self.text(&session.file.id),
            parent: session.parent_session().map(|parent| self.text(parent)),
            title: title.map(|title| self.text(title)),
            project: self.text(project.path.as_deref().unwrap_or(&project.name)),
            git_branch: digest.facts.git_branch.as_deref().map(|branch| self.text(branch)),
            version: digest.facts.version.as_ref().map(|version| self.text(&version.text)),
            path: n,
            paths: digest.conversations.len(),
            status: conversation.status.word(),
            resumes: conversation.resumes,
            draft: conversation.draft,
            leaf: spell(conversation.leaf),
            fork_point: fork.map(|fork| spell(fork.node)),
            fork_kind: fork.map(|fork| ForkKind::word(fork.kind)),
            siblings: parts.siblings.clone(),
            index: site_name(self.args.format)
                .filter(|_| indexed)
                .map(|name| format!("{}{name}", up(file))),
            ..Header::default()
        }
    }

    /// Makes the header that of an agent inside the session's own file.
    fn inline_header(&self, job: &Job<'_>, history: &History, root: Name, header: &mut Header) {
        let words = history.tree.find(root).and_then(|root| history.session.words(root));
        let words = self.text(words.unwrap_or_default());
        header.session = self.text(&history.session.spell(root));
        header.parent = Some(self.text(&job.session.file.id));
        header.title = Some(words.clone()).filter(|words| !words.is_empty());
        header.paths = 1;
        header.siblings = Arc::new([Sibling { path: 1, words, ..Sibling::default() }]);
    }

    fn siblings(&self, job: &Job<'_>) -> Arc<[Sibling]> {
        let format = self.format().unwrap_or(export::Format::Text);
        let sibling = |(path, other): (usize, &ConversationDigest)| {
            let words = match (&other.first_prompt, other.fork_kind) {
                (Some(prompt), _) => self.text(prompt),
                (None, Some(kind)) => format!("(another way after: {kind})"),
                (None, None) => String::new(),
            };
            let file = job.files.get(path - 1).and_then(Option::as_deref);
            Sibling {
                path,
                href: file.map(base).map(str::to_owned),
                told: export::told(format, &words),
                words,
                status: other.status.word(),
                resumes: other.resumes,
                messages: other.messages,
            }
        };
        (1..).zip(&job.session.digest.conversations).map(sibling).collect()
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
    match file.matches('/').count() {
        0 => "",
        1 => "../",
        _ => "../../",
    }
}

fn base(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}
