//! The messages before and after a hit: its ancestors, and all that follow it.

use ramus_core::body::{Block, Body, human_text};
use ramus_core::fold::FoldId;
use ramus_core::history::History;
use ramus_core::query::{HitContext, NearMessage, Role};
use ramus_core::record::Voice;
use ramus_core::session::NodeId;
use ramus_store::{Bodies, PathError};

/// How many characters of a message are kept.
const WORDS: usize = 160;

/// Returns the messages that are at most `depth` messages away from a node.
pub(super) fn read_context(
    history: &History,
    bodies: &mut Bodies,
    node: NodeId,
    depth: usize,
) -> Result<HitContext, PathError> {
    let mut context = HitContext::default();
    let Some(fold) = history.folds.of(node) else { return Ok(context) };
    let folds = &history.folds;
    for above in folds.ancestors(fold).skip(1).filter(|fold| folds.speaks(*fold)).take(depth) {
        context.before.insert(0, read_near_message(history, bodies, above)?);
    }
    let mut open: Vec<(FoldId, usize)> =
        folds.speaking_children(fold).map(|child| (child, 1)).collect();
    open.reverse();
    while let Some((below, level)) = open.pop() {
        if folds.fold(below).voice.speaks() {
            context.after.push(read_near_message(history, bodies, below)?);
        }
        if level < depth {
            let mut next: Vec<_> =
                folds.speaking_children(below).map(|child| (child, level + 1)).collect();
            next.reverse();
            open.extend(next);
        }
    }
    Ok(context)
}

/// Reads who speaks in a message, and its first words.
pub fn read_near_message(
    history: &History,
    bodies: &mut Bodies,
    fold: FoldId,
) -> Result<NearMessage, PathError> {
    let head = history.session.record(history.folds.fold(fold).head);
    let mut text = String::new();
    for member in history.folds.members(fold) {
        let record = history.session.record(*member);
        if record.voice == Voice::ToolResult {
            continue;
        }
        let Ok(body) = Body::parse(&bodies.bytes(record.span)?) else { continue };
        if let Some(words) = body.blocks().iter().find_map(words) {
            text = words;
            break;
        }
    }
    let uuid = head.name.map(|name| history.session.spell(name));
    Ok(NearMessage {
        short_uuid: uuid.as_deref().map_or("", |uuid| history.short_uuid(uuid)).to_owned(),
        uuid,
        role: match head.voice {
            Voice::Answer | Voice::Synthetic => Role::Assistant,
            Voice::Prompt | Voice::Queued => Role::User,
            _ => Role::System,
        },
        text,
    })
}

fn words(block: &Block) -> Option<String> {
    let text = match block {
        Block::Text(text) => human_text(text).to_string(),
        Block::ToolUse(call) | Block::ServerToolUse(call) => {
            let input = call.input.as_object().into_iter().flat_map(|input| input.values());
            let first = input.filter_map(|value| value.as_str()).next().unwrap_or_default();
            format!("{} {first}", call.name)
        }
        _ => return None,
    };
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(WORDS) {
        line.truncate(end);
    }
    (!line.is_empty()).then_some(line)
}
