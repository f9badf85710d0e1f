//! Finding about failed I/Os.

use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::report::IoTotals;
use cardscope_model::units::DataAmount;
use cardscope_model::verify::{ErrorPattern, READER_ERRORS, ReaderFault};

const CLAIM: &str = "io-errors";

pub fn is_io_error_finding(finding: &Finding) -> bool {
    [CLAIM, READER_ERRORS].contains(&finding.claim.as_str())
}

/// Judges the pattern of failed I/Os. `when` ends the sentence; `card_bytes` is None for tests of files.
pub fn io_error_finding(moved: &IoTotals, card_bytes: Option<u64>, when: &str) -> Option<Finding> {
    let pattern = moved.error_pattern(card_bytes);
    let change = "Try another reader and another cable.";
    let (weight, sure, verdict, helps) = match pattern {
        ErrorPattern::None => return None,
        ErrorPattern::Occasional => {
            let text = format!("The card failed I/Os {when}, but not at the second try.");
            (FindingWeight::Note, 0.7, text, change)
        }
        ErrorPattern::Frequent => (
            FindingWeight::Bad,
            0.95,
            format!("I/Os often failed {when}, and succeeded when they were repeated."),
            "Try another reader and another cable, then discard the card.",
        ),
        ErrorPattern::Reader(fault) => (FindingWeight::Hint, 0.95, reader_fault(fault), change),
        ErrorPattern::Lasting => (
            FindingWeight::Bad,
            0.99,
            format!("The card failed I/Os {when}, twice each."),
            "Copy your data, then run `cardscope verify --full` to find the bad blocks.",
        ),
    };
    let claim = if matches!(pattern, ErrorPattern::Reader(_)) { READER_ERRORS } else { CLAIM };
    let first = moved.io_errors.iter().find(|error| !error.recovered).or(moved.io_errors.first());
    let place = first.map(|first| format!("{} at {}: {}", first.operation, first.offset, first.reason));
    Some(
        Finding::new(claim, weight, sure, verdict)
            .because("I/Os", moved.counts.ios)
            .because("failed once", moved.counts.failed_once)
            .because("failed twice", moved.counts.failed_twice)
            .because_some("first", place)
            .with_advice(helps),
    )
}

fn reader_fault(fault: ReaderFault) -> String {
    match fault {
        ReaderFault::Bus => "The bus loses commands all over the card: reader, cable or contacts.".to_owned(),
        ReaderFault::LongRequests(bytes) => {
            let size = DataAmount(bytes);
            format!("The reader fails requests of {size}; small ones at the same places succeed.")
        }
        ReaderFault::LastSectors => {
            "Only the end fails: the reader announces more than the card has.".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::verify::{IoCounts, IoError};

    fn failed(recovered: bool) -> IoError {
        IoError {
            operation: "read".into(),
            offset: 4096,
            len: 512,
            errno: 5,
            reason: "Input/output error".into(),
            recovered,
            in_parts: false,
        }
    }

    fn weighed(io_errors: &[IoError]) -> Option<Finding> {
        let failed_once = io_errors.iter().filter(|error| error.recovered).count() as u64;
        let failed_twice = io_errors.len() as u64 - failed_once;
        let mut moved = IoTotals::default();
        moved.add_failed(IoCounts { ios: 1000, failed_once, failed_twice }, io_errors);
        io_error_finding(&moved, Some(1 << 30), "here")
    }

    #[test]
    fn lasting_and_frequent_errors_are_bad() {
        assert_eq!(weighed(&[]), None);
        let hint = weighed(&[failed(true)]).unwrap();
        assert_eq!((hint.weight, hint.verdict.contains("second try")), (FindingWeight::Note, true));
        assert_eq!(weighed(&vec![failed(true); 50]).unwrap().weight, FindingWeight::Bad);
        let bad = weighed(&[failed(true), IoError { offset: 8192, ..failed(false) }]).unwrap();
        assert_eq!(bad.weight, FindingWeight::Bad);
        assert!(bad.evidence.iter().any(|(_, value)| value.contains("8192")), "{bad:?}");
    }

    #[test]
    fn reader_errors_are_hints() {
        let last = IoError { offset: (1 << 30) - 512, ..failed(false) };
        let found = weighed(&[last]).unwrap();
        assert_eq!((found.weight, found.claim.as_str()), (FindingWeight::Hint, READER_ERRORS));
        assert!(found.verdict.contains("Only the end"), "{found:?}");
    }
}
