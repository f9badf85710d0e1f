//! Predicts what other tools print for the same card, to explain different answers.

use super::random::is_deciding;
use cardscope_model::mark_result::{MarksMeasured, OtherTest, RandomRate};
use cardscope_model::units::KIB;
use cardscope_sd::mark::Mark;

/// A1 test of Raspberry Pi OS (job file of July 2024, docs/reference/tools.md#agnostics).
const PI: &str = "Raspberry Pi Diagnostics";
/// Its sequential demand in KiB/s, which it calls KB.
const PI_KIB_S: f64 = 10_000.0;
/// Class that it tests.
const PI_TESTS: (char, u16) = ('A', 1);

/// Result of the Raspberry Pi's test, which uses the area of A1 with a queue, unlike the specification. Empty if that
/// was not measured.
pub(super) fn predicted_results(found: &MarksMeasured) -> Vec<OtherTest> {
    let queued = |write: bool| {
        let with_queue = |r: &&RandomRate| r.write == write && r.depth > 1 && is_deciding(found, r);
        found.random.iter().find(with_queue)
    };
    let (Some(write), Some(read)) = (queued(true), queued(false)) else { return Vec::new() };
    let is_tested = |mark: &Mark| (mark.letter(), mark.number()) == PI_TESTS;
    let Some(mark) = Mark::all().find(is_tested) else { return Vec::new() };
    let demand = mark.demand();
    let in_order = found.writing.first().map(|w| w.mb_s * 1e6 / KIB as f64);
    let reaches = |rate: &RandomRate, least: Option<f64>| least.is_none_or(|least| rate.iops >= least);
    vec![OtherTest {
        tool: PI.to_owned(),
        mark,
        queue_depth: write.depth.min(read.depth),
        random_write_iops: write.iops,
        random_read_iops: read.iops,
        write_kib_s: in_order,
        passes: reaches(write, demand.random_write_iops)
            && reaches(read, demand.random_read_iops)
            && in_order.is_some_and(|kib_s| kib_s >= PI_KIB_S),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::options::TEST_AREA;
    use cardscope_model::mark_result::SequentialWrite;

    fn rate(write: bool, depth: u32, iops: f64) -> RandomRate {
        RandomRate { write, depth, iops, span_bytes: TEST_AREA, ..RandomRate::default() }
    }

    fn seen(mb_s: f64, random: Vec<RandomRate>) -> Vec<OtherTest> {
        let writing = vec![SequentialWrite { mb_s, ..SequentialWrite::default() }];
        predicted_results(&MarksMeasured { random, writing, ..MarksMeasured::default() })
    }

    #[test]
    fn pi_test_passes_with_a_queue_where_a1_misses() {
        let alone = vec![rate(true, 1, 433.0), rate(false, 1, 2100.0)];
        assert_eq!(seen(30.0, alone.clone()), []);
        let both = [alone, vec![rate(true, 32, 1010.0), rate(false, 32, 2300.0)]].concat();
        let test = &seen(30.0, both.clone())[0];
        assert!(test.passes && test.random_write_iops == 1010.0 && test.queue_depth == 32, "{test:?}");
        // 10.1 MB/s are 9860 KiB/s, which is below its demand.
        assert!(!seen(10.1, both)[0].passes);
    }
}
