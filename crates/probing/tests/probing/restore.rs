//! Every place of a card ends with its oldest content, in whatever way its addresses lead to one another.

use cardscope_engine::content::IoContent;
use cardscope_engine::delegate_target;
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{CardExtent, IoDriver, ReadAnswer, split_extents};
use cardscope_engine::journal::JournalWriter as _;
use cardscope_engine::target::{IoCompletion, IoDirection, IoRequest, Target, TargetError};
use cardscope_journal::restoring::{RestoreResult, restore_from_journal};
use cardscope_probing::write_scope::WriteScope;
use cardscope_simulator::SimTarget;
use cardscope_testkit::memory_journal::MemoryJournal;

const MIB: u64 = 1 << 20;
const LEN: u32 = 4096;

/// A reader that answers requests of some shapes with what the card held before, and loses what is restored.
struct Reader {
    card: SimTarget,
    before: Vec<u8>,
    /// Whether a request is answered so.
    lies: fn(&IoRequest) -> bool,
    /// Whether writes are answered with success and lost.
    loses: bool,
    flying: Vec<IoRequest>,
    read: Vec<CardExtent>,
    lost: Vec<IoCompletion>,
}

impl Reader {
    fn new(lies: fn(&IoRequest) -> bool) -> Self {
        let card = SimTarget::open_named("sim:constant?announced_bytes=16MiB&state=filled").unwrap();
        let none = Vec::new();
        let mut reader = Reader {
            card,
            before: none,
            lies: |_| false,
            loses: false,
            flying: Vec::new(),
            read: Vec::new(),
            lost: Vec::new(),
        };
        let mut before = Vec::new();
        let mut card = IoDriver::new(&mut reader, &InterruptFlag::default(), 1 << 20, 1).unwrap();
        card.read(split_extents(0, 16 * MIB, 1 << 20), IoContent::Buffer, |_, _, answer| {
            let ReadAnswer::Differs { bytes, .. } = answer else { panic!("{answer:?}") };
            before.extend_from_slice(bytes);
            Ok(())
        })
        .unwrap();
        Reader { before, lies, read: Vec::new(), ..reader }
    }
}

impl Target for Reader {
    delegate_target!([card] info, now, plan, flush, idle, reopen, buffer, compare, caveats, drop_caches, temperature, ping, health, discard, area);

    fn submit(&mut self, io: &IoRequest) -> Result<(), TargetError> {
        if io.direction == IoDirection::Read {
            self.read.push(CardExtent { offset: io.offset, len: io.len });
        } else if self.loses {
            let at = self.now();
            self.lost.push(IoCompletion { slot: io.slot, at, result: Ok(()) });
            return Ok(());
        }
        self.flying.push(*io);
        self.card.submit(io)
    }

    fn complete(&mut self, at_least: usize, done: &mut Vec<IoCompletion>) -> Result<(), TargetError> {
        done.append(&mut self.lost);
        let from = done.len();
        self.card.complete(at_least.saturating_sub(from), done)?;
        for ended in &done[from..] {
            let at = self.flying.iter().position(|io| io.slot == ended.slot).unwrap();
            let io = self.flying.remove(at);
            if io.direction == IoDirection::Read && (self.lies)(&io) {
                let range = io.offset as usize..io.offset as usize + io.len as usize;
                self.card.buffer(io.slot)?[..io.len as usize].copy_from_slice(&self.before[range]);
            }
        }
        Ok(())
    }

    fn lane(&mut self) -> Result<Option<Box<dyn Target>>, TargetError> {
        Ok(None)
    }
}

/// What a quick test saves: a long run and single blocks.
const SAVED: [(u64, u64); 4] = [(10 * MIB, 5 * MIB), (MIB, 4096), (3 * MIB + 12_288, 4096), (0, 4096)];

/// Saves, overwrites and restores behind a reader.
fn restored(reader: &mut Reader, loses: bool) -> RestoreResult {
    let mut memory = MemoryJournal::default();
    for (start, len) in SAVED {
        let original = &reader.before[start as usize..(start + len) as usize];
        memory.save(start, original).unwrap();
    }
    memory.commit().unwrap();
    let mut card = IoDriver::new(reader, &InterruptFlag::default(), 1 << 20, 4).unwrap();
    for (start, len) in SAVED {
        card.write(split_extents(start, start + len, 1 << 20), stamp(1), |_, _, io_error| {
            assert!(io_error.is_none())
        })
        .unwrap();
    }
    drop(card);
    (reader.loses, reader.read) = (loses, Vec::new());
    let mut card = IoDriver::new(reader, &InterruptFlag::default(), 1 << 20, 4).unwrap();
    restore_from_journal(&mut card, &mut memory, &mut Silent).unwrap()
}

#[test]
fn restored_data_is_verified_once_with_other_requests() {
    let mut reader = Reader::new(|_| false);
    let result = restored(&mut reader, false);
    assert!(result.may_have_changed(None).is_empty(), "{result:?}");
    let saving = |(start, len): (u64, u64)| {
        let sizes = if len == u64::from(LEN) { [LEN, LEN] } else { [1 << 20, 64 << 10] };
        sizes.into_iter().flat_map(move |size| split_extents(start, start + len, size))
    };
    let saving: Vec<CardExtent> = SAVED.into_iter().flat_map(saving).collect();
    let alike: Vec<_> = reader.read.iter().filter(|request| saving.contains(request)).collect();
    assert!(alike.is_empty(), "{alike:?}");
    let (read, saved) = (
        reader.read.iter().map(|at| u64::from(at.len)).sum::<u64>(),
        SAVED.iter().map(|(_, len)| len).sum::<u64>(),
    );
    assert!(read < saved + saved / 50, "{read} bytes are read to compare {saved}");
    let order: Vec<u64> = reader.read.iter().map(|at| at.offset).collect();
    assert!(order.is_sorted_by(|one, other| one > other), "{order:?}");
}

#[test]
fn restore_is_not_confirmed_by_reader_that_repeats_answers() {
    let saved: u64 = SAVED.iter().map(|(_, len)| len).sum();
    let shapes: [fn(&IoRequest) -> bool; 3] = [
        |io| io.offset % MIB == 0 && io.offset > 0,
        |io| io.len >= 1 << 19 || io.len <= LEN,
        |io| io.len == 1 << 20 || io.len == 64 << 10 || io.len == LEN,
    ];
    for (n, lies) in shapes.into_iter().enumerate() {
        let mut reader = Reader::new(lies);
        let result = restored(&mut reader, true);
        let changed: u64 = result.may_have_changed(None).iter().map(|range| range.len).sum();
        assert_eq!(changed, saved, "reader {n}: {result:?}");
        assert!(!result.doubtful.is_empty(), "reader {n}");
        // What it says of a card that holds everything is not doubted.
        let result = restored(&mut Reader::new(lies), false);
        assert!(result.may_have_changed(None).is_empty(), "reader {n}: {result:?}");
    }
}

/// Of a place whose neighbour cannot be read, the place itself is compared.
#[test]
fn saved_block_survives_bad_neighbour() {
    let mut target =
        target("sim:constant?announced_bytes=16MiB&state=filled&faults.error_ranges=1044480+4096");
    let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), 1 << 20, 1).unwrap();
    let (before, after, result) = there_and_back(&mut card, &[MIB], |_| {});
    assert_eq!(before, after);
    assert!(result.may_have_changed(None).is_empty() && !result.io_errors.is_empty(), "{result:?}");
}

fn at(offset: u64) -> CardExtent {
    CardExtent { offset, len: LEN }
}

fn stamp(generation: u32) -> IoContent {
    IoContent::Stamp { salt: 0x5a17, generation }
}

fn read(card: &mut IoDriver<'_>, offset: u64) -> Vec<u8> {
    let mut found = Vec::new();
    card.read([at(offset)], IoContent::Buffer, |_, _, answer| {
        if let ReadAnswer::Differs { bytes, .. } = answer {
            found = bytes.to_vec();
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(found.len(), LEN as usize);
    found
}

/// Saves and overwrites places one after the other, each a batch of its own, then puts everything back: what stood in
/// the places before and after. `damage` changes what was saved.
fn there_and_back(
    card: &mut IoDriver<'_>,
    places: &[u64],
    damage: impl Fn(&mut MemoryJournal),
) -> (Vec<Vec<u8>>, Vec<Vec<u8>>, RestoreResult) {
    let before = places.iter().map(|place| read(card, *place)).collect();
    let mut memory = MemoryJournal::default();
    let mut scope = WriteScope::new(Some(&mut memory));
    for place in places {
        scope.save(card, &[at(*place)]).unwrap();
        card.write([at(*place)], stamp(1), |_, _, io_error| assert!(io_error.is_none())).unwrap();
    }
    damage(&mut memory);
    let result = restore_from_journal(card, &mut memory, &mut Silent).unwrap();
    (before, places.iter().map(|place| read(card, *place)).collect(), result)
}

fn target(name: &str) -> SimTarget {
    SimTarget::open_named(name).unwrap()
}

#[test]
fn aliased_addresses_end_with_oldest_content() {
    for places in [[MIB, 17 * MIB, 33 * MIB], [33 * MIB, MIB, 17 * MIB], [17 * MIB, 33 * MIB, MIB]] {
        let mut target =
            target("sim:constant?announced_bytes=64MiB&fake=wraparound&wrap_bytes=16MiB&state=filled");
        let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), LEN, 1).unwrap();
        let (before, after, result) = there_and_back(&mut card, &places, |_| {});
        assert_eq!(before, after, "{places:?}");
        assert_eq!(result.lost, []);
    }
}

#[test]
fn data_below_damaged_stamp_is_restored() {
    // Data, and one byte repeated. A bit in the body; and so much that nothing tells any more whose it was.
    let bits = [vec![300], (0..48).collect::<Vec<usize>>()];
    for (state, bits) in
        ["filled", "factory"].iter().flat_map(|state| bits.iter().map(move |bits| (state, bits)))
    {
        let mut target = target(&format!(
            "sim:constant?announced_bytes=64MiB&fake=wraparound&wrap_bytes=16MiB&state={state}"
        ));
        let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), LEN, 1).unwrap();
        let (before, after, _) = there_and_back(&mut card, &[MIB, 17 * MIB], |memory| {
            memory.change_saved(17 * MIB, |saved| {
                saved.chunks_mut(512).for_each(|sector| bits.iter().for_each(|i| sector[*i] ^= 4));
            });
        });
        assert_eq!(before[0], after[0], "{state}: {} bytes changed", bits.len());
    }
}

#[test]
fn data_held_only_in_fake_cache_is_restored() {
    let name =
        "sim:constant?announced_bytes=64MiB&fake=limbo&fake_bytes=8MiB&cache_bytes=1MiB&cache_kind=direct";
    for places in [[20 * MIB, 21 * MIB], [21 * MIB, 20 * MIB]] {
        let mut target = target(name);
        let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), LEN, 1).unwrap();
        card.write([at(places[0])], IoContent::Noise, |_, _, io_error| assert!(io_error.is_none())).unwrap();
        let (before, after, _) = there_and_back(&mut card, &places, |_| {});
        assert!(before[0].iter().any(|byte| *byte != before[0][0]), "the cache holds it");
        assert_eq!(before[0], after[0], "{places:?}");
    }
}
