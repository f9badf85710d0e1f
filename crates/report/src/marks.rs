//! Judged marks as text.

use cardscope_model::judged_mark::{ClaimedBy, JudgedMark, Outcome, Part};

/// One line for a mark, with every figure that decides:
/// `U3 (card): met: writing 512 KiB in order, worst 4 MiB: 31.2 MB/s, 30.0 demanded`.
#[must_use]
pub fn line(judged: &JudgedMark) -> String {
    let by = match judged.claimed_by[..] {
        [] => String::new(),
        [ClaimedBy::Card] => " (card)".to_owned(),
        [ClaimedBy::Label] => " (label)".to_owned(),
        _ => " (card and label)".to_owned(),
    };
    let border = if judged.borderline { ", borderline" } else { "" };
    let word = match judged.outcome {
        Outcome::Met => format!("met{border}:"),
        Outcome::Missed => format!("missed{border}:"),
        Outcome::Borderline => "borderline:".to_owned(),
        Outcome::NotTestable => "not testable here because".to_owned(),
    };
    let figures = [judged.because.clone()].into_iter().chain(others(judged)).collect::<Vec<_>>();
    format!("{}{by}: {word} {}", judged.mark, figures.join("; "))
}

/// Speeds and rates that the reason does not name yet. Single times have limits so wide that nearly every card keeps
/// them: they are named where they are the reason.
fn others(judged: &JudgedMark) -> impl Iterator<Item = String> {
    let new = |part: &&Part| part.unit != "ms" && !judged.because.contains(&part.what);
    judged.parts.iter().filter(new).filter_map(Part::figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(what: &str, measured: f64, unit: &str, demanded: f64) -> Part {
        Part {
            what: what.to_owned(),
            demanded,
            measured: Some(measured),
            at_best: None,
            without_queue: None,
            unit: unit.to_owned(),
            outcome: Outcome::Met,
            margin: None,
            borderline: false,
            confidence: 0.9,
            because: None,
        }
    }

    fn judged(mark: &str, outcome: Outcome, because: &str, parts: Vec<Part>) -> JudgedMark {
        JudgedMark {
            mark: mark.parse().unwrap(),
            claimed_by: vec![ClaimedBy::Card],
            outcome,
            because: because.to_owned(),
            margin: None,
            borderline: false,
            confidence: 0.9,
            parts,
        }
    }

    #[test]
    fn a_line_holds_every_figure_that_decides_once_and_with_its_unit() {
        let worst = part("writing 512 KiB in order, worst 4 MiB", 8.9, "MB/s", 10.0);
        let read = part("single read of 4 KiB, median", 1.2, "ms", 12.0);
        let because = worst.figure().unwrap();
        insta::assert_snapshot!(
            line(&judged("C10", Outcome::Missed, &because, vec![worst, read])),
            @"C10 (card): missed: writing 512 KiB in order, worst 4 MiB: 8.9 MB/s, 10.0 demanded"
        );
    }

    #[test]
    fn rates_stand_with_the_queue_and_without_it() {
        let sustained = part("sustained writing over 16 MiB", 41.0, "MB/s", 10.0);
        let reads = Part {
            without_queue: Some(2130.0),
            ..part("random 4 KiB reads over 256 MiB, queue depth 32", 4510.0, "IOPS", 4000.0)
        };
        let because = reads.figure().unwrap();
        insta::assert_snapshot!(
            line(&judged("A2", Outcome::Met, &because, vec![sustained, reads])),
            @"A2 (card): met: random 4 KiB reads over 256 MiB, queue depth 32: 4510 IOPS (2130 without it), 4000 demanded; sustained writing over 16 MiB: 41.0 MB/s, 10.0 demanded"
        );
    }
}
