//! Access: exchanges a code for the token, and the token for tickets.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State as Extract;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ApiResult;
use crate::ServerState;
use crate::error::ApiError;

/// How long a download may wait to be begun.
const TICKET_LIFETIME: Duration = Duration::from_secs(60);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Code {
    code: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Let {
    token: String,
}

/// Exchanges the code of an address, once, for the token that goes into the header of every request.
pub(crate) async fn exchange_code(
    Extract(state): Extract<Arc<ServerState>>,
    Json(code): Json<Code>,
) -> ApiResult<Let> {
    if !state.codes.redeem_code(&code.code, "") {
        let message = "this address was already used, or is from an earlier server";
        let hint = "open the last address that `ramus serve` printed";
        return Err(ApiError::new(StatusCode::UNAUTHORIZED, message, hint));
    }
    // There is always one good address at the end of the terminal.
    if let Ok(address) = state.new_address() {
        (state.log)(&format!("a browser connected; for another one open {address}"));
    }
    Ok(Json(Let { token: state.token.as_str().to_owned() }))
}

/// Confirms that the server runs and the token is valid.
pub(crate) async fn get_ping() -> Json<Value> {
    Json(json!({"ok": true}))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Download {
    /// The path and query to be opened.
    path: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Ticket {
    ticket: String,
}

/// Gives out a ticket for one download: the browser makes that request without our header.
pub(crate) async fn post_ticket(
    Extract(state): Extract<Arc<ServerState>>,
    Json(download): Json<Download>,
) -> ApiResult<Ticket> {
    let ticket = state
        .codes
        .issue_code(&download.path, Some(TICKET_LIFETIME))
        .map_err(|error| ApiError::bad_request(error.to_string()))?;
    Ok(Json(Ticket { ticket: ticket.as_str().to_owned() }))
}
