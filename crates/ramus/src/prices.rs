//! Which prices hold: the list that is built in, or a file of the user's own over it.

use std::path::{Path, PathBuf};

use ramus_core::price::{DATE, PriceList};
use ramus_render::json;
use ramus_store::settings;

use crate::env;
use crate::error::CommandError;

/// The prices that hold, and where they come from.
pub(crate) struct Prices {
    pub(crate) list: PriceList,
    pub(crate) file: Option<PathBuf>,
}

impl Prices {
    pub(crate) fn to_json(&self) -> json::Prices {
        json::Prices {
            date: DATE,
            file: self.file.as_ref().map(|file| file.display().to_string()),
            file_date: self.list.file_date.clone(),
        }
    }
}

/// Reads the file that was asked for, else the usual one if it is there.
pub(crate) fn load(asked: Option<&Path>) -> Result<Prices, CommandError> {
    let named = asked.map(Path::to_owned).or_else(|| {
        std::env::var_os("RAMUS_PRICES").filter(|file| !file.is_empty()).map(PathBuf::from)
    });
    let must_exist = named.is_some();
    let file = named.unwrap_or_else(|| env::config_file("prices.json"));
    let Some(text) = settings(&file)? else {
        if must_exist {
            return Err(CommandError::user(format!("there is no file {}", file.display())));
        }
        return Ok(Prices { list: PriceList::default(), file: None });
    };
    let list = PriceList::with_file(&text).map_err(|error| {
        CommandError::user(format!("cannot use {}: {error}", file.display()))
            .hinted(r#"it looks like {"models": {"claude-opus-5": {"input": 5, "output": 25}}}, in dollars per million tokens"#)
    })?;
    Ok(Prices { list, file: Some(file) })
}
