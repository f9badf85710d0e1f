//! Identify Namespace (CNS 00h): how large the card is, in blocks of which size.

use super::bytes::{Bytes, NvmeError};
use serde::{Deserialize, Serialize};

/// The part of Identify Namespace that a card is judged by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentifyNamespace {
    /// Size in blocks.
    pub nsze: u64,
    /// Capacity in blocks.
    pub ncap: u64,
    /// Blocks in use.
    pub nuse: u64,
    /// Bytes of a block in the format in use; `None` where the format is absent.
    pub block_bytes: Option<u64>,
    /// Size in bytes.
    pub size_bytes: Option<u64>,
}

impl IdentifyNamespace {
    /// Decodes the 4096 bytes.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn decode(data: &[u8]) -> Result<Self, NvmeError> {
        let b = Bytes::new("Identify Namespace", data, 4096)?;
        let blocks = |offset| b.number(offset, 8) as u64;
        // Bits 3:0 of FLBAS choose one of the formats from byte 128; bits 6:5 are the higher part of the choice.
        let flbas = b.u8(26);
        let format = usize::from(flbas & 15 | flbas >> 1 & 0x30);
        let power = b.u8(128 + 4 * format + 2);
        let block_bytes = (9..=30).contains(&power).then(|| 1u64 << power);
        let nsze = blocks(0);
        Ok(IdentifyNamespace {
            nsze,
            ncap: blocks(8),
            nuse: blocks(16),
            block_bytes,
            size_bytes: block_bytes.and_then(|bytes| nsze.checked_mul(bytes)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::identify::tests::structure;
    use super::*;

    #[test]
    fn the_size_is_blocks_times_the_format_in_use() {
        let blocks = 493_895_680u64.to_le_bytes();
        let data =
            structure(4096, &[(0, &blocks), (8, &blocks), (26, &[1]), (128, &[0, 0, 12, 0, 0, 0, 9, 0])]);
        let namespace = IdentifyNamespace::decode(&data).unwrap();
        assert_eq!((namespace.block_bytes, namespace.size_bytes), (Some(512), Some(252_874_588_160)));
    }

    #[test]
    fn an_absent_format_leaves_the_size_open() {
        assert_eq!(IdentifyNamespace::decode(&[0; 4096]).unwrap().size_bytes, None);
    }
}
