//! Open-au tables of two cards of the public flashbench logs (docs/reference/flash.md#public-logs), cell by cell: 1 to
//! 7 erase blocks in turn, in order and shuffled, at each block size. Figures are MB/s as printed.

use super::flashbench::open_au_speed;
use super::page::{RowGroup, RowSource};
use super::row::FidelityRow;
use crate::common::{KIB, MIB, open_card};
use cardscope_simulator::SimTarget;

pub(crate) const GROUP: RowGroup = RowGroup {
    title: "Two cards of the flashbench logs",
    note: "The tables `--open-au` of one to seven blocks, in order and `--random`, whole, from 4 MiB down to 4 KiB, on one card \
after the other as the logs have it. What is compared are the cells from 16 KiB (6_2) or 4 KiB (3_3) to 1 MiB. Both cards \
sat in a USB reader that cuts commands at 120 KiB, which is part of their rig. \"Beyond the limit\" are the tables with more \
blocks than the card keeps open.",
    rows: RowSource::Quick(rows),
};

/// Block sizes of the columns.
const SIZES: [u64; 9] =
    [MIB, 512 * KIB, 256 * KIB, 128 * KIB, 64 * KIB, 32 * KIB, 16 * KIB, 8 * KIB, 4 * KIB];

/// Log: card, limit of open blocks, and tables of 1 to 7 blocks.
struct OpenAuLog<const N: usize> {
    card: &'static str,
    name: &'static str,
    limit: usize,
    linear: [[f64; N]; 7],
    random: [[f64; N]; 7],
}

const LOG_6_2: OpenAuLog<7> = OpenAuLog {
    card: "sim:wb6-hard3",
    name: "6_2",
    limit: 3,
    linear: [
        [7.13, 7.19, 6.92, 6.76, 10.3, 10.3, 10.4],
        [7.28, 7.08, 6.92, 6.78, 8.46, 7.17, 5.46],
        [7.22, 7.11, 6.9, 6.7, 8.47, 7.17, 5.45],
        [2.12, 1.04, 0.522, 0.262, 0.135, 0.0675, 0.0339],
        [2.12, 1.05, 0.527, 0.266, 0.136, 0.0683, 0.0343],
        [2.14, 1.07, 0.535, 0.269, 0.138, 0.0693, 0.0347],
        [2.14, 1.07, 0.539, 0.271, 0.14, 0.0698, 0.035],
    ],
    random: [
        [3.01, 2.57, 2.02, 1.72, 2.69, 1.96, 2.24],
        [3.0, 2.57, 2.0, 1.72, 2.7, 1.93, 2.22],
        [2.99, 2.56, 2.02, 1.73, 2.73, 1.94, 2.22],
        [2.21, 1.09, 0.545, 0.274, 0.141, 0.0703, 0.0352],
        [2.19, 1.09, 0.545, 0.274, 0.141, 0.0705, 0.0353],
        [2.19, 1.09, 0.548, 0.275, 0.142, 0.071, 0.0356],
        [2.19, 1.1, 0.551, 0.277, 0.143, 0.0716, 0.0358],
    ],
};

#[allow(clippy::approx_constant, reason = "0.318 MB/s is a speed")]
const LOG_3_3: OpenAuLog<9> = OpenAuLog {
    card: "sim:wb3-full6",
    name: "3_3",
    limit: 6,
    linear: [
        [6.42, 6.37, 6.26, 5.87, 9.79, 9.31, 8.81, 8.14, 5.85],
        [6.44, 6.44, 6.17, 5.91, 8.47, 7.24, 5.44, 1.87, 0.818],
        [4.62, 4.6, 4.48, 4.84, 6.47, 5.0, 4.06, 1.7, 0.716],
        [4.95, 3.75, 4.63, 4.85, 6.82, 5.28, 4.17, 1.74, 0.739],
        [3.99, 5.13, 5.0, 4.79, 6.42, 5.58, 4.5, 1.59, 0.751],
        [5.34, 5.3, 4.56, 4.46, 6.7, 5.8, 4.61, 1.75, 0.759],
        [1.13, 0.6, 0.312, 0.163, 0.0836, 0.0422, 0.0211, 0.0105, 0.00526],
    ],
    random: [
        [3.38, 3.0, 2.6, 2.87, 3.8, 3.15, 2.47, 0.816, 0.318],
        [2.99, 2.96, 3.26, 2.99, 3.53, 3.12, 2.71, 0.701, 0.325],
        [2.99, 2.95, 2.92, 3.06, 3.61, 3.08, 2.13, 0.785, 0.316],
        [3.01, 2.97, 3.05, 2.92, 2.74, 3.1, 2.71, 0.787, 0.311],
        [2.54, 2.95, 3.02, 2.9, 2.85, 3.1, 2.71, 0.749, 0.314],
        [2.26, 2.93, 2.93, 1.7, 2.06, 1.8, 2.73, 0.671, 0.313],
        [1.19, 0.625, 0.311, 0.164, 0.0838, 0.0423, 0.0212, 0.0105, 0.00527],
    ],
};

/// Table in MB/s by block size, after the larger sizes with which flashbench begins.
fn table<const N: usize>(card: &mut SimTarget, n: u64, random: bool) -> [f64; N] {
    open_au_speed(card, n, 4 * MIB, random);
    open_au_speed(card, n, 2 * MIB, random);
    let mut cells = [0.0; N];
    for (cell, block) in cells.iter_mut().zip(SIZES) {
        *cell = open_au_speed(card, n, block, random);
    }
    SIZES[N..].iter().for_each(|block| {
        open_au_speed(card, n, *block, random);
    });
    cells
}

/// Deviation of a cell in percent.
struct CellDeviation {
    blocks: usize,
    size: u64,
    off: f64,
}

fn cells<const N: usize>(log: &OpenAuLog<N>) -> Vec<CellDeviation> {
    let mut target = open_card(log.card);
    let mut all = Vec::new();
    for (random, tables) in [(false, &log.linear), (true, &log.random)] {
        for (i, published) in tables.iter().enumerate() {
            let found: [f64; N] = table(&mut target, i as u64 + 1, random);
            for ((found, published), size) in found.iter().zip(published).zip(SIZES) {
                all.push(CellDeviation { blocks: i + 1, size, off: (found / published - 1.0) * 100.0 });
            }
        }
    }
    all
}

fn rows() -> Vec<FidelityRow> {
    [log_rows(&LOG_6_2, 8.0), log_rows(&LOG_3_3, 12.0)].concat()
}

fn log_rows<const N: usize>(log: &OpenAuLog<N>, median_percent: f64) -> Vec<FidelityRow> {
    let cells = cells(log);
    let mut sorted: Vec<f64> = cells.iter().map(|c| c.off.abs()).collect();
    sorted.sort_by(f64::total_cmp);
    let beyond = |sizes: std::ops::RangeInclusive<u64>| {
        let chosen = cells.iter().filter(|c| c.blocks > log.limit && sizes.contains(&c.size));
        chosen.map(|c| c.off.abs()).fold(0.0, f64::max)
    };
    let row = |what: String| FidelityRow::new(log.card, what, "wirenboard", "%");
    let all = cells.len();
    let middle = (sorted[(all - 1) / 2] + sorted[all / 2]) / 2.0;
    let worst = sorted[all - 1];
    vec![
        row(format!("log {}, median deviation of its {all} cells", log.name))
            .at_most(median_percent)
            .with_result(middle),
        row(format!("log {}, 9 of 10 cells deviate by less than", log.name))
            .at_most(50.0)
            .with_printed("(bound of ours)")
            .with_result(sorted[all * 9 / 10]),
        row(format!("log {}, worst cell", log.name))
            .at_most(100.0)
            .with_printed("(bound of ours)")
            .with_result(worst),
        row(format!("log {}, worst beyond the limit, 16 to 256 KiB", log.name))
            .at_most(8.0)
            .with_result(beyond(16 * KIB..=256 * KIB)),
        row(format!("log {}, worst beyond the limit, 1 MiB", log.name))
            .at_most(20.0)
            .with_result(beyond(MIB..=MIB)),
    ]
}
