//! Own logs of the script in both label styles, with progress, prompts, several runs, and cut off.

use super::*;
use proptest::prelude::*;

const OLD: &str = "\
user@host:~# seq 2 | xargs -I{} ./cdm_fio.sh /mnt/
Testing in /mnt/
Configuration:
  Size = 512m
  Loops = 3
  Write Only Zeroes = 0
Running Benchmark,  please wait...
Jobs: 8 (f=8): [w(8)][91.7%][w=196MiB/s][w=50.1k IOPS][eta 00m:04s]

Results:

Sequential Read: 91MB/s IOPS=0
Sequential Write: 44MB/s IOPS=0

512KB Read: 88MB/s IOPS=176
512KB Write: 40MB/s IOPS=81

Sequential Q32T1 Read: 90MB/s IOPS=5
Sequential Q32T1 Write: 43MB/s IOPS=2

4KB Read: 7MB/s IOPS=1850
4KB Write: 0MB/s IOPS=230

4KB Q32T1 Read: 9MB/s IOPS=2310
4KB Q32T1 Write: 1MB/s IOPS=301

4KB Q8T8 Read: 11MB/s IOPS=2871
4KB Q8T8 Write: 1MB/s IOPS=333
";

fn log(text: &str) -> Log {
    read(&Text::decode(text.as_bytes())).unwrap().remove(0)
}

fn names(log: &Log) -> Vec<String> {
    log.runs[0].results.iter().map(|result| result.name().to_string()).collect()
}

fn only_results(text: &str) -> String {
    text.lines().filter(|line| line.contains("IOPS=")).fold(String::new(), |all, line| all + line + "\n")
}

#[test]
fn old_labels_take_their_block_size_from_the_size_of_the_file() {
    let log = log(OLD);
    assert_eq!(
        names(&log)[..8],
        [
            "SEQ512M Q1T1 read",
            "SEQ512M Q1T1 write",
            "SEQ512K Q1T1 read",
            "SEQ512K Q1T1 write",
            "SEQ16M Q32T1 read",
            "SEQ16M Q32T1 write",
            "RND4K Q1T1 read",
            "RND4K Q1T1 write"
        ]
    );
    assert_eq!((log.runs[0].size_bytes, log.runs[0].loops), (Some(512 << 20), Some(3)));
}

#[test]
fn printed_megabytes_are_mebibytes_and_no_iops_are_unknown_ones() {
    let results = &log(OLD).runs[0].results;
    assert_eq!((results[0].mb_s, results[0].iops), (91.0 * 1.048_576, None));
    assert_eq!((results[6].mb_s, results[6].iops), (7.0 * 1.048_576, Some(1850.0)));
}

#[test]
fn a_card_too_slow_to_print_has_the_speed_of_its_iops() {
    let slow = &log(OLD).runs[0].results[7];
    assert_eq!((slow.mb_s, slow.as_printed.value), (230.0 * 4096.0 / 1e6, 0.0));
    assert_eq!(log(OLD).doubts.len(), 1);
}

#[test]
fn new_labels_name_the_same_tests() {
    let new = OLD
        .replace("Sequential Q32T1", "SEQ16M Q32T1")
        .replace("Sequential", "SEQ512M Q1T1")
        .replace("512KB", "SEQ512K Q1T1")
        .replace("4KB Q", "RND4K Q")
        .replace("4KB", "RND4K Q1T1")
        .replace("Size = 512m", "Size = 512M")
        .replace("Results:\n", "");
    assert_eq!(log(&new).runs, log(OLD).runs);
}

#[test]
fn a_card_tested_under_two_coolings_has_the_second_from_its_line_on() {
    let both = format!("{OLD}\n====\n\nWith active cooling\n\n{OLD}\n{OLD}");
    let cooled: Vec<_> = log(&both)
        .runs
        .iter()
        .map(|run| run.condition.as_ref().and_then(|said| said.get("cooling").map(str::to_owned)))
        .collect();
    assert_eq!(cooled, [None, Some("active".to_owned()), Some("active".to_owned())]);
}

#[test]
fn what_was_said_before_the_first_run_holds_for_all() {
    let log = log(&format!("With passive cooling. 21°C idle, up to 70°C during test.\n{OLD}{OLD}"));
    assert_eq!((log.condition.get("cooling"), log.runs.len()), (Some("passive"), 2));
    assert!(log.runs.iter().all(|run| run.condition.is_none()));
}

#[test]
fn runs_without_configuration_begin_where_a_test_comes_again() {
    let log = log(&only_results(OLD).repeat(3));
    assert_eq!(log.runs.iter().map(|run| run.run).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(names(&log)[0], "SEQ1G Q1T1 read");
    assert!(log.doubts.iter().any(|doubt| doubt.contains("size of the test file is lost")));
}

#[test]
fn zeroes_that_were_written_are_doubted() {
    let log = log(&OLD.replace("Zeroes = 0", "Zeroes = 1"));
    assert!(log.doubts[0].contains("zeroes"), "{:?}", log.doubts);
}

#[test]
fn a_script_that_measured_nothing_is_an_error_and_no_result() {
    let text = "Sequential Read: MB/s IOPS=\n4KB Read: MB/s IOPS=\n";
    assert!(!recognise(&Text::of(text)));
    assert!(read(&Text::of(text)).is_err());
}

#[test]
fn colours_and_windows_lines_change_nothing() {
    let coloured = OLD.replace("Sequential Read", "\x1b[0;33mSequential Read").replace('\n', "\x1b[0m\r\n");
    assert_eq!(log(&coloured).runs, log(OLD).runs);
}

#[test]
fn a_log_cut_off_anywhere_keeps_the_lines_before() {
    let whole = log(OLD).runs.remove(0).results;
    for end in (0..OLD.len()).filter(|end| OLD.is_char_boundary(*end)) {
        let Ok(mut logs) = read(&Text::of(&OLD[..end])) else { continue };
        let cut = logs.remove(0).runs.remove(0).results;
        for (cut, whole) in cut.iter().zip(&whole) {
            assert_eq!(
                (cut.name(), cut.as_printed.value),
                (whole.name(), whole.as_printed.value),
                "at {end}"
            );
            assert!(
                cut.iops.is_none() || cut.iops == whole.iops || whole.as_printed.value == 0.0,
                "at {end}"
            );
        }
    }
}

proptest! {
    #[test]
    fn figures_come_back_within_what_the_script_cuts_off(kib_s in 4_u64..4_000_000, ios in 1_u64..4) {
        let iops = kib_s as f64 / 4.0;
        let (printed, cut) = (kib_s / 1024, iops as u64);
        let text = format!("4KB Q{ios}T1 Read: {printed}MB/s IOPS={cut}\n");
        let log = read(&Text::of(&text)).unwrap().remove(0);
        let result = &log.runs[0].results[0];
        let truth = kib_s as f64 * 1024.0;
        prop_assert!(result.mb_s * 1e6 <= truth + 1.0 && truth - result.mb_s * 1e6 <= 1_048_576.0);
        // Speed and IOPS were cut on their own: one MiB here, one I/O there.
        let by_iops = result.iops.unwrap_or(0.0) * 4096.0;
        prop_assert!((by_iops - result.mb_s * 1e6).abs() <= 1_048_576.0 + 4096.0);
    }
}
