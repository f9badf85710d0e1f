use super::*;
use rstest::rstest;

fn log(text: &str) -> Log {
    read(&Text::decode(text.as_bytes())).unwrap().remove(0)
}

fn figures(log: &Log) -> Vec<(String, Option<&str>, f64)> {
    let results = log.runs.iter().flat_map(|run| &run.results);
    results.map(|f| (f.name().to_string(), f.step.as_deref(), f.as_printed.value)).collect()
}

const PROBE: &str = "F3 probe 8.0\nCopyright\n\nWARNING: Probing normally takes from a few seconds to 15 minutes, but\n         it can take longer. Please be patient.\n\nBad news: The device `/dev/sdq' is a counterfeit of type limbo\n\nYou can \"fix\" this device using the following command:\nf3fix --last-sec=16777215 /dev/sdq\n\nDevice geometry:\n\t         *Usable* size: 8.00 GB (16777216 blocks)\n\t        Announced size: 60.00 GB (125829120 blocks)\n\t                Module: 64.00 GB (2^36 Bytes)\n\tApproximate cache size: 1.00 MB (2048 blocks), need-reset=yes\n\t   Physical block size: 512.00 Byte (2^9 Bytes)\n\nProbe time: 2'03\"\n Operation: total time / count = avg time\n      Read: 1.5s / 3000 = 500us\n     Write: 2'01\" / 4000000 = 30us\n     Reset: 20ms / 2 = 10ms\n";

#[test]
fn two_devices_are_two_cards() {
    let good = |device: &str| {
        format!(
            "F3 probe 8.0\nGood news: The device `{device}' is the real thing\n\nDevice geometry:\n\t         *Usable* size: 1.00 GB (2097152 blocks)\n\t        Announced size: 1.00 GB (2097152 blocks)\n"
        )
    };
    let of = |text: &str| read(&Text::of(text)).unwrap();
    let both = of(&format!("{}{}", good("/dev/sdb"), good("/dev/sdc")));
    assert_eq!(
        both.iter().map(|log| log.other["f3probe"]["device"].as_str()).collect::<Vec<_>>(),
        [Some("/dev/sdb"), Some("/dev/sdc")]
    );
    assert_eq!(of(&format!("{}{}", good("/dev/sdb"), good("/dev/sdb"))).len(), 1);
}

#[test]
fn a_fake_card_is_told_in_the_words_of_verify() {
    let log = log(PROBE);
    insta::assert_snapshot!(serde_json::to_string_pretty(&log.other["f3probe"]).unwrap(), @r#"
    {
      "device": "/dev/sdq",
      "verdict": "limbo",
      "announced_bytes": 64424509440,
      "usable_bytes": 8589934592,
      "cache_bytes": 1048576,
      "block_bytes": 512,
      "announced_blocks": 125829120,
      "usable_blocks": 16777216,
      "cache_blocks": 2048,
      "module_bytes": 68719476736,
      "needs_reset": true,
      "last_good_sector": 16777215,
      "seconds": 123.0,
      "operations": {
        "read": {
          "seconds": 1.5,
          "count": 3000
        },
        "write": {
          "seconds": 121.0,
          "count": 4000000
        },
        "reset": {
          "seconds": 0.02,
          "count": 2
        }
      }
    }
    "#);
    assert_eq!((log.card.capacity_bytes, log.runs.len(), log.doubts.len()), (Some(64_424_509_440), 0, 0));
    assert_eq!(log.tool.unwrap().version.as_deref(), Some("8.0"));
}

#[rstest]
#[case::genuine("Good news: The device `x' is the real thing", "genuine")]
#[case::damaged("Bad news: The device `x' is damaged", "damaged")]
#[case::wraparound("Bad news: The device `x' is a counterfeit of type wraparound", "wraparound")]
#[case::chain("Bad news: The device `x' is a counterfeit of type chain", "chain")]
fn every_verdict_of_f3probe_has_its_word(#[case] line: &str, #[case] word: &str) {
    assert_eq!(log(line).other["f3probe"]["verdict"], word);
}

#[test]
fn two_lines_of_a_geometry_tell_the_block_size_too() {
    let text = "Good news: The device `/dev/mmcblk0' is the real thing\n *Usable* size: 2.00 GB (524288 blocks)\n Announced size: 2.00 GB (524288 blocks)\n";
    let probe = &log(text).other["f3probe"];
    assert_eq!(
        (probe["block_bytes"].as_u64(), probe["announced_bytes"].as_u64()),
        (Some(4096), Some(1 << 31))
    );
}

#[test]
fn a_size_that_old_versions_print_for_any_fault_is_a_doubt() {
    let middle = PROBE.replace("8.00 GB (16777216", "32.00 GB (67108864");
    assert!(log(&middle).doubts[0].contains("version 10"));
    assert!(log(&middle.replace("F3 probe 8.0", "F3 probe 10.0")).doubts.is_empty());
}

const WRITE: &str = "F3 write 9.0\nCopyright\n\nFree space: 3.50 GB\nCreating file 1.h2w ... OK!          \nCreating file 2.h2w ... 14.82% -- 18.62 MB/s -- 1:52\n\n(later)\n\nCreating file 3.h2w ... OK! Avg: 20.00 MB/s\nFree space: 512.00 MB\nAverage writing speed: 21.25 MB/s\n";
const READ: &str = "F3 read 9.0\nCopyright\n\n                  SECTORS      ok/corrupted/changed/overwritten\nValidating file 1.h2w ... 2097000/      100/     50/      2\nValidating file 2.h2w ... 2097152/        0/      0/      0\nValidating file 3.h2w ... 19.69% -- 86.54 MB/s -- 9:22\n\n  Data OK: 2.00 GB (4194152 sectors)\nData LOST: 76.00 KB (152 sectors)\n\t       Corrupted: 50.00 KB (100 sectors)\n\tSlightly changed: 25.00 KB (50 sectors)\n\t     Overwritten: 1.00 KB (2 sectors)\nAverage reading speed: 980.50 KB/s\n";

#[test]
fn a_card_written_and_read_back_has_one_run_of_two_figures() {
    let log = log(&format!("{WRITE}{READ}"));
    assert_eq!(
        figures(&log),
        [
            ("SEQ1M Q1T1 write".to_owned(), Some("f3write"), 21.25),
            ("SEQ1M Q1T1 read".to_owned(), Some("f3read"), 980.5)
        ]
    );
    let [write, read] = &log.runs[0].results[..] else { panic!("two figures") };
    assert!((write.mb_s - 22.282_24).abs() < 1e-9 && (read.mb_s - 1.004_032).abs() < 1e-9);
    assert_eq!((log.runs.len(), log.runs[0].size_bytes), (1, Some(4_194_304 * 512)));
    insta::assert_snapshot!(log.other["f3write"], @r#"{"free_before_bytes":3758096384,"free_after_bytes":536870912,"files":2,"last_file":3,"complete":true}"#);
    insta::assert_snapshot!(log.other["f3read"], @r#"{"verdict":"damaged","tested_bytes":2147483648,"good_bytes":2147405824,"lost_bytes":77824,"sectors":{"ok":4194152,"changed":50,"overwritten":2,"corrupted":100,"aliased":0,"unreadable":0},"files":2,"files_with_losses":[{"number":1,"sectors":{"ok":2097000,"changed":50,"overwritten":2,"corrupted":100,"aliased":0,"unreadable":0}}],"complete":true}"#);
}

#[test]
fn a_card_tested_twice_has_two_of_each() {
    let log = log(&format!("{WRITE}{READ}{WRITE}{READ}"));
    assert_eq!((log.runs.len(), log.other["f3read"].as_array().map(Vec::len)), (2, Some(2)));
}

#[test]
fn a_reading_without_its_summary_sums_the_files_and_does_not_acquit() {
    let cut = &READ[..READ.find("Data OK").unwrap()];
    let read = &log(&cut.replace("2097000/      100/     50/      2", "2097152/        0/      0/      0"))
        .other["f3read"];
    assert_eq!(
        (read["verdict"].as_str(), read["good_bytes"].as_u64()),
        (Some("inconclusive"), Some(1 << 31))
    );
    assert_eq!(log(cut).other["f3read"]["verdict"], "damaged");
}

#[test]
fn any_place_may_be_the_end_of_a_log() {
    let text = format!("{PROBE}{WRITE}{READ}");
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        let _ = log(&text[..end]);
    }
    assert!(
        recognise(&Text::of("Creating file 7.h2w ... OK!"))
            && !recognise(&Text::of("Creating file x ... OK!"))
    );
}

proptest::proptest! {
    #[test]
    fn any_speed_comes_back_as_printed(hundredths in 1u64..102_400, unit in "(KB|MB|GB)/s") {
        let value = hundredths as f64 / 100.0;
        let log = log(&format!("Average writing speed: {value:.2} {unit}\n"));
        proptest::prop_assert_eq!(figures(&log)[0].2, value);
    }
    #[test]
    fn any_counts_of_sectors_come_back(ok in 1u64..1 << 40, bad in 0u64..1 << 40) {
        let read = &log(&format!("  Data OK: 1.00 GB ({ok} sectors)\nData LOST: 1.00 GB ({bad} sectors)\n\tCorrupted: 1.00 GB ({bad} sectors)\n")).other["f3read"];
        proptest::prop_assert_eq!((read["good_bytes"].as_u64(), read["lost_bytes"].as_u64()), (Some(ok * 512), Some(bad * 512)));
    }
}
