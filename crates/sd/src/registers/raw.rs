//! Raw bytes of a register, and access to bits by the specification's numbers.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Bytes of a register, most significant first, as in sysfs. In JSON: lower-case hex.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawRegister<const N: usize>(pub [u8; N]);

/// Content of an empty register, which the card or the host did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlankRegister {
    AllZeros,
    AllOnes,
}

impl<const N: usize> RawRegister<N> {
    /// Returns bits `high` down to `low`, at most 64, numbered as in the specification (bit 0 is sent last).
    pub fn bits(&self, high: usize, low: usize) -> u64 {
        (low..=high).rev().fold(0, |value, bit| value << 1 | u64::from(self.bit(bit)))
    }

    /// Returns one bit, 0 beyond the register.
    pub fn bit(&self, number: usize) -> bool {
        let from_end = number / 8;
        from_end < N && self.0[N - 1 - from_end] >> (number % 8) & 1 == 1
    }

    /// Returns the content if the register is empty.
    pub fn blank(&self) -> Option<BlankRegister> {
        match self.0[..] {
            [0, ref rest @ ..] if rest.iter().all(|&b| b == 0) => Some(BlankRegister::AllZeros),
            [0xff, ref rest @ ..] if rest.iter().all(|&b| b == 0xff) => Some(BlankRegister::AllOnes),
            _ => None,
        }
    }
}

impl fmt::Display for BlankRegister {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == BlankRegister::AllZeros { "all zeros" } else { "all ones" })
    }
}

impl<const N: usize> fmt::Display for RawRegister<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<const N: usize> fmt::Debug for RawRegister<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Raw({self})")
    }
}

impl<const N: usize> Serialize for RawRegister<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, const N: usize> Deserialize<'de> for RawRegister<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        super::hex::parse("register", &text).map(RawRegister).map_err(serde::de::Error::custom)
    }
}

/// Returns the text of a code, or None for reserved codes.
pub(crate) fn text_of_code(texts: &[&str], code: impl Into<usize>) -> Option<String> {
    texts.get(code.into()).map(|text| (*text).to_owned())
}

/// Returns the texts of the bits that are set, lowest bit first.
pub(crate) fn texts_of_bits(texts: &[&str], bits: impl Into<u32>) -> Vec<String> {
    let bits = bits.into();
    (0..).zip(texts).filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, text)| (*text).to_owned()).collect()
}

/// Formats printable ASCII as it is and all other bytes as `\xNN`, so that odd bytes stay visible.
pub(crate) fn visible_ascii(bytes: &[u8]) -> String {
    let visible = |b: &u8| match b {
        0x20..0x7f => char::from(*b).to_string(),
        _ => format!("\\x{b:02x}"),
    };
    bytes.iter().map(visible).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_numbered_from_the_last_byte() {
        let raw = RawRegister([0x80, 0x00, 0x00, 0x05]);
        assert_eq!((raw.bits(31, 31), raw.bits(3, 0), raw.bits(2, 1), raw.bit(32)), (1, 5, 2, false));
    }

    #[test]
    fn blank_register_needs_uniform_bits() {
        assert_eq!(RawRegister([0; 8]).blank(), Some(BlankRegister::AllZeros));
        assert_eq!(RawRegister([0xff; 8]).blank(), Some(BlankRegister::AllOnes));
        assert_eq!(RawRegister([0, 0, 0, 1]).blank(), None);
    }

    #[test]
    fn raw_register_serializes_as_hex() {
        let raw = RawRegister([0x02, 0x35]);
        let json = serde_json::to_string(&raw).unwrap();
        assert_eq!(json, "\"0235\"");
        assert_eq!(serde_json::from_str::<RawRegister<2>>(&json).unwrap(), raw);
    }
}
