//! Resuming a session in Claude Code: which command, in which directory, and what must be done first.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ramus_core::edit::EditRefusal;
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_store::plan::{resume_args, shell_quoted};
use ramus_store::project_name::is_encoded_path;
use ramus_store::real_path::real_path_or_given;
use ramus_store::session_in_use::find_open_client;

use crate::address::{AddressError, ResolvedFile, ResolvedProject, Scope};
use crate::change::{ChangeError, ChangeRequest, OpenedSession, PlannedChange};
use crate::workspace::{SurveyDetail, Workspace};

/// The Claude Code program on this machine.
#[derive(Clone, Debug)]
pub struct ClientProgram {
    /// Its name or path.
    pub program: OsString,
    /// The Claude directory that the program uses by default. `None` if unknown.
    pub usual_dir: Option<PathBuf>,
}

impl Default for ClientProgram {
    fn default() -> Self {
        Self { program: "claude".into(), usual_dir: None }
    }
}

/// How Claude Code is started on a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumeCommand {
    pub program: OsString,
    pub session: String,
    /// The working directory; `None`: the session names none.
    pub directory: Option<PathBuf>,
    /// The value of `CLAUDE_CONFIG_DIR`, where the client would look for the session elsewhere.
    pub claude_dir: Option<PathBuf>,
}

impl ResumeCommand {
    /// Returns the arguments of the program.
    pub fn client_args(&self) -> impl Iterator<Item = String> {
        resume_args(&self.session)
    }

    /// Returns the working directory if it does not exist.
    pub fn missing_directory(&self) -> Option<&Path> {
        self.directory.as_deref().filter(|directory| !directory.is_dir())
    }

    /// Returns the command as it is typed in a shell that is somewhere else.
    pub fn shell_line(&self) -> String {
        let path = |path: &Path| shell_quoted(&path.to_string_lossy());
        let change = self.directory.iter().map(|directory| format!("cd {} && ", path(directory)));
        let claude_dir =
            self.claude_dir.iter().map(|dir| format!("CLAUDE_CONFIG_DIR={} ", path(dir)));
        let program = path(Path::new(&self.program));
        let words = self.client_args().map(|word| format!(" {}", shell_quoted(&word)));
        change.chain(claude_dir).chain([program]).chain(words).collect()
    }
}

/// What it takes to resume at a message.
#[derive(Debug)]
pub struct ResumePlan {
    /// Starts Claude Code on the session as it is.
    pub command: ResumeCommand,
    /// What has to be done first.
    pub first: ResumeStep,
    /// The uuid of the message that is resumed.
    pub leaf: String,
    /// The process of a client that has the session open now.
    pub open_in: Option<u32>,
}

/// What has to be done before Claude Code resumes at a message.
#[derive(Debug)]
pub enum ResumeStep {
    /// Claude Code resumes there already.
    Nothing,
    /// Claude Code resumes elsewhere: move the resume point by this change, or fork.
    GotoOrFork(Box<PlannedChange>),
    /// Only a new session can be resumed there.
    Fork { refusal: EditRefusal, change: Box<PlannedChange> },
}

impl ResumeStep {
    /// Returns the stable word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::GotoOrFork(_) => "goto-or-fork",
            Self::Fork { .. } => "fork",
        }
    }
}

/// How to reach a message that Claude Code would not resume from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeDecision {
    Goto,
    Fork,
}

/// What a person chose besides the message.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResumeOptions<'a> {
    pub decision: Option<ResumeDecision>,
    /// Where Claude Code starts; `None`: in the session's directory.
    pub directory: Option<&'a Path>,
    /// Also if the session is open or being written to.
    pub force: bool,
    /// Further arguments for Claude Code.
    pub client_args: &'a [OsString],
}

impl ResumePlan {
    /// Returns one command for a shell that resumes exactly there; `address` names the message.
    ///
    /// Where something has to be done first, the command is ramus's own, which does it.
    pub fn shell_line(&self, address: &str, options: ResumeOptions<'_>) -> String {
        self.line_for_system(cfg!(windows), address, options)
    }

    /// The shells of Windows share neither `&&` nor single quotes, so that `ramus resume` changes the directory there.
    fn line_for_system(
        &self,
        is_windows: bool,
        address: &str,
        options: ResumeOptions<'_>,
    ) -> String {
        let quoted = if is_windows { double_quoted } else { shell_quoted };
        let fork = matches!(self.first, ResumeStep::Fork { .. }).then_some(ResumeDecision::Fork);
        let mut words: Vec<String> = match (&self.first, options.decision.or(fork)) {
            (ResumeStep::Nothing, None | Some(ResumeDecision::Goto)) if is_windows => {
                self.ramus_command(address, ResumeOptions { decision: None, ..options }, quoted)
            }
            (ResumeStep::Nothing, None | Some(ResumeDecision::Goto)) => {
                let directory = options.directory.map(Path::to_owned);
                let directory = directory.or_else(|| self.command.directory.clone());
                vec![ResumeCommand { directory, ..self.command.clone() }.shell_line()]
            }
            (_, decision) => {
                self.ramus_command(address, ResumeOptions { decision, ..options }, quoted)
            }
        };
        words.extend(options.client_args.iter().map(|word| quoted(&word.to_string_lossy())));
        words.join(" ")
    }

    /// Returns the words of the command that is needed first, without the client's arguments.
    fn ramus_command(
        &self,
        address: &str,
        options: ResumeOptions<'_>,
        quoted: fn(&str) -> String,
    ) -> Vec<String> {
        let mut words = vec!["ramus".to_owned()];
        if let Some(dir) = &self.command.claude_dir {
            words.extend(["--claude-dir".to_owned(), quoted(&dir.to_string_lossy())]);
        }
        words.extend(["resume".to_owned(), quoted(address)]);
        words.extend(options.decision.map(|decision| match decision {
            ResumeDecision::Goto => "--goto".to_owned(),
            ResumeDecision::Fork => "--fork".to_owned(),
        }));
        if let Some(directory) = options.directory {
            words.extend(["--cd".to_owned(), quoted(&directory.to_string_lossy())]);
        }
        words.extend(options.force.then(|| "--force".to_owned()));
        words.extend((!options.client_args.is_empty()).then(|| "--".to_owned()));
        words
    }
}

/// Quotes a word for the shells of Windows.
fn double_quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || r"/\._-+:@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        // PowerShell would run `$(…)` in double quotes; for cmd the backtick is a letter like any other.
        let escape = |c| match c {
            '"' => "\\\"".to_owned(),
            '$' | '`' => format!("`{c}"),
            _ => String::from(c),
        };
        format!("\"{}\"", word.chars().map(escape).collect::<String>())
    }
}

/// Why a session cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    #[error("{} is not in a Claude directory, so Claude Code cannot find it", .0.display())]
    Outside(PathBuf),
    #[error(transparent)]
    Change(#[from] ChangeError),
}

impl Workspace {
    /// Plans to resume at a message; nothing is written.
    pub fn plan_resume(
        &self,
        opened: &OpenedSession,
        node: NodeId,
        now: Time,
    ) -> Result<ResumePlan, ResumeError> {
        let path = &opened.found.file.path;
        let root = self.root_of(path).ok_or_else(|| ResumeError::Outside(path.clone()))?;
        let first = match self.plan_change(ChangeRequest::Goto { opened, node }, now) {
            Err(ChangeError::AlreadyThere) => ResumeStep::Nothing,
            planned => {
                let change = Box::new(planned?);
                match change.instead_of.clone() {
                    Some(refusal) => ResumeStep::Fork { refusal, change },
                    None => ResumeStep::GotoOrFork(change),
                }
            }
        };
        let session = &opened.found.file.id;
        Ok(ResumePlan {
            command: self.resume_command(session, &root, self.working_directory(opened)),
            first,
            leaf: opened.leaf_uuid(node),
            open_in: find_open_client(&root, session),
        })
    }

    /// Returns how Claude Code is started on a session of a Claude directory.
    pub fn resume_command(
        &self,
        session: &str,
        root: &Path,
        directory: Option<PathBuf>,
    ) -> ResumeCommand {
        let client = self.client_program();
        let is_usual = client
            .usual_dir
            .as_deref()
            .is_some_and(|usual| real_path_or_given(usual) == real_path_or_given(root));
        // The client runs in another directory, where a relative path would lead elsewhere.
        let absolute = || std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        ResumeCommand {
            program: client.program.clone(),
            session: session.to_owned(),
            directory,
            claude_dir: (!is_usual).then(absolute),
        }
    }

    /// Returns the directory whose project contains a session; the client finds sessions by it.
    pub(crate) fn working_directory(&self, opened: &OpenedSession) -> Option<PathBuf> {
        let first = Some(opened.working_directory()).filter(|cwd| !cwd.is_empty());
        let Some(project) = &opened.found.project else { return first.map(PathBuf::from) };
        if let Some(cwd) = first.filter(|cwd| is_encoded_path(&project.name, cwd)) {
            return Some(cwd.into());
        }
        // A session may begin elsewhere than where its project is.
        let survey = self.survey_scope(Scope::Project(project.clone()), SurveyDetail::Digests);
        let path = survey.projects.first().and_then(|project| project.path.clone());
        path.filter(|path| is_encoded_path(&project.name, path))
            .or(first.map(str::to_owned))
            .map(PathBuf::from)
    }

    /// Finds the session of a project that was active last.
    pub fn newest_session(&self, project: &ResolvedProject) -> Result<ResolvedFile, AddressError> {
        let scope = Scope::Project(project.clone());
        let survey = self.survey_scope(scope, SurveyDetail::Digests);
        let sessions = survey.projects.into_iter().flat_map(|project| project.sessions);
        let shown = sessions.filter(|session| !session.digest.class.is_hidden());
        let newest = shown.max_by_key(|session| session.digest.facts.last_active);
        let newest = newest.ok_or(AddressError::NoHistory)?;
        Ok(ResolvedFile { project: Some(project.clone()), file: newest.file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_gets_a_line_that_all_its_shells_understand() {
        let plan = ResumePlan {
            command: ResumeCommand {
                program: "claude".into(),
                session: "s1".into(),
                directory: Some("/home/me/my app".into()),
                claude_dir: Some(r"C:\Users\me two\.claude".into()),
            },
            first: ResumeStep::Nothing,
            leaf: "b".into(),
            open_in: None,
        };
        let line = |is_windows, decision, args: &[&str]| {
            let client_args: Vec<OsString> = args.iter().map(OsString::from).collect();
            let options =
                ResumeOptions { decision, client_args: &client_args, ..ResumeOptions::default() };
            plan.line_for_system(is_windows, "s1:b", options)
        };
        assert!(line(false, None, &[]).starts_with("cd '/home/me/my app' && "));
        let ramus = r#"ramus --claude-dir "C:\Users\me two\.claude" resume s1:b"#;
        assert_eq!(line(true, None, &[]), ramus);
        assert_eq!(line(true, Some(ResumeDecision::Goto), &[]), ramus);
        let fork = line(true, Some(ResumeDecision::Fork), &["-p", "go \"on\" $(now)"]);
        assert_eq!(fork, format!(r#"{ramus} --fork -- -p "go \"on\" `$(now)""#));
    }
}
