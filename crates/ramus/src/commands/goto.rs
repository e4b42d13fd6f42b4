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
use crate::confirm::{WriteArgs, confirm_and_apply, nothing_written, resume_command, with_style};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Make a message the one that Claude Code resumes from
///
/// Adds three lines to the session that every version of Claude Code follows; nothing that is there
/// is changed, and `ramus undo` takes the lines off again. The message is taken with its tool calls
/// and their results. Where adding lines cannot work, ramus says why and offers a fork.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus goto 3f9a@2                      the second conversation of a session\n  ramus goto 3f9a:81b2c3d4               one message\n  ramus goto 3f9a \"rename the parser\"     the message that says so\n  ramus goto latest@2 --dry-run          only show what would be added"
)]
pub(crate) struct GotoArgs {
    /// A node or a conversation, or a session together with TEXT
    address: String,
    /// Words of the message, or the beginning of its uuid
    text: Vec<String>,
    #[command(flatten)]
    write: WriteArgs,
}

/// Make a node of a session the one that Claude Code resumes from
///
/// The same as `ramus goto SESSION:UUID`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  ramus branch 3f9a 81b2c3d4")]
pub(crate) struct BranchArgs {
    session: String,
    /// The beginning of the node's uuid
    uuid: String,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn goto(ui: &mut Ui, global: &Global, args: &GotoArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, &args.address)?;
    let text = args.text.join(" ");
    let Address { file: found, node: spot } = match workspace.resolve_address(&args.address) {
        Ok(address) => address,
        // Words alone are looked for where somebody was last at work.
        Err(error) if !text.is_empty() => return Err(error.into()),
        Err(error) => {
            let Ok(latest) = workspace.resolve_address("latest") else { return Err(error.into()) };
            let site = OpenedSession::read_session(&workspace, latest.file)?;
            let node = site.pick_message(ui, &args.address).map_err(|_| error)?;
            return goto_node(ui, &workspace, &site, node, &args.write);
        }
    };
    let site = OpenedSession::read_session(&workspace, found)?;
    let node = if text.is_empty() {
        site.find_node(&spot)?
    } else {
        match site.find_node(&NodeSelector::Uuid(text.clone())) {
            Ok(node) => node,
            Err(_) => site.pick_message(ui, &text)?,
        }
    };
    goto_node(ui, &workspace, &site, node, &args.write)
}

pub(crate) fn branch(ui: &mut Ui, global: &Global, args: &BranchArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, &args.session)?;
    let found = workspace.resolve_address(&args.session)?.file;
    let site = OpenedSession::read_session(&workspace, found)?;
    let node = site.find_node(&NodeSelector::Uuid(args.uuid.clone()))?;
    goto_node(ui, &workspace, &site, node, &args.write)
}

fn goto_node(
    ui: &mut Ui,
    workspace: &Workspace,
    site: &OpenedSession,
    node: NodeId,
    args: &WriteArgs,
) -> Result<(), CommandError> {
    let request = ChangeRequest::Goto { site, node };
    let change = match workspace.plan_change(request, env::current_time()) {
        Err(ChangeError::AlreadyThere) if ui.json => {
            return ui.print_json(&Answer::new("ramus.goto/1", nothing_written(site, node)));
        }
        Err(ChangeError::AlreadyThere) => {
            ui.print_message(&Line::plain(
                "The session resumes there already; nothing was written.",
            ));
            return resume_command(ui, &site.found.file.id, site.working_directory());
        }
        planned => planned?,
    };
    let offer = change.instead_of.as_ref().map(offer_lines);
    offer.iter().flatten().for_each(|line| ui.print_message(line));
    confirm_and_apply(ui, "ramus.goto/1", args, &change)
}

/// Looks for messages by what they say.
trait SessionSearch {
    /// Finds the message that says something, and lets a person choose if there are several.
    fn pick_message(&self, ui: &mut Ui, text: &str) -> Result<NodeId, CommandError>;

    /// Shows a message with what stands before and after it.
    fn candidate_lines(
        &self,
        ui: &Ui,
        bodies: &mut RecordReader,
        n: usize,
        fold: MessageNodeId,
    ) -> Result<Vec<Line>, CommandError>;
}

impl SessionSearch for OpenedSession {
    fn pick_message(&self, ui: &mut Ui, text: &str) -> Result<NodeId, CommandError> {
        let query = Query::from_words(text).map_err(CommandError::user_error)?;
        let mut bodies = RecordReader::open(&self.found.file.path)?;
        let mut folds: Vec<MessageNodeId> = Vec::new();
        for (id, record) in self.history.session.nodes() {
            let Some(fold) = self.history.message_tree.message_of(id) else { continue };
            if record.sidechain || !self.history.message_tree.message(fold).role.is_dialogue() {
                continue;
            }
            let bytes = bodies.read_record(record.span)?;
            let mut is_hit = false;
            query.find_in_line(&bytes, FindingDetail::Whether, |_| is_hit = true);
            if is_hit && !folds.contains(&fold) {
                folds.push(fold);
            }
        }
        folds.reverse();
        let head = |fold: MessageNodeId| self.history.message_tree.message(fold).head;
        match folds[..] {
            [] => {
                Err(CommandError::nothing_found(format!("no message of the session says {text:?}"))
                    .with_hint("`ramus find` looks in all sessions"))
            }
            [fold] => Ok(head(fold)),
            _ => {
                for (n, fold) in (1..).zip(&folds) {
                    for line in self.candidate_lines(ui, &mut bodies, n, *fold)? {
                        ui.print_message(&ramus_render::layout::truncate_line(&line, ui.width));
                    }
                }
                let several = format!("{} messages say {text:?}", folds.len());
                match ui.choose_number("Which one?", folds.len()) {
                    Some(n) => Ok(head(folds[n - 1])),
                    None => Err(CommandError::user_error(several)
                        .with_hint("name one of them: `ramus goto SESSION UUID`")),
                }
            }
        }
    }

    fn candidate_lines(
        &self,
        ui: &Ui,
        bodies: &mut RecordReader,
        n: usize,
        fold: MessageNodeId,
    ) -> Result<Vec<Line>, CommandError> {
        let folds = &self.history.message_tree;
        let mut line = |fold| -> Result<Line, CommandError> {
            let message = message_summary(&self.history, bodies, fold)?;
            Ok(with_style(ui, |style| message_line(&message, style)))
        };
        let conversation = self.history.conversation_of(folds.message(fold).head);
        let status = conversation.map_or("", |conversation| conversation.status.as_str());
        let mut lines = Vec::new();
        if let Some(above) =
            folds.ancestors(fold).skip(1).find(|fold| folds.message(*fold).role.is_dialogue())
        {
            let words = line(above)?;
            lines.push(Line::new("      ↑ ", Label::Dim).with_line(&words));
        }
        let words = line(fold)?;
        lines.push(
            Line::new(&format!("{n:>3}  "), Label::Strong)
                .with(&format!("{status:<9}  "), Label::Branch)
                .with_line(&words),
        );
        let mut below: Vec<MessageNodeId> = folds.dialogue_children(fold).collect();
        while let Some(quiet) =
            below.iter().position(|fold| !folds.message(*fold).role.is_dialogue())
        {
            let quiet = below.swap_remove(quiet);
            below.extend(folds.dialogue_children(quiet));
        }
        below.sort_unstable();
        for below in below {
            let words = line(below)?;
            lines.push(Line::new("      ↓ ", Label::Dim).with_line(&words));
        }
        Ok(lines)
    }
}
