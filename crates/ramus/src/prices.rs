//! Which file of prices is meant.

use std::path::{Path, PathBuf};

use ramus_app::ActivePrices;
use ramus_app::prices::PricesError;

use crate::env;
use crate::error::CommandError;

/// Reads the file that was asked for, else the usual one if it is there.
pub(crate) fn load_prices(asked: Option<&Path>) -> Result<ActivePrices, CommandError> {
    let named = asked.map(Path::to_owned).or_else(|| {
        std::env::var_os("RAMUS_PRICES").filter(|file| !file.is_empty()).map(PathBuf::from)
    });
    let must_exist = named.is_some();
    let file = named.unwrap_or_else(|| env::config_file("prices.json"));
    ActivePrices::load_file(&file, must_exist).map_err(|error| {
        let is_invalid = matches!(error, PricesError::Invalid { .. });
        let error = match error {
            PricesError::Unreadable(error) => error.into(),
            error => CommandError::user_error(error),
        };
        if is_invalid { error.with_hint(r#"it looks like {"models": {"claude-opus-5": {"input": 5, "output": 25}}}, in dollars per million tokens"#) } else { error }
    })
}
