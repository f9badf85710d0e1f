//! Capacity tests: f3 and H2testw.

use super::{data, log, printed};

#[test]
fn f3_logs_have_verdicts_speeds_and_counts() {
    let Some(data) = data() else { return };
    let f3 = data.join("f3");
    let good = log(&f3, "lexar-32gb-f3probe-good.log").other["f3probe"].clone();
    assert_eq!(
        (good["verdict"].as_str(), good["usable_blocks"].as_u64()),
        (Some("genuine"), Some(61_952_000))
    );
    assert_eq!((good["module_bytes"].as_u64(), good["seconds"].as_f64()), (Some(1 << 35), Some(62.0)));
    let write = log(&f3, "lexar-32gb-f3write.log");
    assert_eq!(
        (write.other["f3write"]["files"].as_u64(), printed(&write, "SEQ1M Q1T1 write", Some("f3write"))),
        (Some(30), 30.71)
    );
    assert_eq!(write.other["f3write"]["free_after_bytes"], 0);
    assert_eq!(printed(&log(&f3, "fuji-64gb-f3write-progress-elided.log"), "SEQ1M Q1T1 write", None), 75.05);
    let read = log(&f3, "fuji-64gb-f3read-progress-elided.log");
    assert_eq!(
        (printed(&read, "SEQ1M Q1T1 read", None), read.other["f3read"]["sectors"]["ok"].as_u64()),
        (86.88, Some(124_645_443))
    );
    let corrupt = log(&f3, "gl9750-sandisk-1tb-write-read-corrupt.log");
    let sectors = &corrupt.other["f3read"]["sectors"];
    assert_eq!((sectors["ok"].as_u64(), sectors["corrupted"].as_u64()), (Some(6_291_263), Some(193)));
    assert_eq!(
        (printed(&corrupt, "SEQ1M Q1T1 write", None), printed(&corrupt, "SEQ1M Q1T1 read", None)),
        (54.10, 85.62)
    );
    let pio = log(&f3, "gl9750-sandisk-1tb-write-read-pio-good.log");
    assert_eq!(
        (printed(&pio, "SEQ1M Q1T1 write", None), printed(&pio, "SEQ1M Q1T1 read", None)),
        (24.22, 3.07)
    );
    assert_eq!(pio.other["f3read"]["lost_bytes"], 0);
}

#[test]
fn f3probe_logs_have_geometries() {
    let Some(data) = data() else { return };
    let probe = |file: &str| log(&data.join("f3"), file).other["f3probe"].clone();
    let old = probe("f3probe-8.0-good-960mb.log");
    assert_eq!((old["announced_blocks"].as_u64(), old["seconds"].as_f64()), (Some(1_966_080), Some(297.0)));
    let partial = probe("f3probe-good-128gb-partial.log");
    assert_eq!(
        (partial["announced_bytes"].as_u64(), partial["seconds"].as_f64()),
        (Some(250_347_520 * 512), None)
    );
    let damaged = probe("f3probe-damaged-1tb-ssd-partial.log");
    assert_eq!(
        (damaged["verdict"].as_str(), damaged["usable_bytes"].as_u64(), damaged["announced_blocks"].as_u64()),
        (Some("damaged"), Some(0), Some(2_000_409_264))
    );
    let limbo = probe("emulated-f3probe-limbo.log");
    assert_eq!(
        (limbo["usable_blocks"].as_u64(), limbo["last_good_sector"].as_u64(), limbo["cache_blocks"].as_u64()),
        (Some(131_072), Some(131_071), Some(6144))
    );
    let seed = probe("emulated-f3probe-limbo-52of1tb.log");
    assert_eq!(
        (seed["verdict"].as_str(), seed["usable_bytes"].as_u64(), seed["announced_bytes"].as_u64()),
        (Some("limbo"), Some(52 << 30), Some(1 << 40))
    );
    let wide = probe("emulated-f3probe-good-4k.log");
    assert_eq!(
        (wide["block_bytes"].as_u64(), wide["announced_bytes"].as_u64()),
        (Some(4096), Some(512 << 20))
    );
    let own = log(&data.join("f3"), "own-f3read-2x1GB.log");
    assert_eq!(
        (printed(&own, "SEQ1M Q1T1 read", None), own.other["f3read"]["sectors"]["ok"].as_u64()),
        (489.58, Some(4_194_304))
    );
    assert_eq!(printed(&log(&data.join("f3"), "own-f3write-2x1GB.log"), "SEQ1M Q1T1 write", None), 665.23);
}

#[test]
fn h2testw_logs_have_speeds_and_losses() {
    let Some(data) = data() else { return };
    let h2testw = data.join("h2testw");
    for (file, write, read, verdict) in [
        ("ok-6.41-21.2.txt", 6.41, 21.2, "genuine"),
        ("ok-30107-of-30108.txt", 17.7, 17.9, "genuine"),
        ("ok-markdown-escaped.txt", 15.3, 17.0, "genuine"),
        ("defective-57KB-lost-of-58.5GB.txt", 17.9, 95.0, "damaged"),
    ] {
        let log = log(&h2testw, file);
        assert_eq!(
            (printed(&log, "SEQ1M Q1T1 write", None), printed(&log, "SEQ1M Q1T1 read", None)),
            (write, read),
            "{file}"
        );
        assert_eq!(log.other["h2testw"]["verdict"], verdict, "{file}");
        assert_eq!(log.tool.unwrap().version.as_deref(), Some("1.4"), "{file}");
    }
    let bad = log(&h2testw, "defective-57KB-lost-of-58.5GB.txt").other["h2testw"].clone();
    assert_eq!(
        (bad["sectors"]["ok"].as_u64(), bad["sectors"]["corrupted"].as_u64()),
        (Some(122_845_070), Some(114))
    );
    assert_eq!(bad["first_error"]["offset"], 0x1_7127_9c00_u64);
}
