use super::*;
use crate::effort::seconds_of;
use crate::text::Text;
use rstest::rstest;

fn log(text: &str) -> Log {
    read(&Text::decode(text.as_bytes())).unwrap().remove(0)
}

/// CSD of 7 780 433 920 bytes.
const CARD: &str = "man:0x00001b oem:0x534d name:EB1QT hwrev:0x1 fwrev:0x0 date:10/2013 cid:1b534d4542315154101122334400da00 csd:400e00325b59000039f77f800a400000\n";

fn script(device: &str, bytes: u64, rest: &str) -> String {
    format!(
        "{CARD}============== Device: {device} ===== \n============== Partition table ===== \n\nDisk {device}: 7780 MB, {bytes} bytes\n4 heads, 16 sectors/track\n============== Examining first partition ===== \nfsck.fat 3.0.28\n{rest}"
    )
}

#[test]
fn boundaries_are_read_with_numbers_that_lost_their_end() {
    let text = "align 8388608\tpre 655µs\ton 1.03ms\tpost 731µs\tdiff 337µs\r\nalign 4194304\tpre 1e+03µ\ton 999µs\tpost 1s\tdiff -13790n\r\nalign 8388608\tpre 1ms\ton 2ms\tpost 3ms\tdiff 5ns\r\n";
    let rows = log(text).other["flashbench"]["align"].clone();
    insta::assert_snapshot!(serde_json::to_string_pretty(&rows).unwrap(), @r#"
    [
      {
        "align_bytes": 8388608,
        "pre_us": 655.0,
        "on_us": 1030.0,
        "post_us": 731.0,
        "diff_us": 337.0,
        "test": 1
      },
      {
        "align_bytes": 4194304,
        "pre_us": 1000.0,
        "on_us": 999.0,
        "post_us": 1000000.0,
        "diff_us": -13.79,
        "test": 1
      },
      {
        "align_bytes": 8388608,
        "pre_us": 1000.0,
        "on_us": 2000.0,
        "post_us": 3000.0,
        "diff_us": 0.005,
        "test": 2
      }
    ]
    "#);
}

#[test]
fn the_forks_delays_are_times_across_the_boundary() {
    let rows =
        log("Aligned @ 4194304    Delay: 711222ns\nAligned @ 2097152    Delay: 401333ns").other["flashbench"]
            ["align"]
            .clone();
    assert_eq!(
        (rows[0]["on_us"].as_f64(), rows[1]["align_bytes"].as_u64()),
        (Some(711.222), Some(2_097_152))
    );
    assert!(rows[0].get("diff_us").is_none());
}

#[test]
fn commands_of_a_terminal_tell_the_tables_apart() {
    let text = "$ ./flashbench -c 8 /dev/sdx -f -b 2048 -e $(( 2 * 1024 * 1024 ))\n2MiB    7.1M/s 8.2M/s\n1MiB    6.1M/s 7.2M/s\n\n$ ./flashbench /dev/sdx -b 4096 -e 4194304 \\\n-O --open-au-nr=3 --random\n4MiB    9.9M/s \n2MiB    980K/s \n^C\n$ ./flashbench /dev/sdx -O --open-au-nr 4\n4MiB    8.8M/s\n";
    let tables = log(text).other["flashbench"].clone();
    assert_eq!(tables["fat"][1]["mb_s"][0], 6.1);
    let open: Vec<_> = tables["open_au"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["au_count"].as_u64(),
                row["random"].as_bool(),
                row["au_bytes"].as_u64(),
                row["mb_s"].as_f64(),
                row["test"].as_u64(),
            )
        })
        .collect();
    let au = Some(4 << 20);
    assert_eq!(
        open,
        [
            (Some(3), Some(true), au, Some(9.9), Some(1)),
            (Some(3), Some(true), au, Some(0.98), Some(1)),
            (Some(4), Some(false), au, Some(8.8), Some(2)),
        ]
    );
}

#[test]
fn the_scripts_sections_become_runs_and_tables() {
    let rest = "============== Linear read speed (dd, 4M block) ============\n==== 1 ====\n10+0 records in\n10+0 records out\n41943040 bytes (42 MB) copied, 2 s, 21.0 MB/s\n==== 2 ====\n10+0 записей получено\n10+0 записей отправлено\nскопировано 41943040 байт (42 MB), 0.02 c, 2.1 GB/c\n============== Linear write speed (dd, 64kb block, seek 1024) ============\n==== 1 ====\n512+0 records in\n512+0 records out\n33554432 bytes (34 MB) copied, 4 s, 8.4 MB/s\n============== Linear read speed (hdparm) ============\n==== 1 ====\n\n/dev/mmcblk0:\n Timing buffered disk reads:  60 MB in  3.01 seconds =  19.93 MB/sec\n============== Align test ============\n======= Align test: 1 =======\nalign 4194304\tpre 655µs\ton 1.03ms\tpost 731µs\tdiff 337µs\n======= Align test: 2 =======\n============== Linear access ============\nAU=1, linear access\n4MiB    9.1M/s \n======= AU=2, random access =======\n4MiB    8.1M/s \n";
    let log = log(&script("/dev/mmcblk0", 7_780_433_920, rest));
    let found: Vec<String> = log
        .runs
        .iter()
        .flat_map(|run| {
            run.results
                .iter()
                .map(move |f| format!("{} {} {:?} {:.3} MB/s", run.run, f.name(), f.step, f.mb_s))
        })
        .collect();
    insta::assert_snapshot!(found.join("\n"), @r#"
    1 SEQ4M Q1T1 read Some("dd") 20.972 MB/s
    1 SEQ64K Q1T1 write Some("dd seek 1024") 8.389 MB/s
    1 SEQ2M Q1T1 read Some("hdparm -t") 20.898 MB/s
    2 SEQ4M Q1T1 read Some("dd, page cache") 2097.152 MB/s
    "#);
    assert_eq!(log.other["flashbench"]["open_au"][1]["random"], true);
    assert_eq!((log.card.model.as_deref(), log.card.capacity_bytes), (Some("EB1QT"), Some(7_780_433_920)));
    assert_eq!(log.other["cid"]["pnm"], "EB1QT");
    assert_eq!(log.doubts.len(), 2, "{:?}", log.doubts);
    assert!(log.doubts.iter().any(|d| d.ends_with("under: Align test: 2")), "{:?}", log.doubts);
}

#[test]
fn the_registers_of_another_card_stay_off_this_one() {
    let log = log(&script(
        "/dev/sdf",
        3_980_394_496,
        "======= Align test: 1 =======\nalign 4096\tpre 1ms\ton 1ms\tpost 1ms\tdiff 1ns\n",
    ));
    assert_eq!((log.card.cid.as_ref(), log.card.capacity_bytes), (None, Some(3_980_394_496)));
    assert_eq!(log.other["slot_identity"]["cid"]["pnm"], "EB1QT");
    assert!(
        log.doubts[0].contains("7 780 433 920") && log.doubts[0].contains("3 980 394 496"),
        "{:?}",
        log.doubts
    );
}

#[test]
fn registers_beside_a_reader_without_a_capacity_prove_nothing() {
    let log = log(&format!(
        "{CARD}============== Device: /dev/sdf ===== \n============== Align test ============\nalign 4096\tpre 1ms\ton 1ms\tpost 1ms\tdiff 1ns\n"
    ));
    assert!(log.card.is_empty() && log.other.contains_key("slot_identity"));
}

#[test]
fn a_copy_that_failed_is_kept_apart() {
    let rest = "============== Linear write speed (dd, 4M block) ============\n==== 1 ====\ndd: fdatasync: Input/output error\n10+0 records in\n10+0 records out\n41943040 bytes (42 MB) copied, 0.05 s, 839 MB/s\n";
    let log = log(&script("/dev/mmcblk0", 7_780_433_920, rest));
    assert!(log.runs.is_empty());
    assert_eq!(log.other["dd_failures"][0]["op"], "write");
}

#[rstest]
#[case("741µs", 741.0)]
#[case("1.08ms", 1080.0)]
#[case("-924ns", -0.924)]
#[case("-13790n", -13.79)]
#[case("-123456", -123.456)]
#[case("1e+03µ", 1000.0)]
#[case("1e+03us", 1000.0)]
#[case("2.5s", 2.5e6)]
fn times_are_read_however_they_were_cut(#[case] text: &str, #[case] us: f64) {
    assert!((tables::micros(text).unwrap() - us).abs() < 1e-9, "{text}");
}

#[test]
fn a_time_that_lost_its_unit_is_none() {
    for text in ["741", "", "ms", "1.0.0.x", "-"] {
        assert_eq!(tables::micros(text), None, "{text}");
    }
}

#[test]
fn a_table_cut_in_mid_line_keeps_what_is_whole() {
    let log = log("flashbench -f /dev/sdx\n4MiB    8.5M/s  8.6M/s  8.7");
    assert_eq!(log.other["flashbench"]["fat"][0]["mb_s"].as_array().unwrap().len(), 2);
    assert!(!recognise(&Text::of("align 4194304\tpre 741µs\ton 1.0")));
}

#[test]
fn noise_of_a_file_system_check_costs_no_time() {
    let noise: String = (0..200_000)
        .map(|n| format!("  Cluster {n} out of range (268435455 > 30797). Setting to EOF.\n"))
        .collect();
    let log = script("/dev/mmcblk0", 7_780_433_920, &noise);
    let text = Text::decode(log.as_bytes());
    let start = std::time::Instant::now();
    assert!(recognise(&text) && read(&text).is_ok());
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn tables_are_counted_on_after_the_highest_number() {
    let row = |bytes| format!("align {bytes}\tpre 1ms\ton 1ms\tpost 1ms\tdiff 1ns\n");
    let log = log(&format!(
        "======= Align test: 4294967295 =======\n{}$ flashbench -a /dev/sdx\n{}",
        row(4096),
        row(8192)
    ));
    assert_eq!(log.other["flashbench"]["align"][1]["test"], u32::MAX);
}

#[test]
fn a_heading_too_long_for_one_is_not_carried_by_every_copy() {
    let heading = format!("==== Linear read speed (dd, 4M block, {}) ====\n", "x".repeat(1000));
    let copy = "10+0 records in\n10+0 records out\n41943040 bytes (42 MB) copied, 2 s, 21.0 MB/s\n";
    assert!(log(&format!("{heading}{copy}")).runs.is_empty());
}

#[test]
fn headings_without_end_cost_no_time() {
    let headings: String =
        (0..60_000).map(|n| format!("==== Linear read speed (hdparm) {n} ====\n")).collect();
    let (seconds, log) = seconds_of(|| log(&headings));
    assert!(log.doubts[0].contains("(hdparm) 59999") && seconds < 6.0, "{seconds} s");
}

proptest::proptest! {
    #[test]
    fn any_speeds_come_back_within_three_digits(speeds in proptest::collection::vec(1u32..2_000_000, 2..9)) {
        let cell = |kb: &u32| if *kb < 1000 { format!("{kb}K/s") } else if *kb < 10_000 { format!("{:.2}M/s", f64::from(*kb) / 1e3) } else { format!("{:.1}M/s", f64::from(*kb) / 1e3) };
        let row = format!("4MiB    {}\n", speeds.iter().map(cell).collect::<Vec<_>>().join("  "));
        let log = log(&row);
        let found = log.other["flashbench"]["fat"][0]["mb_s"].as_array().unwrap();
        for (found, printed) in found.iter().zip(&speeds) {
            proptest::prop_assert!((found.as_f64().unwrap() - f64::from(*printed) / 1e3).abs() <= 0.050_001);
        }
    }
}
