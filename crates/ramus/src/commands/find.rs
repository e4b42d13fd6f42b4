use std::collections::BTreeMap;

use clap::ValueEnum;
use jiff::Zoned;
use ramus_core::branches::Status;
use ramus_core::query::{Finding, Query, QueryError, Role, TextKind};
use ramus_render::json::{Answer, Hit as JsonHit, HitContext, HitCount, HitFile, HitPlace};
use ramus_render::{Label, Line};
use ramus_store::Bodies;
use ramus_store::place::FileRole;
use ramus_store::scan::{
    Branch, Content, Histories, Hit, Order, Place, Source, Spot, ToolFilter, read_again, scan,
    spills,
};

use crate::args::Global;
use crate::env::Clock;
use crate::error::CommandError;
use crate::select::{Library, Scope};
use crate::ui::Ui;

mod context;
mod rows;
mod snippet;
mod when;

use rows::{Heading, Row};
use snippet::Snippet;

/// Find messages in all sessions, on every branch, the newest first
///
/// Looks into prompts, answers, thinking, tool calls and their results, summaries, titles, queued
/// prompts, agents and results kept in files of their own. All words must occur in one message;
/// quotes inside TEXT keep words together. Case counts only where TEXT has an upper-case letter. A
/// message that stands in several files is found once.
///
/// ● is on an active branch, ○ on an abandoned one, ▸ was said by an agent; @N is the conversation.
/// The letters at the end of a row are the address for the next command.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus find 'connection pool'\n  ramus find '\"connection pool\" timeout' .\n  ramus find --regex 'TODO|FIXME' --role assistant --since 7d\n  ramus find migrate --branch abandoned --context 2\n  ramus find test --tool bash --files\n  ramus find needle --json | jq -r .address"
)]
pub(crate) struct FindArgs {
    /// What to look for
    text: String,
    /// Only in this project or session
    scope: Option<String>,
    /// TEXT is a regular expression; case counts unless it begins with `(?i)`
    #[arg(long)]
    regex: bool,
    /// Show N messages before and after each hit
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    context: usize,
    /// Only what this one says
    #[arg(long, value_parser = role_words(), value_name = "ROLE")]
    role: Vec<Role>,
    /// Only texts of this kind
    #[arg(long, value_parser = kind_words(), value_name = "KIND")]
    kind: Vec<TextKind>,
    /// Only calls of this tool and their results
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only tool calls that touch this file, and their results
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Only from here on: a date, a time, or how long ago (`2h`, `3d`)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only up to here
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only in this project
    #[arg(long, value_name = "PROJECT", conflicts_with = "scope")]
    project: Option<String>,
    /// Only on branches of this status
    #[arg(long, value_name = "STATUS", default_value = "any", hide_default_value = true)]
    branch: BranchFilter,
    /// Whether to look into what agents did
    #[arg(long, value_name = "WHICH", default_value = "any", hide_default_value = true)]
    agents: AgentFilter,
    /// What comes first
    #[arg(long, value_name = "ORDER", default_value = "time", hide_default_value = true)]
    sort: Sort,
    /// Print only how many messages match
    #[arg(long, conflicts_with = "files")]
    count: bool,
    /// Print only the files in which messages match
    #[arg(long)]
    files: bool,
    /// Show at most N messages
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BranchFilter {
    Any,
    Active,
    Abandoned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AgentFilter {
    Any,
    Only,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// The newest
    Time,
    /// What fits best
    Relevance,
}

fn role_words() -> impl clap::builder::TypedValueParser<Value = Role> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(Role::ALL.map(Role::word))
        .map(|word| Role::ALL.into_iter().find(|role| role.word() == word).unwrap_or(Role::User))
}

fn kind_words() -> impl clap::builder::TypedValueParser<Value = TextKind> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(TextKind::ALL.map(TextKind::word)).map(|word| {
        TextKind::ALL.into_iter().find(|kind| kind.word() == word).unwrap_or(TextKind::Other)
    })
}

pub(crate) fn find(ui: &mut Ui, global: &Global, args: &FindArgs) -> Result<(), CommandError> {
    let query = query(ui, args)?;
    let library = Library::open(ui, global)?;
    let scope = match &args.project {
        Some(project) => Scope::Project(library.project(project)?),
        None => library.scope(ui, args.scope.as_deref())?,
    };
    let sources = sources(&library, &scope, args.agents);
    let tool = (args.tool.is_some() || args.file.is_some())
        .then(|| ToolFilter { name: args.tool.clone(), file: args.file.clone() });
    let bar = ui.progress(sources.iter().map(|source| source.file.bytes).sum());
    let found = scan(&sources, &query, tool.as_ref(), &|bytes| bar.inc(bytes));
    bar.finish_and_clear();
    for problem in &found.problems {
        ui.warn(problem);
    }
    let order = if args.sort == Sort::Time { Order::Time } else { Order::Relevance };
    let hits = Hit::merge(found.places, &sources, order);
    let mut search = Search {
        library: &library,
        sources: &sources,
        query: &query,
        depth: args.context,
        histories: Histories::new(library.rule),
        known: hits.iter().map(|_| None).collect(),
        titles: BTreeMap::new(),
        hits,
    };
    search.keep_branch(ui, args.branch);
    if search.hits.is_empty() {
        return nothing(ui, args);
    }
    if args.count {
        return count(ui, &search);
    }
    if args.files {
        return files(ui, &search);
    }
    let all = search.hits.len();
    search.truncate(args.limit.unwrap_or(usize::MAX));
    if ui.json {
        search.write_json(ui)?;
    } else {
        search.write_rows(ui)?;
    }
    if search.hits.len() < all {
        let more = format!("{} more; `--limit` says how many are shown", all - search.hits.len());
        ui.say(&Line::new(&more, Label::Dim));
    }
    Ok(())
}

fn query(ui: &Ui, args: &FindArgs) -> Result<Query, CommandError> {
    let parsed = if args.regex { Query::regex(&args.text) } else { Query::words(&args.text) };
    let mut query = parsed.map_err(|error| broken(ui, &args.text, &error))?;
    let now = Zoned::now();
    let time = |text: &Option<String>, edge| {
        text.as_deref().map(|text| when::parse(text, edge, &now)).transpose()
    };
    query.since = time(&args.since, when::Edge::Start)?;
    query.until = time(&args.until, when::Edge::End)?;
    query.kinds.clone_from(&args.kind);
    query.roles.clone_from(&args.role);
    Ok(query)
}

/// Shows where a pattern is broken, with a sign below it.
fn broken(ui: &Ui, text: &str, error: &QueryError) -> CommandError {
    if let Some(span) = &error.span
        && !text.contains('\n')
    {
        let columns = |text: Option<&str>| text.map_or(0, |text| Line::plain(text).width());
        let sign = "^".repeat(columns(text.get(span.clone())).max(1));
        ui.say(&Line::plain(&format!("  {text}")));
        let indent = " ".repeat(columns(text.get(..span.start)));
        ui.say(&Line::plain(&format!("  {indent}")).with(&sign, Label::Error));
        return CommandError::user(format!("the regular expression is broken: {error}"));
    }
    CommandError::user(error)
}

fn sources(library: &Library, scope: &Scope, agents: AgentFilter) -> Vec<Source> {
    let (projects, session) = match scope {
        Scope::All => ((0..library.projects.len()).collect(), None),
        Scope::Project(index) => (vec![*index], None),
        Scope::Session(found) => match found.project {
            Some(index) => (vec![index], Some(&found.file)),
            None => {
                let file = found.file.clone();
                let content = Content::Records;
                return vec![Source { file, content, project: None, only_session: None }];
            }
        },
    };
    let mut sources = Vec::new();
    for index in projects {
        let project = &library.projects[index];
        for file in &project.files {
            let is_agent = file.role.is_agent();
            let mut only_session = None;
            let is_meant = match session {
                None => true,
                Some(session) if file.path == session.path => true,
                Some(session) => match &file.role {
                    FileRole::NestedAgent { session: parent }
                    | FileRole::Journal { session: parent } => *parent == session.id,
                    FileRole::FlatAgent if session.role == FileRole::Session => {
                        only_session = Some(session.id.clone());
                        true
                    }
                    _ => false,
                },
            };
            let is_wanted = match agents {
                AgentFilter::Any => true,
                AgentFilter::Only => is_agent,
                AgentFilter::None => !is_agent,
            };
            if is_meant && is_wanted {
                let content = Content::Records;
                let file = file.clone();
                sources.push(Source { file, content, project: Some(index), only_session });
            }
        }
        if agents != AgentFilter::Only {
            let spilled = spills(project, session.map(|session| session.id.as_str()));
            sources.extend(spilled.into_iter().map(|file| Source {
                file,
                content: Content::Spilled,
                project: Some(index),
                only_session: None,
            }));
        }
    }
    sources
}

fn nothing(ui: &mut Ui, args: &FindArgs) -> Result<(), CommandError> {
    if args.count {
        if ui.json {
            let none = HitCount { messages: 0, places: 0, files: 0 };
            ui.json(&Answer::new("ramus.find.count/1", none))?;
        } else {
            writeln!(ui.out(), "0")?;
        }
    }
    let mut error = CommandError::nothing(format!("no message holds {:?}", args.text));
    if !args.regex && args.text.split_whitespace().nth(1).is_some() {
        error = error.hinted("all words must occur in one message; fewer find more");
    }
    Err(error)
}

fn count(ui: &mut Ui, search: &Search<'_>) -> Result<(), CommandError> {
    if !ui.json {
        writeln!(ui.out(), "{}", search.hits.len())?;
        return Ok(());
    }
    let places = search.hits.iter().flat_map(Hit::places);
    let mut files: Vec<u32> = places.map(|place| place.source).collect();
    let (messages, places) = (search.hits.len(), files.len());
    files.sort_unstable();
    files.dedup();
    ui.json(&Answer::new("ramus.find.count/1", HitCount { messages, places, files: files.len() }))
}

fn files(ui: &mut Ui, search: &Search<'_>) -> Result<(), CommandError> {
    let mut order = Vec::new();
    let mut messages: BTreeMap<u32, usize> = BTreeMap::new();
    for place in search.hits.iter().flat_map(Hit::places) {
        let count = messages.entry(place.source).or_default();
        if *count == 0 {
            order.push(place.source);
        }
        *count += 1;
    }
    for source in order {
        let file = search.sources[source as usize].file.relative.clone();
        if ui.json {
            ui.json(&Answer::new(
                "ramus.find.file/1",
                HitFile { file, messages: messages[&source] },
            ))?;
        } else {
            writeln!(ui.out(), "{file}")?;
        }
    }
    Ok(())
}

/// Hits and what is known of them so far.
struct Search<'a> {
    library: &'a Library,
    sources: &'a [Source],
    query: &'a Query,
    /// How many messages of context are wanted.
    depth: usize,
    histories: Histories,
    hits: Vec<Hit>,
    /// Where each hit lies; found out for all hits of a file at once.
    known: Vec<Option<Known>>,
    /// The session and title of each source that was looked at.
    titles: BTreeMap<u32, (String, Option<String>)>,
}

#[derive(Default)]
struct Known {
    spot: Spot,
    context: Option<HitContext>,
}

impl Search<'_> {
    fn truncate(&mut self, limit: usize) {
        self.hits.truncate(limit);
        self.known.truncate(limit);
    }

    /// Keeps the hits on branches of one status; that takes reading all files with hits.
    fn keep_branch(&mut self, ui: &mut Ui, wanted: BranchFilter) {
        let status = match wanted {
            BranchFilter::Any => return,
            BranchFilter::Active => Status::Active,
            BranchFilter::Abandoned => Status::Abandoned,
        };
        for index in 0..self.hits.len() {
            self.look_up(ui, index);
        }
        let fits = |known: &Option<Known>| {
            let branch = known.as_ref().and_then(|known| known.spot.branch);
            branch.is_some_and(|branch: Branch| branch.status == status)
        };
        let kept: Vec<bool> = self.known.iter().map(fits).collect();
        let mut keep = kept.iter();
        self.hits.retain(|_| keep.next() == Some(&true));
        let mut keep = kept.iter();
        self.known.retain(|_| keep.next() == Some(&true));
    }

    /// Finds out where a hit lies, and with it all others of its file.
    fn look_up(&mut self, ui: &mut Ui, index: usize) {
        if self.known[index].is_some() {
            return;
        }
        let source = self.hits[index].place.source;
        let together: Vec<usize> = (index..self.hits.len())
            .filter(|at| self.hits[*at].place.source == source && self.known[*at].is_none())
            .collect();
        let places: Vec<Place> = together.iter().map(|at| self.hits[*at].place).collect();
        if let Err(problem) = self.look_up_all(source, &together, &places) {
            ui.warn(&problem);
        }
        for at in together {
            self.known[at].get_or_insert_default();
        }
    }

    fn look_up_all(
        &mut self,
        index: u32,
        together: &[usize],
        places: &[Place],
    ) -> Result<(), ramus_store::PathError> {
        let source = &self.sources[index as usize];
        let files = source.project.map_or(&[][..], |project| &self.library.projects[project].files);
        let found = self.histories.whereabouts(source, places, files)?;
        self.titles.insert(index, (found.session, found.title));
        let nearby = if self.depth > 0 && source.content == Content::Records {
            Some((self.histories.read(&source.file.path)?, Bodies::open(&source.file.path)?))
        } else {
            None
        };
        let mut nearby = nearby;
        for (at, spot) in together.iter().zip(found.spots) {
            let context = match (&mut nearby, spot.node) {
                (Some((history, bodies)), Some(node)) => {
                    Some(context::context(history, bodies, node, self.depth)?)
                }
                _ => None,
            };
            self.known[*at] = Some(Known { spot, context });
        }
        Ok(())
    }

    fn show<T>(
        &self,
        ui: &mut Ui,
        index: usize,
        show: impl FnOnce(&Finding<'_>) -> T,
    ) -> Option<T> {
        let place = &self.hits[index].place;
        let source = &self.sources[place.source as usize];
        match read_again(source, place, self.query, show) {
            Ok(shown) => shown,
            Err(problem) => {
                ui.warn(&problem);
                None
            }
        }
    }

    /// Returns what to give to the next command to get to a hit.
    fn address(&self, index: usize) -> String {
        let short = |id: &str| id.chars().take(8).collect::<String>();
        let source = self.hits[index].place.source;
        let file = &self.sources[source as usize].file;
        let session = match self.titles.get(&source) {
            Some((session, _)) if !file.role.is_agent() => short(session),
            _ if file.role.is_agent() => format!("agent-{}", short(&file.id)),
            _ => short(&file.id),
        };
        let spot = self.known[index].as_ref().map(|known| &known.spot);
        match spot.and_then(|spot| spot.uuid.as_deref()) {
            Some(uuid) => format!("{session}:{}", short(uuid)),
            None => session,
        }
    }

    fn write_json(&mut self, ui: &mut Ui) -> Result<(), CommandError> {
        for index in 0..self.hits.len() {
            self.look_up(ui, index);
            let Some(hit) = self.json_hit(ui, index) else { continue };
            ui.json(&Answer::new("ramus.find/1", hit))?;
            if index.is_power_of_two() {
                ui.out().flush()?;
            }
        }
        Ok(())
    }

    fn json_hit(&mut self, ui: &mut Ui, index: usize) -> Option<JsonHit> {
        /// How many characters of a text are given to scripts.
        const ROOM: usize = 240;
        let (kind, time, snippet) = self.show(ui, index, |finding| {
            let snippet = Snippet::new(&finding.text, &finding.range, ROOM);
            (finding.text_kind, finding.time, snippet)
        })?;
        let address = self.address(index);
        let known = self.known[index].take().unwrap_or_default();
        let hit = &self.hits[index];
        let source = &self.sources[hit.place.source as usize];
        let file = |place: &Place| self.sources[place.source as usize].file.relative.clone();
        let (session, title) =
            self.titles.get(&hit.place.source).cloned().unwrap_or((source.file.id.clone(), None));
        let branch = known.spot.branch;
        Some(JsonHit {
            session,
            title,
            project: source.project.map(|project| self.library.projects[project].name.clone()),
            agent: source.file.role.is_agent().then(|| source.file.id.clone()),
            address,
            file: file(&hit.place),
            line: hit.place.line,
            uuid: known.spot.uuid.filter(|_| known.spot.is_own),
            role: kind.role().word(),
            kind: kind.word(),
            conversation: branch.map(|branch| branch.n),
            status: branch.map(|branch| branch.status.word()),
            resumes: branch.is_some_and(|branch| branch.resumes),
            timestamp: time.map(|time| time.to_string()),
            matched: snippet.range(),
            snippet: snippet.text(),
            places: hit
                .places()
                .map(|place| HitPlace { file: file(place), line: place.line })
                .collect(),
            context: known.context,
        })
    }

    /// Writes sessions in the order of their first hits, each with all of its hits.
    fn write_rows(&mut self, ui: &mut Ui) -> Result<(), CommandError> {
        ui.page();
        let clock = Clock::new();
        let mut is_first = true;
        for group in self.groups() {
            if !is_first {
                ui.line(&Line::default())?;
            }
            is_first = false;
            for (position, index) in group.into_iter().enumerate() {
                self.look_up(ui, index);
                if position == 0 {
                    let heading = self.heading(index).line(ui.width, &clock);
                    ui.line(&heading)?;
                }
                for line in self.rows(ui, index, &clock) {
                    ui.line(&line)?;
                }
            }
            ui.out().flush()?;
        }
        Ok(())
    }

    /// Puts together the hits of one session's files, in the order in which they come.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut known: BTreeMap<(Option<usize>, &str), usize> = BTreeMap::new();
        for (index, hit) in self.hits.iter().enumerate() {
            let source = &self.sources[hit.place.source as usize];
            let session = match &source.file.role {
                FileRole::NestedAgent { session } | FileRole::Journal { session } => session,
                FileRole::Session | FileRole::FlatAgent => &source.file.id,
            };
            let group = *known.entry((source.project, session)).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(index);
        }
        groups
    }

    fn heading(&self, index: usize) -> Heading<'_> {
        let place = &self.hits[index].place;
        let source = &self.sources[place.source as usize];
        let project = source.project.map_or("", |project| &*self.library.projects[project].name);
        let (session, title) = match self.titles.get(&place.source) {
            Some((session, title)) => (session.as_str(), title.as_deref()),
            None => (source.file.id.as_str(), None),
        };
        Heading { project, title, session, time: place.time }
    }

    fn rows(&self, ui: &mut Ui, index: usize, clock: &Clock) -> Vec<Line> {
        let hit = &self.hits[index];
        let address = self.address(index);
        let Some(known) = &self.known[index] else { return Vec::new() };
        let branch = known.spot.branch;
        let width = ui.width;
        let is_agent = self.sources[hit.place.source as usize].file.role.is_agent();
        let shown = self.show(ui, index, |finding| {
            let row = Row {
                time: finding.time,
                kind: finding.text_kind.word(),
                status: branch.map(|branch| branch.status),
                conversation: branch.map(|branch| branch.n),
                is_agent,
                address: &address,
                places: hit.places().count(),
            };
            let snippet = Snippet::new(&finding.text, &finding.range, row.room(width));
            row.lines(width, clock, &snippet)
        });
        let mut lines = shown.unwrap_or_default();
        if let Some(context) = &known.context {
            let row = |sign, near: &ramus_render::json::HitNeighbour| {
                rows::neighbour(
                    sign,
                    near.role,
                    &near.text,
                    near.uuid.as_deref().unwrap_or(""),
                    width,
                )
            };
            let before: Vec<Line> = context.before.iter().map(|near| row("↑", near)).collect();
            lines.splice(0..0, before);
            lines.extend(context.after.iter().map(|near| row("↓", near)));
        }
        lines
    }
}
