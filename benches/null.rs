//! What the engine costs for one I/O on a target that answers at once: the clock, the histogram and the choice of
//! the next place included. The figure to reach is 100 ns.

use cardscope_engine::null_target;

fn main() {
    let mut runs: Vec<_> = (0..30).filter_map(|_| null_target::engine_cost()).collect();
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let q1 = median(&mut runs.iter().map(|o| o.q1_ns).collect());
    let q32 = median(&mut runs.drain(..).map(|o| o.q32_ns).collect());
    println!("null target, 4 KiB random read: {q1:.0} ns at Q1, {q32:.0} ns at Q32 (median of 30)");
}
