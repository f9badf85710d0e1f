//! Access patterns of flashbench for several cards (docs/reference/tools.md#flashbench).

use crate::common::{MIB, direct_plan, run_ios};
use cardscope_simulator::SimTarget;

/// Erase block for which all these cards were tested.
pub(crate) const AU: u64 = 4 * MIB;

/// Feedback masks of maximal shift registers of 8 to 11 bits.
const MASKS: [(u32, u64); 4] = [(8, 0xb8), (9, 0x110), (10, 0x240), (11, 0x500)];

/// Order in which flashbench visits `count` places: ascending, or shuffled by a shift register whose values from
/// `count` on are skipped, with zero last.
fn visit_order(count: u64, random: bool) -> Vec<u64> {
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

/// MB/s of `--open-au`: each position written in each of `n` erase blocks, which are 12 blocks apart.
pub(crate) fn open_au_speed(card: &mut SimTarget, n: u64, block: u64, random: bool) -> f64 {
    let places = visit_order(AU / block, random)
        .into_iter()
        .flat_map(|position| (0..n).map(move |au| 16 * MIB + au * 12 * AU + position * block));
    (n * AU) as f64 / 1e6 / run_ios(card, &direct_plan(1, block), true, places)
}

#[test]
fn shuffled_order_visits_each_place_once() {
    for count in [1, 2, 4, 64, 512, 1024] {
        let mut places = visit_order(count, true);
        places.sort_unstable();
        assert_eq!(places, visit_order(count, false), "{count}");
    }
}
