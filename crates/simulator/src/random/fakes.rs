//! How a random card lies about its capacity: most do not.

use super::draw::Draw;
use crate::archetype::{CacheKind, Fake, FakeKind, Lost, PoolFull};

const MIB: u64 = 1 << 20;

pub(super) fn draw(draw: &mut Draw, announced: u64) -> Fake {
    let kind = draw.one_of(&[
        (70, FakeKind::None),
        (14, FakeKind::Limbo),
        (4, FakeKind::Wraparound),
        (4, FakeKind::Chain),
        (4, FakeKind::Damaged),
        (2, FakeKind::Overcommitted),
        (2, FakeKind::ReadOnly),
    ]);
    let lost = draw.one_of(&[(3, Lost::Zeros), (2, Lost::Ones), (1, Lost::Stale), (1, Lost::Error)]);
    // What is really there: from a twentieth to two thirds, in any unit of 4 KiB.
    let real = (announced as f64 * draw.between(0.05, 0.66)) as u64 / 4096 * 4096;
    match kind {
        FakeKind::None => Fake::default(),
        FakeKind::ReadOnly => Fake { kind, ..Fake::default() },
        FakeKind::Damaged => Fake { kind, damaged_share: draw.between(0.005, 0.3), lost, ..Fake::default() },
        FakeKind::Overcommitted => {
            let pool_full = draw.one_of(&[(2, PoolFull::Vanish), (1, PoolFull::Slow), (1, PoolFull::Dies)]);
            Fake { kind, real_bytes: Some(real), pool_full, lost, ..Fake::default() }
        }
        FakeKind::Limbo => Fake {
            kind,
            real_bytes: Some(real),
            cache_bytes: draw.one_of(&[
                (4, None),
                (2, Some(2 * MIB)),
                (1, Some(128 * MIB)),
                (1, Some(256 * MIB)),
            ]),
            cache_kind: draw.one_of(&[(3, CacheKind::Direct), (1, CacheKind::Lru), (1, CacheKind::Fifo)]),
            cache_strict: draw.chance(0.7),
            cache_survives: draw.chance(0.5),
            lost,
            ..Fake::default()
        },
        FakeKind::Wraparound => {
            let wrap = if draw.chance(0.7) { power_below(real) } else { real };
            Fake { kind, wrap_bytes: Some(wrap), ..Fake::default() }
        }
        FakeKind::AddressLine => Fake { kind, wrap_bytes: Some(power_below(real)), ..Fake::default() },
        FakeKind::Chain => {
            let wrap = real.next_power_of_two().min(announced / 4096 * 4096);
            Fake { kind, real_bytes: Some(real), wrap_bytes: Some(wrap), lost, ..Fake::default() }
        }
    }
}

/// The largest power of two up to `bytes`.
fn power_below(bytes: u64) -> u64 {
    1 << (63 - bytes.leading_zeros())
}
