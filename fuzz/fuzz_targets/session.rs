//! Any bytes are a session: nothing panics, chunks do not matter, every line is accounted for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ramus_core::digest::SessionDigest;
use ramus_core::history::History;
use ramus_core::resume::ResumeRule;
use ramus_core::session::Session;

fuzz_target!(|data: &[u8]| {
    let Some((&size, bytes)) = data.split_first() else { return };
    let mut whole = Session::default();
    whole.push(bytes);
    whole.finish_last_line();
    let mut pieces = Session::default();
    for chunk in bytes.chunks(usize::from(size).max(1)) {
        pieces.push(chunk);
    }
    pieces.finish_last_line();
    assert_eq!(whole.line_counts(), pieces.line_counts());
    assert_eq!(whole.records().len(), pieces.records().len());
    let counts = whole.line_counts();
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count() as u64;
    // A file that is nothing but a byte order mark has one line, and it is blank.
    assert!(lines - (counts.known + counts.unknown + counts.damaged) <= 1);
    let history = History::new(whole, ResumeRule::Client);
    for conversation in &history.branches.conversations {
        assert!(history.conversation_path(conversation).nodes.contains(&conversation.leaf));
    }
    let digest = SessionDigest::new(&history);
    ramus_core::unique::unique_paths(&[&digest, &digest]);
});
