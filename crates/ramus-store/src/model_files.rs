//! Reads an embedding model from a directory. Nothing is fetched.

use std::io::Read;
use std::path::{Path, PathBuf};

use ramus_core::embedding::{EmbeddingModel, ModelError};

use crate::error::PathError;
use crate::regular_file::open_for_reading;

/// The largest file that is read: models of this kind have some tens of megabytes.
const MAX_MODEL_BYTES: u64 = 1024 * 1024 * 1024;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelFileError {
    #[error(transparent)]
    Unreadable(#[from] PathError),
    #[error("{}: {error}", dir.display())]
    Unusable { dir: PathBuf, error: ModelError },
}

/// Reads the model in a directory: `model.safetensors` and `tokenizer.json`.
pub fn read_model(dir: &Path) -> Result<EmbeddingModel, ModelFileError> {
    let read = |name: &str| {
        let path = dir.join(name);
        let mut bytes = Vec::new();
        let file = open_for_reading(&path);
        let read = file.and_then(|file| file.take(MAX_MODEL_BYTES).read_to_end(&mut bytes));
        read.map(|_| bytes).map_err(|error| PathError::new(&path, error))
    };
    let (tensors, tokenizer) = (read("model.safetensors")?, read("tokenizer.json")?);
    EmbeddingModel::from_files(tensors, &tokenizer)
        .map_err(|error| ModelFileError::Unusable { dir: dir.to_owned(), error })
}
