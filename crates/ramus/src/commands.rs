//! One file per subcommand.

pub(crate) mod annotate;
pub(crate) mod archive;
mod cache;
mod check;
mod completions;
mod config;
pub(crate) mod conversations;
mod demo;
pub(crate) mod diff;
mod export;
pub(crate) mod files;
pub(crate) mod find;
mod fix;
mod fork;
mod goto;
mod guide;
mod home;
mod log;
mod man;
mod mcp;
mod merge;
mod pack;
pub(crate) mod projects;
mod rename;
mod resume;
mod screens;
mod secrets;
mod serve;
pub(crate) mod sessions;
mod show;
mod stats;
mod statusline;
mod trash;
pub(crate) mod tree;
mod undo;
mod unpack;
pub(crate) mod usage;
mod watch;

use clap::Subcommand;

use crate::args::Args;
use crate::error::CommandError;
use crate::ui::Ui;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Projects(projects::ProjectsArgs),
    #[command(visible_alias = "ls")]
    Sessions(sessions::SessionsArgs),
    Conversations(conversations::ConversationsArgs),
    #[command(visible_alias = "cat")]
    Show(show::ShowArgs),
    Tree(tree::TreeArgs),
    Diff(diff::DiffArgs),
    Files(files::FilesArgs),
    #[command(visible_aliases = ["grep", "search"])]
    Find(find::FindArgs),
    Watch(watch::WatchArgs),
    Stats(stats::StatsArgs),
    Usage(usage::UsageArgs),
    Check(check::CheckArgs),
    Export(export::ExportArgs),
    Goto(goto::GotoArgs),
    Branch(goto::BranchArgs),
    Fork(fork::ForkArgs),
    Resume(resume::ResumeArgs),
    Merge(merge::MergeArgs),
    Pack(pack::PackArgs),
    Unpack(unpack::UnpackArgs),
    Pin(annotate::PinArgs),
    Tag(annotate::TagArgs),
    Note(annotate::NoteArgs),
    Rename(rename::RenameArgs),
    Trash(trash::TrashArgs),
    Log(log::LogArgs),
    Undo(undo::UndoArgs),
    Restore(undo::RestoreArgs),
    Serve(serve::ServeArgs),
    Mcp(mcp::McpArgs),
    Guide(guide::GuideArgs),
    Archive(archive::ArchiveArgs),
    Cache(cache::CacheArgs),
    Config(config::ConfigArgs),
    Statusline(statusline::StatuslineArgs),
    Demo(demo::DemoArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// Whether a command does what it can even if the settings are broken: no person waits for it.
pub(crate) fn must_not_fail(args: &Args) -> bool {
    matches!(args.command, Some(Command::Statusline(_) | Command::Mcp(_) | Command::Archive(_)))
}

/// Whether a command helps to fix the settings, or does not use them: it must run even if they are broken.
pub(crate) fn runs_without_settings(args: &Args) -> bool {
    matches!(args.command, Some(Command::Config(_) | Command::Completions(_) | Command::Man(_)))
}

pub(crate) fn run(ui: &mut Ui, args: &Args) -> Result<(), CommandError> {
    let global = &args.global;
    if !must_not_fail(args) {
        global.settings.unknown.iter().for_each(|problem| ui.print_warning(problem));
    }
    match &args.command {
        Some(Command::Projects(args)) => projects::projects(ui, global, args),
        Some(Command::Sessions(args)) => sessions::sessions(ui, global, args),
        Some(Command::Conversations(args)) => conversations::conversations(ui, global, args),
        Some(Command::Show(args)) => show::show(ui, global, args),
        Some(Command::Export(args)) => export::export(ui, global, args),
        Some(Command::Serve(args)) => serve::serve(ui, global, args),
        Some(Command::Mcp(args)) => mcp::mcp(global, args),
        Some(Command::Guide(args)) => guide::guide(ui, args),
        Some(Command::Archive(args)) => archive::archive(ui, global, args),
        Some(Command::Cache(args)) => cache::cache(ui, global, args),
        Some(Command::Config(args)) => config::config(ui, global, args),
        Some(Command::Statusline(_)) => statusline::statusline(ui, global),
        Some(Command::Demo(args)) => demo::demo(ui, args),
        Some(Command::Tree(args)) => tree::tree(ui, global, args),
        Some(Command::Diff(args)) => diff::diff(ui, global, args),
        Some(Command::Files(args)) => files::files(ui, global, args),
        Some(Command::Find(args)) => find::find(ui, global, args),
        Some(Command::Watch(args)) => watch::watch(ui, global, args),
        Some(Command::Stats(args)) => stats::stats(ui, global, args),
        Some(Command::Usage(args)) => usage::usage(ui, global, args),
        Some(Command::Check(args)) => check::check(ui, global, args),
        Some(Command::Goto(args)) => goto::goto(ui, global, args),
        Some(Command::Branch(args)) => goto::branch(ui, global, args),
        Some(Command::Fork(args)) => fork::fork(ui, global, args),
        Some(Command::Resume(args)) => resume::resume(ui, global, args),
        Some(Command::Merge(args)) => merge::merge(ui, global, args),
        Some(Command::Pack(args)) => pack::pack(ui, global, args),
        Some(Command::Unpack(args)) => unpack::unpack(ui, global, args),
        Some(Command::Pin(args)) => annotate::pin(ui, global, args),
        Some(Command::Tag(args)) => annotate::tag(ui, global, args),
        Some(Command::Note(args)) => annotate::note(ui, global, args),
        Some(Command::Rename(args)) => rename::rename(ui, global, args),
        Some(Command::Trash(args)) => trash::trash(ui, global, args),
        Some(Command::Log(args)) => log::log(ui, global, args),
        Some(Command::Undo(args)) => undo::undo(ui, global, args),
        Some(Command::Restore(args)) => undo::restore(ui, global, args),
        Some(Command::Completions(args)) => completions::completions(ui, args),
        Some(Command::Man(args)) => man::man(ui, args),
        None => home::home(ui, global),
    }
}
