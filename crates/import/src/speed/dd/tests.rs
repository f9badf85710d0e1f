use super::*;
use rstest::rstest;

fn log(text: &str) -> Log {
    read(&Text::decode(text.as_bytes())).unwrap().remove(0)
}

const RECORDS: &str = "640+0 records in\n640+0 records out\n";

#[rstest]
#[case::english("5242880 bytes (5.2 MB, 5.0 MiB) copied, 0.500123 s, 10.5 MB/s", 10.5, "MB/s")]
#[case::old("5242880 bytes (5.2 MB) copied, 0.500123 seconds, 10.5 MB/s", 10.5, "MB/s")]
#[case::russian("скопировано 5242880 байт (5.2 MB), 0.500123 c, 10.5 MB/c", 10.5, "MB/c")]
#[case::russian_comma("5242880 байт (5,2 MB, 5,0 MiB) скопировано, 0,500123 s, 10,5 MB/s", 10.5, "MB/s")]
#[case::german("5242880 Bytes (5,2 MB, 5,0 MiB) kopiert, 0,500123 s, 10,5 MB/s", 10.5, "MB/s")]
#[case::french("5242880 octets (5,2 MB, 5,0 MiB) copiés, 0,500123 s, 10,5 MB/s", 10.5, "MB/s")]
#[case::japanese(
    "5242880 バイト (5.2 MB, 5.0 MiB) コピーされました、 0.500123 秒、 10.5 MB/秒",
    10.5,
    "MB/秒"
)]
#[case::chinese("5242880字节(5.2 MB，5.0 MiB)已复制，0.500123 s，10.5 MB/s", 10.5, "MB/s")]
#[case::busybox("5242880 bytes (5.0MB) copied, 0.500123 seconds, 10.0MB/s", 10.0, "MB/s")]
#[case::macos("5242880 bytes transferred in 0.500123 secs (10483181 bytes/sec)", 10_483_181.0, "bytes/sec")]
fn a_card_gets_the_same_speed_in_every_language(#[case] line: &str, #[case] value: f64, #[case] unit: &str) {
    let log = log(&format!("{RECORDS}{line}\n"));
    let figure = &log.runs[0].results[0];
    assert!((figure.mb_s - 5.242_88 / 0.500_123).abs() < 1e-9, "{}", figure.mb_s);
    assert_eq!((figure.as_printed.value, figure.as_printed.unit.as_str()), (value, unit));
    assert_eq!(figure.name().to_string(), "SEQ8K Q1T1 write");
    assert_eq!((log.runs.len(), log.runs[0].size_bytes), (1, Some(5_242_880)));
}

#[test]
fn two_commands_in_one_line_have_a_result_each() {
    let result = |seconds: f64| {
        format!(
            "{RECORDS}5242880 bytes (5.2 MB, 5.0 MiB) copied, {seconds} s, {:.1} MB/s\n",
            5.242_88 / seconds
        )
    };
    let text = format!(
        "$ dd if=/dev/zero of=t bs=8k count=640 conv=fdatasync && dd if=t of=/dev/null bs=8k\n{}{}",
        result(0.5),
        result(0.25)
    );
    let ops: Vec<_> = log(&text).runs.iter().map(|run| run.results[0].name().to_string()).collect();
    assert_eq!(ops, ["SEQ8K Q1T1 write", "SEQ8K Q1T1 read"]);
}

#[test]
fn what_comes_from_a_card_is_read_and_what_goes_there_is_written() {
    for (operands, op) in [
        ("if=/dev/mmcblk0 of=card.img", Some(Op::Read)),
        ("if=card.img of=/dev/sdb", Some(Op::Write)),
        ("if=/dev/sda of=/dev/sdb", None),
        ("if=a of=b", None),
    ] {
        assert_eq!(Command::all(&format!("dd {operands} bs=1M"))[0].op, op, "{operands}");
    }
}

#[test]
fn the_command_tells_direction_block_and_cache() {
    let text = "$ dd if=/dev/sdb of=/dev/null bs=64k count=80 iflag=direct\n80+0 records in\n80+0 records out\n5242880 bytes (5.2 MB, 5.0 MiB) copied, 0.25 s, 21.0 MB/s\n$ sudo dd if=/dev/zero of=test bs=1M count=5 conv=fsync\n5+0 records in\n5+0 records out\n5242880 bytes (5.2 MB, 5.0 MiB) copied, 0.5 s, 10.5 MB/s\n";
    let log = log(text);
    let found: Vec<(String, Option<&str>)> =
        log.runs.iter().map(|r| (r.results[0].name().to_string(), r.results[0].step.as_deref())).collect();
    assert_eq!(found, [("SEQ64K Q1T1 read".to_owned(), None), ("SEQ1M Q1T1 write".to_owned(), Some("dd"))]);
    assert!(log.doubts.is_empty());
}

#[test]
fn what_the_log_does_not_tell_is_a_doubt() {
    let log = log("5242880 bytes (5.2 MB) copied, 0.5 s, 10.5 MB/s");
    assert_eq!(log.runs[0].results[0].name().to_string(), "SEQ1M Q1T1 write");
    assert_eq!(log.doubts.len(), 2);
}

#[test]
fn states_on_the_way_are_no_results() {
    let text = format!(
        "2097152 bytes (2.1 MB, 2.0 MiB) copied, 1 s, 2.1 MB/s\r4194304 bytes (4.2 MB, 4.0 MiB) copied, 2 s, 2.1 MB/s\r\n{RECORDS}5242880 bytes (5.2 MB, 5.0 MiB) copied, 3 s, 1.7 MB/s\n"
    );
    assert_eq!(log(&text).runs.len(), 1);
}

#[test]
fn a_card_that_did_not_answer_has_no_figure_and_a_doubt() {
    let log = log("0+0 records in\n0+0 records out\n0 bytes (0 B) copied, 0.28 s, 0.0 kB/s\n");
    assert!(log.runs.is_empty());
    assert!(log.doubts.iter().any(|d| d.contains("not a byte")), "{:?}", log.doubts);
}

#[test]
fn a_card_that_could_not_store_what_it_took_has_no_figure() {
    let log = log(&format!(
        "dd: fdatasync failed for '/dev/sdb': Input/output error\n{RECORDS}5242880 bytes (5.2 MB) copied, 0.005 s, 1.0 GB/s\n"
    ));
    assert!(log.runs.is_empty());
    assert!(log.doubts.iter().any(|d| d.contains("Input/output error")), "{:?}", log.doubts);
}

#[test]
fn other_lines_with_three_numbers_are_no_dd() {
    for line in [
        "Timing buffered disk reads: 134 MB in  3.01 seconds =  44.46 MB/sec",
        "5242880 bytes, 0.5 s, 99.0 MB/s",
        "1+0 records in",
        "419430400 bytes (419 MB, 400 MiB) copied, 43.8039 s, 9.6 M",
    ] {
        assert!(!recognise(&Text::of(line)), "{line}");
    }
}

proptest::proptest! {
    #[test]
    fn any_copy_comes_back_from_its_bytes_and_seconds(blocks in 1u64..100_000, micros in 1_000u64..1_000_000_000) {
        let (bytes, seconds) = (blocks * 4096, micros as f64 / 1e6 + 0.000_000_1);
        let mb_s = bytes as f64 / 1e6 / seconds;
        let line = format!("{blocks}+0 records in\n{blocks}+0 records out\n{bytes} bytes (x) copied, {seconds:.7} s, {mb_s:.3} MB/s\n");
        proptest::prop_assume!(mb_s > 0.01);
        let log = log(&line);
        let figure = &log.runs[0].results[0];
        proptest::prop_assert!((figure.mb_s - mb_s).abs() <= mb_s * 1e-3);
        proptest::prop_assert_eq!(figure.name().to_string(), "SEQ4K Q1T1 write");
    }
}
