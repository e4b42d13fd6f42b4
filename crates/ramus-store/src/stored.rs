//! Content of a file that is stored elsewhere, such as in an archive.

use std::fmt;

use crate::error::PathError;

/// The whole content of a file, piece by piece.
///
/// Implementations verify what they return: wrong bytes are an error.
pub trait StoredBytes: fmt::Debug + Send + Sync {
    /// Returns how long the content is.
    fn byte_count(&self) -> u64;

    /// Returns the n-th piece of the content, counted from 0; `None` behind the last one.
    fn piece(&self, n: usize) -> Result<Option<Vec<u8>>, PathError>;
}
