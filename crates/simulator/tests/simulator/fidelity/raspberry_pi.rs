//! Cards of the Raspberry Pi 4 tables (docs/reference/reports.md#raspberry-pi-comparison): hdparm, dd with blocks of 8
//! KiB through the page cache, and random 4 KiB reads and writes of iozone over a file of 100 MB.

use super::page::{RowGroup, RowSource};
use super::row::FidelityRow;
use crate::common::{MIB, open_card, random_4k_speed, sequential_speed};

pub(crate) const GROUP: RowGroup = RowGroup {
    title: "Cards on a Raspberry Pi 4",
    note: "The 44 MB/s at which reads end are the bus of the Pi, which is part of the rig, not of the card. Reads and writes in \
order: 1 MiB blocks, 256 and 512 MiB. Random 4 KiB: one at a time over 100 MB of an untouched card, 50 000 reads, then \
100 000 writes.",
    rows: RowSource::Quick(rows),
};

/// hdparm -t, dd, random 4 KiB read and write, in MB/s.
const PUBLISHED: &[(&str, [f64; 4])] = &[
    ("evoplus-32g-u1-fakeq", [43.92, 21.3, 10.80, 3.85]),
    ("sandisk-ultra-16g-u1", [42.30, 8.2, 6.57, 1.52]),
    ("sandisk-extreme-16g-u3", [43.95, 39.5, 9.46, 2.46]),
    ("sandisk-extremepro-32g-a1", [43.87, 38.8, 9.82, 4.70]),
    ("a2-label-only", [43.73, 36.3, 7.35, 3.70]),
    ("evo-64g-u3", [43.45, 22.4, 7.93, 2.37]),
    ("sony-32g-u3", [40.78, 35.7, 1.58, 0.66]),
    ("toshiba-16g-c10", [41.62, 12.0, 6.62, 0.22]),
    ("samsung-proplus-32g-u3", [43.90, 39.6, 10.77, 2.61]),
    ("samsung-proendurance-32g-u1", [43.52, 37.4, 10.21, 2.83]),
    ("samsung-pro-16g-u1", [43.86, 38.6, 10.49, 1.74]),
    ("samsung-evo-16g-u1", [43.40, 12.1, 7.09, 1.24]),
    ("noobs-8g-c6", [43.15, 6.6, 7.14, 1.05]),
    ("sandisk-extremepro-8g-u1", [43.78, 35.5, 9.22, 1.25]),
    ("lexar-pro-128g-a2", [44.35, 32.4, 9.65, 2.55]),
];

fn rows() -> Vec<FidelityRow> {
    PUBLISHED.iter().flat_map(|(name, published)| card_rows(name, *published)).collect()
}

fn card_rows(name: &str, published: [f64; 4]) -> Vec<FidelityRow> {
    let mut pi = open_card(&format!("sim:{name}"));
    let start = 192 * MIB;
    let found = [
        sequential_speed(&mut pi, false, MIB, 1, start, 256 * MIB),
        sequential_speed(&mut pi, true, MIB, 1, start, 512 * MIB),
        random_4k_speed(&mut pi, false, 1, start, 100 * MIB, 50_000),
        random_4k_speed(&mut pi, true, 1, start, 100 * MIB, 100_000),
    ];
    let what = ["hdparm -t", "dd write", "4 KiB random read", "4 KiB random write"];
    let tolerance = [5.0, 5.0, 6.0, 6.0];
    (0..4)
        .map(|i| {
            FidelityRow::new(name, what[i], "003", "MB/s")
                .within_percent(published[i], tolerance[i])
                .with_result(found[i])
        })
        .collect()
}
