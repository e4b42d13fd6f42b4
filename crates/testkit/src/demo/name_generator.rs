//! Generates names that look random and are always the same.

const LETTERS: &[u8; 62] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0IOl";

/// A deterministic generator of names and small variations (SplitMix64).
#[derive(Clone, Debug)]
pub(super) struct NameGenerator(u64);

impl NameGenerator {
    /// Makes a generator. The same seed gives the same names.
    pub(super) fn new(seed: &str) -> Self {
        let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(seed.bytes().fold(0xcbf2_9ce4_8422_2325, fold))
    }

    fn next_random(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from `low` to `high`, without `high`.
    pub(super) fn number_between(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next_random() % (high - low).unsigned_abs()).cast_signed()
    }

    /// Returns a uuid of version 4.
    pub(super) fn next_uuid(&mut self) -> String {
        let (a, b) = (self.next_random(), self.next_random());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            a >> 32,
            a >> 16 & 0xffff,
            a & 0xfff,
            0x8000 | b >> 48 & 0x3fff,
            b & 0xffff_ffff_ffff
        )
    }

    /// Returns an id like those of the API: a prefix and letters.
    pub(super) fn next_name(&mut self, prefix: &str, len: usize) -> String {
        let letters = (0..len).map(|_| char::from(LETTERS[(self.next_random() % 62) as usize]));
        prefix.chars().chain(letters).collect()
    }
}
