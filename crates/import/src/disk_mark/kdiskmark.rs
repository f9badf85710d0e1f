//! Reports of KDiskMark 1.6 to 3.3.
//!
//! It prints fio's `bw`, which is KiB/s, divided by 1000 as MB/s: 1.024 MB/s each. Its IOPS are true, and agree with
//! the speed only then. Before 3.3.0 it halved tests of several threads; its mix is a mean of read and write speed
//! weighted by the share of reads, where the card moved their sum.

use super::dialect::{KDISKMARK, is_sure_result};
use super::report;
use crate::error::ImportError;
use crate::text::Text;
use cardscope_model::log::Log;

/// True for a report with its heading; without it nothing tells it from CrystalDiskMark's.
pub(crate) fn recognise(text: &Text) -> bool {
    let any = |test: fn(&str) -> bool| text.lines().any(test);
    any(|line| KDISKMARK.heading(line).is_some()) && any(is_sure_result)
}

/// Reads all reports in the text.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    report::read(text, &KDISKMARK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(version: &str, threads: &str) -> String {
        format!(
            "   KDiskMark ({version}): https://github.com/JonMagon/KDiskMark\n\
             Flexible I/O Tester (fio-3.30): https://github.com/axboe/fio\n\
             ---------------------\n* MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]\n\n[Read]\n\
             Sequential   1 MiB (Q=  8, T= 1):    90.000 MB/s [     87.9 IOPS] < 91000.05 us>\n\
                 Random   4 KiB (Q= 32, T={threads}):     4.000 MB/s [   1000.0 IOPS] < 31000.37 us>\n\n[Mix] Read 60%/Write 40%\n\
                 Random   4 KiB (Q=  1, T= 1):     2.500 MB/s [    625.0 IOPS] <  1600.00 us>\n\n\
             Profile: Default\n   Test: 64 MiB (x5) [Measure: 5 sec / Interval: 5 sec]\n\
             \x20  Date: 2023-03-04 05:06:07\n     OS: fedora 42 [linux 6.14.0]\n\
             \x20Target: /run/media/card 25% (7/29 GiB) [SR64G]\n"
        )
    }

    fn read_one(text: &str) -> Log {
        read(&Text::of(text)).unwrap().remove(0)
    }

    #[test]
    fn printed_megabytes_are_thousands_of_kibibytes() {
        let log = read_one(&report("3.3.1", "16"));
        let results = &log.runs[0].results;
        assert_eq!(results[1].mb_s, 4.096);
        assert_eq!((results[1].as_printed.value, results[1].iops), (4.0, Some(1000.0)));
        // What the IOPS say agrees with it, and not with the printed number.
        assert_eq!(1000.0 * 4096.0 / 1e6, results[1].mb_s);
        assert_eq!(results[2].name().to_string(), "RND4K Q1T1 mix60");
    }

    #[test]
    fn old_versions_are_doubted_where_they_used_several_threads() {
        let doubts = |version, threads| read_one(&report(version, threads)).doubts.len();
        // The mix is doubted in all of them.
        assert_eq!([doubts("3.2.0", "16"), doubts("3.3.0", "16"), doubts("1.6.0", " 1")], [2, 1, 1]);
    }

    #[test]
    fn date_size_and_card_are_read() {
        let log = read_one(&report("3.1.0", " 1"));
        assert_eq!(log.date.as_deref(), Some("2023-03-04T05:06:07"));
        assert_eq!((log.runs[0].size_bytes, log.runs[0].loops), (Some(64 << 20), Some(5)));
        assert_eq!(log.card.model.as_deref(), Some("SR64G"));
        assert_eq!(log.tool.and_then(|tool| tool.version).as_deref(), Some("3.1.0"));
        assert_eq!(log.condition.get("kernel"), Some("fedora 42 [linux 6.14.0]"));
    }

    #[test]
    fn a_report_that_is_cut_off_keeps_its_whole_lines() {
        let text = report("3.1.0", " 1");
        let cut = text.find("   2.500 MB/s").unwrap();
        let log = read_one(&text[..cut + 8]);
        assert_eq!(log.runs[0].results.len(), 2);
    }

    #[test]
    fn reports_of_two_programs_in_one_text_keep_their_units() {
        let both = format!("{}\nCrystalDiskMark 3.0.3\nSequential Read : 20.0 MB/s\n", report("3.3.0", " 1"));
        let logs = read(&Text::of(&both)).unwrap();
        let formats: Vec<&str> = logs.iter().map(|log| log.format.as_str()).collect();
        assert_eq!(formats, ["kdiskmark", "crystaldiskmark"]);
        assert_eq!(logs[1].runs[0].results[0].mb_s, 20.0);
    }

    #[test]
    fn a_page_that_names_the_program_is_no_report() {
        assert!(!recognise(&Text::of("I like KDiskMark (3.0.0) best.")));
        assert!(!recognise(&Text::of("CrystalDiskMark 3.0.3\nSequential Read : 20.0 MB/s")));
    }

    proptest::proptest! {
        #[test]
        fn printed_figures_come_back_and_agree_with_their_iops(kib_s in 100.0..8_000_000.0_f64) {
            let line = format!("Random 4 KiB (Q= 1, T= 1): {:9.3} MB/s [{:8.1} IOPS]", kib_s / 1000.0, kib_s / 4.0);
            let log = read_one(&format!("KDiskMark (3.3.0): x\n[Read]\n{line}\n"));
            let result = &log.runs[0].results[0];
            // 0.0005 of its MB/s were rounded off, and 0.05 I/Os of 4096 bytes.
            proptest::prop_assert!((result.mb_s * 1e6 - kib_s * 1024.0).abs() <= 512.0 + 1.0);
            let by_iops = result.iops.unwrap() * 4096.0;
            proptest::prop_assert!((result.mb_s * 1e6 - by_iops).abs() <= 512.0 + 205.0 + 1.0);
        }
    }
}
