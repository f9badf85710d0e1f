//! Eleven cards under KDiskMark (docs/reference/reports.md#microsd-speed-comparison): statements of its text, as
//! figures or as bounds of this project.

use super::page::{RowGroup, RowSource};
use super::row::FidelityRow;
use crate::common::{GIB, MIB, direct_plan, open_card, random_4k_speed, run_ios, sequential_speed};
use cardscope_simulator::SimTarget;

pub(crate) const GROUP: RowGroup = RowGroup {
    title: "Eleven cards under KDiskMark",
    note: "Each figure is of a card of its own: the test file of 64 MiB or 1 GiB is written in order, then the test runs on it. \
SEQ1M Q8T1 runs five times over the file; RND4K takes 100 000 I/Os over 64 MiB and 300 000 over 1 GiB. Figures with a unit are \
KDiskMark's: ours ÷ 1.024. Where the text only says something, the bound is ours.",
    rows: RowSource::Quick(rows),
};

const PRO: &str = "sim:pro-64g-u3";
const PLUS: &str = "sim:proplus-128g-a2";
const START: u64 = 192 * MIB;

/// Card with the test file written.
fn prepared(name: &str, file: u64) -> SimTarget {
    let mut card = open_card(name);
    sequential_speed(&mut card, true, MIB, 1, START, file);
    card
}

/// SEQ1M Q8T1 in MB/s as KDiskMark prints it.
fn seq1m(name: &str, write: bool, file: u64) -> f64 {
    let mut card = prepared(name, file);
    let places = (0..5 * file / MIB).map(|i| START + i * MIB % file);
    (5 * file) as f64 / 1.024e6 / run_ios(&mut card, &direct_plan(8, MIB), write, places)
}

/// RND4K in MB/s as KDiskMark prints it.
fn rnd4k(name: &str, write: bool, depth: u32, file: u64) -> f64 {
    let count = if file > 64 * MIB { 300_000 } else { 100_000 };
    random_4k_speed(&mut prepared(name, file), write, depth, START, file, count) / 1.024
}

fn row(card: &str, what: &str, unit: &'static str) -> FidelityRow {
    FidelityRow::new(card, what, "001", unit)
}

fn rows() -> Vec<FidelityRow> {
    [pro(), pro_plus(), both(), queues(), old_cards(), fake()].concat()
}

fn pro() -> Vec<FidelityRow> {
    let reads = [64 * MIB, GIB].map(|file| rnd4k(PRO, false, 1, file));
    vec![
        row(PRO, "RND4K Q1 write, 64 MiB", "MB/s").within_percent(2.32, 10.0).with_result(rnd4k(
            PRO,
            true,
            1,
            64 * MIB,
        )),
        row(PRO, "RND4K Q1 write, 1 GiB", "MB/s")
            .within_percent(0.58, 10.0)
            .with_result(rnd4k(PRO, true, 1, GIB)),
        row(PRO, "RND4K Q1 read, 64 MiB", "MB/s").within_percent(8.0, 10.0).with_result(reads[0]),
        row(PRO, "RND4K Q32 read, 64 MiB", "MB/s").within_percent(8.5, 10.0).with_result(rnd4k(
            PRO,
            false,
            32,
            64 * MIB,
        )),
        row(PRO, "RND4K Q1 read, 1 GiB as a share of 64 MiB", "")
            .within_percent(0.70, 10.0)
            .with_printed("\"decreases significantly (-30 %)\"")
            .with_result(reads[1] / reads[0]),
        row(PRO, "SEQ1M Q8 read, 1 GiB", "MB/s")
            .within_percent(90.0, 10.0)
            .with_result(seq1m(PRO, false, GIB)),
        row(PRO, "RND4K Q1 write, 1 GiB, times that of evo-64g-u3", "")
            .between(0.5, 2.0)
            .with_printed("\"long-term basically the same performance as the Evo\"")
            .with_result(rnd4k(PRO, true, 1, GIB) / rnd4k("sim:evo-64g-u3", true, 1, GIB)),
    ]
}

fn pro_plus() -> Vec<FidelityRow> {
    let reads = [64 * MIB, GIB].map(|file| rnd4k(PLUS, false, 1, file));
    let a1 = |name: &'static str| {
        let iops = |write| rnd4k(name, write, 32, GIB) * 1.024e6 / 4096.0;
        [
            row(name, "RND4K Q32 read, 1 GiB: A1, not A2", "IOPS")
                .between(1500.0, 4000.0)
                .with_result(iops(false)),
            row(name, "RND4K Q32 write, 1 GiB: A1, not A2", "IOPS")
                .between(500.0, 2000.0)
                .with_result(iops(true)),
        ]
    };
    let mut rows = vec![
        row(PLUS, "RND4K Q1 write, 64 MiB", "MB/s").within_percent(2.21, 10.0).with_result(rnd4k(
            PLUS,
            true,
            1,
            64 * MIB,
        )),
        row(PLUS, "RND4K Q1 write, 1 GiB", "MB/s")
            .within_percent(2.13, 10.0)
            .with_result(rnd4k(PLUS, true, 1, GIB)),
        row(PLUS, "RND4K Q1 read, 64 MiB", "MB/s").within_percent(8.5, 10.0).with_result(reads[0]),
        row(PLUS, "RND4K Q32 read, 64 MiB", "MB/s").within_percent(9.5, 10.0).with_result(rnd4k(
            PLUS,
            false,
            32,
            64 * MIB,
        )),
        row(PLUS, "RND4K Q1 read, 1 GiB as a share of 64 MiB", "")
            .at_least(0.95)
            .with_printed("\"doesn't budge\"")
            .with_result(reads[1] / reads[0]),
        row(PLUS, "SEQ1M Q8 read, 1 GiB", "MB/s")
            .within_percent(150.0, 10.0)
            .with_result(seq1m(PLUS, false, GIB)),
    ];
    rows.extend(a1(PLUS));
    rows.extend(a1("sim:evoplus-256g-a2"));
    rows
}

fn both() -> Vec<FidelityRow> {
    let evo = "sim:evoplus-256g-a2";
    let sequential = |file| seq1m(PRO, true, file) / seq1m(PLUS, true, file);
    let queued = rnd4k(PLUS, true, 32, GIB) / rnd4k(PRO, true, 32, GIB);
    vec![
        row(PRO, "SEQ1M Q8 write, 64 MiB, times that of proplus-128g-a2", "")
            .between(3.0, 4.0)
            .with_printed("\"a factor of 3 to 4\"")
            .with_result(sequential(64 * MIB)),
        row(PRO, "SEQ1M Q8 write, 1 GiB, times that of proplus-128g-a2", "")
            .between(1.5, 2.0)
            .with_printed("\"a factor of 1.5-2 under load\"")
            .with_result(sequential(GIB)),
        row(PLUS, "RND4K Q32 write, 64 MiB, times that of pro-64g-u3", "")
            .between(1.8, 2.2)
            .with_printed("\"close to +100 %\"")
            .with_result(rnd4k(PLUS, true, 32, 64 * MIB) / rnd4k(PRO, true, 32, 64 * MIB))
            .with_reason(
                "the PRO's queue makes every write cheaper by one factor, fitted over 1 GiB; a card that sorts queued writes by \
                 erase block would gain little over 64 MiB, and the model has no such queue.",
            ),
        row(PLUS, "RND4K Q32 write, 1 GiB, times that of pro-64g-u3", "")
            .between(1.8, 2.2)
            .with_printed("\"always close to +100 %\"")
            .with_result(queued),
        row(evo, "SEQ1M Q8 read, 1 GiB, times that of proplus-128g-a2", "")
            .at_least(1.0)
            .with_printed("\"faster reads\"")
            .with_result(seq1m(evo, false, GIB) / seq1m(PLUS, false, GIB)),
        row(evo, "SEQ1M Q8 write, 1 GiB, times that of proplus-128g-a2", "")
            .at_most(1.0)
            .with_printed("\"but slower writes\"")
            .with_result(seq1m(evo, true, GIB) / seq1m(PLUS, true, GIB)),
    ]
}

fn queues() -> Vec<FidelityRow> {
    let gain = |name: &str| rnd4k(name, true, 32, GIB) / rnd4k(name, true, 1, GIB);
    vec![
        row("evoplus-32g-u1-fakeq", "RND4K write, 1 GiB, Q32 as a share of Q1", "")
            .at_most(0.05)
            .with_printed("\"queue support is fake and at Q32, writing basically comes to a halt\"")
            .with_result(gain("sim:evoplus-32g-u1-fakeq")),
        row("evo-64g-u3", "RND4K write, 1 GiB, Q32 times Q1", "")
            .at_least(1.5)
            .with_printed("\"benefits significantly from queued writes\"")
            .with_result(gain("sim:evo-64g-u3")),
    ]
}

fn old_cards() -> Vec<FidelityRow> {
    let (ultra, extreme, black) =
        ("sim:sandisk-ultra-16g-u1", "sim:sandisk-extreme-16g-u3", "sim:samsung-32g-c10");
    let random = |name: &str| rnd4k(name, true, 1, GIB);
    vec![
        row(black, "RND4K Q1 write, 64 MiB times 1 GiB", "")
            .at_least(5.0)
            .with_printed("\"Writes totally crash once buffer is full\"")
            .with_result(rnd4k(black, true, 1, 64 * MIB) / random(black)),
        row(extreme, "SEQ1M Q8 write, 1 GiB, times that of sandisk-ultra-16g-u1", "")
            .at_least(3.0)
            .with_printed("\"a whopping performance boost…\"")
            .with_result(seq1m(extreme, true, GIB) / seq1m(ultra, true, GIB)),
        row(extreme, "RND4K Q1 write, 1 GiB, times that of sandisk-ultra-16g-u1", "")
            .at_most(1.7)
            .with_printed("\"…except for 4k writes\"")
            .with_result(random(extreme) / random(ultra)),
        row("oem-8g-bad4k", "RND4K Q1 write, 1 GiB", "IOPS")
            .at_most(2.0)
            .with_printed("\"TERRIBLE old junk (write IOPs!)\"")
            .with_result(seconds_each("sim:oem-8g-bad4k").recip()),
        row("sdsc-2g", "RND4K Q1 write, 1 GiB", "IOPS")
            .at_most(10.0)
            .with_printed("\"Terrible old junk\"")
            .with_result(seconds_each("sim:sdsc-2g").recip()),
    ]
}

/// Seconds of a random 4 KiB write, on cards so slow that 2 000 are enough.
fn seconds_each(name: &str) -> f64 {
    4096e-6 / random_4k_speed(&mut prepared(name, GIB), true, 1, START, GIB, 2_000)
}

fn fake() -> Vec<FidelityRow> {
    let fake = "sim:sandian-1tb-52g";
    let usable = open_card(fake).truth().usable_bytes as f64 / 1e9;
    let slower = |what: &str, ours: f64| {
        row(fake, what, "").at_most(1.0).with_printed("\"slower in every other category\"").with_result(ours)
    };
    vec![
        row(fake, "usable of 1 TB", "GB").within_percent(52.0, 0.1).with_result(usable),
        row(fake, "RND4K Q1 write, 64 MiB, times that of proplus-128g-a2", "")
            .at_least(1.2)
            .with_printed("\"Surprisingly high 4K write performance\"")
            .with_result(rnd4k(fake, true, 1, 64 * MIB) / rnd4k(PLUS, true, 1, 64 * MIB)),
        slower("RND4K Q1 read, 64 MiB, times that of proplus-128g-a2", {
            rnd4k(fake, false, 1, 64 * MIB) / rnd4k(PLUS, false, 1, 64 * MIB)
        }),
        slower("SEQ1M Q8 read, 1 GiB, times that of proplus-128g-a2", {
            seq1m(fake, false, GIB) / seq1m(PLUS, false, GIB)
        }),
        slower("SEQ1M Q8 write, 1 GiB, times that of proplus-128g-a2", {
            seq1m(fake, true, GIB) / seq1m(PLUS, true, GIB)
        }),
    ]
}
