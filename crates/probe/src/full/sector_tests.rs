//! A device with sectors of 4096 bytes: the kernel refuses every I/O that is no multiple of them, while stamps, and with
//! them what is found bad, are as long as 512 bytes.

use super::tests::settings;
use super::verify;
use crate::full::{BLOCK, DEPTH};
use cardscope_engine::card::Card;
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::target::{Io, Region, Target, TargetError, TargetInfo, place_area};
use cardscope_simulator::SimTarget;
use rstest::rstest;

const SECTOR: u32 = 4096;

/// A simulated card in such a device, and the first I/O that the kernel would have refused.
struct LongSectors {
    card: SimTarget,
    info: TargetInfo,
    refused: Option<Io>,
}

impl Target for LongSectors {
    cardscope_engine::delegate_target!(
        [card] now, plan, complete, flush, discard, idle, reopen, buffer, compare
    );

    fn info(&self) -> &TargetInfo {
        &self.info
    }

    fn submit(&mut self, io: &Io) -> Result<(), TargetError> {
        let whole = io.offset.is_multiple_of(u64::from(SECTOR)) && io.len.is_multiple_of(SECTOR);
        if !whole && self.refused.is_none() {
            self.refused = Some(*io);
        }
        self.card.submit(io)
    }

    fn area(&mut self, bytes: u64) -> Result<Region, TargetError> {
        place_area(self.info.bytes, bytes)
    }
}

#[rstest]
#[case::an_end_within_a_sector("fake=limbo&fake_bytes=11746816", "limbo")]
#[case::with_a_cache("fake=limbo&fake_bytes=11746816&cache_bytes=1MiB&fake.cache_kind=lru", "limbo")]
#[case::flips("faults.flip_p=0.001", "damaged")]
#[case::holes("fake=damaged&fake.damaged_share=0.2&fake.damaged_unit_bytes=65536&fake.lost=error", "damaged")]
#[case::a_chain("fake=chain&wrap_bytes=17818112&fake_bytes=12887040&fake.lost=stale", "chain")]
#[case::a_pool("fake=overcommitted&fake_bytes=9045504", "overcommitted")]
fn only_whole_sectors_are_read_and_written(#[case] card: &str, #[case] verdict: &str) {
    let card = SimTarget::named(&format!("sim:constant?announced_bytes=64MiB&{card}")).unwrap();
    let info = TargetInfo { sector: SECTOR, ..card.info().clone() };
    let mut target = LongSectors { card, info, refused: None };
    let found = {
        let mut card = Card::new(&mut target, &Interrupt::default(), BLOCK, DEPTH).unwrap();
        verify(&mut card, &settings(), &mut |_| (), &mut Silent)
    };
    assert_eq!(target.refused, None);
    assert_eq!((found.verdict.word(), found.stop), (verdict, None));
}
