//! Judgement of a sector that was read, against the stamp written there.

use cardscope_engine::content::{IoContent, constant_byte, fill_content, read_stamp, read_stamp_header};
pub use cardscope_model::verify::SectorFound;

/// Bytes of a stamped sector.
pub const SECTOR: usize = 512;

/// Most wrong bits in a sector that count as flips: the limit of "slightly changed" in f3 and h2testw
/// (docs/reference/tools.md#f3-and-h2testw-files).
pub const MAX_FLIPS: u32 = 7;

/// Judges a sector read from byte `address` that should hold the stamp of `salt` and `generation`.
pub fn judge_sector(sector: &[u8], address: u64, salt: u64, generation: u32) -> SectorFound {
    match read_stamp_header(sector) {
        Some(stamp) if stamp.salt != salt => {
            SectorFound::Foreign { address: stamp.address, salt: stamp.salt }
        }
        Some(stamp) if stamp.address != address => SectorFound::Elsewhere { address: stamp.address },
        Some(stamp) if stamp.generation != generation => SectorFound::Stale { generation: stamp.generation },
        Some(_) if read_stamp(sector).is_some() => SectorFound::Expected,
        _ => judge_unstamped(sector, address, salt, generation),
    }
}

/// Without a valid header it is the expected stamp with flipped bits, or other data.
fn judge_unstamped(sector: &[u8], address: u64, salt: u64, generation: u32) -> SectorFound {
    let mut expected = [0u8; SECTOR];
    fill_content(IoContent::Stamp { salt, generation }, address, &mut expected);
    let bits = wrong_bits(sector, &expected);
    if bits <= MAX_FLIPS { SectorFound::Flipped { bits } } else { judge_foreign(sector) }
}

pub fn judge_foreign(sector: &[u8]) -> SectorFound {
    constant_byte(sector).map_or(SectorFound::Other, |byte| SectorFound::Constant { byte })
}

pub fn wrong_bits(a: &[u8], b: &[u8]) -> u32 {
    a.iter().zip(b).map(|(x, y)| (x ^ y).count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALT: u64 = 77;

    fn stamped(address: u64, salt: u64, generation: u32) -> [u8; SECTOR] {
        let mut sector = [0; SECTOR];
        fill_content(IoContent::Stamp { salt, generation }, address, &mut sector);
        sector
    }

    #[test]
    fn sector_is_judged_by_its_stamp() {
        let look = |sector: &[u8]| judge_sector(sector, 4096, SALT, 2);
        assert_eq!(look(&stamped(4096, SALT, 2)), SectorFound::Expected);
        assert_eq!(look(&stamped(8192, SALT, 2)), SectorFound::Elsewhere { address: 8192 });
        assert_eq!(look(&stamped(4096, SALT, 1)), SectorFound::Stale { generation: 1 });
        assert_eq!(look(&stamped(4096, 5, 2)), SectorFound::Foreign { address: 4096, salt: 5 });
        assert_eq!(look(&[0xff; SECTOR]), SectorFound::Constant { byte: 0xff });
        assert_eq!(look(&std::array::from_fn::<u8, SECTOR, _>(|i| i as u8)), SectorFound::Other);
    }

    #[test]
    fn only_few_wrong_bits_count_as_flips() {
        for at in [0, 17, 40, 511] {
            let mut sector = stamped(4096, SALT, 2);
            sector[at] ^= 0b101;
            assert_eq!(judge_sector(&sector, 4096, SALT, 2), SectorFound::Flipped { bits: 2 }, "byte {at}");
        }
        let mut sector = stamped(4096, SALT, 2);
        sector[100..108].fill(0x55);
        assert_eq!(judge_sector(&sector, 4096, SALT, 2), SectorFound::Other);
    }
}
