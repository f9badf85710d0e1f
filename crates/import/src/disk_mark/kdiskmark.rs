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

    fn read_one(text: &str) -> Log {
        read(&Text::of(text)).unwrap().remove(0)
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
