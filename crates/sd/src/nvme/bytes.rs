//! Little-endian numbers, temperatures and padded text in NVMe's data structures.

/// A data structure that is too short.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the NVMe {structure} has {found} bytes; it should have {wanted}: the answer was cut short, read it again"
)]
pub struct NvmeError {
    /// Which structure.
    pub structure: &'static str,
    /// Bytes at hand.
    pub found: usize,
    /// Bytes it has.
    pub wanted: usize,
}

/// The bytes of one structure, checked for length once.
#[derive(Clone, Copy)]
pub(super) struct StructureBytes<'a>(&'a [u8]);

impl<'a> StructureBytes<'a> {
    /// Takes the first `wanted` bytes.
    pub(super) fn new(structure: &'static str, data: &'a [u8], wanted: usize) -> Result<Self, NvmeError> {
        data.get(..wanted).map(StructureBytes).ok_or(NvmeError { structure, found: data.len(), wanted })
    }

    /// All of some bytes.
    pub(super) fn whole(data: &'a [u8]) -> Self {
        StructureBytes(data)
    }

    /// Some bytes; none where they lie outside.
    pub(super) fn slice(self, offset: usize, len: usize) -> &'a [u8] {
        self.0.get(offset..offset + len).unwrap_or_default()
    }

    /// A little-endian number of up to 16 bytes.
    pub(super) fn number(self, offset: usize, len: usize) -> u128 {
        self.slice(offset, len).iter().rev().fold(0, |n, b| n << 8 | u128::from(*b))
    }

    pub(super) fn u8(self, offset: usize) -> u8 {
        self.number(offset, 1) as u8
    }

    pub(super) fn u16(self, offset: usize) -> u16 {
        self.number(offset, 2) as u16
    }

    pub(super) fn u32(self, offset: usize) -> u32 {
        self.number(offset, 4) as u32
    }

    /// A 16-byte counter; more than 64 bits can say stays at their end.
    pub(super) fn counter(self, offset: usize) -> u64 {
        u64::try_from(self.number(offset, 16)).unwrap_or(u64::MAX)
    }

    /// Padded text without its padding; bytes that are no ASCII as `\xNN`.
    pub(super) fn text(self, offset: usize, len: usize) -> String {
        let bytes = self.slice(offset, len);
        let end = bytes.iter().rposition(|b| !matches!(b, 0 | b' ')).map_or(0, |last| last + 1);
        crate::registers::raw::visible_ascii(&bytes[..end])
    }
}

/// `decode` of a structure, for which there must be bytes enough.
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

/// °C from kelvin; 0 means that nothing is reported.
pub fn celsius(kelvin: u16) -> Option<i32> {
    (kelvin > 0).then(|| i32::from(kelvin) - 273)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kelvin_become_celsius_as_nvme_cli_prints_them() {
        assert_eq!((celsius(354), celsius(309), celsius(0)), (Some(81), Some(36), None));
    }
}
