//! Describes the origins and offspring of a session.

use ramus_core::ids::ShortIds;
use ramus_core::link::{LinkKind, RelatedSession, SessionRelations};

use crate::{Label, Line};

/// How many sessions of one kind are listed.
const MAX_NAMED: usize = 4;

/// Returns the origins and offspring of a session, one line for each kind. Ids are whole without `short_ids`.
pub fn lineage_lines(family: &SessionRelations, short_ids: Option<&ShortIds>) -> Vec<Line> {
    let origins = relative_lines(&family.origins, origin_phrase, short_ids);
    let offspring = relative_lines(&family.offspring, offspring_phrase, short_ids);
    origins.into_iter().chain(offspring).collect()
}

/// Returns the phrase before the id of an origin.
pub fn origin_phrase(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Fork => "forked from",
        LinkKind::Merge => "merged from",
        LinkKind::Copy => "copied from",
        LinkKind::Continuation => "continues",
        LinkKind::Summary => "summarizes",
        LinkKind::Clear => "started with /clear in",
        LinkKind::Agent => "agent of",
    }
}

/// Returns the phrase before the id of an offspring session.
pub fn offspring_phrase(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Fork => "forked into",
        LinkKind::Merge => "merged into",
        LinkKind::Copy => "copied to",
        LinkKind::Continuation => "continued in",
        LinkKind::Summary => "summarized in",
        LinkKind::Clear => "cleared, continued in",
        LinkKind::Agent => "started",
    }
}

fn relative_lines(
    relatives: &[RelatedSession],
    words: impl Fn(LinkKind) -> &'static str,
    short_ids: Option<&ShortIds>,
) -> Vec<Line> {
    let of_kind = |of_kind: &[RelatedSession]| {
        let named: Vec<Line> =
            of_kind.iter().filter_map(|one| session_name(one, short_ids)).collect();
        let words = words(of_kind[0].kind);
        if named.is_empty() {
            return Line::new(words.trim_end_matches(" in"), Label::Dim);
        }
        let more = named.len().saturating_sub(MAX_NAMED);
        let shown = named.len() - more;
        let mut line = Line::new(&format!("{words} "), Label::Dim);
        for (index, name) in named.iter().take(shown).enumerate() {
            let between = match index {
                0 => "",
                _ if index + 1 == shown && more == 0 => " and ",
                _ => ", ",
            };
            line.push(between, Label::Dim);
            line.append(name);
        }
        if more > 0 {
            line.push(&format!(" and {more} more"), Label::Dim);
        }
        line
    };
    relatives.chunk_by(|a, b| a.kind == b.kind).map(of_kind).collect()
}

fn session_name(relative: &RelatedSession, short_ids: Option<&ShortIds>) -> Option<Line> {
    let id = relative.session.as_deref()?;
    let line = Line::new(short_ids.map_or(id, |short_ids| short_ids.shorten_id(id)), Label::Id);
    Some(if relative.is_found { line } else { line.with(" (not found)", Label::Dim) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(kind: LinkKind, session: &str) -> RelatedSession {
        RelatedSession { kind, session: Some(session.into()), is_found: true }
    }

    #[track_caller]
    fn check(family: &SessionRelations, expected: &[&str]) {
        let lines: Vec<String> = lineage_lines(family, None).iter().map(Line::to_text).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_family_is_named_kind_by_kind() {
        let merge = |id| relative(LinkKind::Merge, id);
        let gone = RelatedSession { is_found: false, ..merge("c") };
        let many = (0..6).map(|n| relative(LinkKind::Fork, &format!("f{n}")));
        let offspring = many.chain([relative(LinkKind::Continuation, "d")]).collect();
        let origins = vec![merge("a"), merge("b"), gone];
        check(
            &SessionRelations { origins, offspring },
            &[
                "merged from a, b and c (not found)",
                "forked into f0, f1, f2, f3 and 2 more",
                "continued in d",
            ],
        );
    }

    #[test]
    fn a_clear_may_have_no_known_origin() {
        let nobody = RelatedSession { kind: LinkKind::Clear, session: None, is_found: false };
        check(
            &SessionRelations { origins: vec![nobody], offspring: Vec::new() },
            &["started with /clear"],
        );
        let origins = vec![relative(LinkKind::Clear, "a")];
        check(&SessionRelations { origins, offspring: Vec::new() }, &["started with /clear in a"]);
        let offspring = vec![relative(LinkKind::Clear, "b")];
        check(&SessionRelations { origins: Vec::new(), offspring }, &["cleared, continued in b"]);
    }
}
