//! Agents that are opened in place: each under its own heading, nested ones below their parents.

use ratatui::crossterm::event::KeyCode;
use testkit::TestHome;

use super::TestScreens;

const SESSION: &str = "0a1b2c3d-0000-4000-8000-000000000000";

/// A session that starts two agents with one message; the first of them starts another one.
fn agents_home() -> TestHome {
    let home = TestHome::new();
    home.write_session(
        &format!("-tea/{SESSION}.jsonl"),
        r"
a        user          Make tea
b < a    call:t1:Task  #m1 boil
c < b    call:t2:Task  #m1 steep
d < b    result:t1     boiled
e < c    result:t2     steeped
f < e    assistant     Served.
",
    );
    let agent = |id: &str, call: &str, label: &str, text: &str| {
        let path = format!("-tea/{SESSION}/subagents/agent-{id}");
        home.write_session(&format!("{path}.jsonl"), text);
        let meta = format!(r#"{{"description":"{label}","toolUseId":"{call}"}}"#);
        home.write_file(&format!("{path}.meta.json"), &meta);
    };
    let boils = "
        p      user          Boil water please
        q < p  call:t3:Task  #m5 fetch
        r < q  result:t3     fetched
        s < r  assistant     It boils.
    ";
    agent("a1", "t1", "Boil the water", boils);
    agent("b2", "t2", "Steep the leaves", "p user Steep them\nq < p assistant Steeped well.");
    agent("c3", "t3", "Fetch the kettle", "p user Fetch it\nq < p assistant Here is the kettle.");
    home
}

fn row_of(text: &str, what: &str) -> usize {
    text.lines()
        .position(|line| line.contains(what))
        .unwrap_or_else(|| panic!("no {what:?} on\n{text}"))
}

#[test]
fn two_agents_of_one_message_have_their_own_headings() {
    let mut screens = TestScreens::with_home(agents_home(), 80, 60);
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("Served.");
    while !screens.drawn_text().contains("▌   • Task") {
        screens.type_in("j");
    }
    screens.type_in("a");
    let text =
        screens.wait_until(|text| text.contains("It boils.") && text.contains("Steeped well."));
    assert!(row_of(&text, "▸ agent Boil the water") < row_of(&text, "It boils."), "{text}");
    assert!(row_of(&text, "It boils.") < row_of(&text, "▸ agent Steep the leaves"), "{text}");
    assert!(row_of(&text, "▸ agent Steep the leaves") < row_of(&text, "Steeped well."), "{text}");
    // The agent that another one started is not among them, but opens inside of its parent.
    assert!(!text.contains("Fetch the kettle"), "{text}");
    while !screens.drawn_text().contains("▌ ┆   • Task") {
        screens.type_in("j");
    }
    screens.type_in("a");
    let text = screens.wait_for_text("Here is the kettle.");
    assert!(text.contains("┆ ┆ ▸ agent Fetch the kettle"), "{text}");
    assert!(row_of(&text, "Here is the kettle.") < row_of(&text, "Steep the leaves"), "{text}");
    // Closing the parent closes all that is open in it.
    while !screens.drawn_text().contains("▌   • Task") {
        screens.type_in("k");
    }
    screens.type_in("a");
    screens.wait_until(|text| !text.contains("agent Boil") && !text.contains("agent Fetch"));
}

#[test]
fn nested_agents_are_listed_and_drawn_below_their_parents() {
    let mut screens = TestScreens::with_home(agents_home(), 120, 40);
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("Served.");
    screens.type_in("A");
    let text = screens.wait_for_text("Fetch the kettle");
    let parent = row_of(&text, "▸ Boil the water");
    assert_eq!(row_of(&text, "  ▸ Fetch the kettle"), parent + 1, "{text}");
    assert_eq!(row_of(&text, "▸ Steep the leaves"), parent + 2, "{text}");
    screens.press_key(KeyCode::Esc);
    screens.type_in("t");
    let text = screens.wait_for_text("▸ agent  Fetch the kettle");
    let parent = row_of(&text, "▸ agent  Boil the water");
    assert_eq!(row_of(&text, "╰─▸ agent  Fetch the kettle"), parent + 1, "{text}");
}
