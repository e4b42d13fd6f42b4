use ramus_app::message::message_summary;
use ramus_app::{Address, ChangeError, ChangeRequest, NodeSelector, OpenedSession, Workspace};
use ramus_core::message_tree::MessageNodeId;
use ramus_core::query::{FindingDetail, Query};
use ramus_core::session::NodeId;
use ramus_render::change::{message_line, offer_lines};
use ramus_render::json::Answer;
use ramus_render::{Label, Line};
use ramus_store::RecordReader;

use crate::args::Global;
use crate::completion;
use crate::confirm::{WriteArgs, confirm_and_apply, nothing_written, resume_command, with_style};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Make Claude Code resume from another message
///
/// Appends three lines to the session, which every version of Claude Code follows. Existing lines are
/// not changed, and `ramus undo` removes the new ones. If the message calls tools, Claude Code resumes
/// after their results. If this cannot work for a message, ramus explains why and offers a fork
/// instead.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus goto 7ea9@2                      another conversation of the session
  ramus goto 7ea9:bd21                   one message
  ramus goto 7ea9 \"Do the pool anyway\"   the message with these words
  ramus goto 7ea9@2 --dry-run            only show what would be added")]
pub(crate) struct GotoArgs {
    /// A message or conversation, or a session together with TEXT
    #[arg(add = completion::sessions())]
    address: String,
    /// Words of the message, or the start of its uuid
    text: Vec<String>,
    #[command(flatten)]
    write: WriteArgs,
}

/// Make Claude Code resume a session from another message
///
/// The same as `ramus goto SESSION:UUID`. Nothing is copied: a new branch begins there with your next
/// prompt.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus branch 7ea9 bd21")]
pub(crate) struct BranchArgs {
    /// The session
    #[arg(add = completion::sessions())]
    session: String,
    /// The message: the first characters of its uuid
    uuid: String,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn goto(ui: &mut Ui, global: &Global, args: &GotoArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, &args.address)?;
    let text = args.text.join(" ");
    // Words without a session are searched in the most recently active session first, before they count as a title.
    if text.is_empty()
        && args.address.contains(char::is_whitespace)
        && let Ok(latest) = workspace.resolve_address("latest")
    {
        let opened = OpenedSession::read_session(&workspace, latest.file)?;
        if let Ok(node) = opened.pick_message(ui, &args.address) {
            return goto_node(ui, &workspace, &opened, node, &args.write);
        }
    }
    let Address { file: found, node: selector } = match workspace.resolve_address(&args.address) {
        Ok(address) => address,
        Err(error) if !text.is_empty() => return Err(error.into()),
        Err(error) => {
            let Ok(latest) = workspace.resolve_address("latest") else { return Err(error.into()) };
            let opened = OpenedSession::read_session(&workspace, latest.file)?;
            let node = opened.pick_message(ui, &args.address).map_err(|_| error)?;
            return goto_node(ui, &workspace, &opened, node, &args.write);
        }
    };
    let opened = OpenedSession::read_session(&workspace, found)?;
    let node = if text.is_empty() {
        opened.find_node(&selector)?
    } else {
        match opened.find_node(&NodeSelector::Uuid(text.clone())) {
            Ok(node) => node,
            Err(_) => opened.pick_message(ui, &text)?,
        }
    };
    goto_node(ui, &workspace, &opened, node, &args.write)
}

pub(crate) fn branch(ui: &mut Ui, global: &Global, args: &BranchArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, &args.session)?;
    let found = workspace.resolve_address(&args.session)?.file;
    let opened = OpenedSession::read_session(&workspace, found)?;
    let node = opened.find_node(&NodeSelector::Uuid(args.uuid.clone()))?;
    goto_node(ui, &workspace, &opened, node, &args.write)
}

fn goto_node(
    ui: &mut Ui,
    workspace: &Workspace,
    opened: &OpenedSession,
    node: NodeId,
    args: &WriteArgs,
) -> Result<(), CommandError> {
    let request = ChangeRequest::Goto { opened, node };
    let change = match workspace.plan_change(request, env::current_time()) {
        Err(ChangeError::AlreadyThere) if ui.json => {
            return ui.print_json(&Answer::new("ramus.goto/1", nothing_written(opened, node)));
        }
        Err(ChangeError::AlreadyThere) => {
            ui.print_message(&Line::plain("Nothing to do: the session already resumes there."));
            return resume_command(ui, &opened.found.file.id, opened.working_directory());
        }
        planned => planned?,
    };
    let offer = change.instead_of.as_ref().map(offer_lines);
    offer.iter().flatten().for_each(|line| ui.print_message(line));
    confirm_and_apply(ui, "ramus.goto/1", args, &change)
}

/// Searches messages by their text.
trait SessionSearch {
    /// Finds the message with a text, and lets the user choose if there are several.
    fn pick_message(&self, ui: &mut Ui, text: &str) -> Result<NodeId, CommandError>;

    /// Shows a message with the ones before and after it.
    fn candidate_lines(
        &self,
        ui: &Ui,
        bodies: &mut RecordReader,
        n: usize,
        message_id: MessageNodeId,
    ) -> Result<Vec<Line>, CommandError>;
}

impl SessionSearch for OpenedSession {
    fn pick_message(&self, ui: &mut Ui, text: &str) -> Result<NodeId, CommandError> {
        let query = Query::from_words(text).map_err(CommandError::user_error)?;
        let mut bodies = RecordReader::open(&self.found.file.path)?;
        let mut messages: Vec<MessageNodeId> = Vec::new();
        for (id, record) in self.history.session.nodes() {
            let Some(message_id) = self.history.message_tree.message_of(id) else { continue };
            if record.sidechain || !self.history.message_tree.message(message_id).role.is_dialogue()
            {
                continue;
            }
            let bytes = bodies.read_record(record.span)?;
            let mut is_hit = false;
            query.find_in_line(&bytes, FindingDetail::Whether, |_| is_hit = true);
            if is_hit && !messages.contains(&message_id) {
                messages.push(message_id);
            }
        }
        messages.reverse();
        let head = |message_id: MessageNodeId| self.history.message_tree.message(message_id).head;
        match messages[..] {
            [] => Err(CommandError::nothing_found(format!(
                "no message in the session matches {text:?}"
            ))
            .with_hint("`ramus find` searches all sessions")),
            [message_id] => Ok(head(message_id)),
            _ => {
                for (n, message_id) in (1..).zip(&messages) {
                    for line in self.candidate_lines(ui, &mut bodies, n, *message_id)? {
                        ui.print_message(&ramus_render::layout::truncate_line(&line, ui.width));
                    }
                }
                let several = format!("{} messages match {text:?}", messages.len());
                match ui.choose_number("Which one?", messages.len()) {
                    Some(n) => Ok(head(messages[n - 1])),
                    None => Err(CommandError::user_error(several)
                        .with_hint("choose one: `ramus goto SESSION UUID`")),
                }
            }
        }
    }

    fn candidate_lines(
        &self,
        ui: &Ui,
        bodies: &mut RecordReader,
        n: usize,
        message_id: MessageNodeId,
    ) -> Result<Vec<Line>, CommandError> {
        let messages = &self.history.message_tree;
        let mut line = |message_id| -> Result<Line, CommandError> {
            let message = message_summary(&self.history, bodies, message_id)?;
            Ok(with_style(ui, |style| message_line(&message, style)))
        };
        let conversation = self.history.conversation_of(messages.message(message_id).head);
        let status = conversation.map_or("", |conversation| conversation.status.as_str());
        let mut lines = Vec::new();
        if let Some(above) = messages
            .ancestors(message_id)
            .skip(1)
            .find(|message_id| messages.message(*message_id).role.is_dialogue())
        {
            let words = line(above)?;
            lines.push(Line::new("      ↑ ", Label::Dim).with_line(&words));
        }
        let words = line(message_id)?;
        lines.push(
            Line::new(&format!("{n:>3}  "), Label::Strong)
                .with(&format!("{status:<9}  "), Label::Branch)
                .with_line(&words),
        );
        let mut below: Vec<MessageNodeId> = messages.dialogue_children(message_id).collect();
        while let Some(quiet) =
            below.iter().position(|message_id| !messages.message(*message_id).role.is_dialogue())
        {
            let quiet = below.swap_remove(quiet);
            below.extend(messages.dialogue_children(quiet));
        }
        below.sort_unstable();
        for below in below {
            let words = line(below)?;
            lines.push(Line::new("      ↓ ", Label::Dim).with_line(&words));
        }
        Ok(lines)
    }
}
