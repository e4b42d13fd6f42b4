mod as_client;

use std::cell::RefCell;
use std::path::{Path as FilePath, PathBuf};

use ramus_app::conversation::each_turn_with;
use ramus_app::live::running_reply;
use ramus_app::{NodeSelector, OpenConversation};
use ramus_core::digest::digest_resume_point;
use ramus_core::message_tree::MessageNodeId;
use ramus_core::price::PriceList;
use ramus_core::resume::ResumeRule;
use ramus_render::json::{self, Answer};
use ramus_render::text::{TextConfig, TranscriptWriter, count_noun};
use ramus_render::{Label, Line};
use ramus_store::RecordReader;
use ramus_store::claude_dir::HistoryFile;
use ramus_store::trace::LinkedPathPart;
use serde::ser::{Error, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::args::Global;
use crate::commands::archive::print_archived_note;
use crate::commands::conversations::wrapped_explanation;
use crate::completion;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::prices;
use crate::scope;
use crate::ui::Ui;

use usage::TranscriptUsage;

mod long_turns;
mod usage;

/// Show the transcript of a conversation
///
/// Shows all messages from the beginning up to the address, through compactions and earlier sessions
/// that it continues. A note at each fork point lists the other branches and how to read them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus show latest
  ramus show 7ea9@2 --tools
  ramus show 7ea9 --usage              tokens, context and cost of each reply
  ramus show 7ea9:bd21 --thinking --full
  ramus show agent-a4187ea9")]
pub(crate) struct ShowArgs {
    /// Sessions, messages, conversations or agents; `-` reads them from standard input
    #[arg(value_name = "ADDRESS", default_value = "latest", add = completion::sessions())]
    addresses: Vec<String>,
    /// Show thinking, if it was recorded
    #[arg(long)]
    thinking: bool,
    /// Show tool calls with input, output and diffs
    #[arg(long)]
    tools: bool,
    /// Show tokens, context size and cost of each reply, and totals at the end
    #[arg(long)]
    usage: bool,
    /// A file with model prices; see `ramus usage --help`
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Show everything: long texts, all tool input, thinking, the text of skills and commands
    #[arg(long)]
    full: bool,
    /// Print the JSONL lines of the path unchanged
    #[arg(long, conflicts_with_all = ["thinking", "tools", "usage", "full", "json"])]
    raw: bool,
    /// Print the messages that Claude Code would send on resume
    ///
    /// Follows the Claude Code version that wrote the session. What Claude Code adds at that moment is
    /// not included: the date, CLAUDE.md, the list of tools.
    #[arg(long, conflicts_with_all = ["thinking", "tools", "usage", "full", "raw"])]
    as_client: bool,
    /// Show notes about other branches (default)
    #[arg(long, overrides_with = "no_branch_notes")]
    branch_notes: bool,
    /// Hide notes about other branches
    #[arg(long)]
    no_branch_notes: bool,
}

pub(crate) fn show(ui: &mut Ui, global: &Global, args: &ShowArgs) -> Result<(), CommandError> {
    let addresses = env::expand_addresses(&args.addresses)?;
    let has_headings = addresses.len() > 1 && !ui.json && !args.raw && !args.as_client;
    let mut shown = Vec::new();
    for address in &addresses {
        show_address(ui, global, args, address, has_headings.then_some(&mut shown))?;
    }
    Ok(())
}

/// Shows one address; under a heading if there are `shown` ones, and only if it is not one of them: two words of
/// one title name the same session.
fn show_address(
    ui: &mut Ui,
    global: &Global,
    args: &ShowArgs,
    address: &str,
    shown: Option<&mut Vec<(PathBuf, NodeSelector)>>,
) -> Result<(), CommandError> {
    let source = env::read_source(ui, global, address)?;
    let workspace = &source.workspace;
    scope::print_scope_note(ui, workspace, Some(address));
    let typed = address;
    let address = workspace.resolve_address(source.single_address()?)?;
    if let Some(shown) = shown {
        let target = (address.file.file.path.clone(), address.node.clone());
        if shown.contains(&target) {
            return Ok(());
        }
        shown.push(target);
        ui.start_pager();
        ui.print_line(&Line::new(&format!("── {typed} ──"), Label::Heading))?;
    }
    let scope = scope::address_scope(workspace, &address, typed);
    print_archived_note(ui, workspace, &address.file);
    if args.as_client {
        let history = workspace.read_history(&address.file.file)?;
        return as_client::show_as_client(ui, &address.file, &history, &address.node);
    }
    let named = address.node != NodeSelector::Resume;
    let open = workspace.open_conversation(address)?;
    let explained =
        open.own_history().filter(|_| global.explain).map(|history| digest_resume_point(history));
    let (id, parts) = (&open.file.file.id, &open.parts);
    let short_ids = workspace.short_ids();
    if args.raw {
        return print_raw(ui, parts);
    }
    // An invalid price file must not prevent reading.
    let prices = match args.usage || ui.json {
        true => prices::load_prices(global, args.prices.as_deref())?.list,
        false => PriceList::default(),
    };
    let mut counted = TranscriptUsage::new(prices);
    if ui.json {
        let (files, rule) = (open.file.files_beside(), workspace.resume_rule());
        let counting = Counting { counted: RefCell::new(counted), files, parts, rule };
        let answer = Answer::new("ramus.show/1", to_json(&open, &counting, args.full));
        return ui.print_json(&answer.with_scope(scope));
    }
    ui.start_pager();
    if let Some(resume) = explained {
        for line in wrapped_explanation(id, resume.as_ref(), ui.width) {
            ui.print_line(&line)?;
        }
        ui.print_line(&Line::default())?;
    }
    let mut turns = 0;
    for (at, part) in parts.iter().enumerate() {
        let running = running_reply(&part.file, &part.history, &part.path);
        let running = running.filter(|_| at + 1 == parts.len());
        let id = short_ids.shorten_id(&part.file.id);
        turns += print_part(ui, args, part, running, id, &mut counted)?;
    }
    if args.usage {
        counted.count_agents(open.file.files_beside(), parts, workspace.resume_rule())?;
        for line in counted.usage_lines(ui.width) {
            ui.print_line(&line)?;
        }
    }
    for line in other_conversations(parts, short_ids.shorten_id(id), named) {
        ui.print_line(&line)?;
    }
    if turns == 0 {
        ui.print_message(&Line::plain(
            "This branch has no messages. Use --raw to print its records.",
        ));
    }
    Ok(())
}

/// Lists conversations of the session that share nothing with the one shown.
///
/// Fork points on the path list the others.
fn other_conversations(parts: &[LinkedPathPart], id: &str, named: bool) -> Vec<Line> {
    let Some(part) = parts.last().filter(|_| !named) else { return Vec::new() };
    let history = &part.history;
    let root = |end| history.message_tree.ancestors(end).last();
    let shown = part.path.messages.first().copied();
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
            &format!("This session has {}:", count_noun(others.len(), "other conversation")),
            Label::Branch,
        ),
    ];
    lines.extend(others.iter().take(MAX_OTHERS).map(|other| {
        let resumes = if other.resumes { "  ← Claude Code resumes this one" } else { "" };
        let messages = count_noun(other.messages as usize, "message");
        Line::new(&format!("  ramus show {id}@{}  {messages}{resumes}", other.number), Label::Dim)
    }));
    if others.len() > MAX_OTHERS {
        lines.push(Line::new(&format!("  ramus conversations {id}  lists all"), Label::Dim));
    }
    lines
}

/// How many other conversations are named one by one.
const MAX_OTHERS: usize = 5;

/// Prints a part of the path and returns how many turns it had.
fn print_part(
    ui: &mut Ui,
    args: &ShowArgs,
    part: &LinkedPathPart,
    running: Option<MessageNodeId>,
    id: &str,
    counted: &mut TranscriptUsage,
) -> Result<usize, CommandError> {
    let clock = LocalClock::new();
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
        highlight: ui.highlight_mode(),
        show: &command,
        cwd: facts.cwd.as_deref().unwrap_or_default(),
        running: &[],
        time: &|time| clock.message_time(time),
    };
    let mut transcript = TranscriptWriter::new(&config);
    let mut turns = 0;
    each_turn_with(part, args.full, |mut turn| -> Result<(), CommandError> {
        turns += 1;
        counted.count_turn(&mut turn);
        if let Some(running) = running {
            turn.mark_running(&part.history, running);
        }
        if config.tools {
            turn.read_spilled(&mut |path| {
                ramus_store::read_spilled_output(&part.file.path, FilePath::new(path))
            });
        }
        for piece in long_turns::split_turn(turn) {
            let mut printed = Ok(());
            transcript.write_turn(&piece, &mut |line| {
                if printed.is_ok() {
                    printed = ui.print_line(&line);
                }
            });
            printed?;
        }
        Ok(())
    })?;
    Ok(turns)
}

fn print_raw(ui: &mut Ui, parts: &[LinkedPathPart]) -> Result<(), CommandError> {
    for part in parts {
        let mut bodies = RecordReader::open(&part.file.path)?;
        for node in &part.path.nodes {
            let bytes = bodies.read_record(part.history.session.record(*node).span)?;
            ui.output_writer().write_all(&bytes)?;
            ui.output_writer().write_all(b"\n")?;
        }
    }
    Ok(())
}

/// Returns what scripts get; the turns are read when they are written.
fn to_json<'a>(
    open: &OpenConversation,
    counting: &'a Counting<'a>,
    injected: bool,
) -> json::Show<JsonNodes<'a>, JsonTurns<'a>, JsonUsage<'a>> {
    json::Show {
        session: open.file.file.id.clone(),
        leaf: open.leaf_uuid(),
        status: open.status.as_str(),
        nodes: JsonNodes(counting.parts),
        turns: JsonTurns { counting, injected },
        usage: JsonUsage(counting),
    }
}

/// A path whose messages are counted while its turns are written.
struct Counting<'a> {
    counted: RefCell<TranscriptUsage>,
    files: &'a [HistoryFile],
    parts: &'a [LinkedPathPart],
    rule: ResumeRule,
}

/// The uuids of a path, made while they are written: there may be a million.
struct JsonNodes<'a>(&'a [LinkedPathPart]);

impl Serialize for JsonNodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let uuids = self.0.iter().flat_map(|part| {
            let session = &part.history.session;
            let names = part.path.nodes.iter().filter_map(|id| session.record(*id).uuid);
            names.map(|name| session.uuid_text(name))
        });
        serializer.collect_seq(uuids)
    }
}

/// What the turns used that were written before.
struct JsonUsage<'a>(&'a Counting<'a>);

impl Serialize for JsonUsage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Counting { counted, files, parts, rule } = self.0;
        let mut counted = counted.borrow_mut();
        counted
            .count_agents(files, parts, *rule)
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
                    counted.count_turn(&mut turn);
                    let usage = json::from_reply(&turn, &counted.prices);
                    let turn =
                        json::Turn { usage, ..json::from_turn(&part.history.session, &turn) };
                    list.serialize_element(&turn).map_err(|error| {
                        unwritten = Some(error);
                        CommandError::nothing_found("")
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
