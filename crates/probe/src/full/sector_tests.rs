//! A device with sectors of 4096 bytes: the kernel refuses every I/O that is no multiple of them, while stamps, and with
//! them what is found bad, are as long as 512 bytes.

use super::tests::settings;
use super::verify;
use crate::card::Card;
use crate::full::{BLOCK, DEPTH};
use cardscope_engine::content::{Content, Match};
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::target::{Completion, Io, Plan, Region, Target, TargetError, TargetInfo, place_area};
use cardscope_model::units::Nanos;
use cardscope_simulator::SimTarget;
use rstest::rstest;
use std::time::Duration;

const SECTOR: u32 = 4096;

/// A simulated card in such a device, and the first I/O that the kernel would have refused.
struct LongSectors {
    card: SimTarget,
    info: TargetInfo,
    refused: Option<Io>,
}

impl Target for LongSectors {
    fn info(&self) -> &TargetInfo {
        &self.info
    }

    fn now(&mut self) -> Nanos {
        self.card.now()
    }

    fn plan(&mut self, plan: &Plan) -> Result<(), TargetError> {
        self.card.plan(plan)
    }

    fn submit(&mut self, io: &Io) -> Result<(), TargetError> {
        let whole = io.offset.is_multiple_of(u64::from(SECTOR)) && io.len.is_multiple_of(SECTOR);
        if !whole && self.refused.is_none() {
            self.refused = Some(*io);
        }
        self.card.submit(io)
    }

    fn complete(&mut self, at_least: usize, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        self.card.complete(at_least, done)
    }

    fn flush(&mut self) -> Result<(), TargetError> {
        self.card.flush()
    }

    fn discard(&mut self, range: Region) -> Result<(), TargetError> {
        self.card.discard(range)
    }

    fn idle(&mut self, time: Duration) {
        self.card.idle(time);
    }

    fn area(&mut self, bytes: u64) -> Result<Region, TargetError> {
        place_area(self.info.bytes, bytes)
    }

    fn reopen(&mut self) -> Result<(), TargetError> {
        self.card.reopen()
    }

    fn buffer(&mut self, slot: u32) -> Result<&mut [u8], TargetError> {
        self.card.buffer(slot)
    }

    fn compare(&mut self, slot: u32, expected: Content) -> Result<Match, TargetError> {
        self.card.compare(slot, expected)
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
