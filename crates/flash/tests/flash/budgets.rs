//! Time budgets of maps on simulated cards.

use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::IoDriver;
use cardscope_engine::target::{Target, TargetRegion};
use cardscope_flash::probe as map;
use cardscope_journal::restoring::restore_from_journal;
use cardscope_model::card_map::MeasuredMap;
use cardscope_probing::context::ProbeLimits;
use cardscope_probing::io_size::{PROBE_BLOCK, PROBE_DEPTH};
use cardscope_probing::write_scope::WriteScope;
use cardscope_simulator::SimTarget;
use cardscope_testkit::memory_journal::MemoryJournal;
use std::time::Duration;

const MIB: u64 = 1 << 20;

/// Seconds of the card's clock for a map and the restoration after it.
fn map_in_budget(name: &str, budget: f64) -> f64 {
    let mut target = SimTarget::open_named(name).unwrap();
    let region = TargetRegion { start: 0, len: target.info().bytes };
    let mut memory = MemoryJournal::default();
    let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), PROBE_BLOCK, PROBE_DEPTH).unwrap();
    let began = card.seconds();
    let limits = ProbeLimits {
        seed: 4,
        region,
        max_write: Some(320 * MIB),
        budget: Some(Duration::from_secs_f64(budget)),
    };
    let wanted = map::MapOptions {
        limits,
        card_addresses: true,
        writes: true,
        fat: false,
        max_cache_bytes: 64 * MIB,
        claimed_unit: None,
        open_block_unit: None,
        flashbench_tables: false,
        only: Vec::new(),
    };
    let mut measured = MeasuredMap::default();
    map::measure_map(&mut card, WriteScope::new(Some(&mut memory)), &wanted, &mut Silent, &mut measured)
        .unwrap();
    restore_from_journal(&mut card, &mut memory, &mut Silent).unwrap();
    card.seconds() - began
}

#[test]
fn time_budget_of_a_map_includes_restoring() {
    for latency in [0.001, 0.02, 0.2, 1.0] {
        for budget in [10.0, 30.0] {
            let name = format!("sim:constant?announced_bytes=4GB&command_s={latency}");
            let took = map_in_budget(&name, budget);
            assert!(took <= 1.1 * budget + latency, "{name}: {took:.2} s of {budget} s");
        }
    }
}
