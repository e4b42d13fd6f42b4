//! The hook in Claude Code's settings that runs `ramus archive add` when a session ends.
//!
//! Settings are edited as text, so that everything else stays as its owner wrote it, down to the last
//! space. Each edit is proved: the new text must parse to the old settings with that one change.

mod text;

use serde_json::{Map, Value, json};

use self::text::{Container, insert_last, remove_at};

/// What the command of our hook ends with, whatever program it starts with.
const COMMAND: &str = " archive add --quiet --background";

const HOOKS: &str = "hooks";
const EVENT: &str = "SessionEnd";

/// Why settings are not changed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    #[error("the settings are not valid JSON: {0}")]
    NotJson(String),
    #[error("the settings have {0} in an unknown form")]
    Unknown(&'static str),
    #[error("the settings cannot be edited without changing something else in them")]
    Unsure,
}

/// Returns the command of the hook.
pub fn hook_command(program: &str) -> String {
    format!("{program}{COMMAND}")
}

/// Whether the settings contain the hook.
pub fn has_hook(settings: &str) -> Result<bool, HookError> {
    Ok(find_hook(&parse(settings)?).is_some())
}

/// Returns settings with the hook; the same settings if it is there already.
pub fn add_hook(settings: &str, program: &str) -> Result<String, HookError> {
    let old = parse(settings)?;
    if find_hook(&old).is_some() {
        return Ok(settings.to_owned());
    }
    let hook = json!({"hooks": [{"type": "command", "command": hook_command(program)}]});
    let mut wanted = old.clone();
    let root = wanted.as_object_mut().ok_or(HookError::Unknown("not an object"))?;
    let hooks = root.entry(HOOKS).or_insert_with(|| Value::Object(Map::new()));
    let hooks = hooks.as_object_mut().ok_or(HookError::Unknown("`hooks`"))?;
    let events = hooks.entry(EVENT).or_insert_with(|| Value::Array(Vec::new()));
    events.as_array_mut().ok_or(HookError::Unknown("`SessionEnd`"))?.push(hook.clone());
    let text = if settings.trim().is_empty() { "{}\n" } else { settings };
    let root = Container::root(text).ok_or(HookError::Unsure)?;
    let edited = match (root.member(HOOKS), root.member(HOOKS).and_then(|at| at.member(EVENT))) {
        (_, Some(events)) => insert_last(text, &events, None, &hook),
        (Some(hooks), None) => insert_last(text, &hooks, Some(EVENT), &json!([hook])),
        (None, None) => insert_last(text, &root, Some(HOOKS), &json!({EVENT: [hook]})),
    };
    proved(edited, &wanted)
}

/// Returns the settings without the hook, and without containers that are empty then.
pub fn remove_hook(settings: &str) -> Result<String, HookError> {
    let mut text = settings.to_owned();
    while let Some((group, inner)) = find_hook(&parse(&text)?) {
        text = remove_one(&text, group, inner)?;
    }
    Ok(text)
}

fn remove_one(text: &str, group: usize, inner: usize) -> Result<String, HookError> {
    let mut wanted = parse(text)?;
    let unsure = || HookError::Unsure;
    let root = Container::root(text).ok_or_else(unsure)?;
    let hooks = root.member(HOOKS).ok_or_else(unsure)?;
    let events = hooks.member(EVENT).ok_or_else(unsure)?;
    let commands = events.element(group).and_then(|group| group.member("hooks"));
    let commands = commands.ok_or_else(unsure)?;
    // The smallest part that leaves nothing empty behind.
    let edited = if commands.len() > 1 {
        wanted[HOOKS][EVENT][group]["hooks"].as_array_mut().ok_or_else(unsure)?.remove(inner);
        remove_at(text, &commands, inner)
    } else if events.len() > 1 {
        wanted[HOOKS][EVENT].as_array_mut().ok_or_else(unsure)?.remove(group);
        remove_at(text, &events, group)
    } else if hooks.len() > 1 {
        wanted[HOOKS].as_object_mut().ok_or_else(unsure)?.shift_remove(EVENT);
        remove_at(text, &hooks, hooks.position(EVENT).ok_or_else(unsure)?)
    } else {
        wanted.as_object_mut().ok_or_else(unsure)?.shift_remove(HOOKS);
        remove_at(text, &root, root.position(HOOKS).ok_or_else(unsure)?)
    };
    proved(edited, &wanted)
}

fn proved(edited: String, wanted: &Value) -> Result<String, HookError> {
    match parse(&edited) {
        Ok(value) if value == *wanted => Ok(edited),
        _ => Err(HookError::Unsure),
    }
}

fn parse(settings: &str) -> Result<Value, HookError> {
    if settings.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    serde_json::from_str(settings).map_err(|error| HookError::NotJson(error.to_string()))
}

/// Finds our hook: which group of `SessionEnd` it is in, and where in that.
fn find_hook(settings: &Value) -> Option<(usize, usize)> {
    let groups = settings.get(HOOKS)?.get(EVENT)?.as_array()?;
    groups.iter().enumerate().find_map(|(group, value)| {
        let is_ours = |hook: &Value| {
            let command = hook.get("command").and_then(Value::as_str);
            command.is_some_and(|command| command.ends_with(COMMAND))
        };
        let inner = value.get("hooks")?.as_array()?.iter().position(is_ours)?;
        Some((group, inner))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHERS: &[&str] = &[
        "{\n  \"model\": \"opus\",\n  \"permissions\": { \"allow\": [\"Bash(ls:*)\"] }\n}\n",
        "{\"model\":\"opus\"}",
        "{\n\t\"a\": [1,  2],\n\t\"b\" : {}\n}",
        "{\n    \"hooks\": {\n        \"Stop\": [ {\"hooks\": [{\"type\":\"command\",\"command\":\"x\"}]} ]\n    }\n}\n",
        "{\n  \"hooks\": {\n    \"SessionEnd\": [\n      {\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"echo \\\"}]\\\" done\" }\n        ]\n      }\n    ]\n  },\n  \"z\": \"ü\\n\"\n}\n",
        "  { \"hooks\" : { \"SessionEnd\":[{\"hooks\":[{\"command\":\"y\"}]}]} }  ",
        "{\r\n  \"model\": \"opus\"\r\n}\r\n",
    ];

    #[test]
    fn the_hook_comes_and_goes_and_nothing_else_changes() {
        for settings in OTHERS {
            let added = add_hook(settings, "/usr/bin/ramus").unwrap();
            assert!(has_hook(&added).unwrap(), "{added}");
            assert_eq!(add_hook(&added, "ramus").unwrap(), added, "it is there once");
            assert_eq!(&remove_hook(&added).unwrap(), settings, "{added}");
            assert_eq!(&remove_hook(settings).unwrap(), settings);
        }
    }

    #[test]
    fn settings_that_do_not_exist_yet_are_made_to_be_read() {
        let expected = "{\n  \"hooks\": {\n    \"SessionEnd\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"ramus archive add --quiet --background\"\n          }\n        ]\n      }\n    ]\n  }\n}\n";
        assert_eq!(add_hook("", "ramus").unwrap(), expected);
        assert_eq!(add_hook("{}\n", "ramus").unwrap(), expected);
        assert_eq!(remove_hook(expected).unwrap(), "{}\n");
    }

    #[test]
    fn the_style_of_the_file_is_kept() {
        let tabs = add_hook("{\n\t\"a\": 1\n}\n", "ramus").unwrap();
        assert!(tabs.contains("\n\t\"hooks\": {\n\t\t\"SessionEnd\": ["), "{tabs}");
        let compact = add_hook("{\"a\":1}", "ramus").unwrap();
        assert!(!compact.contains('\n'), "{compact}");
    }

    #[test]
    fn a_hook_that_shares_its_group_leaves_the_others() {
        let added = add_hook("{\"hooks\":{\"SessionEnd\":[]}}", "ramus").unwrap();
        let shared = added.replace("\"hooks\":[{", "\"hooks\":[{\"command\":\"x\"},{");
        assert_ne!(shared, added);
        let left: Value = serde_json::from_str(&remove_hook(&shared).unwrap()).unwrap();
        assert_eq!(left["hooks"]["SessionEnd"][0]["hooks"], json!([{"command": "x"}]));
    }

    #[test]
    fn what_is_not_understood_is_not_touched() {
        assert!(matches!(add_hook("{ half", "r"), Err(HookError::NotJson(_))));
        assert!(matches!(add_hook("// note\n{}", "r"), Err(HookError::NotJson(_))));
        assert!(matches!(add_hook("[]", "r"), Err(HookError::Unknown(_))));
        assert!(matches!(add_hook("{\"hooks\": 7}", "r"), Err(HookError::Unknown(_))));
        assert!(matches!(
            add_hook("{\"hooks\":{\"SessionEnd\":{}}}", "r"),
            Err(HookError::Unknown(_))
        ));
        // With duplicate members, parsers differ in which one they use, so refuse.
        let twice = "{\"hooks\":{\"Stop\":[]},\"hooks\":{}}";
        assert!(matches!(add_hook(twice, "r"), Err(HookError::Unsure)));
    }
}
