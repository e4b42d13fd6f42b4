//! What the client deletes soon, below the list.

use ramus_core::digest::one_line;
use ramus_render::layout::{truncate_line, wrap_line};
use ramus_render::{Label, Line};

use super::ListPane;

/// The most rows that the sentence about deleted sessions takes, and on a low screen.
const MAX_DUE_ROWS: usize = 2;
const LOW_SCREEN: usize = 5;

/// Returns the lines below the list, no more than some rows: what the client deletes soon, and the offer to
/// archive it.
pub(crate) fn cleanup_lines(list: &ListPane, width: usize, rows: usize) -> Vec<Line> {
    let key = &list.keys.archive;
    let offer = match list.unarchived {
        0 => None,
        1 => Some(format!("1 of these files is not archived: press {key} to archive it")),
        files => {
            Some(format!("{files} of these files are not archived: press {key} to archive them"))
        }
    };
    // What can be done about it is never cut.
    let offer = offer.iter().flat_map(|offer| notice_lines(offer, Label::Prompt, width));
    let offer: Vec<Line> = offer.take(rows).collect();
    let most = if rows < LOW_SCREEN { 1 } else { MAX_DUE_ROWS };
    let room = rows.saturating_sub(offer.len()).min(most);
    let due = list.due.as_deref().map(|due| notice_lines(due, Label::Warning, width));
    let due = due.unwrap_or_default();
    let cut = if due.len() > room { room.saturating_sub(1) } else { due.len() };
    let (whole, rest) = due.split_at(cut);
    let rest = rest.iter().map(|line| one_line(&line.to_text()).into_string());
    let rest = rest.collect::<Vec<_>>().join(" ");
    let last = truncate_line(&Line::new(&format!(" {rest}"), Label::Warning), width);
    let last = (!rest.is_empty() && room > 0).then_some(last);
    whole.iter().cloned().chain(last).chain(offer).collect()
}

fn notice_lines(text: &str, label: Label, width: usize) -> Vec<Line> {
    let lines = wrap_line(&Line::new(text, label), width.saturating_sub(2), 0);
    lines.iter().map(|line| Line::new(" ", label).with_line(line)).collect()
}
