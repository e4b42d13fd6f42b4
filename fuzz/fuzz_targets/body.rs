//! Any bytes are a line: its body is read or refused, and its text is shown, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ramus_core::body::{RecordBody, classify_user_text, human_text, json};

fuzz_target!(|data: &[u8]| {
    let _ = RecordBody::parse(data);
    let text = json::unescape(data);
    classify_user_text(&text);
    human_text(&text);
    assert!(json::unescape_prefix(data, 20).chars().count() <= 20);
});
