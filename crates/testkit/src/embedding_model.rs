//! A small embedding model, made by code: words of one group mean the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::json;

/// Words by what they mean, one direction for each line; the last line means next to nothing.
const GROUPS: [&[&str]; 8] = [
    &["flaky", "unstable", "unreliable", "sometimes"],
    &["test", "check", "suite"],
    &["login", "password", "credentials"],
    &["kettle", "boil", "samovar"],
    &["pool", "connections", "exhausted"],
    &["invoice", "bill", "receipt"],
    &["fixed", "repaired", "solved"],
    &["the", "a", "an", "we", "how", "##s", "##ed", "▁"],
];

/// A model in the format of model2vec.
#[derive(Clone, Debug)]
pub struct TestModel {
    /// `WordPiece`, `Unigram` or `BPE`.
    pub tokenizer: &'static str,
    /// A word that counts ten times as much. Then the model has weights and a mapping.
    pub heavy: Option<&'static str>,
}

impl Default for TestModel {
    fn default() -> Self {
        Self { tokenizer: "WordPiece", heavy: None }
    }
}

impl TestModel {
    /// Writes the files of the model.
    ///
    /// # Panics
    /// If they cannot be written.
    pub fn write_files(&self, dir: &Path) {
        fs::create_dir_all(dir).expect("because the test made the directory above");
        fs::write(dir.join("model.safetensors"), self.tensors())
            .expect("because it can be written");
        fs::write(dir.join("tokenizer.json"), self.tokenizer()).expect("because it can be written");
    }

    /// Returns the tokens in the order of their numbers, each with its group.
    fn tokens(&self) -> Vec<(String, Option<usize>)> {
        let mut tokens: Vec<(String, Option<usize>)> = vec![("[UNK]".to_owned(), None)];
        for (group, words) in GROUPS.iter().enumerate() {
            for word in *words {
                let is_piece = word.starts_with("##") || *word == "▁";
                match self.tokenizer {
                    "WordPiece" => tokens.push(((*word).to_owned(), Some(group))),
                    _ if is_piece => {}
                    _ => tokens.push((format!("▁{word}"), Some(group))),
                }
            }
        }
        let mut parts = BTreeMap::new();
        for (token, _) in tokens.iter().filter(|_| self.tokenizer == "BPE") {
            let ends = token.char_indices().map(|(at, char)| at + char.len_utf8());
            parts.extend(ends.map(|end| (token[..end].to_owned(), ())));
            parts.extend(token.chars().map(|char| (char.to_string(), ())));
        }
        for (part, ()) in parts {
            if !tokens.iter().any(|(token, _)| *token == part) {
                tokens.push((part, None));
            }
        }
        tokens
    }

    /// Returns the content of `model.safetensors`.
    pub fn tensors(&self) -> Vec<u8> {
        let tokens = self.tokens();
        let rows = tokens.iter().map(|(_, group)| {
            (0..GROUPS.len()).map(move |column| match group {
                Some(group) if *group == GROUPS.len() - 1 && column == *group => 0.05_f32,
                Some(group) if column == *group => 1.0,
                _ => 0.0,
            })
        });
        let mut rows: Vec<Vec<f32>> = rows.map(Iterator::collect).collect();
        let shape = [rows.len(), GROUPS.len()];
        let floats =
            |rows: &[Vec<f32>]| rows.iter().flatten().flat_map(|it| it.to_le_bytes()).collect();
        let Some(heavy) = self.heavy else {
            return safetensors(&[("embeddings", "F32", &shape, floats(&rows))]);
        };
        rows.reverse();
        let weight =
            |(token, _): &(String, Option<usize>)| if token == heavy { 10.0_f32 } else { 1.0 };
        let weights = tokens.iter().flat_map(|token| weight(token).to_le_bytes()).collect();
        let mapping = (0..rows.len() as i64).rev().flat_map(i64::to_le_bytes).collect();
        safetensors(&[
            ("embeddings", "F32", &shape, floats(&rows)),
            ("weights", "F32", &shape[..1], weights),
            ("mapping", "I64", &shape[..1], mapping),
        ])
    }

    /// Returns the content of `tokenizer.json`.
    pub fn tokenizer(&self) -> String {
        let tokens = self.tokens();
        let numbered = tokens.iter().enumerate();
        let vocab: serde_json::Map<_, _> =
            numbered.map(|(id, (token, _))| (token.clone(), json!(id))).collect();
        let spaces = json!({"type": "Metaspace", "replacement": "▁"});
        let lower = json!({"type": "Lowercase"});
        let tokenizer = match self.tokenizer {
            "Unigram" => {
                let scored: Vec<_> = tokens.iter().map(|(token, _)| json!([token, -5.0])).collect();
                json!({"normalizer": lower, "pre_tokenizer": spaces,
                    "model": {"type": "Unigram", "unk_id": 0, "vocab": scored}})
            }
            "BPE" => {
                let mut merges: Vec<String> = Vec::new();
                for (token, _) in tokens.iter().filter(|(_, group)| group.is_some()) {
                    for (at, char) in token.char_indices().skip(1) {
                        merges.push(format!("{} {char}", &token[..at]));
                    }
                }
                json!({"normalizer": lower, "pre_tokenizer": spaces,
                    "model": {"type": "BPE", "unk_token": "[UNK]", "vocab": vocab, "merges": merges}})
            }
            _ => json!({"normalizer": {"type": "BertNormalizer", "lowercase": true},
                "pre_tokenizer": {"type": "BertPreTokenizer"},
                "model": {"type": "WordPiece", "unk_token": "[UNK]",
                    "continuing_subword_prefix": "##", "vocab": vocab}}),
        };
        tokenizer.to_string()
    }
}

/// Returns tensors in their file format: name, type, shape, bytes.
pub fn safetensors(tensors: &[(&str, &str, &[usize], Vec<u8>)]) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    let mut data = Vec::new();
    for (name, kind, shape, bytes) in tensors {
        let start = data.len();
        data.extend(bytes);
        let about = json!({"dtype": kind, "shape": shape, "data_offsets": [start, data.len()]});
        header.insert((*name).to_owned(), about);
    }
    let header = serde_json::Value::Object(header).to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
}
