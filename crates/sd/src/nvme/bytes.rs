//! Accessors of NVMe data structures: little-endian numbers, temperatures, padded text.

/// Error of a data structure that is too short.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the NVMe {structure} has {found} bytes; it should have {wanted}: the answer was cut short, read it again"
)]
pub struct NvmeError {
    pub structure: &'static str,
    pub found: usize,
    pub wanted: usize,
}

/// Bytes of one structure. The length is checked once, when it is built.
#[derive(Clone, Copy)]
pub(super) struct StructureBytes<'a>(&'a [u8]);

impl<'a> StructureBytes<'a> {
    /// Takes the first `wanted` bytes, or fails if there are fewer.
    pub(super) fn new(structure: &'static str, data: &'a [u8], wanted: usize) -> Result<Self, NvmeError> {
        data.get(..wanted).map(StructureBytes).ok_or(NvmeError { structure, found: data.len(), wanted })
    }

    pub(super) fn from_all(data: &'a [u8]) -> Self {
        StructureBytes(data)
    }

    /// Returns a range of bytes, empty if it exceeds the structure.
    pub(super) fn range_or_empty(self, offset: usize, len: usize) -> &'a [u8] {
        self.0.get(offset..offset + len).unwrap_or_default()
    }

    /// Returns a little-endian number of up to 16 bytes.
    pub(super) fn little_endian(self, offset: usize, len: usize) -> u128 {
        self.range_or_empty(offset, len).iter().rev().fold(0, |n, b| n << 8 | u128::from(*b))
    }

    pub(super) fn u8(self, offset: usize) -> u8 {
        self.little_endian(offset, 1) as u8
    }

    pub(super) fn u16(self, offset: usize) -> u16 {
        self.little_endian(offset, 2) as u16
    }

    pub(super) fn u32(self, offset: usize) -> u32 {
        self.little_endian(offset, 4) as u32
    }

    /// Returns a 16-byte counter, capped at 2^64 - 1.
    pub(super) fn capped_counter(self, offset: usize) -> u64 {
        u64::try_from(self.little_endian(offset, 16)).unwrap_or(u64::MAX)
    }

    /// Returns text without its padding. Bytes that are not ASCII become `\xNN`.
    pub(super) fn text(self, offset: usize, len: usize) -> String {
        let bytes = self.range_or_empty(offset, len);
        let end = bytes.iter().rposition(|b| !matches!(b, 0 | b' ')).map_or(0, |last| last + 1);
        crate::registers::raw::visible_ascii(&bytes[..end])
    }
}

/// Implements `decode`, which checks the length of the data first.
macro_rules! from_bytes {
    ($name:ident, $structure:literal, $length:literal) => {
        impl $name {
            #[doc = concat!("Decodes the ", $length, " bytes.")]
            ///
            /// # Errors
            /// If there are fewer.
            pub fn decode(data: &[u8]) -> Result<Self, NvmeError> {
                StructureBytes::new($structure, data, $length).map(Self::of)
            }
        }
    };
}
pub(super) use from_bytes;

/// Converts kelvin to °C. 0 means "not reported" and gives None.
pub fn kelvin_to_celsius(kelvin: u16) -> Option<i32> {
    (kelvin > 0).then(|| i32::from(kelvin) - 273)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kelvin_converts_to_celsius_as_in_nvme_cli() {
        assert_eq!(
            (kelvin_to_celsius(354), kelvin_to_celsius(309), kelvin_to_celsius(0)),
            (Some(81), Some(36), None)
        );
    }
}
