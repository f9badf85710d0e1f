//! Own reports in the layouts of every version, whole, cut, pasted and garbled.

use super::*;
use cardscope_model::log::LogFigure;
use cardscope_model::test_name::TestName;
use proptest::prelude::*;

const VERSION_3: &str = "\
-----------------------------------------------------------------------
CrystalDiskMark 3.0.2 x64 (C) 2007-2013 hiyohiyo
                           Crystal Dew World : http://crystalmark.info/
-----------------------------------------------------------------------
* MB/s = 1,000,000 byte/s [SATA/300 = 300,000,000 byte/s]

           Sequential Read :    21.408 MB/s
          Sequential Write :    11.250 MB/s
         Random Read 512KB :    20.016 MB/s
        Random Write 512KB :     1.507 MB/s
    Random Read 4KB (QD=1) :     3.723 MB/s [   908.9 IOPS]
   Random Write 4KB (QD=1) :     0.012 MB/s [     2.9 IOPS]
   Random Read 4KB (QD=32) :     3.912 MB/s [   955.1 IOPS]
  Random Write 4KB (QD=32) :     0.012 MB/s [     3.0 IOPS]

  Test : 1000 MB [H: 0.4% (0.1/14.8 GB)] (x5)
  Date : 2013/04/21 9:03:11
    OS : Windows 7 Ultimate Edition SP1 [6.1 Build 7601] (x64)
  grey card, second slot
";

const VERSION_8: &str = "\
------------------------------------------------------------------------------
CrystalDiskMark 8.0.5 x64 (UWP) (C) 2007-2024 hiyohiyo
                                  Crystal Dew World: https://crystalmark.info/
------------------------------------------------------------------------------
* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]
* KB = 1000 bytes, KiB = 1024 bytes

[Read]
  SEQ    1MiB (Q=  8, T= 1):    94.371 MB/s [     90.0 IOPS] < 88211.35 us>
  RND    4KiB (Q=  1, T= 1):     8.192 MB/s [   2000.0 IOPS] <   497.12 us>

[Write]
  SEQ    1MiB (Q=  8, T= 1):    62.914 MB/s [     60.0 IOPS] <131072.50 us>
  RND    4KiB (Q=  1, T= 1):     2.048 MB/s [    500.0 IOPS] <  1998.01 us>

[Mix] Read 80%/Write 20%
  RND    4KiB (Q=  1, T= 1):     4.096 MB/s [   1000.0 IOPS] <   998.77 us>

Profile: Default
   Test: 1 GiB (x5) [E: 3% (1/59GiB)]
   Mode: [Admin]
   Time: Measure 5 sec / Interval 5 sec
   Date: 2024/02/03 14:15:16
     OS: Windows 11  [10.0 Build 22631] (x64)
";

fn logs(text: &str) -> Vec<Log> {
    read(&Text::decode(text.as_bytes())).unwrap()
}

fn result<'a>(log: &'a Log, name: &str) -> &'a LogFigure {
    let name: TestName = name.parse().unwrap();
    log.runs[0].results.iter().find(|result| result.name() == name).unwrap()
}

#[test]
fn prose_and_source_code_about_speeds_are_no_report() {
    for text in
        ["- Sequential Read: 100 MB/s\n", "// seq read: 90 MB/s\n", "Sequential Read (best): 91.5 MB/s\n"]
    {
        assert!(!recognise(&Text::of(text)), "{text}");
    }
    assert!(recognise(&Text::of("  Sequential Read :    20.505 MB/s\n")));
}

#[test]
fn a_card_tested_with_version_3_is_read_with_all_that_stands_there() {
    let log = logs(VERSION_3).remove(0);
    assert_eq!(log.runs[0].results.len(), 8);
    let write = result(&log, "RND4K Q32T1 write");
    assert_eq!((write.mb_s, write.iops, write.as_printed.value), (0.012, Some(3.0), 0.012));
    assert_eq!(result(&log, "SEQ1M Q1T1 read").mb_s, 21.408);
    assert_eq!((log.runs[0].size_bytes, log.runs[0].loops), (Some(1000 << 20), Some(5)));
    assert_eq!(log.date.as_deref(), Some("2013-04-21T09:03:11"));
    assert_eq!(log.tool.and_then(|tool| tool.version).as_deref(), Some("3.0.2"));
    assert_eq!(log.condition.get("full_percent"), Some("0.4"));
    assert_eq!(log.condition.get("note"), Some("drive H: 0.4% (0.1/14.8 GB); grey card, second slot"));
}

#[test]
fn a_card_tested_with_version_8_has_reads_writes_and_a_mix() {
    let log = logs(VERSION_8).remove(0);
    assert_eq!(log.runs[0].results.len(), 5);
    let mix = result(&log, "RND4K Q1T1 mix80");
    assert_eq!((mix.mb_s, mix.iops, mix.latency_us), (4.096, Some(1000.0), Some(998.77)));
    assert_eq!(result(&log, "SEQ1M Q8T1 write").mb_s, 62.914);
    assert_eq!(log.condition.get("note"), Some("drive E: 3% (1/59GiB); mode [Admin]"));
}

#[test]
fn windows_lines_utf16_and_quotation_marks_change_nothing() {
    let plain = logs(VERSION_8);
    let windows = VERSION_8.replace('\n', "\r\n");
    assert_eq!(logs(&windows), plain);
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(windows.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(read(&Text::decode(&utf16)).unwrap(), plain);
    let quoted: String = VERSION_8.lines().map(|line| format!("> {line}\n")).collect();
    assert_eq!(logs(&quoted)[0].runs, plain[0].runs);
}

#[test]
fn decimals_with_commas_are_the_same_numbers() {
    let commas = VERSION_3.replace('.', ",").replace("3,0,2", "3.0.2");
    assert_eq!(logs(&commas)[0].runs, logs(VERSION_3)[0].runs);
}

#[test]
fn a_report_without_heading_rules_and_footer_keeps_its_figures() {
    let bare: String = VERSION_3
        .lines()
        .filter(|line| line.contains("MB/s") && line.contains(" : "))
        .fold(String::new(), |text, line| text + line.trim() + "\n");
    assert_eq!(logs(&bare)[0].runs[0].results, logs(VERSION_3)[0].runs[0].results);
}

#[test]
fn two_cards_in_one_text_are_two_logs_under_their_headings() {
    let both = format!("The old card:\n\n{VERSION_3}\n\nThe new one:\n{VERSION_3}");
    let logs = logs(&both);
    let parts: Vec<_> = logs.iter().map(|log| log.part.as_deref().unwrap()).collect();
    assert_eq!(parts, ["The old card:", "The new one:"]);
}

#[test]
fn a_card_tested_twice_without_any_heading_is_two_logs() {
    let twice = "Sequential Read : 20.0 MB/s\nSequential Write : 9.0 MB/s\n".repeat(2);
    assert_eq!(logs(&twice).len(), 2);
}

#[test]
fn tests_that_were_not_run_are_no_results() {
    let log = logs(&VERSION_3.replace("21.408", " 0.000")).remove(0);
    assert_eq!(log.runs[0].results.len(), 7);
    assert_eq!(log.doubts, ["1 tests are printed as 0.000: they were not run"]);
}

#[test]
fn lines_that_lost_their_direction_are_left_out_and_named() {
    let from = VERSION_8.find("  SEQ").unwrap();
    let log = logs(&VERSION_8[from..]).remove(0);
    assert_eq!((log.runs[0].results.len(), log.doubts.len()), (3, 1));
    let until = VERSION_8.find("[Write]").unwrap();
    let error = read(&Text::of(&VERSION_8[from..until])).unwrap_err().to_string();
    assert!(error.contains("neither [Read] nor [Write]"), "{error}");
}

#[test]
fn a_report_of_the_mac_is_read_with_its_drive() {
    let log = logs(
        "AmorphousDiskMark 4.0.1 (C) 2016-2023 Katsura Shareware\n\
         \x20 Sequential Read 1MiB (QD=   8) :     88.08 MB/s [     84.0 IOPS]\n\
         \x20        Random Write 4KiB (QD=1) :      2.05 MB/s [    500.5 IOPS]\n\n\
         \x20   Test : 1 GiB (x3) <0Fill> [Interval=3 sec]\n  Volume : CARD: 7% used (4/59 GiB)\n\
         \x20 Device : SDXC Reader\n     CPU : Apple M1\n    Date : 2023-01-02T03:04:05Z\n      OS : macOS 13.1 22C65\n",
    )
    .remove(0);
    assert_eq!(result(&log, "SEQ1M Q8T1 read").mb_s, 88.08);
    assert_eq!(
        (log.card.model.as_deref(), log.condition.get("board")),
        (Some("SDXC Reader"), Some("Apple M1"))
    );
    assert_eq!(log.doubts.len(), 1);
}

#[test]
fn a_card_that_is_cut_off_anywhere_never_fails_and_never_gains() {
    let whole = logs(VERSION_8).remove(0);
    for end in 0..VERSION_8.len() {
        let Ok(cut) = read(&Text::of(&VERSION_8[..end])) else { continue };
        let results = &cut[0].runs[0].results;
        for (cut, whole) in results.iter().zip(&whole.runs[0].results) {
            assert_eq!((cut.mb_s, cut.name()), (whole.mb_s, whole.name()), "cut at {end}");
            assert!(cut.iops.is_none_or(|iops| Some(iops) == whole.iops), "cut at {end}");
        }
    }
}

proptest! {
    #[test]
    fn printed_figures_come_back_and_agree_with_their_iops(
        mb_s in 0.001..8000.0_f64, queue in 1_u32..64, threads in 1_u32..16
    ) {
        let iops = mb_s * 1e6 / 4096.0;
        let text = format!(
            "[Write]\n  RND    4KiB (Q={queue:3}, T={threads:2}): {mb_s:9.3} MB/s [{iops:9.1} IOPS] <{:9.2} us>\n",
            1e6 / iops
        );
        let log = read(&Text::of(&text)).unwrap().remove(0);
        let read = &log.runs[0].results[0];
        prop_assert_eq!(read.test.to_string(), format!("RND4K Q{queue}T{threads}"));
        prop_assert!((read.mb_s - mb_s).abs() <= 0.000_5 + 1e-9);
        if let Some(printed) = read.iops {
            // Both were rounded: 0.0005 MB/s here, 0.05 I/Os of 4096 bytes there.
            prop_assert!((read.mb_s * 1e6 - printed * 4096.0).abs() <= 500.0 + 205.0);
        }
    }
}
