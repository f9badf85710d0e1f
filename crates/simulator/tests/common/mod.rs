//! Drives simulated cards in virtual time with the access patterns of common tools, and returns their figures.

use cardscope_engine::content::IoContent;
use cardscope_engine::target::{IoCompletion, IoDirection, IoRequest, LanePlan, Target};
use cardscope_model::recipe::KernelPath;
use cardscope_simulator::SimTarget;

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const GIB: u64 = 1 << 30;

pub(crate) fn open_card(name: &str) -> SimTarget {
    SimTarget::open_named(name).unwrap_or_else(|e| panic!("{e}"))
}

/// Plan for direct I/O, past the page cache.
pub(crate) fn direct_plan(depth: u32, block: u64) -> LanePlan {
    LanePlan { depth, block, path: KernelPath::Direct, sync_each: false, own_buffers: false }
}

pub(crate) fn slot_io(slot: u32, write: bool, offset: u64, len: u64) -> IoRequest {
    let direction = if write { IoDirection::Write } else { IoDirection::Read };
    IoRequest { slot, direction, offset, len: len as u32, content: IoContent::Noise }
}

/// Executes I/Os at the given offsets with `depth` in flight; returns their seconds.
pub(crate) fn run_ios(
    card: &mut SimTarget,
    plan: &LanePlan,
    write: bool,
    places: impl IntoIterator<Item = u64>,
) -> f64 {
    card.plan(plan).unwrap();
    let start = card.now();
    let mut places = places.into_iter();
    let mut done: Vec<IoCompletion> = Vec::with_capacity(plan.depth as usize);
    let mut free: Vec<u32> = (0..plan.depth).rev().collect();
    loop {
        while let Some(slot) = free.pop() {
            match places.next() {
                Some(offset) => card.submit(&slot_io(slot, write, offset, plan.block)).unwrap(),
                None => {
                    free.push(slot);
                    break;
                }
            }
        }
        if free.len() == plan.depth as usize {
            break;
        }
        card.complete(1, &mut done).unwrap();
        for ended in done.drain(..) {
            ended.result.unwrap();
            free.push(ended.slot);
        }
    }
    (card.now() - start) as f64 / 1e9
}

/// Seconds of a single I/O.
pub(crate) fn run_one(card: &mut SimTarget, write: bool, offset: u64, len: u64) -> f64 {
    run_ios(card, &direct_plan(1, len), write, [offset])
}

/// MB/s of I/O in order over `bytes` from `start`.
pub(crate) fn sequential_speed(
    card: &mut SimTarget,
    write: bool,
    block: u64,
    depth: u32,
    start: u64,
    bytes: u64,
) -> f64 {
    let count = bytes / block;
    let seconds = run_ios(card, &direct_plan(depth, block), write, (0..count).map(|i| start + i * block));
    (count * block) as f64 / 1e6 / seconds
}

/// MB/s of `count` random 4 KiB I/Os within `span` bytes from `start`.
pub(crate) fn random_4k_speed(
    card: &mut SimTarget,
    write: bool,
    depth: u32,
    start: u64,
    span: u64,
    count: u64,
) -> f64 {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let places = (0..count).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        start + state % (span / 4096) * 4096
    });
    let seconds = run_ios(card, &direct_plan(depth, 4096), write, places);
    (count * 4096) as f64 / 1e6 / seconds
}

/// Fails unless `found` is within `percent` of `published`.
pub(crate) fn assert_near(what: &str, found: f64, published: f64, percent: f64) {
    let off = (found / published - 1.0) * 100.0;
    println!("{what}: {found:.3} against {published} ({off:+.1} %)");
    assert!(
        off.abs() <= percent,
        "{what}: {found:.3} against {published} published ({off:+.1} %, allowed {percent} %)"
    );
}
