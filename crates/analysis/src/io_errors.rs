//! What I/Os that failed under a probe say of the card.

use cardscope_model::finding::{Finding, Weight};
use cardscope_model::verify::IoError;

/// What the finding claims.
pub const CLAIM: &str = "io-errors";

/// A card that failed I/Os; `when` ends the sentence. What succeeded at the second try may be the reader's fault.
pub fn finding(io_errors: &[IoError], when: &str) -> Option<Finding> {
    let lasting = io_errors.iter().find(|t| !t.recovered);
    let first = lasting.or(io_errors.first())?;
    let (weight, sure, verdict, helps) = match lasting {
        Some(_) => (
            Weight::Bad,
            0.99,
            format!("The card failed I/Os {when}, twice each."),
            "Copy your data, then run `cardscope verify --full` to find the bad blocks.",
        ),
        None => (
            Weight::Hint,
            0.7,
            format!("The card failed I/Os {when}, but not at the second try."),
            "Try another reader and another cable.",
        ),
    };
    Some(
        Finding::new(CLAIM, weight, sure, verdict)
            .because("listed", io_errors.len())
            .because("first", format!("{} at {}: {}", first.operation, first.offset, first.reason))
            .advise(helps),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(recovered: bool) -> IoError {
        IoError {
            operation: "read".into(),
            offset: 4096,
            len: 512,
            errno: 5,
            reason: "Input/output error".into(),
            recovered,
        }
    }

    #[test]
    fn only_what_failed_twice_speaks_against_the_card() {
        let told = |io_errors: &[IoError]| finding(io_errors, "here").map(|f| (f.weight, f.verdict));
        assert_eq!(told(&[]), None);
        let hint = told(&[failed(true)]).unwrap();
        assert_eq!((hint.0, hint.1.contains("second try")), (Weight::Hint, true));
        let bad = finding(&[failed(true), IoError { offset: 8192, ..failed(false) }], "here").unwrap();
        assert_eq!(bad.weight, Weight::Bad);
        assert!(bad.evidence.iter().any(|(_, value)| value.contains("8192")), "{bad:?}");
    }
}
