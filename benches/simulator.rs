//! What the card model costs this computer: 4 KiB I/Os a second on one core by family, with the loop that drives
//! them, and a card of 1 TB written whole, with the memory that takes. The peer is MQSim, which by its own
//! measure of one core simulates 51 000 to 82 000 requests a second in 2.3 GB; it is not run here.
//!
//! `cargo bench -p cardscope-simulator --bench simulator`, alone on a quiet machine; `-- lexar-16g` for some cards only.

#![allow(clippy::unwrap_used, reason = "a bench that cannot go on ends with its reason")]

use cardscope_engine::content::IoContent;
use cardscope_engine::target::{IoDirection, IoRequest, LanePlan, Target};
use cardscope_model::recipe::KernelPath;
use cardscope_simulator::SimTarget;
use std::time::Instant;

const MIB: u64 = 1 << 20;
const IOS: u64 = 20_000_000;

/// MQSim's best figure, in requests a second.
const MQSIM: f64 = 82_000.0;

/// Where the I/Os go.
#[derive(Clone, Copy)]
enum Places {
    /// Evenly over a span in MiB.
    Over(u64),
    /// In order, in this many allocation units of 4 MiB in turn.
    InTurn(u64),
}

struct Case {
    card: &'static str,
    write: bool,
    depth: u32,
    places: Places,
}

const fn case(card: &'static str, write: bool, depth: u32, places: Places) -> Case {
    Case { card, write, depth, places }
}

const CASES: &[Case] = &[
    case("sim:lexar-1tb-express", false, 1, Places::Over(1024)),
    case("sim:lexar-1tb-express", true, 1, Places::Over(1024)),
    case("sim:lexar-1tb-express", false, 32, Places::Over(1024)),
    case("sim:lexar-1tb-express", true, 64, Places::Over(1024)),
    case("sim:a2-command-queue", true, 32, Places::Over(1024)),
    case("sim:sandisk-extremepro-32g-a1", true, 1, Places::Over(1024)),
    case("sim:lexar-16g-c10", false, 1, Places::Over(1024)),
    case("sim:lexar-16g-c10", true, 1, Places::InTurn(1)),
    case("sim:lexar-16g-c10", true, 1, Places::InTurn(4)),
    case("sim:lexar-16g-c10", true, 1, Places::Over(16)),
    case("sim:constant", false, 32, Places::Over(1024)),
];

fn main() {
    if std::env::args().any(|a| a == "--whole-card") {
        return whole_card();
    }
    println!(
        "| card | pattern | ns an I/O | million I/Os a second | times MQSim |\n| --- | --- | --- | --- | --- |"
    );
    // cargo itself hands over options, which begin with a dash.
    let wanted = std::env::args().skip(1).find(|a| !a.starts_with('-')).unwrap_or_default();
    for case in CASES.iter().filter(|case| case.card.contains(&wanted)) {
        let ns = cost(case);
        let rate = 1e9 / ns;
        println!("| {} | {} | {ns:.0} | {:.1} | {:.0} |", case.card, words(case), rate / 1e6, rate / MQSIM);
    }
    // In a process of its own, so that its memory is nobody else's.
    let program = std::env::current_exe().unwrap();
    let status = std::process::Command::new(program).arg("--whole-card").status().unwrap();
    assert!(status.success());
}

fn words(case: &Case) -> String {
    let direction = if case.write { "write" } else { "read" };
    match case.places {
        Places::Over(mib) => format!("RND4K Q{} {direction} over {mib} MiB", case.depth),
        Places::InTurn(1) => format!("SEQ4K Q{} {direction}", case.depth),
        Places::InTurn(units) => format!("4 KiB {direction}s in {units} units in turn"),
    }
}

/// Nanoseconds for one I/O.
fn cost(case: &Case) -> f64 {
    let mut card = SimTarget::open_named(case.card).unwrap();
    fill(&mut card);
    card.plan(&plan(case.depth, 4096)).unwrap();
    let direction = if case.write { IoDirection::Write } else { IoDirection::Read };
    let mut next = places(case.places);
    let mut io = |slot| IoRequest {
        slot,
        direction,
        offset: 192 * MIB + next(),
        len: 4096,
        content: IoContent::Noise,
    };
    let mut done = Vec::with_capacity(case.depth as usize);
    (0..case.depth).for_each(|slot| card.submit(&io(slot)).unwrap());
    let (start, mut ended) = (Instant::now(), 0);
    while ended < IOS {
        card.complete(1, &mut done).unwrap();
        for completion in done.drain(..) {
            ended += 1;
            card.submit(&io(completion.slot)).unwrap();
        }
    }
    start.elapsed().as_nanos() as f64 / ended as f64
}

fn places(places: Places) -> impl FnMut() -> u64 {
    let (mut state, mut turn) = (1u64, 0u64);
    move || match places {
        Places::Over(mib) => {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) % (mib * 256) * 4096
        }
        Places::InTurn(units) => {
            let (unit, block) = (turn % units, turn / units);
            turn += 1;
            (block / 1024 * units + unit) % 2048 * 4 * MIB + block % 1024 * 4096
        }
    }
}

fn plan(depth: u32, block: u64) -> LanePlan {
    LanePlan { depth, block, path: KernelPath::Direct, sync_each: false, own_buffers: false }
}

fn fill(card: &mut SimTarget) {
    card.plan(&plan(1, 1 << 30)).unwrap();
    let io = IoRequest {
        slot: 0,
        direction: IoDirection::Write,
        offset: 192 * MIB,
        len: 1 << 30,
        content: IoContent::Noise,
    };
    card.submit(&io).unwrap();
    card.complete(1, &mut Vec::new()).unwrap();
}

/// Writes 1 TB in I/Os of 1 MiB.
fn whole_card() {
    let start = Instant::now();
    let mut card = SimTarget::open_named("sim:lexar-1tb-express").unwrap();
    card.plan(&plan(1, MIB)).unwrap();
    let (mut done, mut offset, end) = (Vec::new(), 0, card.info().bytes / MIB * MIB);
    while offset < end {
        let content = IoContent::Stream { seed: 7 };
        card.submit(&IoRequest { slot: 0, direction: IoDirection::Write, offset, len: MIB as u32, content })
            .unwrap();
        card.complete(1, &mut done).unwrap();
        done.clear();
        offset += MIB;
    }
    println!(
        "\nlexar-1tb-express written whole ({:.0} GB) in 1 MiB I/Os: {:.2} s of this computer for {:.0} s of the card, {} at most",
        end as f64 / 1e9,
        start.elapsed().as_secs_f64(),
        card.now() as f64 / 1e9,
        peak_memory()
    );
}

/// The most memory that this process had, as Linux keeps it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.map_or("?".to_owned(), |kib| kib.trim().to_owned())
}
