//! What was used: tokens and what they cost.

use std::sync::Arc;

use axum::extract::State as Extract;
use ramus_render::json::{Answer, Usage};

use super::{Answered, answer};
use crate::State;

pub(crate) async fn usage(Extract(state): Extract<Arc<State>>) -> Answered<Answer<Usage>> {
    answer(state, |state| {
        let usage = state.library.usage();
        Ok(Answer::new("ramus.usage/1", Usage::clone(&usage)))
    })
    .await
}
