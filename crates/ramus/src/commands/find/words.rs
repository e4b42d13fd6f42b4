//! The words of a search as they are typed on the command line.

use std::ffi::OsString;

use clap::Args;
use ramus_app::{AddressError, Workspace};

use super::FindArgs;
use crate::args::Global;

/// The short options of `find` without a value, and those with a number.
const SHORT_OPTIONS: &str = "iswxEclAhV";
const NUMBER_OPTIONS: [char; 2] = ['C', 'n'];
/// The command and its aliases.
const COMMAND_NAMES: [&str; 3] = ["find", "grep", "search"];

/// Moves words that begin with a hyphen (`-without`, `-home-dev-app`) behind `--`, so that they are not taken
/// for options.
pub(crate) fn move_words_to_end(args: Vec<OsString>) -> Vec<OsString> {
    let global = value_options(&Global::augment_args(clap::Command::new("ramus")));
    let Some(command) = command_position(&args, &global) else { return args };
    let own = value_options(&FindArgs::augment_args(clap::Command::new("find")));
    let has_value = |name: &OsString| global.contains(name) || own.contains(name);
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let is_word = |at: usize| {
        let word = args[at].to_str().and_then(|arg| arg.strip_prefix('-'));
        !has_value(&args[at - 1]) && word.is_some_and(is_hyphen_word)
    };
    let (mut words, mut kept) = (Vec::new(), Vec::new());
    for (at, arg) in args.iter().enumerate() {
        let is_moved = command < at && at < end && is_word(at);
        if is_moved { words.push(arg.clone()) } else { kept.push(arg.clone()) }
    }
    if !words.is_empty() {
        if end == args.len() {
            kept.push("--".into());
        }
        kept.extend(words);
    }
    kept
}

/// Returns where the command is, if it is `find`.
fn command_position(args: &[OsString], value_options: &[OsString]) -> Option<usize> {
    let is_value = |at: usize| value_options.contains(&args[at - 1]);
    let is_option = |at: usize| args[at].to_str().is_some_and(|arg| arg.starts_with('-'));
    let command = (1..args.len()).find(|at| !is_option(*at) && !is_value(*at))?;
    COMMAND_NAMES.iter().any(|name| args[command] == **name).then_some(command)
}

/// Returns the options of a command that take a value, as they are typed.
fn value_options(command: &clap::Command) -> Vec<OsString> {
    let options = command.get_arguments().filter(|arg| arg.get_action().takes_values());
    let names = options.flat_map(|arg| {
        let long = arg.get_long().map(|long| OsString::from(format!("--{long}")));
        let short = arg.get_short().map(|short| OsString::from(format!("-{short}")));
        long.into_iter().chain(short)
    });
    names.collect()
}

/// Whether what follows a hyphen is a word and no option.
fn is_hyphen_word(rest: &str) -> bool {
    let is_number =
        rest.starts_with(NUMBER_OPTIONS) && rest[1..].bytes().all(|byte| byte.is_ascii_digit());
    let is_options = rest.chars().all(|char| SHORT_OPTIONS.contains(char));
    rest.starts_with(char::is_alphanumeric) && !is_number && !is_options
}

/// Reads the last word as a scope if it cannot be a search word.
///
/// Before there was `--in`, a scope was given as `find TEXT SCOPE`.
pub(super) fn split_scope<'w>(
    workspace: &Workspace,
    words: &'w [String],
    has_scope: bool,
) -> Result<(&'w [String], Option<&'w str>), AddressError> {
    let Some((last, before)) = words.split_last() else { return Ok((words, None)) };
    if has_scope || before.is_empty() || !looks_like_scope(last) {
        return Ok((words, None));
    }
    match workspace.resolve_scope(Some(last)) {
        Ok(_) => Ok((before, Some(last))),
        Err(error) if matches!(&**last, "." | "..") => Err(error),
        Err(_) => Ok((words, None)),
    }
}

/// Whether a word looks like a path, the name of a project's directory or the id of a session.
fn looks_like_scope(word: &str) -> bool {
    let is_id = word.len() >= 4
        && word.contains(|char: char| char.is_ascii_digit())
        && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let is_path = word.starts_with(['.', '/', '~', '-']) || word.ends_with(".jsonl");
    let is_name = word.contains(['-', '/']) && !word.contains(':');
    !word.contains(char::is_whitespace)
        && (is_id || is_path || is_name || word.starts_with("agent-"))
}

/// Joins the words to one query. If there are several, one with spaces was in quotes and is a phrase.
pub(super) fn join_words(words: &[String]) -> String {
    let is_phrase =
        |word: &str| words.len() > 1 && word.contains(char::is_whitespace) && !word.contains('"');
    let words = words.iter().map(|word| match is_phrase(word) {
        true => format!("\"{word}\""),
        false => word.clone(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_moved(typed: &str, expected: &str) {
        let args = typed.split(' ').map(OsString::from).collect();
        let moved: Vec<String> =
            move_words_to_end(args).into_iter().map(|arg| arg.into_string().unwrap()).collect();
        assert_eq!(moved.join(" "), expected);
    }

    #[test]
    fn words_with_a_hyphen_are_no_options() {
        check_moved("r find pool -thread --json", "r find pool --json -- -thread");
        check_moved("r find pool -i -sw -C2 -C 3", "r find pool -i -sw -C2 -C 3");
        check_moved("r find x --project -home-dev", "r find x --project -home-dev");
        check_moved("r find x -home-dev-app -- -y", "r find x -- -y -home-dev-app");
        check_moved("r sessions -home-dev", "r sessions -home-dev");
        check_moved("r --color never grep a -b", "r --color never grep a -- -b");
        check_moved("r --archive F find a -b", "r --archive F find a -- -b");
        check_moved("r --machine m find a -b", "r --machine m find a -- -b");
        check_moved("r find a -n -5 --since -7d", "r find a -n -5 --since -7d");
        check_moved("r show find -n5 -x", "r show find -n5 -x");
    }

    #[test]
    fn a_quoted_argument_among_others_is_a_phrase() {
        let joined = |words: &[&str]| {
            join_words(&words.iter().map(std::string::ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(joined(&["thread", "pool"]), "thread pool");
        assert_eq!(joined(&["thread pool"]), "thread pool");
        assert_eq!(joined(&["thread pool", "timeout"]), "\"thread pool\" timeout");
    }
}
