//! Cards of the schedules: small, filled with known data, genuine, slow or fake.

use super::scenario::{InsertedCard, SECTOR};
use cardscope_engine::content::IoContent;
use cardscope_engine::target::{IoDirection, IoRequest, LanePlan, Target as _};
use cardscope_model::recipe::KernelPath;
use cardscope_simulator::{SimTarget, decode_identity, target_spec};
use std::fs::File;
use std::os::unix::fs::FileExt as _;

const MIB: u64 = 1 << 20;

/// Kind of a test card.
#[derive(Debug, Clone, Copy)]
pub(super) struct TestCardKind {
    /// Simulated target with its overrides.
    pub(super) name: &'static str,
    pub(super) is_fake: bool,
    /// Bytes after which addresses repeat, and real bytes from each repetition on.
    wrap: u64,
    real: u64,
    /// True if the card is too slow for any mark.
    pub(super) is_slow: bool,
}

const fn genuine(name: &'static str) -> TestCardKind {
    TestCardKind { name, is_fake: false, wrap: u64::MAX, real: u64::MAX, is_slow: false }
}

const fn fake(wrap: u64, real: u64, name: &'static str) -> TestCardKind {
    TestCardKind { name, is_fake: true, wrap, real, is_slow: false }
}

impl TestCardKind {
    /// Sectors that share the storage of a sector.
    pub(super) fn aliased_sectors(self, sector: u64, sectors: u64) -> impl Iterator<Item = u64> {
        let step = (self.wrap / SECTOR).min(sectors);
        (sector % step..sectors).step_by(step as usize)
    }

    /// True if the storage of a sector keeps data.
    fn keeps_data(self, sector: u64) -> bool {
        sector * SECTOR % self.wrap < self.real
    }
}

pub(super) const KINDS: [TestCardKind; 7] = [
    genuine("sim:constant?announced_bytes=24MiB&mb_s=20"),
    genuine("sim:lexar-16g-c10?announced_bytes=24MiB"),
    TestCardKind { is_slow: true, ..genuine("sim:constant?announced_bytes=24MiB&mb_s=0.7&command_s=0.02") },
    fake(u64::MAX, 6 * MIB, "sim:constant?announced_bytes=24MiB&mb_s=20&fake=limbo&fake_bytes=6MiB"),
    fake(4 * MIB, u64::MAX, "sim:constant?announced_bytes=24MiB&mb_s=20&fake=wraparound&wrap_bytes=4MiB"),
    fake(
        8 * MIB,
        5 * MIB,
        "sim:lexar-16g-c10?announced_bytes=24MiB&fake=chain&fake_bytes=5MiB&wrap_bytes=8MiB",
    ),
    fake(
        u64::MAX,
        8 * MIB,
        "sim:constant?announced_bytes=24MiB&mb_s=20&fake=limbo&fake_bytes=8MiB&cache_bytes=1MiB",
    ),
];

/// Target name under which the card is tested.
pub(super) const NAME: &str = "sim:card";

/// Card whose whole address space is filled with data that cannot pass for empty.
pub(super) fn filled_card(kind: TestCardKind, seed: u64) -> SimTarget {
    let mut card = SimTarget::open_named(kind.name).unwrap();
    card.plan(&plan(MIB)).unwrap();
    for offset in (0..card.info().bytes).step_by(MIB as usize) {
        let content = IoContent::Stream { seed };
        let io = IoRequest { slot: 0, direction: IoDirection::Write, offset, len: MIB as u32, content };
        card.submit(&io).unwrap();
        card.complete(1, &mut Vec::new()).unwrap();
    }
    card.flush().unwrap();
    card.reopen().unwrap();
    card
}

/// Card with the identity of its kind, or without one.
pub(super) fn inserted_card(card: Option<SimTarget>, kind: TestCardKind, speaks: bool) -> InsertedCard {
    let archetype = target_spec::parse(kind.name).unwrap().archetype;
    InsertedCard { card, identity: speaks.then(|| decode_identity(&archetype).unwrap()) }
}

/// Card as the killed process left it.
pub(super) fn load_saved_card(kind: TestCardKind, state: &std::path::Path) -> SimTarget {
    SimTarget::open_named(&format!("{}&state={}", kind.name, state.display())).unwrap()
}

/// Reads the whole card.
pub(super) fn read_content(card: &mut SimTarget) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(card.info().bytes as usize);
    card.plan(&plan(MIB)).unwrap();
    for offset in (0..card.info().bytes).step_by(MIB as usize) {
        bytes.extend_from_slice(read(card, offset, MIB as u32));
    }
    bytes
}

/// Sectors that differ from `before`, among those in blocks that `looked_at` selects.
pub(super) fn changed_sectors(
    card: &mut SimTarget,
    kind: TestCardKind,
    before: &File,
    looked_at: impl Fn(u64) -> bool,
) -> Vec<u64> {
    let (mut all, mut was) = (Vec::new(), vec![0; MIB as usize]);
    card.plan(&plan(MIB)).unwrap();
    for offset in (0..card.info().bytes).step_by(MIB as usize) {
        let sectors = (offset / SECTOR)..((offset + MIB) / SECTOR);
        if !sectors.clone().any(&looked_at) {
            continue;
        }
        let now = read(card, offset, MIB as u32);
        before.read_exact_at(&mut was, offset).unwrap();
        if now != was {
            let pairs = sectors.zip(now.chunks(SECTOR as usize).zip(was.chunks(SECTOR as usize)));
            all.extend(
                pairs
                    .filter(|(sector, (now, was))| now != was && kind.keeps_data(*sector))
                    .map(|(sector, _)| sector),
            );
        }
    }
    all
}

fn read(card: &mut SimTarget, offset: u64, len: u32) -> &[u8] {
    let io = IoRequest { slot: 0, direction: IoDirection::Read, offset, len, content: IoContent::Buffer };
    card.submit(&io).unwrap();
    let mut done = Vec::new();
    card.complete(1, &mut done).unwrap();
    done[0].result.clone().unwrap();
    &card.buffer(0).unwrap()[..len as usize]
}

fn plan(block: u64) -> LanePlan {
    LanePlan { depth: 1, block, path: KernelPath::Direct, sync_each: false, own_buffers: true }
}
