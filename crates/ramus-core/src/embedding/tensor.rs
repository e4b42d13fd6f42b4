//! Reads safetensors: a header in JSON, then numbers.

use std::sync::Arc;

use serde_json::Value;

use super::ModelError;

/// A table of numbers, as it is in its file.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    bytes: Arc<[u8]>,
    start: usize,
    kind: NumberKind,
    rows: usize,
    columns: usize,
}

#[derive(Clone, Copy, Debug)]
enum NumberKind {
    F64,
    F32,
    F16,
    BF16,
    I64,
    I32,
    I8,
}

impl NumberKind {
    const NAMES: [(&'static str, Self); 7] = [
        ("F64", Self::F64),
        ("F32", Self::F32),
        ("F16", Self::F16),
        ("BF16", Self::BF16),
        ("I64", Self::I64),
        ("I32", Self::I32),
        ("I8", Self::I8),
    ];

    fn size(self) -> usize {
        match self {
            Self::F64 | Self::I64 => 8,
            Self::F32 | Self::I32 => 4,
            Self::F16 | Self::BF16 => 2,
            Self::I8 => 1,
        }
    }
}

/// Returns the tensors of a file with their names. Those of an unknown kind are left out.
pub(super) fn read_tensors(bytes: Vec<u8>) -> Result<Vec<(String, Tensor)>, ModelError> {
    let error = |what: &str| ModelError::Tensors(what.to_owned());
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(|| error("it has no header"))?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let header = rest.get(..length).ok_or_else(|| error("its header is cut off"))?;
    let header: Value =
        serde_json::from_slice(header).map_err(|error| ModelError::Tensors(error.to_string()))?;
    let header = header.as_object().ok_or_else(|| error("its header is no object"))?.clone();
    let data = 8 + length;
    let bytes: Arc<[u8]> = bytes.into();
    let mut tensors = Vec::new();
    for (name, about) in header.iter().filter(|(name, _)| *name != "__metadata__") {
        let kind = about["dtype"].as_str().unwrap_or_default();
        let Some((_, kind)) = NumberKind::NAMES.into_iter().find(|(name, _)| *name == kind) else {
            continue;
        };
        let number = |value: &Value| value.as_u64().and_then(|it| usize::try_from(it).ok());
        let start = number(&about["data_offsets"][0]).and_then(|it| it.checked_add(data));
        let end = number(&about["data_offsets"][1]).and_then(|it| it.checked_add(data));
        let shape: Option<Vec<usize>> =
            about["shape"].as_array().and_then(|shape| shape.iter().map(number).collect());
        let (rows, columns) = match shape.as_deref() {
            Some([rows]) => (*rows, 1),
            Some([rows, columns]) => (*rows, *columns),
            _ => return Err(error(&format!("`{name}` is no table"))),
        };
        let wanted = rows.checked_mul(columns).and_then(|it| it.checked_mul(kind.size()));
        match (start, end) {
            (Some(start), Some(end))
                if start <= end && end <= bytes.len() && Some(end - start) == wanted =>
            {
                let bytes = bytes.clone();
                tensors.push((name.clone(), Tensor { bytes, start, kind, rows, columns }));
            }
            _ => return Err(error(&format!("`{name}` is cut off"))),
        }
    }
    Ok(tensors)
}

impl Tensor {
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Adds a row to a sum; `None`: there is no such row.
    pub(super) fn add_row(&self, row: usize, weight: f32, sum: &mut [f32]) -> Option<()> {
        let size = self.kind.size();
        let length = self.columns * size;
        let bytes =
            (row < self.rows).then(|| &self.bytes[self.start + row * length..][..length])?;
        for (number, sum) in bytes.chunks_exact(size).zip(sum) {
            *sum += self.read_number(number) * weight;
        }
        Some(())
    }

    /// Returns the number in a row of a table of one column.
    pub(super) fn number_at(&self, row: usize) -> Option<f32> {
        let size = self.kind.size();
        (row < self.rows).then(|| self.read_number(&self.bytes[self.start + row * size..][..size]))
    }

    /// Returns the whole number in a row of a table of one column.
    pub(super) fn index_at(&self, row: usize) -> Option<usize> {
        let size = self.kind.size();
        let bytes = (row < self.rows).then(|| &self.bytes[self.start + row * size..][..size])?;
        match self.kind {
            NumberKind::I64 => usize::try_from(i64::from_le_bytes(bytes.try_into().ok()?)).ok(),
            NumberKind::I32 => usize::try_from(i32::from_le_bytes(bytes.try_into().ok()?)).ok(),
            _ => None,
        }
    }

    /// Reads a number of its own size.
    fn read_number(&self, bytes: &[u8]) -> f32 {
        fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
            bytes.first_chunk().copied().unwrap_or([0; N])
        }
        match self.kind {
            NumberKind::F64 => f64::from_le_bytes(fixed(bytes)) as f32,
            NumberKind::F32 => f32::from_le_bytes(fixed(bytes)),
            NumberKind::F16 => half_to_float(u16::from_le_bytes(fixed(bytes))),
            NumberKind::BF16 => f32::from_bits(u32::from(u16::from_le_bytes(fixed(bytes))) << 16),
            NumberKind::I64 => i64::from_le_bytes(fixed(bytes)) as f32,
            NumberKind::I32 => i32::from_le_bytes(fixed(bytes)) as f32,
            NumberKind::I8 => f32::from(i8::from_le_bytes(fixed(bytes))),
        }
    }
}

/// Converts a number of 16 bits: 1 for the sign, 5 for the exponent, 10 for the fraction.
fn half_to_float(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(bits >> 10 & 0x1f), u32::from(bits & 0x3ff));
    match exponent {
        0 => f32::from_bits(sign | 0x3f80_0000) * fraction as f32 / 16_777_216.0,
        0x1f => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

#[cfg(test)]
mod tests {
    use super::half_to_float;

    #[test]
    fn halves_are_converted() {
        let halves = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0, 0.0),
            (1, 5.960_464_5e-8),
            (0x7bff, 65504.0),
        ];
        for (bits, expected) in halves {
            assert_eq!(half_to_float(bits), expected, "{bits:x}");
        }
        assert!(half_to_float(0x7e00).is_nan());
    }
}
