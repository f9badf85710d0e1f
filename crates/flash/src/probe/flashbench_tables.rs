//! Table layout and access order that the flashbench tables share (docs/reference/tools.md#flashbench).

use cardscope_model::card_map::FlashbenchTable;

pub(super) fn new_table(
    kind: &str,
    parameters: &[(&str, u64)],
    rows: Vec<(u64, Vec<f64>)>,
) -> FlashbenchTable {
    let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    FlashbenchTable { kind: kind.to_owned(), parameters, rows }
}

/// Feedback taps of maximal shift registers of 8 to 16 bits, lowest bits first.
const TAPS: [u16; 9] = [0x1d, 0x11, 0x09, 0x05, 0x53, 0x1b, 0x2b, 0x03, 0x2d];

/// Numbers below `n` in flashbench's pseudo-random order: 0, then the states below `n` of a maximal shift register
/// with 8 to 16 bits that starts at 0xace1.
pub(super) fn shuffled_numbers(n: u64) -> Vec<u64> {
    let width = (64 - n.saturating_sub(1).leading_zeros()).clamp(8, 16);
    let mask = (1u32 << width) - 1;
    let taps = u32::from(TAPS[width as usize - 8]);
    let first = mask & 0xace1;
    let mut state = first;
    let mut order = vec![0];
    loop {
        if u64::from(state) < n {
            order.push(u64::from(state));
        }
        let bit = (state & taps).count_ones() & 1;
        state = state >> 1 | bit << (width - 1);
        if state == first || order.len() as u64 >= n {
            break;
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_contains_every_number_once() {
        for n in [1, 2, 3, 5, 6, 64, 256, 257, 1000, 1024, 4096, 10_000, 65_536] {
            let mut order = shuffled_numbers(n);
            assert_eq!(order.len() as u64, n, "{n}");
            order.sort_unstable();
            assert_eq!(order, (0..n).collect::<Vec<_>>(), "{n}");
        }
    }
}
