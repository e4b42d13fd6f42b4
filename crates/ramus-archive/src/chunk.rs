//! Chunks: pieces of a file, compressed, known by their hash.

use std::cell::RefCell;
use std::io;

use crate::storage::{ChunkRef, ContentHash, PackedChunk};

/// How long a chunk is at most. Most sessions are one chunk, which compresses as well as the whole file;
/// of a larger one this much is held in memory at a time.
pub(crate) const CHUNK: usize = 4 * 1024 * 1024;

/// A last chunk shorter than this is replaced when its file grows, so that a file which grows line by
/// line does not become a chunk for each line.
pub(crate) const SHORT: u64 = 256 * 1024;

/// Level 4 costs a fifth more time than the default of `zstd` and makes up for what is lost by compressing
/// each file alone; level 5 costs as much again for half the gain.
const LEVEL: i32 = 4;

thread_local! {
    // Making a compressor costs as much as compressing a small file.
    static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
}

/// Compresses a chunk whose hash is known.
pub(crate) fn pack(chunk: ChunkRef, bytes: &[u8]) -> io::Result<PackedChunk> {
    let packed = COMPRESSOR.with_borrow_mut(|compressor| {
        let compressor = match compressor {
            Some(compressor) => compressor,
            None => compressor.insert(zstd::bulk::Compressor::new(LEVEL)?),
        };
        compressor.compress(bytes)
    })?;
    Ok(PackedChunk { chunk, packed })
}

/// Decompresses a chunk; `None` if these are not its bytes.
pub(crate) fn unpack(chunk: ChunkRef, packed: &[u8]) -> Option<Vec<u8>> {
    // A chunk is never longer than `CHUNK_BYTES`: a damaged length must not ask for more memory.
    let length = usize::try_from(chunk.bytes).ok().filter(|length| *length <= CHUNK)?;
    let bytes = zstd::bulk::decompress(packed, length).ok()?;
    (bytes.len() == length && ContentHash::of(&bytes) == chunk.hash).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_bytes_come_out_of_a_chunk() {
        let bytes = b"{\"type\":\"user\"}\n".repeat(100);
        let chunk = ChunkRef { hash: ContentHash::of(&bytes), bytes: bytes.len() as u64 };
        let packed = pack(chunk, &bytes).unwrap().packed;
        assert!(packed.len() < bytes.len() / 10);
        assert_eq!(unpack(chunk, &packed).as_deref(), Some(&*bytes));
        for at in 0..packed.len() {
            let mut damaged = packed.clone();
            damaged[at] ^= 1;
            let unpacked = unpack(chunk, &damaged);
            assert!(unpacked.is_none_or(|unpacked| unpacked == bytes), "byte {at}");
        }
        let other = ChunkRef { hash: ContentHash::of(b"other"), ..chunk };
        assert_eq!(unpack(other, &packed), None);
        let longer = ChunkRef { bytes: u64::MAX, ..chunk };
        assert_eq!(unpack(longer, &packed), None);
    }
}
