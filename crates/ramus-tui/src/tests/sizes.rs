//! The main screens at the sizes that people have.

use super::*;

const SIZES: [(u16, u16); 4] = [(40, 12), (80, 24), (120, 40), (200, 60)];

#[test]
fn a_transcript_with_its_tree_branches_and_keys_at_several_sizes() {
    for (width, height) in SIZES {
        let mut screens = TestScreens::open_demo(width, height);
        let shows = |screens: &mut TestScreens, what: &str, name: &str| {
            let text = screens.wait_for_text(what);
            assert_snapshot!(format!("{name}_{width}x{height}"), text);
        };
        screens.press_key(KeyCode::End);
        shows(&mut screens, "Claude Code resumes here", "transcript");
        screens.wait_for_agents();
        screens.type_in("t");
        screens.wait_until(|text| !text.contains("drawing …"));
        shows(&mut screens, "resume", "tree");
        screens.type_in("tb");
        shows(&mut screens, "Branches", "branches");
        screens.press_key(KeyCode::Esc);
        screens.type_in("?");
        shows(&mut screens, "In a transcript", "keys");
    }
}

/// Side by side from 120 columns on, the totals first; a key goes from difference to difference.
#[test]
fn a_comparison_at_several_sizes() {
    for (width, height) in SIZES {
        let mut screens = TestScreens::open_demo(width, height);
        screens.type_in("dbd");
        screens.wait_for_text("unmarked");
        screens.press_key(KeyCode::Esc);
        screens.type_in("db");
        screens.press_key(KeyCode::Home);
        screens.type_in("d");
        let text = screens.wait_for_text("Totals");
        assert!(!text.contains("── Files"), "the totals come first: {text}");
        assert_snapshot!(format!("compare_{width}x{height}"), text);
        screens.type_in("n");
        screens.type_in("n");
        let text = screens.drawn_text();
        if height == 12 {
            assert!(text.lines().nth(2).unwrap().contains("── Conversation"), "{text}");
        }
        let both = text.lines().any(|line| line.matches("● Claude").count() == 2);
        assert_eq!(both, width >= 120, "{text}");
        screens.type_in("N");
        screens.type_in("N");
        assert!(screens.drawn_text().contains("Totals"));
    }
}
