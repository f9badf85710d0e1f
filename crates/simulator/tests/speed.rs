//! What the model itself costs an I/O. Measures, so it is run by hand and optimised:
//! `cargo test --release -p cardscope-simulator --test speed -- --ignored --nocapture`.

#![allow(clippy::unwrap_used, reason = "a helper that fails ends its test, as an assertion does")]

mod common;
use cardscope_engine::target::Target;
use common::{GIB, MIB, card, io, plan};
use std::time::Instant;

const IOS: u64 = 20_000_000;

/// Nanoseconds of this computer for one 4 KiB I/O, the loop that drives it included.
fn cost(name: &str, write: bool, depth: u32) -> f64 {
    let mut card = card(name);
    card.plan(&plan(1, GIB)).unwrap();
    card.submit(&io(0, true, 192 * MIB, GIB)).unwrap();
    let mut done = Vec::with_capacity(depth as usize);
    card.complete(1, &mut done).unwrap();
    card.plan(&plan(depth, 4096)).unwrap();
    done.clear();
    let mut state = 1u64;
    let mut next = |slot| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        io(slot, write, 192 * MIB + (state >> 46) * 4096, 4096)
    };
    (0..depth).for_each(|slot| card.submit(&next(slot)).unwrap());
    let start = Instant::now();
    let mut ended = 0;
    while ended < IOS {
        card.complete(1, &mut done).unwrap();
        for completion in done.drain(..) {
            ended += 1;
            card.submit(&next(completion.slot)).unwrap();
        }
    }
    start.elapsed().as_nanos() as f64 / IOS as f64
}

#[test]
#[ignore = "measures: run it optimised, alone"]
fn an_io_costs_less_than_150_ns() {
    for (name, write, depth) in [
        ("sim:lexar-1tb-express", false, 1),
        ("sim:lexar-1tb-express", true, 1),
        ("sim:lexar-1tb-express", false, 32),
        ("sim:lexar-1tb-express", true, 64),
        ("sim:sandisk-extremepro-32g-a1", true, 1),
        ("sim:lexar-16g-c10", true, 1),
        ("sim:constant", false, 32),
    ] {
        let ns = cost(name, write, depth);
        println!("{name} {} Q{depth}: {ns:.0} ns an I/O", if write { "write" } else { "read" });
        // The hybrid card is left out: its random writes cost it a merge each, so a session has few of them.
        assert!(ns < 150.0 || name.contains("16g"), "{name}: {ns:.0} ns an I/O");
    }
}
