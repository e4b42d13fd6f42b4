//! Arranges the help: subcommands in groups, and the options of every command only in `ramus --help`.
//!
//! clap can neither group subcommands nor show global options in one place only. Completions and
//! manual pages use the plain command, so that they list everything.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory};

use crate::args::Args;

/// The subcommands in the order of the help. Every one is in exactly one group.
const GROUPS: &[(&str, &[&str])] = &[
    ("Most used", &["sessions", "tree", "show", "find", "resume"]),
    ("Browse", &["projects", "conversations", "diff", "files", "watch", "serve"]),
    (
        "Change a history (shows a plan first, can be undone)",
        &["goto", "branch", "fork", "merge", "rename", "trash", "undo", "restore", "log"],
    ),
    ("Count", &["usage", "stats"]),
    ("Mark (kept beside the history)", &["pin", "tag", "note"]),
    ("Keep and carry", &["export", "archive", "pack", "unpack"]),
    ("Integrate", &["mcp", "guide", "statusline", "completions", "man"]),
    ("Maintain", &["check", "cache", "config", "demo"]),
];

/// Returns the command that parses arguments, with the help arranged.
pub(crate) fn command_with_help() -> Command {
    let command = Args::command();
    let globals: Vec<Arg> =
        command.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    let groups = render_groups(&command);
    let header = *command.get_styles().get_header();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\
         {header}Options for every command:{header:#}\n{{options}}{{after-help}}"
    );
    command.help_template(template).mut_subcommands(|mut subcommand| {
        for global in &globals {
            subcommand = subcommand.arg(global.clone().hide(true));
        }
        let nested = |below: Command| below.help_template(SUBCOMMAND_TEMPLATE);
        subcommand.help_template(SUBCOMMAND_TEMPLATE).mut_subcommands(nested)
    })
}

const SUBCOMMAND_TEMPLATE: &str = "\
{about-with-newline}
{usage-heading} {usage}

{all-args}

See `ramus --help` for addresses and for options of every command, such as --json.{after-help}";

/// Renders the subcommands with their first help line, group by group.
fn render_groups(command: &Command) -> String {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let names = || GROUPS.iter().flat_map(|(_, names)| *names);
    let width = names().map(|name| name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for name in *names {
            let Some(subcommand) = command.find_subcommand(name) else { continue };
            let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{name:width$}{literal:#}  {about}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_is_in_exactly_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.sort_unstable();
        let command = Args::command();
        let mut names: Vec<&str> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        names.sort_unstable();
        assert_eq!(grouped, names);
    }

    /// The generated list is not wrapped, so each line has to fit into 80 columns.
    #[test]
    fn the_first_line_of_each_help_fits_the_list() {
        for line in render_groups(&Args::command().styles(clap::builder::Styles::plain())).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn options_of_every_command_work_in_every_place() {
        for args in
            [&["ramus", "--json", "cache", "status"], &["ramus", "cache", "status", "--json"]]
        {
            let matches = command_with_help().try_get_matches_from(*args).unwrap();
            assert!(matches.get_flag("json"), "{args:?}");
        }
    }
}
