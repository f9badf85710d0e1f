//! The page of a card like that of seed 004: what was found, what was not, and what follows.

use super::*;
use cardscope_model::card_map::plot::{Axis, Scale, Series};
use cardscope_model::card_map::property::Cost;
use cardscope_model::card_map::{CardMap, Command, FlashbenchTable, OpenBlocks};
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::report::{Header, Moved, Report};

fn point(bytes: u64, mb_s: f64) -> SizePoint {
    let iops = mb_s * 1e6 / bytes as f64;
    SizePoint { bytes, mb_s, iops, p50_us: 1e6 / iops, ios: 100 }
}

fn evidence(what: &str, value: f64, unit: &str) -> Evidence {
    let cost = Cost { read_bytes: 557_056, written_bytes: 0, seconds: 1.3 };
    Evidence::by("reads").number(what, value, unit).number("triples", 544.0, "").cost(cost)
}

fn steps() -> Plot {
    let page = [2.0, 4.0, 8.0].map(|kib| (kib * 1024.0, 0.4)).to_vec();
    let page = page.into_iter().chain([16.0, 64.0, 512.0, 2048.0].map(|kib| (kib * 1024.0, 99.0)));
    let unit = [4.0, 8.0, 64.0, 128.0].map(|mib| (mib * 1_048_576.0, 663.0));
    Plot {
        title: "Extra time of a read across a boundary".to_owned(),
        x: Axis::new("boundary of", "bytes", Scale::Log2),
        y: Axis::new("extra time", "µs", Scale::Linear),
        series: vec![Series { name: "extra time".to_owned(), points: page.chain(unit).collect() }],
        marks: vec![(4_194_304.0, "erase block".to_owned())],
    }
}

fn measured() -> Measured {
    Measured {
        page_bytes: Property::measured(
            16_384,
            0.999,
            evidence("extra time across it", 99.1, "µs").plot(steps()),
        ),
        erase_block_bytes: Property::measured(
            4_194_304,
            0.999,
            evidence("extra time across it", 564.2, "µs").plot(steps()),
        ),
        open_blocks: OpenBlocks {
            linear: Property::measured(5, 0.99, evidence("slow writes with 6", 1.0, "")),
            random: Property::measured(5, 0.98, evidence("slow writes with 6", 1.0, "")),
        },
        slc_cache_bytes: Property::at_least(1 << 30, 0.9, evidence("speed to the end", 12.8, "MB/s")),
        queue_depth_effective: Property::none(0.99, evidence("gain", 1.0, "times")),
        plane_bytes: Property::not_tested("the time given was too short for it; it takes about 2 s"),
        curves: Curves {
            sequential_read: vec![point(4096, 13.6), point(1 << 20, 20.4)],
            random_read: vec![point(4096, 4.71), point(1 << 20, 20.1)],
            sequential_write: vec![point(4096, 2.0)],
            ..Curves::default()
        },
        tables: vec![FlashbenchTable {
            kind: "open-au-linear".to_owned(),
            parameters: [("open-au-nr".to_owned(), 5)].into(),
            rows: vec![(4 << 20, vec![9_420_000.0]), (64 << 10, vec![9_050_000.0])],
        }],
        ..Measured::default()
    }
}

fn report() -> MapReport {
    let advice = Advice {
        partition_start_bytes: Some(4 << 20),
        ext4_stride: Some(4),
        exfat_cluster_bytes: Some(128 << 10),
        mount_options: vec!["noatime".to_owned()],
        words: vec!["Write at least 16 KiB at a time.".to_owned()],
        commands: vec![Command {
            what: "ext4".to_owned(),
            command: "mkfs.ext4 -E stride=4 /dev/sdX1".to_owned(),
        }],
        tried: vec![
            Tried {
                what: "as it was".to_owned(),
                iops: Some(293.0),
                ci95: Some((280.0, 306.0)),
                ..Tried::default()
            },
            Tried {
                what: "nilfs2".to_owned(),
                reason: Some("mkfs.nilfs2 is not installed".to_owned()),
                ..Tried::default()
            },
        ],
        ..Advice::default()
    };
    let line = |what: &str, value: &str, how: &str| ProfileLine {
        what: what.to_owned(),
        value: value.to_owned(),
        how: how.to_owned(),
    };
    Report {
        header: Header {
            target: "sim:lexar-16g-c10".to_owned(),
            io_path: "simulated".to_owned(),
            seed: 7,
            findings: vec![Finding::new(
                "slow-stretch",
                Weight::Hint,
                0.9,
                "Reads from 1 GB to 2 GB are slow.",
            )],
            ..Header::default()
        },
        body: CardMap {
            measured: measured(),
            advice,
            profile: vec![
                line("page size", "16 KiB", "reads across boundaries"),
                line("random write 4 KiB", "1.20 MB/s", ""),
            ],
            announced_bytes: 16_012_804_096,
            moved: Moved {
                data_kept: true,
                bytes_written: 35_000_000,
                bytes_restored: 35_000_000,
                bytes_read: 90_000_000,
                seconds: 74.0,
                ..Moved::default()
            },
        },
    }
}

#[test]
fn the_page_says_first_what_the_card_is_made_of_and_ends_with_the_block_of_the_review() {
    insta::assert_snapshot!(text(&report()), @r"
    sim:lexar-16g-c10: pages of 16 KiB, erase blocks of 4 MiB, 5 of them open at a time, one read at a time

      announced               16 012 804 096 bytes (16.01 GB, 14.91 GiB)

      page                    16 KiB           99.9 %  extra time across it 99.1 µs, triples 544 (1.3 s)
      read unit               not tested: the map ended before it
      erase block             4 MiB            99.9 %  extra time across it 564.2 µs, triples 544 (1.3 s)
      mapping segment         not tested: the map ended before it
      planes                  not tested: the time given was too short for it; it takes about 2 s
      never written           not tested: the map ended before it
      open blocks, in order   5                99.0 %  slow writes with 6 1, triples 544 (1.3 s)
      open blocks, at random  5                98.0 %  slow writes with 6 1, triples 544 (1.3 s)
      closing a block copies  not tested: the map ended before it
      speed of copying        not tested: the map ended before it
      FAT region              not tested: the map ended before it
      small-write log up to   not tested: the map ended before it
      random writes within    not tested: the map ended before it
      cache                   at least 1 GiB   90.0 %  speed to the end 12.80 MB/s, triples 544 (1.3 s)
      after the cache         not tested: the map ended before it
      queue, reads            none seen        99.0 %  gain 1.00 times, triples 544 (1.3 s)
      queue, writes at 32     not tested: the map ended before it

    Speed by size of an I/O
      I/O size  read MB/s  random MB/s  IOPS  write MB/s
      4 KiB         13.60        4.710  1150       2.000
      1 MiB         20.40        20.10  19.2

    Extra time of a read across a boundary
         (extra time, µs)
     800 ┤                                         ┆
         │                                         ┆
         │                                         *··*··········*···*
     600 ┤                                         ·
         │                                        ·┆
     400 ┤                                        ·┆
         │                                       · ┆
         │                                       · ┆
     200 ┤                                      ·  ┆
         │                                      ·  ┆
         │          ·*······*···········*······*   ┆
       0 ┤*···*··*··                               ┆
         └────┬──────────┬──────────┬──────────┬──────────┬──────────┬
            4 KiB     32 KiB     256 KiB     2 MiB     16 MiB     128 MiB
          boundary of
      ┆ at 4 MiB: erase block

    Tables in flashbench's layout
    # flashbench -O --open-au-nr=5
    4MiB    9.42M/s 
    64KiB   9.05M/s 

    Findings
      Hint: Reads from 1 GB to 2 GB are slow.

    What follows from it
      Write at least 16 KiB at a time.
      partition start         4 194 304 bytes
      ext4 stride             4 blocks of 4 KiB
      exFAT cluster           128 KiB
      mount options           noatime
      tried as it was: 293 random 4 KiB writes a second (95 % interval 280 to 306 IOPS)
      tried nilfs2: not done, mkfs.nilfs2 is not installed
      # ext4
      mkfs.ext4 -E stride=4 /dev/sdX1

    In the form of a review
      page size:             16 KiB  [reads across boundaries]
      random write 4 KiB: 1.20 MB/s

      wrote 35.0 MB, restored 35.0 MB, read 90.0 MB in 1 min 14 s; data preserved. Seed 7, I/O by
      simulated.
    ");
}

#[test]
fn a_map_that_ended_early_says_why_and_claims_nothing() {
    let whole = report();
    let early = Report {
        header: Header { error: Some("interrupted".to_owned()), ..whole.header },
        body: CardMap {
            measured: Measured::default(),
            profile: Vec::new(),
            advice: Advice::default(),
            ..whole.body
        },
    };
    let page = text(&early);
    assert!(
        page.contains("nothing shows of what is inside") && page.contains("Ended early: interrupted"),
        "{page}"
    );
    assert!(page.contains("not tested: the map ended before it"), "{page}");
}
