//! Judged marks as text: what is claimed first, then what the card would meet, then what it rests on.

use crate::bench;
use crate::figure::{duration, rate, speed};
use crate::table::Table;
use cardscope_model::judged_mark::{ClaimedBy, JudgedMark, MarksMeasured, Outcome, RandomRate};
use cardscope_model::units::{BinarySize, KIB, MIB};
use std::fmt::Write;

/// The marks as people read them.
#[must_use]
pub fn text(found: &MarksMeasured) -> String {
    let mut out = String::new();
    claimed(&mut out, found);
    highest(&mut out, found);
    figures(&mut out, found);
    if !found.findings.is_empty() {
        let _ = write!(out, "\n{}", bench::findings(&found.findings));
    }
    for what in &found.left_out {
        let _ = writeln!(out, "Left out: {what}.");
    }
    out
}

/// One line for a mark: `U3 (card): met, 25 % above, …`.
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
        Outcome::Met => format!("met{border}: {}", judged.because),
        Outcome::Missed => format!("missed{border}: {}", judged.because),
        Outcome::NotTestable => format!("not testable here because {}", judged.because),
    };
    format!("{}{by}: {word}", judged.mark)
}

fn claimed(out: &mut String, found: &MarksMeasured) {
    let claimed: Vec<&JudgedMark> = found.judged.iter().filter(|j| !j.claimed_by.is_empty()).collect();
    if claimed.is_empty() {
        let _ = writeln!(out, "Neither card nor label claims a mark.");
        return;
    }
    let _ = writeln!(out, "Marks that are claimed:");
    for judged in claimed {
        let _ = writeln!(out, "  {}", line(judged));
    }
}

fn highest(out: &mut String, found: &MarksMeasured) {
    let met: Vec<String> = found.highest.iter().filter_map(|h| h.mark).map(|m| m.to_string()).collect();
    let words = if met.is_empty() { "none".to_owned() } else { met.join(" ") };
    let _ = writeln!(out, "\nHighest marks that it would meet: {words}");
    for highest in found.highest.iter().filter(|h| !h.remark.is_empty()) {
        let _ = writeln!(out, "  {}", highest.remark);
    }
    if let Some(bus) = &found.implied_bus {
        let _ = writeln!(
            out,
            "  Its fastest speed, {} MB/s, takes {} at least ({} MB/s, {}).",
            speed(bus.mb_s),
            bus.mode,
            speed(bus.ceiling_mb_s),
            bus.family
        );
    }
}

fn figures(out: &mut String, found: &MarksMeasured) {
    let _ = writeln!(
        out,
        "\nMeasured, with allocation units of {} ({}):",
        BinarySize(found.au_bytes),
        found.au_from
    );
    if let Some(read) = found.read_mb_s {
        let _ = writeln!(out, "  reading in order {} MB/s", speed(read));
    }
    for w in &found.writing {
        let worst = w.units.iter().map(|unit| unit.worst_4mib_mb_s).fold(f64::INFINITY, f64::min);
        let _ = writeln!(
            out,
            "  writing {} KiB in order {} MB/s over {} MiB, worst {} MB/s of {} units",
            w.io_bytes / KIB,
            speed(w.mb_s),
            w.bytes / MIB,
            speed(worst),
            w.units.len()
        );
    }
    if let Some(small) = &found.small_writes {
        let _ = writeln!(
            out,
            "  a file system's small writes: {:.1} ms a round on average, {:.1} ms at most, of {} rounds",
            small.worst_average_s * 1e3,
            small.longest_s * 1e3,
            small.rounds
        );
    }
    if let Some(partly) = &found.partly_used {
        let moved = partly
            .move_mb_s
            .map_or("costs nothing that shows".to_owned(), |pm| format!("{} MB/s", speed(pm)));
        let _ =
            writeln!(out, "  half used units {} MB/s; moving what is in use: {moved}", speed(partly.mb_s));
    }
    for stream in &found.streams {
        let what = if stream.write { "writing" } else { "reading" };
        let _ = writeln!(
            out,
            "  {what} with a full queue {} MB/s, worst 600 MB {} MB/s",
            speed(stream.mb_s),
            speed(stream.worst_mb_s)
        );
    }
    if !found.random.is_empty() {
        let _ = write!(out, "\n{}", random(&found.random));
    }
    let _ = writeln!(
        out,
        "Cost: {:.1} MB read, {:.1} MB written, {}.",
        found.cost.read_bytes as f64 / 1e6,
        found.cost.written_bytes as f64 / 1e6,
        duration(found.cost.seconds)
    );
}

fn random(rates: &[RandomRate]) -> Table {
    let mut table = Table::new(["random 4 KiB", "queue", "IOPS", "MB/s", "seconds", "stall in s"]);
    for r in rates {
        let what = if r.write { "writes" } else { "reads" };
        table.row([
            format!("{what} over {}", BinarySize(r.span_bytes / MIB * MIB)),
            r.depth.to_string(),
            rate(r.iops),
            speed(r.iops * 4096.0 / 1e6),
            format!("{:.1}", r.seconds),
            format!("{:.2}", r.longest_stall_s),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::judged_mark::{Highest, SequentialWrite, UnitSpeed};

    fn judged(mark: &str, outcome: Outcome, because: &str, claimed_by: Vec<ClaimedBy>) -> JudgedMark {
        JudgedMark {
            mark: mark.parse().unwrap(),
            claimed_by,
            outcome,
            because: because.to_owned(),
            margin: None,
            borderline: false,
            confidence: 0.9,
            parts: Vec::new(),
        }
    }

    #[test]
    fn claims_come_first_and_every_number_has_its_unit() {
        let unit = UnitSpeed { offset: 0, mb_s: 9.1, worst_4mib_mb_s: 8.9 };
        let found = MarksMeasured {
            au_bytes: 4 << 20,
            au_from: "allocation unit in the card's SSR".to_owned(),
            read_mb_s: Some(43.9),
            writing: vec![SequentialWrite {
                io_bytes: 524_288,
                bytes: 16 << 20,
                mb_s: 9.0,
                units: vec![unit; 4],
                ..SequentialWrite::default()
            }],
            random: vec![RandomRate {
                write: true,
                span_bytes: 256 << 20,
                depth: 1,
                iops: 500.0,
                seconds: 3.0,
                ..RandomRate::default()
            }],
            judged: vec![
                judged("C6", Outcome::Met, "C10 is met, which includes it", Vec::new()),
                judged(
                    "C10",
                    Outcome::Missed,
                    "writing 512 KiB in order, worst 4 MiB: 8.9 MB/s, 10.0 demanded",
                    vec![ClaimedBy::Card],
                ),
            ],
            highest: vec![Highest { letter: 'C', mark: "C6".parse().ok(), remark: String::new() }],
            ..MarksMeasured::default()
        };
        insta::assert_snapshot!(text(&found), @r"
        Marks that are claimed:
          C10 (card): missed: writing 512 KiB in order, worst 4 MiB: 8.9 MB/s, 10.0 demanded

        Highest marks that it would meet: C6

        Measured, with allocation units of 4 MiB (allocation unit in the card's SSR):
          reading in order 43.90 MB/s
          writing 512 KiB in order 9.000 MB/s over 16 MiB, worst 8.900 MB/s of 4 units

        random 4 KiB         queue  IOPS   MB/s  seconds  stall in s
        writes over 256 MiB      1   500  2.048      3.0        0.00
        Cost: 0.0 MB read, 0.0 MB written, 0.0 s.
        ");
    }
}
