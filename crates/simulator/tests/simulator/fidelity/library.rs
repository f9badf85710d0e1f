//! All cards together: the spread of docs/reference/reports.md#sd-card-round-up over its cards, and the random writes
//! computed for each archetype.

use super::flashbench::{AU, open_au_speed};
use super::page::{RowGroup, RowSource};
use super::row::FidelityRow;
use crate::common::{GIB, KIB, MIB, direct_plan, open_card, random_4k_speed, run_ios, sequential_speed};
use cardscope_engine::target::Target;
use cardscope_simulator::Archetype;
use cardscope_simulator::archetype::CARDS;

pub(crate) const GROUP: RowGroup = RowGroup {
    title: "The library as a whole",
    note: "The source's spread must lie inside the library's: SEQ 1 MiB over 1000 MiB (or what there is) of each SD archetype, with the Pi's bus \
replaced by one of 104 MB/s. Random writes: 4 KiB, one at a time, over 64 MiB and 1 GiB of an untouched card, 100 000 I/Os, \
2 000 where each merges a block.",
    rows: RowSource::Quick(rows),
};

const START: u64 = 192 * MIB;

fn rows() -> Vec<FidelityRow> {
    [spread(), random_writes(), small_log(), two_valued_reads()].concat()
}

/// SD cards, each in a reader that does not limit it.
fn sd_cards() -> Vec<String> {
    let is_sd = |name: &&str| Archetype::load(name).unwrap().identity.sd.is_some();
    CARDS.names().filter(is_sd).map(|name| format!("sim:{name}?bus_mb_s=104")).collect()
}

/// Cards as old as the round-up, which is of 2013.
const OLD: [&str; 8] = [
    "sdsc-2g",
    "oem-8g-bad4k",
    "wb6-hard3",
    "wb3-full6",
    "sandisk-su04g",
    "samsung-32g-c10",
    "sandisk-extremepro-8g-u1",
    "lexar-16g-c10",
];

fn spread() -> Vec<FidelityRow> {
    let speeds = |write: bool| -> Vec<f64> {
        sd_cards()
            .iter()
            .map(|name| {
                let mut card = open_card(name);
                let room = card.info().bytes - START;
                sequential_speed(&mut card, write, MIB, 1, START, room.min(1000 * MIB))
            })
            .collect()
    };
    let least = |list: &[f64]| list.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |list: &[f64]| list.iter().copied().fold(0.0, f64::max);
    let (reads, writes) = (speeds(false), speeds(true));
    let random: Vec<f64> = OLD.iter().map(|name| random_write(&format!("sim:{name}"), 1000 * MIB)).collect();
    let row = |what: &str, unit| FidelityRow::new("all SD cards", what, "002", unit);
    vec![
        row("slowest read", "MB/s")
            .at_most(11.78 * 1.05)
            .with_printed("11.78 MB/s")
            .with_result(least(&reads)),
        row("fastest read", "MB/s").at_least(83.56).with_printed("83.56 MB/s").with_result(most(&reads)),
        row("slowest write", "MB/s").at_most(5.357).with_printed("5.357 MB/s").with_result(least(&writes)),
        row("fastest write", "MB/s").at_least(64.14).with_printed("64.140 MB/s").with_result(most(&writes)),
        FidelityRow::new(
            "cards up to 2013",
            "4 KiB random write over 1000 MB, fastest ÷ slowest",
            "002",
            "×",
        )
        .between(250.0, 400.0)
        .with_printed("\"approximately 300-fold\"")
        .with_result(most(&random) / least(&random)),
        FidelityRow::new(
            "sandisk-su04g",
            "4 KiB random write, times the next best of the cards up to 2013",
            "002",
            "×",
        )
        .at_least(1.0)
        .with_printed("\"the fastest 4k write card is actually a Class 4 card\"")
        .with_result(random[4] / most(&[&random[..4], &random[5..]].concat())),
    ]
}

/// MB/s of random 4 KiB writes over a span.
fn random_write(name: &str, span: u64) -> f64 {
    let mut target = open_card(name);
    let first = random_4k_speed(&mut target, true, 1, START, span, 2_000);
    if first < 0.05 { first } else { random_4k_speed(&mut open_card(name), true, 1, START, span, 100_000) }
}

/// Computed MB/s over 64 MiB and over 1 GiB.
const COMPUTED: &[(&str, f64, f64)] = &[
    ("sdsc-2g", 0.016, 0.016),
    ("wb6-hard3", 0.19, 0.19),
    ("wb3-full6", 0.005, 0.005),
    ("sandisk-su04g", 1.0, 1.0),
    ("samsung-32g-c10", 1.48, 0.16),
    ("sandisk-ultra-16g-u1", 1.64, 0.53),
    ("sandisk-extreme-16g-u3", 2.65, 0.86),
    ("sandisk-extremepro-32g-a1", 5.0, 1.8),
    ("evoplus-32g-u1-fakeq", 4.2, 1.1),
    ("evo-64g-u3", 2.5, 0.96),
    ("pro-64g-u3", 2.31, 0.581),
    ("proplus-128g-a2", 2.21, 2.13),
    ("evoplus-256g-a2", 1.99, 1.90),
    ("a2-label-only", 4.0, 1.9),
    ("sandian-1tb-52g", 3.3, 0.84),
];

const OPEN_BLOCKS_HELP: &str = "the figure is that of a write to a closed block; 6 of the 16 blocks of 64 MiB are open, and every \
third write finds its block among them.";

fn random_writes() -> Vec<FidelityRow> {
    let row = |name: &str, what: &str| {
        FidelityRow::new(name, format!("4 KiB random write over {what}"), "model", "MB/s")
    };
    let mut rows = Vec::new();
    for (name, small, large) in COMPUTED {
        let sim = format!("sim:{name}");
        let over_64 =
            row(name, "64 MiB").within_percent(*small, 10.0).with_result(random_write(&sim, 64 * MIB));
        rows.push(if *name == "wb3-full6" { over_64.with_reason(OPEN_BLOCKS_HELP) } else { over_64 });
        rows.push(row(name, "1 GiB").within_percent(*large, 10.0).with_result(random_write(&sim, GIB)));
    }
    for (what, span) in [("64 MiB", 64 * MIB), ("1 GiB", GIB)] {
        // The computed figure has one digit.
        let one_digit = row("oem-8g-bad4k", what).between(0.0035, 0.0045).with_printed("0.004 MB/s");
        rows.push(one_digit.with_result(random_write("sim:oem-8g-bad4k", span)));
    }
    let few = random_4k_speed(&mut open_card("sim:wb3-full6"), true, 1, START, 6 * AU, 20_000);
    rows.push(row("wb3-full6", "6 blocks").within_percent(0.3, 10.0).with_result(few));
    let chip = random_4k_speed(&mut open_card("sim:sdnand-0.5g"), true, 1, START, 64 * MIB, 20_000);
    rows.push(row("sdnand-0.5g", "64 MiB").within_percent(1.6, 10.0).with_result(chip));
    rows
}

/// SanDisk with a soft limit and a log for small writes: log 1 of the flashbench collection.
fn small_log() -> Vec<FidelityRow> {
    let name = "sim:sandisk-su04g";
    let row = |what: &str, unit| FidelityRow::new(name, what, "wirenboard", unit);
    let shuffled = |block: u64| {
        let mut target = open_card(name);
        open_au_speed(&mut target, 2, 4 * MIB, false);
        block as f64 / 1e3 / open_au_speed(&mut target, 2, block, true)
    };
    let in_turn = |n: u64, block: u64| {
        let mut target = open_card(name);
        open_au_speed(&mut target, n, 2 * block, false);
        open_au_speed(&mut target, n, block, false)
    };
    let soft = |block: u64| in_turn(5, block) / in_turn(4, block);
    vec![
        row("4 KiB shuffled in two blocks", "ms")
            .between(3.5, 4.5)
            .with_printed("3.9 ms")
            .with_result(shuffled(4 * KIB)),
        row("8 KiB shuffled in two blocks", "ms")
            .between(5.0, 9.0)
            .with_printed("6.5 ms")
            .with_result(shuffled(8 * KIB)),
        row("16 KiB shuffled in two blocks", "ms")
            .within_percent(60.0, 20.0)
            .with_printed("50 to 70 ms")
            .with_result(shuffled(16 * KIB)),
        row("64 KiB shuffled in two blocks", "ms").within_percent(62.0, 20.0).with_result(shuffled(64 * KIB)),
        row("five blocks in turn, 256 KiB, as a share of four", "")
            .between(0.2, 0.5)
            .with_result(soft(256 * KIB)),
        row("five blocks in turn, 1 MiB, as a share of four", "").between(0.2, 0.5).with_result(soft(MIB)),
    ]
}

/// SD NAND chip: file 32 of the flashbench collection.
fn two_valued_reads() -> Vec<FidelityRow> {
    let name = "sim:sdnand-0.5g";
    let row = |what: &str, unit| FidelityRow::new(name, what, "wirenboard", unit);
    let mut chip = open_card(name);
    sequential_speed(&mut chip, true, MIB, 1, 0, 128 * MIB);
    let read = |chip: &mut cardscope_simulator::SimTarget, from: u64| {
        let places = (0..200).map(|i| from + (i * 37 % 200) * 512 * KIB + 64 * KIB);
        run_ios(chip, &direct_plan(1, KIB), false, places) / 200.0 * 1e3
    };
    vec![
        row("1 KiB read where nothing was written", "ms")
            .within_percent(0.23, 5.0)
            .with_result(read(&mut chip, 256 * MIB)),
        row("1 KiB read where something was", "ms")
            .within_percent(1.6, 5.0)
            .with_printed("1.59 to 1.64 ms")
            .with_result(read(&mut chip, 0)),
        row("4 KiB in order", "MB/s").within_percent(7.1, 5.0).with_result(sequential_speed(
            &mut open_card(name),
            true,
            4 * KIB,
            1,
            START,
            16 * MIB,
        )),
        row("two blocks in turn, 4 KiB", "MB/s").within_percent(1.78, 5.0).with_result(open_au_speed(
            &mut open_card(name),
            2,
            4 * KIB,
            false,
        )),
        row("two blocks in turn, 16 KiB", "MB/s").within_percent(4.08, 5.0).with_result(open_au_speed(
            &mut open_card(name),
            2,
            16 * KIB,
            false,
        )),
        row("two blocks in turn, 64 KiB", "MB/s").within_percent(6.04, 5.0).with_result(open_au_speed(
            &mut open_card(name),
            2,
            64 * KIB,
            false,
        )),
        row("seven blocks in turn, 4 KiB", "MB/s").within_percent(1.57, 15.0).with_result(open_au_speed(
            &mut open_card(name),
            7,
            4 * KIB,
            false,
        )),
        row("read in order, 1 MiB", "MB/s").within_percent(23.3, 10.0).with_result(sequential_speed(
            &mut chip,
            false,
            MIB,
            1,
            0,
            64 * MIB,
        )),
    ]
}
