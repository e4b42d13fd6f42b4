//! Static embedding models: what a text is about, as a vector.
//!
//! A model has a vector for each token; that of a text is their mean. Files are those of model2vec: `model.safetensors`
//! with a tensor `embeddings`, perhaps `weights` and `mapping`, and `tokenizer.json`.

mod best_pieces;
mod tensor;
mod tokenizer;

use tensor::Tensor;
use tokenizer::Tokenizer;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Longer texts are cut: what a message is about is said at its beginning.
const MAX_TOKENS: usize = 512;
const MAX_TEXT_BYTES: usize = 8 * MAX_TOKENS;
/// The number of dimensions of the largest models, and a bound for what is read.
const MAX_DIMENSIONS: usize = 4096;

/// Why the files of a model cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("model.safetensors is damaged: {0}")]
    Tensors(String),
    #[error("tokenizer.json cannot be used: {0}")]
    Tokenizer(String),
}

/// A model, ready to be used.
#[derive(Debug)]
pub struct EmbeddingModel {
    tokenizer: Tokenizer,
    embeddings: Tensor,
    /// How much each token counts.
    weights: Option<Tensor>,
    /// The row of each token.
    mapping: Option<Tensor>,
    fingerprint: u64,
}

impl EmbeddingModel {
    /// Reads a model from the contents of its files.
    pub fn from_files(tensors: Vec<u8>, tokenizer: &[u8]) -> Result<Self, ModelError> {
        let fingerprint = xxh3_64_with_seed(&tensors, xxh3_64_with_seed(tokenizer, 0));
        let mut found = tensor::read_tensors(tensors)?;
        let mut take = |names: &[&str]| {
            let at = found.iter().position(|(name, _)| names.contains(&&**name))?;
            Some(found.swap_remove(at).1)
        };
        let missing = || ModelError::Tensors("it has no tensor `embeddings`".to_owned());
        let embeddings = take(&["embeddings", "embedding.weight"]).ok_or_else(missing)?;
        if embeddings.columns() == 0 || embeddings.columns() > MAX_DIMENSIONS {
            let message = format!("{} dimensions are not supported", embeddings.columns());
            return Err(ModelError::Tensors(message));
        }
        Ok(Self {
            tokenizer: Tokenizer::from_json(tokenizer)?,
            embeddings,
            weights: take(&["weights"]),
            mapping: take(&["mapping"]),
            fingerprint,
        })
    }

    /// Returns the number of dimensions of its vectors.
    pub fn dimensions(&self) -> usize {
        self.embeddings.columns()
    }

    /// Returns a number that another model does not have.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Returns the vector of a text; `None`: it has no token that the model knows.
    pub fn embed_text(&self, text: &str) -> Option<TextVector> {
        let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
        let mut tokens = Vec::new();
        self.tokenizer.add_tokens(text, MAX_TOKENS, &mut tokens);
        let mut sum = vec![0.0_f32; self.dimensions()];
        for token in tokens {
            let token = token as usize;
            let row = self.mapping.as_ref().map_or(Some(token), |mapping| mapping.index_at(token));
            let weight = self.weights.as_ref().map_or(1.0, |it| it.number_at(token).unwrap_or(1.0));
            // A token without a row is as good as none.
            row.and_then(|row| self.embeddings.add_row(row, weight, &mut sum));
        }
        TextVector::from_floats(&sum)
    }
}

/// The direction of a vector in whole numbers: a quarter of the memory, and fast to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextVector(Vec<i8>);

impl TextVector {
    /// `None`: the vector has no direction.
    fn from_floats(floats: &[f32]) -> Option<Self> {
        let largest = floats.iter().fold(0.0_f32, |largest, it| largest.max(it.abs()));
        let is_usable = largest > 0.0 && largest.is_finite();
        is_usable
            .then(|| Self(floats.iter().map(|it| (it / largest * 127.0).round() as i8).collect()))
    }

    pub fn as_slice(&self) -> &[i8] {
        &self.0
    }
}

/// Returns the product of two vectors of the same length.
pub fn dot_product(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

/// Returns the length of a vector.
pub fn vector_length(a: &[i8]) -> f32 {
    (dot_product(a, a) as f32).sqrt()
}

#[cfg(test)]
mod tests {
    use testkit::embedding_model::{TestModel, safetensors};

    use super::*;

    fn cosine(a: &[i8], b: &[i8]) -> f32 {
        dot_product(a, b) as f32 / (vector_length(a) * vector_length(b))
    }

    fn model(test: &TestModel) -> EmbeddingModel {
        EmbeddingModel::from_files(test.tensors(), test.tokenizer().as_bytes()).unwrap()
    }

    #[test]
    fn texts_about_the_same_are_close() {
        let model = model(&TestModel::default());
        let vector = |text: &str| model.embed_text(text).unwrap();
        let close = |a: &str, b: &str| cosine(vector(a).as_slice(), vector(b).as_slice());
        assert!(close("the flaky test", "an unstable check") > 0.8);
        assert!(close("the flaky test", "boil the kettle") < 0.3);
        assert!(close("Kettles, KETTLE!", "kettle") > 0.9, "case, signs and endings");
    }

    #[test]
    fn texts_without_known_tokens_have_no_vector() {
        let model = model(&TestModel::default());
        assert_eq!(model.embed_text(""), None);
        assert_eq!(model.embed_text("\u{1F600} 漢"), None);
        assert!(model.embed_text(&"kettle ".repeat(100_000)).is_some());
    }

    #[test]
    fn weights_and_a_mapping_are_used() {
        let plain = TestModel::default();
        let weighted = TestModel { heavy: Some("kettle"), ..TestModel::default() };
        let close = |test: &TestModel| {
            let model = model(test);
            let vector = |text: &str| model.embed_text(text).unwrap();
            cosine(vector("kettle test").as_slice(), vector("kettle").as_slice())
        };
        assert!(close(&weighted) > close(&plain));
    }

    #[test]
    fn damaged_files_are_errors() {
        let test = TestModel::default();
        let (tensors, tokenizer) = (test.tensors(), test.tokenizer());
        let read = |tensors: &[u8], tokenizer: &str| {
            EmbeddingModel::from_files(tensors.to_vec(), tokenizer.as_bytes()).map(|_| ())
        };
        for cut in [0, 4, 9, 40, tensors.len() - 1] {
            assert!(
                matches!(read(&tensors[..cut], &tokenizer), Err(ModelError::Tensors(_))),
                "{cut}"
            );
        }
        let none = safetensors(&[("other", "F32", &[1, 1], vec![0; 4])]);
        assert!(matches!(read(&none, &tokenizer), Err(ModelError::Tensors(_))));
        for wrong in ["", "{}", "{\"model\": {\"type\": \"WordLevel\"}}"] {
            assert!(matches!(read(&tensors, wrong), Err(ModelError::Tokenizer(_))), "{wrong}");
        }
    }

    #[test]
    fn every_tokenizer_finds_the_words() {
        for kind in ["WordPiece", "Unigram", "BPE"] {
            let model = model(&TestModel { tokenizer: kind, ..TestModel::default() });
            let vector = |text: &str| model.embed_text(text).unwrap();
            let found = cosine(vector("the kettle").as_slice(), vector("kettle").as_slice());
            assert!(found > 0.6, "{kind} {found}");
        }
    }
}
