//! Reads everything back and compares it with its hashes.

use std::path::PathBuf;

use ramus_store::{PathError, StoredBytes};

use crate::archive::Archive;
use crate::storage::{ArchiveError, ContentHash, FileEntry};

/// The result of verifying the whole archive.
#[derive(Debug, Default)]
pub struct VerifyReport {
    pub files: u64,
    pub generations: u64,
    pub bytes: u64,
    pub damaged: Vec<DamagedGeneration>,
}

/// A generation whose bytes differ from the archived ones.
#[derive(Debug)]
pub struct DamagedGeneration {
    pub path: PathBuf,
    pub session: String,
    pub number: u32,
    pub problem: String,
}

impl Archive {
    /// Reads every generation and compares its bytes with their hash. `on_read` gets the number of generations read.
    pub fn verify(&self, on_read: &dyn Fn(u64)) -> Result<VerifyReport, ArchiveError> {
        let mut report = VerifyReport::default();
        for file in self.files(None)? {
            report.files += 1;
            for generation in self.generations(&file.key)? {
                report.generations += 1;
                report.bytes += generation.bytes;
                if let Err(problem) = self.verify_generation(&file, generation.number, on_read)? {
                    let (path, session) = (file.key.full_path(), file.session.clone());
                    let number = generation.number;
                    report.damaged.push(DamagedGeneration { path, session, number, problem });
                }
            }
        }
        Ok(report)
    }

    fn verify_generation(
        &self,
        file: &FileEntry,
        number: u32,
        on_read: &dyn Fn(u64),
    ) -> Result<Result<(), String>, ArchiveError> {
        let content = self.content(file, Some(number))?;
        let hash_content = || -> Result<ContentHash, PathError> {
            let (mut hasher, mut n) = (blake3::Hasher::new(), 0);
            while let Some(piece) = content.piece(n)? {
                hasher.update(&piece);
                on_read(piece.len() as u64);
                n += 1;
            }
            Ok(ContentHash(*hasher.finalize().as_bytes()))
        };
        Ok(match hash_content() {
            Ok(found) if found == content.generation.hash => Ok(()),
            Ok(_) => Err("its hash differs".to_owned()),
            Err(error) => Err(error.source.to_string()),
        })
    }
}
