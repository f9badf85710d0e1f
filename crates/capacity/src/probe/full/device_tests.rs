//! Full passes on special devices: 4096-byte sectors, a swapped card, and an interruption by the user.

use super::tests::{pass_over, settings};
use super::{PassFindings, PassSettings, verify_card};
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, ProbeStop};
use cardscope_engine::target::{
    IoCompletion, IoDirection, IoRequest, LanePlan, Target, TargetError, TargetInfo, TargetRegion, place_area,
};
use cardscope_model::verify::Verdict;
use cardscope_probing::io_size::{PASS_BLOCK, PASS_DEPTH};
use cardscope_simulator::SimTarget;
use rstest::rstest;
use std::time::Duration;

const SECTOR: u32 = 4096;

/// Simulated card in a device with long sectors, which records the first I/O that is no multiple of them: the
/// kernel would refuse it. Stamps, and thus bad ranges, have 512 bytes.
struct LongSectorDevice {
    card: SimTarget,
    info: TargetInfo,
    refused: Option<IoRequest>,
}

impl Target for LongSectorDevice {
    cardscope_engine::delegate_target!(
        [card] now, plan, complete, flush, discard, idle, reopen, buffer, compare
    );

    fn info(&self) -> &TargetInfo {
        &self.info
    }

    fn submit(&mut self, io: &IoRequest) -> Result<(), TargetError> {
        let whole = io.offset.is_multiple_of(u64::from(SECTOR)) && io.len.is_multiple_of(SECTOR);
        if !whole && self.refused.is_none() {
            self.refused = Some(*io);
        }
        self.card.submit(io)
    }

    fn area(&mut self, bytes: u64) -> Result<TargetRegion, TargetError> {
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
fn io_uses_whole_device_sectors(#[case] card: &str, #[case] verdict: &str) {
    let card = SimTarget::open_named(&format!("sim:constant?announced_bytes=64MiB&{card}")).unwrap();
    let info = TargetInfo { sector: SECTOR, ..card.info().clone() };
    let mut target = LongSectorDevice { card, info, refused: None };
    let (found, ..) = pass_over(&mut target, &settings());
    assert_eq!(target.refused, None);
    assert_eq!((found.body.verdict.word(), found.stop), (verdict, None));
}

const MIB: u64 = 1 << 20;
const CARD: &str = "sim:constant?announced_bytes=256MiB";

/// Two cards, of which the second replaces the first after some bytes. The reader hides the change; on a real
/// device the descriptor fails for good once the card is removed.
struct SwappingReader {
    cards: [SimTarget; 2],
    inside: usize,
    swap_after: (IoDirection, u64),
    moved: u64,
    plan: Option<LanePlan>,
    flying: usize,
    /// Bytes written to the second card.
    overwritten: u64,
}

impl SwappingReader {
    fn new(direction: IoDirection, after: u64) -> Self {
        let cards = [CARD, "sim:constant?announced_bytes=256MiB&state=filled"];
        SwappingReader {
            cards: cards.map(|name| SimTarget::open_named(name).unwrap()),
            inside: 0,
            swap_after: (direction, after),
            moved: 0,
            plan: None,
            flying: 0,
            overwritten: 0,
        }
    }

    fn card(&mut self) -> &mut SimTarget {
        &mut self.cards[self.inside]
    }

    fn maybe_swap(&mut self) {
        if self.inside == 0 && self.flying == 0 && self.moved >= self.swap_after.1 {
            self.inside = 1;
            let now = self.cards[0].now();
            self.cards[1].idle(Duration::from_nanos(now));
            if let Some(plan) = self.plan {
                self.cards[1].plan(&plan).unwrap();
            }
        }
    }
}

impl Target for SwappingReader {
    cardscope_engine::delegate_target!([card()] now, flush, discard, idle, reopen, buffer, compare);

    fn info(&self) -> &TargetInfo {
        self.cards[0].info()
    }

    fn plan(&mut self, plan: &LanePlan) -> Result<(), TargetError> {
        self.plan = Some(*plan);
        self.card().plan(plan)
    }

    fn submit(&mut self, io: &IoRequest) -> Result<(), TargetError> {
        self.maybe_swap();
        self.flying += 1;
        if io.direction == self.swap_after.0 {
            self.moved += u64::from(io.len);
        }
        if io.direction == IoDirection::Write && self.inside == 1 {
            self.overwritten += u64::from(io.len);
        }
        self.card().submit(io)
    }

    fn complete(&mut self, _at_least: usize, done: &mut Vec<IoCompletion>) -> Result<(), TargetError> {
        // All I/Os in flight complete at once, so that the swap falls between two I/Os.
        let (flying, before) = (self.flying, done.len());
        let result = self.card().complete(flying, done);
        self.flying -= done.len() - before;
        result
    }

    fn area(&mut self, bytes: u64) -> Result<TargetRegion, TargetError> {
        place_area(self.info().bytes, bytes)
    }
}

#[track_caller]
fn assert_swap_noticed(slot: &SwappingReader, found: &PassFindings, at_most: u64) {
    assert_eq!(slot.inside, 1, "the card was swapped");
    assert!(matches!(found.stop, Some(ProbeStop::Swapped(_))), "{:?} {:?}", found.stop, found.body.verdict);
    assert!(slot.overwritten <= at_most, "{} bytes of the other card are overwritten", slot.overwritten);
    assert_eq!(
        (found.body.verdict, found.body.usable_bytes, found.body.disproofs.len()),
        (Verdict::Inconclusive, None, 0),
        "the first card is not accused"
    );
}

/// Ranges of this card have 8 MiB; earlier ones are sampled before each.
#[test]
fn swap_while_writing_overwrites_one_range_at_most() {
    for after in [40 * MIB, 100 * MIB + 1, 203 * MIB, 250 * MIB] {
        let mut slot = SwappingReader::new(IoDirection::Write, after);
        let (found, ..) = pass_over(&mut slot, &settings());
        assert_swap_noticed(&slot, &found, 8 * MIB);
    }
}

#[test]
fn swap_while_reading_overwrites_nothing() {
    for (two_passes, after) in [(false, 20 * MIB), (false, 150 * MIB), (true, 100 * MIB)] {
        let mut slot = SwappingReader::new(IoDirection::Read, after);
        let (found, ..) = pass_over(&mut slot, &PassSettings { two_passes, ..settings() });
        assert_swap_noticed(&slot, &found, 0);
    }
}

/// Card whose user interrupts the test at one I/O.
struct InterruptedCard {
    card: SimTarget,
    interrupt: InterruptFlag,
    ios: u64,
    at: u64,
}

impl Target for InterruptedCard {
    cardscope_engine::delegate_target!(
        [card] info, now, plan, complete, flush, discard, idle, area, ping, reopen, buffer, compare
    );

    fn submit(&mut self, io: &IoRequest) -> Result<(), TargetError> {
        self.ios += 1;
        if self.ios == self.at {
            self.interrupt.raise();
        }
        self.card.submit(io)
    }
}

/// Findings of an interrupted pass, its number of I/Os, and the card's true good bytes.
fn run_interrupted_at(name: &str, at: u64) -> (PassFindings, u64, u64) {
    let mut target = InterruptedCard {
        card: SimTarget::open_named(name).unwrap(),
        interrupt: InterruptFlag::default(),
        ios: 0,
        at,
    };
    let interrupt = target.interrupt.clone();
    let mut card = IoDriver::new(&mut target, &interrupt, PASS_BLOCK, PASS_DEPTH).unwrap();
    let found = verify_card(&mut card, &settings(), &mut |_| (), &mut Silent);
    (found, target.ios, target.card.truth().good_bytes)
}

/// Losses that were read twice are reported wherever the pass ends, and data that a cache may hold does not count
/// as good.
#[rstest]
#[case::an_end("fake=limbo&fake_bytes=25MiB")]
#[case::with_a_cache("fake=limbo&fake_bytes=25MiB&cache_bytes=4MiB&fake.cache_kind=lru")]
#[case::addresses_wrap("fake=wraparound&wrap_bytes=16MiB")]
#[case::flips("faults.flip_p=0.001")]
fn interrupted_pass_reports_confirmed_losses_only(#[case] card: &str) {
    let name = format!("sim:constant?announced_bytes=64MiB&{card}");
    let (_, all, _) = run_interrupted_at(&name, u64::MAX);
    let mut after_losses = 0;
    for at in (1..all).step_by((all / 97).max(1) as usize).chain(all.saturating_sub(12)..all) {
        let (found, _, good) = run_interrupted_at(&name, at);
        assert_eq!(found.stop, Some(ProbeStop::Interrupted), "I/O {at} of {all}");
        assert_eq!(found.body.disproofs.is_empty(), found.bad.total() == 0, "I/O {at} of {all}");
        assert!(found.body.good_bytes.is_none_or(|said| said <= good), "I/O {at}: {:?}", found.body);
        if found.bad.total() > 0 {
            assert!(found.body.confidence <= 0.8, "I/O {at}: {:?}", found.body);
            after_losses += 1;
        }
    }
    assert!(after_losses > 5, "{after_losses} of the stops came after something was found bad");
}
