//! Reads `archive.toml`: what may be sent to an archive on a server.

use std::path::Path;

use ramus_app::archive::{ProjectPattern, SendPolicy};
use ramus_store::read_optional_text;
use toml::de::{DeTable, DeValue};

use crate::env;

/// Returns the user's rules, or what is wrong with the file. A key that is not known is an error: one that was misspelt
/// must not send what it should hold back.
pub(crate) fn load_send_policy() -> Result<SendPolicy, String> {
    let path = env::config_file("archive.toml");
    let text = read_optional_text(&path).map_err(|error| error.to_string())?;
    let home = std::env::home_dir();
    parse_policy(&text.unwrap_or_default(), home.as_deref())
        .map_err(|problem| format!("{}: {problem}", path.display()))
}

fn parse_policy(text: &str, home: Option<&Path>) -> Result<SendPolicy, String> {
    let line_of = |at: usize| text.get(..at).unwrap_or(text).matches('\n').count() + 1;
    let table = DeTable::parse(text).map_err(|error| {
        let line = line_of(error.span().map_or(0, |span| span.start));
        format!("line {line}: {}", error.message().lines().collect::<Vec<_>>().join("; "))
    })?;
    let mut policy = SendPolicy::default();
    for (key, value) in table.get_ref() {
        let place = format!("line {}", line_of(key.span().start));
        let refuse = |what: &str| format!("{place}: `{}` must be {what}", key.get_ref());
        match (&**key.get_ref(), value.get_ref()) {
            ("include", value) => {
                policy.include = patterns(value, home).ok_or_else(|| refuse(LIST))?;
            }
            ("exclude", value) => {
                policy.exclude = patterns(value, home).ok_or_else(|| refuse(LIST))?;
            }
            ("redact", value) => {
                policy.redact = value.as_bool().ok_or_else(|| refuse("true or false"))?;
            }
            ("owner", value) => {
                let name = value.as_str().ok_or_else(|| refuse("a name in quotes"))?;
                policy.owner = Some(name.to_owned());
            }
            (other, _) => {
                return Err(format!(
                    "{place}: unknown key `{other}`; the keys are include, exclude, redact, owner"
                ));
            }
        }
    }
    Ok(policy)
}

const LIST: &str = "a list of projects in quotes";

fn patterns(value: &DeValue<'_>, home: Option<&Path>) -> Option<Vec<ProjectPattern>> {
    let texts = value.as_array()?.iter().map(|text| text.get_ref().as_str());
    texts.map(|text| Some(ProjectPattern::new(text?, home))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_mistakes_are_named() {
        let policy = parse_policy(
            "include = [\"~/work/*\"]\nexclude = ['*-x']\nredact = true\nowner = 'al'",
            Some(Path::new("/home/al")),
        )
        .unwrap();
        assert_eq!(policy.include, [ProjectPattern::new("/home/al/work/*", None)]);
        assert_eq!(policy.exclude, [ProjectPattern::new("*-x", None)]);
        assert_eq!((policy.redact, policy.owner.as_deref()), (true, Some("al")));
        assert_eq!(parse_policy("", None).unwrap(), SendPolicy::default());
        for (text, problem) in [
            ("\nexlude = ['x']", "line 2: unknown key `exlude`"),
            ("exclude = 'x'", "line 1: `exclude` must be a list"),
            ("exclude = [1]", "line 1: `exclude` must be a list"),
            ("redact = 'yes'", "line 1: `redact` must be true or false"),
            ("owner = 1", "line 1: `owner` must be a name"),
            ("redact = ", "line 1"),
        ] {
            let error = parse_policy(text, None).unwrap_err();
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
