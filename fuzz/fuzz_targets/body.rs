//! Any bytes are a line: its body is read or refused, and its text is shown, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ramus_core::body::{Body, human_text, json, said};

fuzz_target!(|data: &[u8]| {
    let _ = Body::parse(data);
    let text = json::unescape(data);
    said(&text);
    human_text(&text);
    assert!(json::unescape_prefix(data, 20).chars().count() <= 20);
});
