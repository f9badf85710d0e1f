//! Reports of CrystalDiskMark 3 to 9 and of AmorphousDiskMark, which took its form over on the Mac.
//!
//! Their MB/s are true: 10^6 bytes a second, and IOPS times block agrees. The text is the same in every language of the
//! program; translated ones come from people and forums.

use super::dialect::{CRYSTALDISKMARK, is_sure_result};
use super::report;
use crate::error::ImportError;
use crate::text::Text;
use cardscope_model::log::Log;

/// True where a result line stands in it, with or without a heading; random access alone can be anybody's.
pub(crate) fn recognise(text: &Text) -> bool {
    text.lines().any(is_sure_result)
}

/// Reads all reports in the text.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    report::read(text, &CRYSTALDISKMARK)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
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
            proptest::prop_assert_eq!(read.test.to_string(), format!("RND4K Q{queue}T{threads}"));
            proptest::prop_assert!((read.mb_s - mb_s).abs() <= 0.000_5 + 1e-9);
            if let Some(printed) = read.iops {
                // Both were rounded: 0.0005 MB/s here, 0.05 I/Os of 4096 bytes there.
                proptest::prop_assert!((read.mb_s * 1e6 - printed * 4096.0).abs() <= 500.0 + 205.0);
            }
        }
    }
}
