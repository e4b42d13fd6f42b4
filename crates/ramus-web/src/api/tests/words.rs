//! The web app writes titles and amounts itself. `web/tests/words.json` has cases for both.

use ramus_app::name::plain_title;
use ramus_core::branches::{Artefact, ForkKind};
use ramus_render::text::{
    agent_class_name, artefact_name, fork_kind_phrase, format_dollars, format_reply_dollars,
    format_tokens, shape_name, source_name,
};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    plain_title: Vec<(String, String)>,
    money: Vec<(f64, String)>,
    reply_cost: Vec<(f64, String)>,
    tokens: Vec<(u64, String)>,
    artefact: Vec<(String, String)>,
    shape: Vec<(String, String)>,
    agent: Vec<(String, String)>,
    fork: Vec<(String, String)>,
    source: Vec<(String, String)>,
}

#[test]
fn words_of_the_page_are_those_of_the_terminal() {
    let cases: Cases =
        serde_json::from_str(include_str!("../../../../../web/tests/words.json")).unwrap();
    for (title, expected) in cases.plain_title {
        assert_eq!(plain_title(&title), expected);
    }
    for (sum, expected) in cases.money {
        assert_eq!(format_dollars(sum), expected);
    }
    for (cost, expected) in cases.reply_cost {
        assert_eq!(format_reply_dollars(cost), expected);
    }
    for (n, expected) in cases.tokens {
        assert_eq!(format_tokens(n), expected);
    }
    for (stable, expected) in cases.shape {
        assert_eq!(shape_name(&stable), expected);
    }
    for (stable, expected) in cases.source {
        assert_eq!(source_name(&stable), expected);
    }
    let artefacts = cases.artefact.iter().map(|(stable, _)| &**stable).collect::<Vec<_>>();
    assert_eq!(artefacts, Artefact::ALL.map(Artefact::as_str));
    for (stable, expected) in &cases.artefact {
        assert_eq!(artefact_name(stable), expected);
    }
    for (stable, expected) in cases.agent {
        assert_eq!(agent_class_name(&stable), expected);
    }
    for (kind, (stable, expected)) in ForkKind::ALL.into_iter().zip(cases.fork) {
        assert_eq!((kind.as_str(), fork_kind_phrase(kind)), (&*stable, &*expected));
    }
}
