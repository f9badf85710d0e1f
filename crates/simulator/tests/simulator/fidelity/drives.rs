//! Cards and drives mapped by page or behind USB: figures computed from their parameters, and those of an SSD on a
//! Raspberry Pi 4 (docs/reference/reports.md#raspberry-pi-comparison).

use super::page::{RowGroup, RowSource};
use super::row::FidelityRow;
use crate::common::{GIB, KIB, MIB, direct_plan, open_card, random_4k_speed, run_ios, sequential_speed};
use cardscope_simulator::SimTarget;

pub(crate) const GROUP: RowGroup = RowGroup {
    title: "Cards with a queue, odd units, sticks and drives",
    note: "In order: 1 MiB blocks one at a time. Random 4 KiB over the span given, Q1 unless said otherwise, 20 000 of them on \
an otherwise empty card.",
    rows: RowSource::Quick(rows),
};

const START: u64 = 192 * MIB;

fn rows() -> Vec<FidelityRow> {
    [a2, ultra, stick, drive_with_fan, drive_without]
        .iter()
        .flat_map(|part: &fn() -> Vec<FidelityRow>| part())
        .collect()
}

/// MB/s of random 4 KiB writes over a span that was written before.
fn random_writes(card: &mut SimTarget, depth: u32, span: u64, count: u64) -> f64 {
    sequential_speed(card, true, MIB, 1, START, span);
    random_4k_speed(card, true, depth, START, span, count / 4);
    random_4k_speed(card, true, depth, START, span, count)
}

fn a2() -> Vec<FidelityRow> {
    let name = "sim:a2-command-queue";
    let row = |what: &str| FidelityRow::new(name, what, "model", "MB/s");
    let iops = |mb_s: f64| mb_s * 1e6 / 4096.0;
    let reads = |depth| {
        let mut a2 = open_card(name);
        sequential_speed(&mut a2, true, MIB, 1, START, 256 * MIB);
        random_4k_speed(&mut a2, false, depth, START, 256 * MIB, 50_000)
    };
    let write = |depth, span| random_writes(&mut open_card(name), depth, span, 20_000);
    let (alone, queued) = (reads(1), reads(32));
    let queued_writes = write(32, GIB);
    let mark = |what: &str| FidelityRow::new(name, what, "model", "IOPS");
    vec![
        row("reads in order").within_percent(160.0, 5.0).with_result(sequential_speed(
            &mut open_card(name),
            false,
            MIB,
            1,
            START,
            512 * MIB,
        )),
        row("writes in order").within_percent(90.0, 5.0).with_result(sequential_speed(
            &mut open_card(name),
            true,
            MIB,
            1,
            START,
            512 * MIB,
        )),
        row("random reads").within_percent(11.4, 5.0).with_result(alone),
        row("random reads at Q32").within_percent(34.0, 5.0).with_result(queued),
        row("random writes over 64 MiB").within_percent(10.0, 10.0).with_result(write(1, 64 * MIB)),
        row("random writes over 1 GiB").within_percent(8.6, 10.0).with_result(write(1, GIB)),
        row("random writes over 1 GiB at Q32").within_percent(14.0, 10.0).with_result(queued_writes),
        mark("A2 reads with a queue").at_least(4000.0).with_result(iops(queued)),
        mark("A2 writes with a queue").at_least(2000.0).with_result(iops(queued_writes)),
        mark("A2 reads without a queue: not met").at_most(3999.0).with_result(iops(alone)),
    ]
}

fn ultra() -> Vec<FidelityRow> {
    let name = "sim:ultra-64g-tlc24";
    let row = |what: &str| FidelityRow::new(name, what, "model", "MB/s");
    let mut ultra = open_card(name);
    vec![
        row("reads in order").within_percent(20.0, 5.0).with_result(sequential_speed(
            &mut ultra,
            false,
            MIB,
            1,
            START,
            256 * MIB,
        )),
        row("writes in order").within_percent(19.2, 5.0).with_result(sequential_speed(
            &mut ultra,
            true,
            MIB,
            1,
            START,
            256 * MIB,
        )),
        row("random reads").within_percent(4.82, 5.0).with_result(random_4k_speed(
            &mut ultra,
            false,
            1,
            START,
            64 * MIB,
            20_000,
        )),
        row("random writes over 64 MiB").within_percent(2.15, 5.0).with_result(random_writes(
            &mut ultra,
            1,
            64 * MIB,
            20_000,
        )),
    ]
}

fn stick() -> Vec<FidelityRow> {
    let name = "sim:usb-stick-tlc";
    let row = |what: &str| FidelityRow::new(name, what, "model", "MB/s");
    let mut stick = open_card(name);
    let fast = sequential_speed(&mut stick, true, MIB, 1, START, GIB);
    let used_up = sequential_speed(&mut stick, true, MIB, 1, START + GIB, GIB + 256 * MIB);
    let slow = sequential_speed(&mut stick, true, MIB, 1, START + 3 * GIB, 256 * MIB);
    let random = |span| random_4k_speed(&mut open_card(name), true, 1, START, span, 500);
    vec![
        row("reads in order").within_percent(120.0, 5.0).with_result(sequential_speed(&mut stick, false, MIB, 1, START, 256 * MIB)),
        row("writes in order into the cache").within_percent(60.0, 5.0).with_result(fast),
        row("writes in order while 2 GB of cache end").between(12.0, 60.0).with_result(used_up),
        row("writes in order past the cache").within_percent(12.0, 5.0).with_result(slow),
        row("random writes over 1 GiB").within_percent(0.01, 20.0).with_result(random(GIB)),
        row("random writes over 64 MiB").within_percent(0.05, 20.0).with_result(random(64 * MIB)).with_reason(
            "each write out of order costs it one merge of 0.35 s wherever it goes; with one open block nothing in the model \
             makes a narrow span cheaper",
        ),
    ]
}

fn drive_with_fan() -> Vec<FidelityRow> {
    let name = "sim:sata-ssd-uasp";
    let row = |what: &str| FidelityRow::new(name, what, "model", "MB/s");
    let mut fan = open_card(name);
    let fast = sequential_speed(&mut fan, true, MIB, 4, START, 4 * GIB);
    let reads = sequential_speed(&mut fan, false, MIB, 4, START, 100 * GIB);
    // Overwriting in place keeps the free bytes as they are; 40 GB of cache in all.
    sequential_speed(&mut fan, true, MIB, 4, START, 38 * GIB);
    let slow = sequential_speed(&mut fan, true, MIB, 4, START, 4 * GIB);
    vec![
        row("reads in order").within_percent(430.0, 5.0).with_result(reads),
        row("writes in order").within_percent(400.0, 5.0).with_result(fast),
        row("writes in order after 42 GiB").within_percent(300.0, 5.0).with_result(slow),
        row("random writes over 1 GiB").within_percent(65.0, 10.0).with_result(random_writes(
            &mut open_card(name),
            1,
            GIB,
            20_000,
        )),
        FidelityRow::new(name, "reads with a fan, after four minutes", "003", "MB/s")
            .at_least(300.0)
            .with_result(reads),
    ]
}

fn drive_without() -> Vec<FidelityRow> {
    let (fan, bare) = ("sim:sata-ssd-uasp", "sim:sata-ssd-uasp?cooling=passive");
    let after_a_while = |name| {
        let mut ssd = open_card(name);
        sequential_speed(&mut ssd, false, MIB, 4, START, 150 * GIB);
        let block = direct_plan(4, 512 * KIB);
        let seconds = run_ios(&mut ssd, &block, false, (0..40_000).map(|i| START + i * 512 * KIB));
        40_000.0 * 0.524288 / seconds
    };
    let ratio = after_a_while(fan) / after_a_while(bare);
    vec![
        FidelityRow::new(bare, "how many times slower than with a fan, once hot", "003", "")
            .between(2.0, 3.0)
            .with_printed("\"2-3x\" less without a fan")
            .with_result(ratio),
    ]
}
