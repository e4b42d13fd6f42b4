//! Ids of records, and fingerprints of their content.
//!
//! A uuid is a label, not an identity (R4): uuids repeat in real files. Nearly all ids are canonical
//! uuids and are stored as 128 bits; any other id is stored as a 128-bit hash, and its text can be read
//! from the line.

use std::fmt;
use std::num::NonZeroU64;

use crate::niche::{Niche, encode_plain};
use crate::record::Record;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// The uuid of a record as a number, or the hash of any other id.
///
/// Two halves instead of a `u128`: a record holds three uuids, and each `u128` would be aligned to 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordUuid {
    /// One more than the number, so that `Option<RecordUuid>` takes no more memory. A uuid whose upper half is all
    /// ones cannot be stored like this; it is hashed, like an id that is not a uuid.
    high: NonZeroU64,
    low: u64,
}

encode_plain!(RecordUuid as (u64, u64));

impl Niche for RecordUuid {
    type Plain = (u64, u64);

    fn to_plain(self) -> Self::Plain {
        (self.high.get() - 1, self.low)
    }

    fn from_plain((high, low): Self::Plain) -> Self {
        Self { high: NonZeroU64::MIN.saturating_add(high), low }
    }
}

impl RecordUuid {
    /// Makes it from the text of an id.
    pub fn new(spelling: &[u8]) -> Self {
        Self::parse_canonical(spelling).unwrap_or_else(|| Self::from_bits(xxh3_128(spelling)))
    }

    /// Parses an id whose text is the one that [`Display`](fmt::Display) writes.
    pub fn parse_canonical(spelling: &[u8]) -> Option<Self> {
        parse_uuid(spelling)
    }

    fn from_bits(bits: u128) -> Self {
        Self::from_plain(((bits >> 64) as u64, bits as u64))
    }

    /// Returns a distinct value for one of several records with this uuid.
    pub(crate) fn version_uuid(self, record: &Record) -> Self {
        let mut bytes = [0; 41];
        bytes[..16].copy_from_slice(&self.to_bits().to_le_bytes());
        bytes[16..32].copy_from_slice(&record.parent_uuid.map_or(0, Self::to_bits).to_le_bytes());
        bytes[32..40].copy_from_slice(&record.content_hash.to_le_bytes());
        bytes[40] = record.kind as u8;
        Self::from_bits(xxh3_128(&bytes))
    }

    /// Returns the 128 bits.
    pub fn to_bits(self) -> u128 {
        let (high, low) = self.to_plain();
        u128::from(high) << 64 | u128::from(low)
    }
}

impl fmt::Display for RecordUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.to_bits();
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            (n >> 96) as u32,
            (n >> 80) as u16,
            (n >> 64) as u16,
            (n >> 48) as u16,
            n & 0xffff_ffff_ffff
        )
    }
}

impl fmt::Debug for RecordUuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns the start of an id that is enough to find it again: eight letters of a uuid or of another
/// hexadecimal id. Any other id is returned whole, because ids such as `message-12` differ at their ends.
pub fn short_id(id: &str) -> &str {
    let is_hexadecimal = id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if is_hexadecimal { id.get(..8).unwrap_or(id) } else { id }
}

/// Ids that must stay distinct when shortened; only those with equal beginnings are kept.
#[derive(Clone, Debug, Default)]
pub struct ShortIds(Vec<Box<str>>);

impl<'a> FromIterator<&'a str> for ShortIds {
    fn from_iter<I: IntoIterator<Item = &'a str>>(ids: I) -> Self {
        let mut sorted: Vec<&str> = ids.into_iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        let is_alike = |a: &str, b: &str| short_id(a) == short_id(b);
        let alike = sorted.iter().enumerate().filter(|(at, id)| {
            let next = sorted.get(at + 1).is_some_and(|next| is_alike(next, id));
            next || at.checked_sub(1).is_some_and(|before| is_alike(sorted[before], id))
        });
        Self(alike.map(|(_, id)| Box::from(*id)).collect())
    }
}

impl ShortIds {
    /// Returns the start of an id as [`short_id`] does, longer where another id begins with that.
    pub fn shorten_id<'a>(&self, id: &'a str) -> &'a str {
        let others = self.0.iter().filter(|other| &***other != id);
        let shared = others.map(|other| shared_prefix_len(other, id)).max().unwrap_or(0);
        let short = short_id(id);
        if shared < short.len() { short } else { id.get(..shared + 1).unwrap_or(id) }
    }
}

/// The records of a session whose uuids begin with the same eight letters. Nearly always there are none,
/// so that shortening many uuids of a large session costs one pass over it.
#[derive(Clone, Debug)]
pub struct ShortUuids(Box<[RecordUuid]>);

impl ShortUuids {
    pub fn new(names: impl Iterator<Item = RecordUuid>) -> Self {
        let mut names: Vec<RecordUuid> = names.collect();
        names.sort_unstable();
        names.dedup();
        let start = |name: &RecordUuid| (name.to_bits() >> 96) as u32;
        let alike = names.chunk_by(|a, b| start(a) == start(b)).filter(|group| group.len() > 1);
        Self(alike.flatten().copied().collect())
    }

    /// Returns the start of a uuid as [`short_id`] does, longer where another one begins with that.
    pub fn short<'a>(&self, uuid: &'a str) -> &'a str {
        let short = short_id(uuid);
        let Some(own) = RecordUuid::parse_canonical(uuid.as_bytes()) else { return short };
        let shared =
            |other: &RecordUuid| (own.to_bits() ^ other.to_bits()).leading_zeros() as usize / 4;
        // In sorted order no name shares more with this one than its neighbours do.
        let at = self.0.partition_point(|name| *name < own);
        let before = at.checked_sub(1).and_then(|before| self.0.get(before));
        let after = self.0[at..].iter().find(|name| **name != own);
        let shared = before.into_iter().chain(after).map(shared).max().unwrap_or(0);
        // Letters of the uuid, its dashes left out.
        let end = uuid.bytes().scan(0, |letters, byte| {
            *letters += usize::from(byte != b'-');
            Some(*letters)
        });
        let end = end.take_while(|letters| *letters <= shared).count() + 1;
        if end <= short.len() { short } else { uuid.get(..end).unwrap_or(uuid) }
    }
}

fn shared_prefix_len(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

/// Reads a lower-case uuid in its 8-4-4-4-12 form.
fn parse_uuid(spelling: &[u8]) -> Option<RecordUuid> {
    let bytes: &[u8; 36] = spelling.try_into().ok()?;
    if [bytes[8], bytes[13], bytes[18], bytes[23]] != [b'-'; 4] {
        return None;
    }
    let mut bad = 0;
    let mut hex = |digits: &[u8]| {
        digits.iter().fold(0u64, |value, digit| {
            let digit = HEX_DIGITS[*digit as usize];
            bad |= digit;
            value << 4 | u64::from(digit & 15)
        })
    };
    let high = hex(&bytes[..8]) << 32 | hex(&bytes[9..13]) << 16 | hex(&bytes[14..18]);
    let low = hex(&bytes[19..23]) << 48 | hex(&bytes[24..]);
    let high = NonZeroU64::new(high.wrapping_add(1))?;
    (bad & 16 == 0).then_some(RecordUuid { high, low })
}

/// The value of a lower-case hexadecimal digit; 16 for any other byte.
static HEX_DIGITS: [u8; 256] = {
    let mut digits = [16; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value] as usize] = value as u8;
        value += 1;
    }
    digits
};

/// A 64-bit key of an id that is only compared: message ids, tool call ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdHash(NonZeroU64);

encode_plain!(IdHash as u64);

impl Niche for IdHash {
    type Plain = u64;

    fn to_plain(self) -> u64 {
        self.0.get()
    }

    fn from_plain(plain: u64) -> Self {
        Self(NonZeroU64::new(plain).unwrap_or(NonZeroU64::MIN))
    }
}

impl IdHash {
    /// Hashes an id as it is written in the file.
    pub fn new(spelling: &[u8]) -> Self {
        Self::from_plain(xxh3_64(spelling))
    }
}

/// How many bytes of a long content are hashed whole at each end.
const HASHED_ENDS: usize = 2048;
/// How many pieces of the middle are sampled.
const SAMPLES: usize = 64;

/// Returns a fingerprint of a record's content.
///
/// Contents up to 4 KB are hashed whole. Of longer ones the ends, the length and
/// 64 evenly spaced pieces are: two different versions of one long message that
/// agree in all of them do not happen outside of a laboratory, and hashing every
/// byte would cost a tenth of the whole scan.
pub fn fingerprint(content: &[u8]) -> u64 {
    if content.len() <= 2 * HASHED_ENDS {
        return xxh3_64(content);
    }
    let mut sample = Vec::with_capacity(2 * HASHED_ENDS + (SAMPLES + 2) * 16 + 8);
    sample.extend_from_slice(&content[..HASHED_ENDS]);
    sample.extend_from_slice(&content[content.len() - HASHED_ENDS..]);
    sample.extend_from_slice(&content.len().to_le_bytes());
    let step = content.len() / SAMPLES;
    for piece in content.chunks(step) {
        sample.extend_from_slice(&piece[..piece.len().min(16)]);
    }
    xxh3_64(&sample)
}

#[cfg(test)]
mod tests {
    use super::{RecordUuid, ShortIds, ShortUuids, fingerprint};

    #[test]
    fn an_ambiguous_short_id_is_longer() {
        let ids = [
            "0a1b2c3d-0000-4000-8000-000000000001",
            "0a1b2c3d-0000-4000-8000-000000000002",
            "0a1b2c3d-1111-4000-8000-000000000000",
            "ffff0000-0000-4000-8000-000000000000",
        ];
        let short: ShortIds = ids.into_iter().collect();
        assert_eq!(short.shorten_id(ids[0]), ids[0]);
        assert_eq!(short.shorten_id(ids[2]), "0a1b2c3d-1");
        assert_eq!(short.shorten_id(ids[3]), "ffff0000");
        assert_eq!(short.shorten_id("message-12"), "message-12");
    }

    #[test]
    fn a_short_uuid_begins_no_other_one() {
        let uuids: Vec<String> = (0u32..400)
            .map(|n| {
                let (a, b) = (n % 5, n % 7 * 0x1111);
                format!("{a:08x}-{b:04x}-4000-8000-{:012x}", u64::from(n) * 0x1_0000_0001)
            })
            .collect();
        let names = uuids.iter().map(|uuid| RecordUuid::new(uuid.as_bytes()));
        let short = ShortUuids::new(names);
        for uuid in &uuids {
            let start = short.short(uuid);
            let alike: Vec<&String> =
                uuids.iter().filter(|other| other.starts_with(start)).collect();
            assert_eq!(alike, [uuid]);
            let shorter = &start[..start.len() - 1];
            let is_needed = uuids.iter().filter(|other| other.starts_with(shorter)).count() > 1;
            assert!(is_needed || start.len() == 8, "{start}");
        }
    }

    #[test]
    fn a_uuid_prints_as_it_was_written() {
        let spelling = "0a1b2c3d-4e5f-4a6b-8c7d-0123456789ab";
        assert_eq!(RecordUuid::new(spelling.as_bytes()).to_string(), spelling);
        assert!(RecordUuid::parse_canonical(spelling.as_bytes()).is_some());
        assert!(RecordUuid::parse_canonical(spelling.to_uppercase().as_bytes()).is_none());
        assert_ne!(RecordUuid::new(b"msg_1"), RecordUuid::new(b"msg_2"));
    }

    #[test]
    fn long_contents_differ_by_length_end_and_sampled_middle() {
        let mut content = vec![b'a'; 100_000];
        let same = fingerprint(&content);
        assert_eq!(same, fingerprint(&content.clone()));
        content.push(b'a');
        assert_ne!(same, fingerprint(&content));
        content.pop();
        content[99_999] = b'b';
        assert_ne!(same, fingerprint(&content));
    }
}
