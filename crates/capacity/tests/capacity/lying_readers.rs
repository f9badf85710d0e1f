//! Readers that return wrong data: a test that preserves the card's data must not write through them.

use cardscope_capacity::probe::quick::{QuickOptions, probe_card};
use cardscope_engine::content::{ContentMatch, IoContent, compare_content};
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, IoTally, ProbeStop, ReadAnswer, split_extents};
use cardscope_engine::target::{IoCompletion, IoDirection, IoRequest, Target, TargetError, TargetRegion};
use cardscope_model::random::SeededRandom;
use cardscope_model::report::IoTotals;
use cardscope_probing::context::ProbeLimits;
use cardscope_probing::io_size::{PROBE_BLOCK, PROBE_DEPTH};
use cardscope_probing::reader_check::check_reader;
use cardscope_simulator::SimTarget;
use cardscope_testkit::memory_journal::MemoryJournal;
use rstest::rstest;
use std::collections::HashMap;
use std::time::Duration;

/// Faults of a reader.
#[derive(Debug, Clone, Copy)]
enum ReadCorruption {
    /// Longer requests repeat their first bytes.
    Repeats(usize),
    /// One in this many requests has a wrong bit.
    Flips(u64),
    /// Requests that do not start at a multiple of 4 KiB return shifted data.
    Unaligned,
    /// A request at a lower address than the previous one returns that one's data.
    Backwards,
}

/// Card behind a faulty reader.
struct FaultyReader {
    card: SimTarget,
    lie: Option<ReadCorruption>,
    random: SeededRandom,
    flying: HashMap<u32, IoRequest>,
    slots: HashMap<u32, (u64, Vec<u8>)>,
    previous: (u64, Vec<u8>),
}

impl FaultyReader {
    fn new(name: &str, lie: Option<ReadCorruption>, seed: u64) -> Self {
        FaultyReader {
            card: SimTarget::open_named(name).unwrap(),
            lie,
            random: SeededRandom::new(seed),
            flying: HashMap::new(),
            slots: HashMap::new(),
            previous: (0, Vec::new()),
        }
    }

    fn corrupt_read(&mut self, io: IoRequest, mut bytes: Vec<u8>) -> Vec<u8> {
        match self.lie {
            Some(ReadCorruption::Repeats(at_most)) if bytes.len() > at_most => {
                (at_most..bytes.len()).for_each(|i| bytes[i] = bytes[i % at_most]);
            }
            Some(ReadCorruption::Flips(one_in)) if self.random.below(one_in) == 0 => {
                let at = self.random.below_usize(bytes.len());
                bytes[at] ^= 1 << self.random.below(8);
            }
            Some(ReadCorruption::Unaligned) if !io.offset.is_multiple_of(4096) => bytes.rotate_right(512),
            Some(ReadCorruption::Backwards) if io.offset < self.previous.0 => {
                let stale = &self.previous.1;
                let len = bytes.len().min(stale.len());
                bytes[..len].copy_from_slice(&stale[..len]);
            }
            _ => {}
        }
        self.previous = (io.offset, bytes.clone());
        bytes
    }
}

impl Target for FaultyReader {
    cardscope_engine::delegate_target!([card] info, now, plan, flush, discard, idle, area, reopen);

    fn submit(&mut self, io: &IoRequest) -> Result<(), TargetError> {
        self.slots.remove(&io.slot);
        self.flying.insert(io.slot, *io);
        self.card.submit(io)
    }

    fn complete(&mut self, at_least: usize, done: &mut Vec<IoCompletion>) -> Result<(), TargetError> {
        let mut ended = Vec::new();
        self.card.complete(at_least, &mut ended)?;
        for completion in &ended {
            let Some(io) = self.flying.remove(&completion.slot) else { continue };
            if io.direction == IoDirection::Read && completion.result.is_ok() {
                let bytes = self.card.buffer(io.slot)?[..io.len as usize].to_vec();
                let told = self.corrupt_read(io, bytes);
                self.slots.insert(io.slot, (io.offset, told));
            }
        }
        done.append(&mut ended);
        Ok(())
    }

    fn buffer(&mut self, slot: u32) -> Result<&mut [u8], TargetError> {
        let own = self.card.buffer(slot)?;
        if let Some((_, told)) = self.slots.remove(&slot) {
            own[..told.len()].copy_from_slice(&told);
        }
        Ok(own)
    }

    fn compare(&mut self, slot: u32, expected: IoContent) -> Result<ContentMatch, TargetError> {
        match self.slots.get(&slot) {
            Some((offset, told)) => Ok(compare_content(expected, *offset, told)),
            None => self.card.compare(slot, expected),
        }
    }
}

const FILLED: &str = "sim:constant?announced_bytes=64MiB&state=filled";
const EMPTY: &str = "sim:constant?announced_bytes=64MiB&state=factory";

fn options(seed: u64) -> QuickOptions {
    let region = TargetRegion { start: 0, len: u64::MAX };
    let budget = None::<Duration>;
    QuickOptions { thorough: false, limits: ProbeLimits { seed, region, max_write: None, budget } }
}

/// Probes a card with a journal. Returns the reason of an early end and the I/O counters.
fn probe_preserving(
    target: &mut FaultyReader,
    memory: &mut MemoryJournal,
    seed: u64,
) -> (Option<ProbeStop>, IoTally) {
    let mut card = IoDriver::new(target, &InterruptFlag::default(), PROBE_BLOCK, PROBE_DEPTH).unwrap();
    let ended = probe_card(&mut card, Some(memory), &options(seed), &mut Silent);
    (ended.err(), card.tally())
}

#[rstest]
#[case(ReadCorruption::Repeats(64 << 10))]
#[case(ReadCorruption::Repeats(128 << 10))]
#[case(ReadCorruption::Repeats(512 << 10))]
#[case(ReadCorruption::Repeats(4 << 10))]
#[case(ReadCorruption::Unaligned)]
#[case(ReadCorruption::Backwards)]
#[case(ReadCorruption::Flips(10))]
fn faulty_reader_is_detected_before_any_write(#[case] lie: ReadCorruption) {
    for seed in 0..4 {
        let mut target = FaultyReader::new(FILLED, Some(lie), seed);
        let (stop, tally) = probe_preserving(&mut target, &mut MemoryJournal::default(), seed);
        assert!(matches!(stop, Some(ProbeStop::SuspectReader(_))), "{lie:?}, seed {seed}: {stop:?}");
        assert_eq!(tally.written, 0, "{lie:?}, seed {seed}");
        let reported =
            check_reader(&mut target, &InterruptFlag::default(), &mut IoTotals::default()).unwrap();
        assert!(reported.is_some_and(|reader| !reader.ended_test), "{lie:?}, seed {seed}");
    }
}

#[rstest]
#[case(ReadCorruption::Repeats(64 << 10))]
#[case(ReadCorruption::Repeats(128 << 10))]
#[case(ReadCorruption::Unaligned)]
fn faulty_reader_on_an_empty_card_is_detected_by_first_stamps(#[case] lie: ReadCorruption) {
    for seed in 0..4 {
        let mut target = FaultyReader::new(EMPTY, Some(lie), seed);
        let (stop, tally) = probe_preserving(&mut target, &mut MemoryJournal::default(), seed);
        assert!(matches!(stop, Some(ProbeStop::SuspectReader(_))), "{lie:?}, seed {seed}: {stop:?}");
        assert!(tally.written <= 1 << 20, "{lie:?}, seed {seed}: {} bytes", tally.written);
    }
}

/// Saved data equals the card's content, however rare the reader's errors are: a block with a wrong read is not
/// saved.
#[test]
fn saved_data_is_right_despite_bit_flips() {
    for (seed, one_in) in (0..12).zip([20, 50, 100, 300, 1000, 3000].into_iter().cycle()) {
        let mut target = FaultyReader::new(FILLED, Some(ReadCorruption::Flips(one_in)), seed);
        let mut memory = MemoryJournal::default();
        probe_preserving(&mut target, &mut memory, seed);
        let mut fresh = FaultyReader::new(FILLED, None, seed);
        let mut card = IoDriver::new(&mut fresh, &InterruptFlag::default(), 1 << 20, 1).unwrap();
        let mut original = Vec::new();
        for saved in cardscope_engine::journal::JournalWriter::saved_ranges(&memory) {
            cardscope_engine::journal::JournalWriter::read_original(&mut memory, saved, &mut original)
                .unwrap();
            card.read(
                split_extents(saved.offset, saved.offset + saved.len, 1 << 20),
                IoContent::Buffer,
                |extent, _, answer| {
                    let ReadAnswer::Differs { bytes, .. } = answer else {
                        panic!("{saved:?} cannot be read")
                    };
                    let from = (extent.offset - saved.offset) as usize;
                    assert!(
                        original[from..from + bytes.len()] == *bytes,
                        "seed {seed}, 1 in {one_in}: {extent:?}"
                    );
                    Ok(())
                },
            )
            .unwrap();
        }
    }
}

#[test]
fn correct_reader_is_not_suspected() {
    for (seed, name) in (0..8).zip([FILLED, EMPTY].into_iter().cycle()) {
        let mut target = FaultyReader::new(name, None, seed);
        assert_eq!(
            check_reader(&mut target, &InterruptFlag::default(), &mut IoTotals::default()).unwrap(),
            None
        );
        let (stop, _) = probe_preserving(&mut target, &mut MemoryJournal::default(), seed);
        assert_eq!(stop, None, "{name}, seed {seed}");
    }
}
