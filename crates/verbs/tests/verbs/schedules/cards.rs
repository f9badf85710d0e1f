//! The cards of the schedules: small ones, genuine, slow and fake, filled with known data.

use super::table::{InsertedCard, SECTOR};
use cardscope_engine::content::IoContent;
use cardscope_engine::target::{IoDirection, IoRequest, LanePlan, Target as _};
use cardscope_model::recipe::KernelPath;
use cardscope_simulator::{SimTarget, identity, target_spec};
use std::fs::File;
use std::os::unix::fs::FileExt as _;

const MIB: u64 = 1 << 20;

/// A card by what it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct TestCardKind {
    /// Its name and what is different about it.
    pub(super) name: &'static str,
    pub(super) is_fake: bool,
    /// Where its addresses begin again, and how many bytes from there are real.
    wrap: u64,
    real: u64,
    /// Whether it is too slow for any mark.
    pub(super) is_slow: bool,
}

const fn genuine(name: &'static str) -> TestCardKind {
    TestCardKind { name, is_fake: false, wrap: u64::MAX, real: u64::MAX, is_slow: false }
}

const fn fake(wrap: u64, real: u64, name: &'static str) -> TestCardKind {
    TestCardKind { name, is_fake: true, wrap, real, is_slow: false }
}

impl TestCardKind {
    /// The sectors that lead to the same place as this one.
    pub(super) fn aliases(self, sector: u64, sectors: u64) -> impl Iterator<Item = u64> {
        let step = (self.wrap / SECTOR).min(sectors);
        (sector % step..sectors).step_by(step as usize)
    }

    /// Whether a sector leads to a place that keeps anything.
    fn keeps(self, sector: u64) -> bool {
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

/// The name by which it is tested.
pub(super) const NAME: &str = "sim:card";

/// A whole address space of data that nobody would take for empty.
pub(super) fn filled(kind: TestCardKind, seed: u64) -> SimTarget {
    let mut card = SimTarget::named(kind.name).unwrap();
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

/// A card that says of itself what `kind` says, or nothing.
pub(super) fn piece(card: Option<SimTarget>, kind: TestCardKind, speaks: bool) -> InsertedCard {
    let archetype = target_spec::parse(kind.name).unwrap().archetype;
    InsertedCard { card, identity: speaks.then(|| identity(&archetype).unwrap()) }
}

/// What the card of a killed program held.
pub(super) fn saved(kind: TestCardKind, state: &std::path::Path) -> SimTarget {
    SimTarget::named(&format!("{}&state={}", kind.name, state.display())).unwrap()
}

/// Everything that stands on a card.
pub(super) fn content(card: &mut SimTarget) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(card.info().bytes as usize);
    card.plan(&plan(MIB)).unwrap();
    for offset in (0..card.info().bytes).step_by(MIB as usize) {
        bytes.extend_from_slice(read(card, offset, MIB as u32));
    }
    bytes
}

/// The sectors that do not hold what they did; of those that `looked_at` names.
pub(super) fn changed(
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
                    .filter(|(sector, (now, was))| now != was && kind.keeps(*sector))
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
