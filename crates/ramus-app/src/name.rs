//! Names of sessions, branches and agents in the lists of a front end.

use ramus_core::title::short_title;
use ramus_store::agents::SubAgent;

/// The maximum length of a name that is made from a prompt.
const MAX_NAME: usize = 60;

/// Returns a title, or the first words of a message, without the marks of Markdown that a list does not
/// draw. Nothing but marks stays as it is.
///
/// The web app does the same with `unmarked`; `web/tests/words.json` has cases for both.
pub fn plain_title(title: &str) -> String {
    let title = title.trim();
    let plain = without_bold(&without_leading_marks(title).replace('`', ""));
    match plain.trim() {
        "" => title.to_owned(),
        plain => plain.to_owned(),
    }
}

/// Returns what a list calls an agent: its description, or the beginning of its prompt, or its kind.
/// Empty: nothing is known but its id.
pub fn agent_name(agent: &SubAgent) -> String {
    let described = agent.meta.description.as_deref().map(|text| short_title(&plain_title(text)));
    let named = described.filter(|name| !name.is_empty());
    let prompted = || agent.words.as_deref().map(prompt_name).filter(|name| !name.is_empty());
    named.or_else(prompted).or_else(|| agent.meta.kind.clone()).unwrap_or_default()
}

/// Returns the beginning of an agent's prompt as a name: its first line, cut after a word.
pub fn prompt_name(prompt: &str) -> String {
    let line = prompt.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let line = plain_title(line).split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(MAX_NAME) else { return line };
    let end = match line[..end].rfind(' ') {
        // A text without spaces, such as Chinese, is cut anywhere.
        Some(space) if space >= end / 2 => space,
        _ => end,
    };
    format!("{}…", line[..end].trim_end_matches([' ', ',', ';', ':', '.', '-', '–']))
}

/// Removes `# `, `> ` and bullets, in any order.
fn without_leading_marks(text: &str) -> &str {
    let mut rest = text;
    loop {
        let start = rest.trim_start();
        let marks = start.len() - start.trim_start_matches('#').len();
        let end = match start.chars().next() {
            Some('#') if marks <= 6 => marks,
            Some('>' | '-' | '*' | '+') => 1,
            _ => return rest,
        };
        if !start[end..].starts_with(char::is_whitespace) {
            return rest;
        }
        rest = start[end..].trim_start();
    }
}

/// Replaces `**words**` by `words`.
fn without_bold(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("**") {
        let (before, inside) = (&rest[..at], &rest[at + 2..]);
        let first = inside.chars().next().filter(|first| !first.is_whitespace());
        // At least one character is between the marks.
        let close = first.and_then(|first| {
            let from = first.len_utf8();
            inside[from..].find("**").map(|found| from + found)
        });
        plain.push_str(before);
        rest = match close {
            Some(close) => {
                plain.push_str(&inside[..close]);
                &inside[close + 2..]
            }
            // The next mark may begin one character later.
            None => {
                plain.push('*');
                &rest[at + 1..]
            }
        };
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::prompt_name;

    #[test]
    fn a_prompt_becomes_a_short_name() {
        let check = |prompt: &str, expected: &str| assert_eq!(prompt_name(prompt), expected);
        check("Find reads without limit", "Find reads without limit");
        check("\n\n## Review `http.rs`\nLook at every read.", "Review http.rs");
        check(
            "You review the HTTP parsing of a small server in Rust, and report what is missing",
            "You review the HTTP parsing of a small server in Rust, and…",
        );
        check(&"字".repeat(100), &format!("{}…", "字".repeat(60)));
        check(&format!("{} {}", "a".repeat(59), "b".repeat(9)), &format!("{}…", "a".repeat(59)));
        check(" \n ", "");
    }
}
