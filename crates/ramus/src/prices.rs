//! Which price file to use.

use std::path::Path;

use ramus_app::ActivePrices;
use ramus_app::prices::PricesError;

use crate::args::Global;
use crate::env;
use crate::error::CommandError;

/// Reads the requested file, or the default one if it exists.
pub(crate) fn load_prices(
    global: &Global,
    asked: Option<&Path>,
) -> Result<ActivePrices, CommandError> {
    let named = asked.map(Path::to_owned).or_else(|| global.settings.prices.value.clone());
    let must_exist = named.is_some();
    let file = named.unwrap_or_else(|| env::config_file("prices.json"));
    ActivePrices::load_file(&file, must_exist).map_err(|error| {
        let is_invalid = matches!(error, PricesError::Invalid { .. });
        let error = match error {
            PricesError::Unreadable(error) => error.into(),
            error => CommandError::user_error(error),
        };
        if is_invalid { error.with_hint(r#"expected format: {"models": {"claude-opus-5": {"input": 5, "output": 25}}}, in dollars per million tokens"#) } else { error }
    })
}
