use ramus_app::message::message_summary;
use ramus_app::{Address, ChangeError, ChangeRequest, NodeSelector, Site, Workspace};
use ramus_core::fold::FoldId;
use ramus_core::query::{Detail, Query};
use ramus_core::session::NodeId;
use ramus_render::change::{message_line, offer_lines};
use ramus_render::json::Answer;
use ramus_render::{Label, Line};
use ramus_store::Bodies;

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::perform::{WriteArgs, nothing_written, perform, resume_command, with_style};
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
    let Address { file: found, node: spot } = match workspace.address(&args.address) {
        Ok(address) => address,
        // Words alone are looked for where somebody was last at work.
        Err(error) if !text.is_empty() => return Err(error.into()),
        Err(error) => {
            let Ok(latest) = workspace.address("latest") else { return Err(error.into()) };
            let site = Site::read(&workspace, latest.file)?;
            let node = site.pick(ui, &args.address).map_err(|_| error)?;
            return go(ui, &workspace, &site, node, &args.write);
        }
    };
    let site = Site::read(&workspace, found)?;
    let node = if text.is_empty() {
        site.node(&spot)?
    } else {
        match site.node(&NodeSelector::Uuid(text.clone())) {
            Ok(node) => node,
            Err(_) => site.pick(ui, &text)?,
        }
    };
    go(ui, &workspace, &site, node, &args.write)
}

pub(crate) fn branch(ui: &mut Ui, global: &Global, args: &BranchArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, &args.session)?;
    let found = workspace.address(&args.session)?.file;
    let site = Site::read(&workspace, found)?;
    let node = site.node(&NodeSelector::Uuid(args.uuid.clone()))?;
    go(ui, &workspace, &site, node, &args.write)
}

fn go(
    ui: &mut Ui,
    workspace: &Workspace,
    site: &Site,
    node: NodeId,
    args: &WriteArgs,
) -> Result<(), CommandError> {
    let request = ChangeRequest::Goto { site, node };
    let change = match workspace.plan(request, env::now()) {
        Err(ChangeError::AlreadyThere) if ui.json => {
            return ui.json(&Answer::new("ramus.goto/1", nothing_written(site, node)));
        }
        Err(ChangeError::AlreadyThere) => {
            ui.say(&Line::plain("The session resumes there already; nothing was written."));
            return resume_command(ui, &site.found.file.id, site.cwd());
        }
        planned => planned?,
    };
    let offer = change.instead_of.as_ref().map(offer_lines);
    offer.iter().flatten().for_each(|line| ui.say(line));
    perform(ui, "ramus.goto/1", args, &change)
}

/// Looks for messages by what they say.
trait SiteSearch {
    /// Finds the message that says something, and lets a person choose if there are several.
    fn pick(&self, ui: &mut Ui, text: &str) -> Result<NodeId, CommandError>;

    /// Shows a message with what stands before and after it.
    fn candidate(
        &self,
        ui: &Ui,
        bodies: &mut Bodies,
        n: usize,
        fold: FoldId,
    ) -> Result<Vec<Line>, CommandError>;
}

impl SiteSearch for Site {
    fn pick(&self, ui: &mut Ui, text: &str) -> Result<NodeId, CommandError> {
        let query = Query::words(text).map_err(CommandError::user)?;
        let mut bodies = Bodies::open(&self.found.file.path)?;
        let mut folds: Vec<FoldId> = Vec::new();
        for (id, record) in self.history.session.nodes() {
            let Some(fold) = self.history.folds.of(id) else { continue };
            if record.sidechain || !self.history.folds.fold(fold).voice.speaks() {
                continue;
            }
            let bytes = bodies.bytes(record.span)?;
            let mut is_hit = false;
            query.findings(&bytes, Detail::Whether, |_| is_hit = true);
            if is_hit && !folds.contains(&fold) {
                folds.push(fold);
            }
        }
        folds.reverse();
        let head = |fold: FoldId| self.history.folds.fold(fold).head;
        match folds[..] {
            [] => Err(CommandError::nothing(format!("no message of the session says {text:?}"))
                .hinted("`ramus find` looks in all sessions")),
            [fold] => Ok(head(fold)),
            _ => {
                for (n, fold) in (1..).zip(&folds) {
                    for line in self.candidate(ui, &mut bodies, n, *fold)? {
                        ui.say(&ramus_render::layout::truncate(&line, ui.width));
                    }
                }
                let several = format!("{} messages say {text:?}", folds.len());
                match ui.choose("Which one?", folds.len()) {
                    Some(n) => Ok(head(folds[n - 1])),
                    None => Err(CommandError::user(several)
                        .hinted("name one of them: `ramus goto SESSION UUID`")),
                }
            }
        }
    }

    fn candidate(
        &self,
        ui: &Ui,
        bodies: &mut Bodies,
        n: usize,
        fold: FoldId,
    ) -> Result<Vec<Line>, CommandError> {
        let folds = &self.history.folds;
        let mut line = |fold| -> Result<Line, CommandError> {
            let message = message_summary(&self.history, bodies, fold)?;
            Ok(with_style(ui, |style| message_line(&message, style)))
        };
        let conversation = self.history.conversation_of(folds.fold(fold).head);
        let status = conversation.map_or("", |conversation| conversation.status.word());
        let mut lines = Vec::new();
        if let Some(above) =
            folds.ancestors(fold).skip(1).find(|fold| folds.fold(*fold).voice.speaks())
        {
            let words = line(above)?;
            lines.push(Line::new("      ↑ ", Label::Dim).join(&words));
        }
        let words = line(fold)?;
        lines.push(
            Line::new(&format!("{n:>3}  "), Label::Strong)
                .with(&format!("{status:<9}  "), Label::Branch)
                .join(&words),
        );
        let mut below: Vec<FoldId> = folds.speaking_children(fold).collect();
        while let Some(quiet) = below.iter().position(|fold| !folds.fold(*fold).voice.speaks()) {
            let quiet = below.swap_remove(quiet);
            below.extend(folds.speaking_children(quiet));
        }
        below.sort_unstable();
        for below in below {
            let words = line(below)?;
            lines.push(Line::new("      ↓ ", Label::Dim).join(&words));
        }
        Ok(lines)
    }
}
