use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use ramus_app::change::apply_change;
use ramus_app::{
    Address, ChangeRequest, NewSessionAt, NodeSelector, OpenedSession, PlannedChange,
    ResumeCommand, ResumeDecision, ResumeError, ResumeOptions, ResumePlan, ResumeStep, Workspace,
};
use ramus_core::edit::{ChangeDetail, EditRefusal, MessageSummary};
use ramus_core::session::NodeId;
use ramus_render::change::message_line;
use ramus_render::json::{Answer, Resumable};
use ramus_render::layout::truncate_line;
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::completion;
use crate::confirm::{apply_error, with_style};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;
use ramus_store::real_path::real_path;

/// Start Claude Code on a session, a branch or a message
///
/// If Claude Code would resume at that message anyway, it starts at once, in the session's directory.
/// For another branch or an earlier message ramus first asks whether to move the resume point
/// (like `ramus goto`) or to make a new session (like `ramus fork`).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus resume                          the newest session of this directory
  ramus resume 7ea9@2 --fork            an abandoned branch, in a new session
  ramus resume 7ea9:bd21 --goto         an earlier message, in the same session
  ramus resume 7ea9 --print             only print the command
  ramus resume latest -- --model opus   options for Claude Code

Environment:
  RAMUS_CLAUDE   the name or path of the Claude Code program [default: claude]")]
pub(crate) struct ResumeArgs {
    /// A session, a conversation, a message or an agent [default: the newest session of this directory]
    #[arg(add = completion::sessions())]
    address: Option<String>,
    /// Move the session's resume point if needed, without asking
    #[arg(long, conflicts_with = "fork")]
    goto: bool,
    /// Make a new session up to that message, without asking
    #[arg(long)]
    fork: bool,
    /// Print the command and start nothing; `--json` does the same
    #[arg(long)]
    print: bool,
    /// Start Claude Code in another directory; with `--fork` the new session goes to its project
    #[arg(long, value_name = "DIR")]
    cd: Option<PathBuf>,
    /// Move the resume point even if the session is open or being written to
    #[arg(long)]
    force: bool,
    /// Arguments for Claude Code
    #[arg(last = true, value_name = "ARGS")]
    client_args: Vec<OsString>,
}

pub(crate) fn resume(ui: &mut Ui, global: &Global, args: &ResumeArgs) -> Result<(), CommandError> {
    let workspace = match &args.address {
        Some(address) => env::workspace_for(ui, global, address)?,
        None => env::command_workspace(ui, global)?,
    };
    let address = match &args.address {
        Some(address) => workspace.resolve_address(address)?,
        None => {
            let file = workspace.newest_session(&workspace.resolve_project(".")?)?;
            Address { file, node: NodeSelector::Resume }
        }
    };
    let opened = OpenedSession::read_session(&workspace, address.file)?;
    let node = opened.find_node(&address.node)?;
    let plan = workspace.plan_resume(&opened, node, env::current_time())?;
    if args.print || ui.json {
        return print_plan(ui, &opened, plan, args);
    }
    let mut command = match args.first_step(ui, &workspace, &opened, node, &plan)? {
        Some(change) => args.change_first(ui, &workspace, &opened, &change)?,
        None => plan.command,
    };
    if let Some(directory) = &args.cd {
        command.directory = Some(existing_directory(directory)?);
    }
    if let Some(missing) = command.missing_directory() {
        return Err(missing_directory_error(missing));
    }
    if let Some(pid) = plan.open_in {
        ui.print_warning(&format!("the session is open in Claude Code already (process {pid})"));
    }
    ui.flush_output()?;
    start_client(&command, &args.client_args)
}

impl ResumeArgs {
    /// Decides what must be done before Claude Code starts; `None`: nothing.
    fn first_step(
        &self,
        ui: &Ui,
        workspace: &Workspace,
        opened: &OpenedSession,
        node: NodeId,
        plan: &ResumePlan,
    ) -> Result<Option<PlannedChange>, CommandError> {
        let fork = || Ok(Some(self.plan_fork(workspace, opened, node)?));
        if self.fork {
            return fork();
        }
        match &plan.first {
            ResumeStep::Nothing => Ok(None),
            ResumeStep::GotoOrFork(_) if self.goto => self.plan_goto(workspace, opened, node),
            ResumeStep::GotoOrFork(change) => {
                show_choice(ui, opened, change);
                match ui.choose_number("Which one?", 2) {
                    Some(1) => self.plan_goto(workspace, opened, node),
                    Some(_) => fork(),
                    None if ui.can_ask() => Err(CommandError::nothing_found("Nothing changed")),
                    None => Err(CommandError::user_error(
                        "Claude Code resumes this session at another message",
                    )
                    .with_hint(
                        "use --goto to move the resume point, or --fork to make a new session",
                    )),
                }
            }
            ResumeStep::Fork { refusal, .. } => {
                if self.goto || !ui.can_ask() {
                    return Err(cannot_resume(refusal));
                }
                ui.print_message(&Line::plain(&refusal_words(refusal)));
                match ui.confirm_question("Make a new session up to that message and resume it?") {
                    true => fork(),
                    false => Err(CommandError::nothing_found("Nothing changed")),
                }
            }
        }
    }

    /// Plans the goto again: a person may have taken a while to answer.
    fn plan_goto(
        &self,
        workspace: &Workspace,
        opened: &OpenedSession,
        node: NodeId,
    ) -> Result<Option<PlannedChange>, CommandError> {
        let change =
            workspace.plan_change(ChangeRequest::Goto { opened, node }, env::current_time())?;
        match &change.instead_of {
            Some(refusal) => Err(cannot_resume(refusal)),
            None => Ok(Some(change)),
        }
    }

    fn plan_fork(
        &self,
        workspace: &Workspace,
        opened: &OpenedSession,
        node: NodeId,
    ) -> Result<PlannedChange, CommandError> {
        let directory = self.cd.as_deref().map(existing_directory).transpose()?;
        let into = directory.as_ref().map(|directory| directory.to_string_lossy());
        let to = NewSessionAt { into: into.as_deref(), title: None };
        Ok(workspace.plan_change(ChangeRequest::Fork { opened, node, to }, env::current_time())?)
    }

    /// Carries a change out and returns how to start Claude Code after it.
    fn change_first(
        &self,
        ui: &Ui,
        workspace: &Workspace,
        opened: &OpenedSession,
        change: &PlannedChange,
    ) -> Result<ResumeCommand, CommandError> {
        let directory = change.cwd.as_deref().filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
        let root = workspace
            .root_of(&change.plan.file)
            .ok_or_else(|| ResumeError::Outside(opened.found.file.path.clone()))?;
        let command = workspace.resume_command(&change.plan.session, &root, directory);
        // Claude Code could not be started afterwards.
        if let Some(missing) = command.missing_directory().filter(|_| self.cd.is_none()) {
            return Err(missing_directory_error(missing));
        }
        let done = apply_change(&env::state_dir(), change, self.force, env::current_time())
            .map_err(apply_error)?;
        ui.clear_incomplete();
        for note in &done.notes {
            ui.print_message(&Line::new("Note: ", Label::Note).with(note, Label::Plain));
        }
        let words = format!("Done as operation {}. Run `ramus undo` to undo it.", done.op);
        ui.print_message(&Line::plain(&words));
        Ok(command)
    }
}

/// Shows the two options for resuming at a message.
fn show_choice(ui: &Ui, opened: &OpenedSession, change: &PlannedChange) {
    let ChangeDetail::Goto { now, then, .. } = &change.detail else { return };
    let line = |message: &Option<MessageSummary>| {
        let line = |message| with_style(ui, |style| message_line(message, style));
        message.as_ref().map(line)
    };
    let now = line(now).unwrap_or_else(|| Line::plain("nothing"));
    let bytes = change.plan.appended_bytes();
    let goto = format!("go there in this session: adds {bytes} bytes, `ramus undo` removes them");
    let lines = [
        Line::plain("Session ")
            .with(&opened.short_id, Label::Id)
            .with(&format!("  {}", opened.title), Label::Strong),
        Line::plain("  resumes now  ").with_line(&now),
        Line::plain("  you chose    ").with_line(&line(then).unwrap_or_default()),
        Line::new("1  ", Label::Strong).with(&goto, Label::Plain),
        Line::new("2  ", Label::Strong)
            .with("fork: a new session up to that message; this one is not changed", Label::Plain),
    ];
    for line in lines {
        ui.print_message(&truncate_line(&line, ui.width));
    }
    for words in change.plan.resume_notes() {
        ui.print_message(&Line::new(&format!("  {words}"), Label::Warning));
    }
}

fn refusal_words(refusal: &EditRefusal) -> String {
    format!("Claude Code cannot resume this session there: {refusal}")
}

fn cannot_resume(refusal: &EditRefusal) -> CommandError {
    CommandError::user_error(refusal_words(refusal))
        .with_hint("use --fork to make a new session up to that message")
}

/// Describes what a printed command does before it starts Claude Code; `None`: nothing.
fn first_step_words(first: &ResumeStep, decision: Option<ResumeDecision>) -> Option<&'static str> {
    match (first, decision) {
        (ResumeStep::Nothing, None | Some(ResumeDecision::Goto)) => None,
        (ResumeStep::Fork { .. }, _) | (_, Some(ResumeDecision::Fork)) => {
            Some("It first makes a new session up to that message")
        }
        (_, Some(ResumeDecision::Goto)) => Some("It first moves the resume point to that message"),
        (_, None) => Some(
            "It first asks whether to move the resume point or to fork. Use --goto or --fork to decide now",
        ),
    }
}

/// Prints what would be started.
fn print_plan(
    ui: &mut Ui,
    opened: &OpenedSession,
    mut plan: ResumePlan,
    args: &ResumeArgs,
) -> Result<(), CommandError> {
    let directory = args.cd.as_deref().map(existing_directory).transpose()?;
    let address = format!("{}:{}", opened.found.address_id(), plan.leaf);
    let decision = match (args.goto, args.fork) {
        (_, true) => Some(ResumeDecision::Fork),
        (true, _) => Some(ResumeDecision::Goto),
        _ => None,
    };
    let (force, client_args) = (args.force, &*args.client_args);
    let options = ResumeOptions { decision, directory: directory.as_deref(), force, client_args };
    let line = plan.shell_line(&address, options);
    plan.command.directory = directory.or(plan.command.directory);
    if !ui.json {
        if let Some(missing) = plan.command.missing_directory() {
            let missing = missing.display();
            ui.print_warning(&format!("the session's directory {missing} does not exist"));
        }
        ui.print_line(&Line::plain(&line))?;
        if let Some(words) = first_step_words(&plan.first, decision) {
            ui.flush_output()?;
            ui.print_message(&Line::new(words, Label::Note));
        }
        return Ok(());
    }
    let text = |word: &OsStr| word.to_string_lossy().into_owned();
    let command = &plan.command;
    let client_args = args.client_args.iter().map(OsString::as_os_str);
    ui.print_json(&Answer::new(
        "ramus.resume/1",
        Resumable {
            session: command.session.clone(),
            leaf: plan.leaf.clone(),
            first_step: plan.first.as_str(),
            command: line,
            program: text(&command.program),
            args: command.client_args().chain(client_args.map(text)).collect(),
            directory: command.directory.as_ref().map(|directory| text(directory.as_os_str())),
            directory_exists: command.directory.is_some() && command.missing_directory().is_none(),
            claude_dir: command.claude_dir.as_ref().map(|dir| text(dir.as_os_str())),
            open_in: plan.open_in,
        },
    ))
}

/// Makes ramus the client; on other systems waits for it and ends as it did.
fn start_client(command: &ResumeCommand, client_args: &[OsString]) -> Result<(), CommandError> {
    let mut client = Command::new(&command.program);
    client.args(command.client_args()).args(client_args);
    if let Some(directory) = &command.directory {
        client.current_dir(directory);
    }
    if let Some(dir) = &command.claude_dir {
        client.env("CLAUDE_CONFIG_DIR", dir);
    }
    let problem = run(client);
    let program = command.program.to_string_lossy();
    Err(CommandError::user_error(format!("cannot start {program}: {problem}"))
        .with_hint("set RAMUS_CLAUDE to use another program, or use --print to print the command"))
}

#[cfg(unix)]
fn run(mut client: Command) -> io::Error {
    use std::os::unix::process::CommandExt;
    client.exec()
}

#[cfg(not(unix))]
fn run(mut client: Command) -> io::Error {
    match client.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(problem) => problem,
    }
}

/// Returns the absolute path of a directory.
fn existing_directory(directory: &Path) -> Result<PathBuf, CommandError> {
    match real_path(directory) {
        Ok(real) if real.is_dir() => Ok(real),
        _ => Err(CommandError::user_error(format!("{} is not a directory", directory.display()))),
    }
}

/// Explains that Claude Code cannot be started where the session ran.
fn missing_directory_error(directory: &Path) -> CommandError {
    CommandError::user_error(format!("the session's directory {} does not exist", directory.display()))
        .with_hint("use --cd DIR to start Claude Code in another directory")
        .with_hint("older versions of Claude Code only find sessions of that directory; use --fork --cd DIR to make one there")
}

impl From<ResumeError> for CommandError {
    fn from(error: ResumeError) -> Self {
        match error {
            ResumeError::Change(error) => error.into(),
            ResumeError::Outside(ref file) => {
                let file = file.display();
                let hint = format!(
                    "use `ramus pack {file} -o FILE` and `ramus unpack FILE` to copy it into a Claude directory"
                );
                Self::user_error(error).with_hint(hint)
            }
        }
    }
}
