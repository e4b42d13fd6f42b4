//! Encodes values that leave one bit pattern free, so that an `Option` of them needs no extra space.
//!
//! A session has a record for every line, and each record has several optional ids and times. Without the
//! free pattern every `Option` takes eight bytes more. `bitcode` derives nothing for the `NonZero` types of
//! the standard library, so such values are encoded as the plain numbers that they stand for. Its version is
//! pinned exactly: the traits used here are not part of its promise.

use std::num::NonZeroUsize;

use bitcode::__private::{Buffer, Decoder, Encoder, Result, View};
use bitcode::{Decode, DecodeOwned, Encode};

/// A value that is encoded as plain numbers.
pub trait Niche: Copy {
    type Plain: Encode + DecodeOwned;

    fn to_plain(self) -> Self::Plain;

    /// Accepts any numbers: a cache may contain what this program never wrote.
    fn from_plain(plain: Self::Plain) -> Self;
}

pub struct NicheEncoder<P: Encode>(P::Encoder);

impl<P: Encode> Default for NicheEncoder<P> {
    fn default() -> Self {
        Self(P::Encoder::default())
    }
}

impl<P: Encode> Buffer for NicheEncoder<P> {
    fn collect_into(&mut self, out: &mut Vec<u8>) {
        self.0.collect_into(out);
    }

    fn reserve(&mut self, additional: NonZeroUsize) {
        self.0.reserve(additional);
    }
}

impl<T: Niche> Encoder<T> for NicheEncoder<T::Plain> {
    #[inline]
    fn encode(&mut self, value: &T) {
        self.0.encode(&value.to_plain());
    }
}

pub struct NicheDecoder<'a, P: Decode<'a>>(P::Decoder);

impl<'a, P: Decode<'a>> Default for NicheDecoder<'a, P> {
    fn default() -> Self {
        Self(P::Decoder::default())
    }
}

impl<'a, P: Decode<'a>> View<'a> for NicheDecoder<'a, P> {
    fn populate(&mut self, input: &mut &'a [u8], length: usize) -> Result<()> {
        self.0.populate(input, length)
    }
}

impl<'a, T: Niche> Decoder<'a, T> for NicheDecoder<'a, T::Plain> {
    #[inline]
    fn decode(&mut self) -> T {
        T::from_plain(self.0.decode())
    }
}

/// Encodes a type as its plain numbers.
macro_rules! encode_plain {
    ($type:ty as $plain:ty) => {
        impl bitcode::Encode for $type {
            type Encoder = $crate::niche::NicheEncoder<$plain>;
        }

        impl<'a> bitcode::Decode<'a> for $type {
            type Decoder = $crate::niche::NicheDecoder<'a, $plain>;
        }
    };
}

pub(crate) use encode_plain;

#[cfg(test)]
mod tests {
    use crate::ids::{IdHash, RecordUuid};
    use crate::record::Record;
    use crate::time::Time;

    /// A session of a million records takes this many bytes per record.
    #[test]
    fn optional_ids_and_times_take_no_extra_space() {
        assert_eq!(size_of::<Option<RecordUuid>>(), 16);
        assert_eq!(size_of::<Option<IdHash>>(), 8);
        assert_eq!(size_of::<Option<Time>>(), 8);
        assert_eq!(size_of::<Record>(), 88);
    }

    #[test]
    fn what_was_encoded_comes_back() {
        let names = [
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "ffffffff-ffff-fffe-ffff-ffffffffffff",
            "0a1b2c3d-4e5f-4a6b-8c7d-0123456789ab",
            "msg_1",
        ];
        let mut all: Vec<Option<RecordUuid>> =
            names.iter().map(|name| Some(RecordUuid::new(name.as_bytes()))).collect();
        all.push(None);
        let times: Vec<Option<Time>> =
            [0, -1, 1, i64::MAX, i64::MIN].map(|millis| Some(Time::from_millis(millis))).into();
        let keys = vec![Some(IdHash::new(b"")), None, Some(IdHash::new(b"toolu_1"))];
        let values = (all, times, keys);
        let decoded = bitcode::decode(&bitcode::encode(&values));
        assert_eq!(decoded.ok(), Some(values));
    }

    #[test]
    fn order_is_that_of_the_numbers() {
        let time = Time::from_millis;
        assert!(time(i64::MIN) < time(-1) && time(-1) < time(0) && time(0) < time(i64::MAX));
        let name = |spelling: &str| RecordUuid::parse_canonical(spelling.as_bytes()).unwrap();
        let low = name("00000000-0000-0000-0000-000000000001");
        assert!(name("00000000-0000-0000-0000-000000000000") < low);
        assert!(low < name("ffffffff-ffff-fffe-0000-000000000000"));
    }
}
