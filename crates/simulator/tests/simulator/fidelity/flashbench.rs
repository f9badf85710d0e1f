//! The patterns of flashbench that several cards are compared by.

use crate::common::{MIB, drive, plan};
use cardscope_simulator::SimTarget;

/// The erase block that all these cards were tested with.
pub(crate) const AU: u64 = 4 * MIB;

/// Feedback masks of the usual maximal shift registers of 8 to 11 bits.
const MASKS: [(u32, u64); 4] = [(8, 0xb8), (9, 0x110), (10, 0x240), (11, 0x500)];

/// The order in which flashbench visits `count` places: one after the other, or shuffled by a shift register of
/// which values from `count` on are skipped, zero last.
fn order(count: u64, random: bool) -> Vec<u64> {
    if !random {
        return (0..count).collect();
    }
    let bits = (64 - count.leading_zeros()).max(8);
    let mask = MASKS.iter().find(|(width, _)| *width == bits).unwrap().1;
    let start = ((1 << bits) - 1) & 0xace1;
    let step = |state: &u64| Some(if state & 1 == 1 { state >> 1 ^ mask } else { state >> 1 });
    let cycle = std::iter::successors(Some(start), step).take((1 << bits) - 1);
    cycle.filter(|place| *place < count).chain([0]).collect()
}

/// `--open-au`: each position written in each of `n` erase blocks that lie 12 of them apart; MB/s.
pub(crate) fn open_au(card: &mut SimTarget, n: u64, block: u64, random: bool) -> f64 {
    let places = order(AU / block, random)
        .into_iter()
        .flat_map(|position| (0..n).map(move |au| 16 * MIB + au * 12 * AU + position * block));
    (n * AU) as f64 / 1e6 / drive(card, &plan(1, block), true, places)
}

#[test]
fn a_shuffled_order_visits_each_place_once() {
    for count in [1, 2, 4, 64, 512, 1024] {
        let mut places = order(count, true);
        places.sort_unstable();
        assert_eq!(places, order(count, false), "{count}");
    }
}
