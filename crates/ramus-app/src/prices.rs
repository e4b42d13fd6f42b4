//! Chooses the prices: the built-in list, overridden by a file of the user.

use std::path::{Path, PathBuf};

use ramus_core::price::{PriceError, PriceList};
use ramus_store::{PathError, read_optional_text};

/// The active prices, and the file they come from.
#[derive(Clone, Debug, Default)]
pub struct ActivePrices {
    pub list: PriceList,
    /// `None`: only the list that is built in.
    pub file: Option<PathBuf>,
}

/// Why a file of prices cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PricesError {
    #[error("no such file: {}", .0.display())]
    Missing(PathBuf),
    #[error(transparent)]
    Unreadable(#[from] PathError),
    #[error("cannot use {}: {source}", .file.display())]
    Invalid { file: PathBuf, source: PriceError },
}

impl ActivePrices {
    /// Reads a file of prices. A file that the user named must exist.
    pub fn load_file(file: &Path, must_exist: bool) -> Result<Self, PricesError> {
        let Some(text) = read_optional_text(file)? else {
            if must_exist {
                return Err(PricesError::Missing(file.to_owned()));
            }
            return Ok(Self::default());
        };
        let list = PriceList::with_file(&text)
            .map_err(|source| PricesError::Invalid { file: file.to_owned(), source })?;
        Ok(Self { list, file: Some(file.to_owned()) })
    }
}
