mod as_client;

use std::cell::RefCell;
use std::path::{Path as FilePath, PathBuf};

use ramus_app::conversation::each_turn_with;
use ramus_app::{NodeSelector, OpenConversation};
use ramus_core::digest::resume_of;
use ramus_core::price::PriceList;
use ramus_core::resume::Rule;
use ramus_render::json::{self, Answer};
use ramus_render::text::{TextConfig, Transcript, count};
use ramus_render::{Label, Line};
use ramus_store::Bodies;
use ramus_store::place::HistoryFile;
use ramus_store::trace::Part;
use serde::ser::{Error, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::args::Global;
use crate::commands::archive::tell_archived;
use crate::commands::conversations::explanation;
use crate::env::{self, Clock};
use crate::error::CommandError;
use crate::prices;
use crate::ui::Ui;

use usage::Counted;

mod long;
mod usage;

/// Read a conversation
///
/// Shows the path from the beginning to the address: through compactions, and through the sessions
/// that it continues. At each fork it tells of the other ways and how to read them.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus show latest\n  ramus show 3f9a@2 --tools\n  ramus show 3f9a --usage           tokens, context and cost of each reply\n  ramus show 3f9a:81b2c3d4 --thinking --full\n  ramus show agent-a1b2c3d"
)]
pub(crate) struct ShowArgs {
    /// A session, a node or a conversation of it, or an agent
    #[arg(default_value = "latest")]
    address: String,
    /// Show what the model thought, where it is kept
    #[arg(long)]
    thinking: bool,
    /// Open the tool calls: input, output, diffs
    #[arg(long)]
    tools: bool,
    /// Below each reply its tokens, the size of its context and its cost; at the end their sums
    #[arg(long)]
    usage: bool,
    /// A file with prices of models, see `ramus usage --help`
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Leave nothing out: long texts, all tool input, thinking, the text of skills and commands
    #[arg(long)]
    full: bool,
    /// Print the lines of the path as they stand in the file
    #[arg(long, conflicts_with_all = ["thinking", "tools", "usage", "full", "json"])]
    raw: bool,
    /// Print the messages that Claude Code would send if it resumed there
    ///
    /// As the version does that wrote the session, and without what it adds by itself at that
    /// moment: the date, CLAUDE.md, lists of tools.
    #[arg(long, conflicts_with_all = ["thinking", "tools", "usage", "full", "raw"])]
    as_client: bool,
    /// Tell of the other ways at each fork; the default
    #[arg(long, overrides_with = "no_branch_notes")]
    branch_notes: bool,
    /// Do not
    #[arg(long)]
    no_branch_notes: bool,
}

pub(crate) fn show(ui: &mut Ui, global: &Global, args: &ShowArgs) -> Result<(), CommandError> {
    let source = env::read_source(ui, global, &args.address)?;
    let workspace = &source.workspace;
    let address = workspace.address(source.one()?)?;
    tell_archived(ui, workspace, &address.file);
    if args.as_client {
        let history = workspace.read(&address.file.file)?;
        return as_client::show(ui, &address.file, &history, &address.node);
    }
    let named = address.node != NodeSelector::Resume;
    let open = workspace.open(address)?;
    let explained = open.history().filter(|_| global.explain).map(|history| resume_of(history));
    let (id, parts) = (&open.file.file.id, &open.parts);
    let short_ids = workspace.short_ids();
    if args.raw {
        return raw(ui, parts);
    }
    // A broken file of prices keeps nobody from reading.
    let prices = match args.usage || ui.json {
        true => prices::load(args.prices.as_deref())?.list,
        false => PriceList::default(),
    };
    let mut counted = Counted::new(prices);
    if ui.json {
        let (files, rule) = (open.file.files_beside(), workspace.rule());
        let counting = Counting { counted: RefCell::new(counted), files, parts, rule };
        return ui.json(&Answer::new("ramus.show/1", to_json(&open, &counting, args.full)));
    }
    ui.page();
    if let Some(resume) = explained {
        for line in explanation(id, resume.as_ref(), ui.width) {
            ui.line(&line)?;
        }
        ui.line(&Line::default())?;
    }
    let mut turns = 0;
    for part in parts {
        turns += read(ui, args, part, short_ids.short(&part.file.id), &mut counted)?;
    }
    if args.usage {
        counted.take_agents(open.file.files_beside(), parts, workspace.rule())?;
        for line in counted.lines(ui.width) {
            ui.line(&line)?;
        }
    }
    for line in other_conversations(parts, short_ids.short(id), named) {
        ui.line(&line)?;
    }
    if turns == 0 {
        ui.say(&Line::plain("Nobody says anything on this path; `--raw` prints its records."));
    }
    Ok(())
}

/// Tells of the conversations of a session that share nothing with the one that was shown.
///
/// Forks on the path tell of the rest.
fn other_conversations(parts: &[Part], id: &str, named: bool) -> Vec<Line> {
    let Some(part) = parts.last().filter(|_| !named) else { return Vec::new() };
    let history = &part.history;
    let root = |end| history.folds.ancestors(end).last();
    let shown = part.path.folds.first().copied();
    let others: Vec<_> = history
        .branches
        .conversations
        .iter()
        .filter(|other| other.messages > 0 && root(other.end) != shown)
        .collect();
    if others.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![
        Line::default(),
        Line::new(
            &format!(
                "This session holds {} beside this one:",
                count(others.len(), "other conversation")
            ),
            Label::Branch,
        ),
    ];
    lines.extend(others.iter().take(MOST_OTHERS).map(|other| {
        let resumes = if other.resumes { "  ← Claude Code resumes this one" } else { "" };
        let messages = count(other.messages as usize, "message");
        Line::new(&format!("  ramus show {id}@{}  {messages}{resumes}", other.n), Label::Dim)
    }));
    if others.len() > MOST_OTHERS {
        lines.push(Line::new(&format!("  ramus conversations {id}  lists all"), Label::Dim));
    }
    lines
}

/// How many other conversations are named one by one.
const MOST_OTHERS: usize = 5;

/// Prints a part of the path and returns how many turns it had.
fn read(
    ui: &mut Ui,
    args: &ShowArgs,
    part: &Part,
    id: &str,
    counted: &mut Counted,
) -> Result<usize, CommandError> {
    let clock = Clock::new();
    let agent = if part.file.role.is_agent() { "agent-" } else { "" };
    let command = format!("ramus show {agent}{id}");
    let facts = part.history.session.facts();
    let prices = args.usage.then(|| counted.prices.clone());
    let config = TextConfig {
        width: ui.width,
        thinking: args.thinking || args.full,
        tools: args.tools || args.full,
        full: args.full,
        branch_notes: args.branch_notes || !args.no_branch_notes,
        usage: prices.as_ref(),
        highlight: ui.highlight(),
        show: &command,
        cwd: facts.cwd.as_deref().unwrap_or_default(),
        time: &|time| clock.message(time),
    };
    let mut transcript = Transcript::new(&config);
    let mut lines = Vec::new();
    let mut turns = 0;
    each_turn_with(part, args.full, |mut turn| -> Result<(), CommandError> {
        turns += 1;
        counted.take(&mut turn);
        if config.tools {
            turn.read_spilled(&mut |path| {
                ramus_store::spilled(&part.file.path, FilePath::new(path))
            });
        }
        for piece in long::pieces(turn) {
            transcript.turn(&piece, &mut lines);
            for line in lines.drain(..) {
                ui.line(&line)?;
            }
        }
        Ok(())
    })?;
    Ok(turns)
}

fn raw(ui: &mut Ui, parts: &[Part]) -> Result<(), CommandError> {
    for part in parts {
        let mut bodies = Bodies::open(&part.file.path)?;
        for node in &part.path.nodes {
            let bytes = bodies.bytes(part.history.session.record(*node).span)?;
            ui.out().write_all(&bytes)?;
            ui.out().write_all(b"\n")?;
        }
    }
    Ok(())
}

/// Returns what scripts get; the turns are read when they are written.
fn to_json<'a>(
    open: &OpenConversation,
    counting: &'a Counting<'a>,
    injected: bool,
) -> json::Show<JsonTurns<'a>, JsonUsage<'a>> {
    let mut nodes = Vec::new();
    for part in counting.parts {
        let session = &part.history.session;
        let names = part.path.nodes.iter().filter_map(|id| session.record(*id).name);
        nodes.extend(names.map(|name| session.spell(name)));
    }
    json::Show {
        session: open.file.file.id.clone(),
        leaf: open.leaf_uuid(),
        status: open.status.word(),
        nodes,
        turns: JsonTurns { counting, injected },
        usage: JsonUsage(counting),
    }
}

/// A path whose messages are counted while its turns are written.
struct Counting<'a> {
    counted: RefCell<Counted>,
    files: &'a [HistoryFile],
    parts: &'a [Part],
    rule: Rule,
}

/// What the turns used that were written before.
struct JsonUsage<'a>(&'a Counting<'a>);

impl Serialize for JsonUsage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Counting { counted, files, parts, rule } = self.0;
        let mut counted = counted.borrow_mut();
        counted
            .take_agents(files, parts, *rule)
            .map_err(|error| S::Error::custom(format!("{:#}", error.error)))?;
        counted.to_json().serialize(serializer)
    }
}

/// The turns of a path, read one by one while they are written.
struct JsonTurns<'a> {
    counting: &'a Counting<'a>,
    /// With what the client put in, too.
    injected: bool,
}

impl Serialize for JsonTurns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for part in self.counting.parts {
            let mut unwritten = None;
            let read =
                each_turn_with(part, self.injected, |mut turn| -> Result<(), CommandError> {
                    let mut counted = self.counting.counted.borrow_mut();
                    counted.take(&mut turn);
                    let usage = json::reply_usage(&turn, &counted.prices);
                    let turn = json::Turn { usage, ..json::turn(&part.history.session, &turn) };
                    list.serialize_element(&turn).map_err(|error| {
                        unwritten = Some(error);
                        CommandError::nothing("")
                    })
                });
            if let Some(error) = unwritten {
                return Err(error);
            }
            read.map_err(|error| S::Error::custom(format!("{:#}", error.error)))?;
        }
        list.end()
    }
}
