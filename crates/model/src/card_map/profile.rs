//! Summary of a map in the form of a review, as in docs/reference/reports.md#lexar-review.

use super::property::{Property, PropertyEvidence, PropertyStatus};
use super::{MeasuredMap, ProfileLine, SizePoint};
use crate::units::{BinarySize, KIB, SpeedMbS};

/// Sizes of the random writes in that review.
const RANDOM_WRITES: [u64; 4] = [4 * KIB, 16 * KIB, 64 * KIB, 512 * KIB];

pub fn profile_lines(measured: &MeasuredMap) -> Vec<ProfileLine> {
    let size = |bytes: &u64| BinarySize(*bytes).to_string();
    let speed = |mb_s: &f64| SpeedMbS(*mb_s).to_string();
    let mut lines = vec![
        property_line("page size", &measured.page_bytes, size),
        property_line("block size", &measured.erase_block_bytes, size),
        open_blocks(measured),
        read_latency(measured),
        fastest_line("sequential read", &measured.curves.sequential_read, measured),
        fastest_line("sequential write", &measured.curves.sequential_write, measured),
        property_line("sequential write after the cache", &measured.after_cache_mb_s, speed),
    ];
    lines.extend(RANDOM_WRITES.iter().map(|bytes| random_write(*bytes, measured)));
    lines
}

fn profile_line(what: impl Into<String>, value: impl Into<String>, how: impl Into<String>) -> ProfileLine {
    ProfileLine { what: what.into(), value: value.into(), how: how.into() }
}

fn property_line<T>(what: &str, property: &Property<T>, show: impl Fn(&T) -> String) -> ProfileLine {
    profile_line(what, property_text(property, show), property_method(property))
}

fn property_text<T>(property: &Property<T>, show: impl Fn(&T) -> String) -> String {
    match (property.status, &property.value, &property.bound) {
        (PropertyStatus::Measured, Some(value), _) => show(value),
        (PropertyStatus::AtLeast, _, Some(bound)) => format!("at least {}", show(bound)),
        (PropertyStatus::None, ..) => "none seen".to_owned(),
        _ => "not tested".to_owned(),
    }
}

fn property_method<T>(property: &Property<T>) -> String {
    match property.status {
        PropertyStatus::NotTested => property.reason.clone().unwrap_or_default(),
        _ => method_text(&property.evidence, property.confidence),
    }
}

fn method_text(evidence: &PropertyEvidence, confidence: f64) -> String {
    // A confidence of one half is chance, so it is not printed.
    let sure = if confidence > 0.5 { format!("{:.1} % sure", confidence * 100.0) } else { String::new() };
    // The page shows the whole method with the property, so the first clause is enough here.
    let clause = evidence.method.split([';', ':']).next().unwrap_or_default();
    [clause, &sure].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn open_blocks(measured: &MeasuredMap) -> ProfileLine {
    let blocks = &measured.open_blocks;
    let show = |n: &u32| n.to_string();
    let (linear, random) = (property_text(&blocks.linear, show), property_text(&blocks.random, show));
    // Two equal texts without a value, e.g. `not tested`, are printed once.
    let once = linear == random && !blocks.linear.is_measured();
    let both = if once { linear } else { format!("{linear}/{random}") };
    profile_line("open AUs (seq/random)", both, property_method(&blocks.linear))
}

fn read_latency(measured: &MeasuredMap) -> ProfileLine {
    let curve = &measured.curves.random_read;
    let at = curve.iter().find(|p| p.bytes == 4 * KIB).or_else(|| curve.iter().min_by_key(|p| p.bytes));
    match at {
        None => profile_line("read latency", "not tested", "reads by size were not timed"),
        Some(point) => {
            let how = format!("median of {} random reads of {}", point.ios, BinarySize(point.bytes));
            profile_line("read latency", format!("{:.2} ms", point.p50_us / 1000.0), how)
        }
    }
}

fn fastest_line(what: &str, curve: &[SizePoint], measured: &MeasuredMap) -> ProfileLine {
    match curve.iter().max_by(|a, b| a.mb_s.total_cmp(&b.mb_s)) {
        None => profile_line(what, "not tested", missing_reason(measured)),
        Some(best) => profile_line(what, SpeedMbS(best.mb_s).to_string(), timing_text(best, "in order")),
    }
}

fn random_write(bytes: u64, measured: &MeasuredMap) -> ProfileLine {
    let what = format!("random write {}", BinarySize(bytes));
    // Beyond the open blocks of a card random writes are much slower.
    let area = match measured.curves.random_write_blocks {
        Some(1) => "random within one fresh erase block".to_owned(),
        Some(n) => format!("random within {n} fresh erase blocks, as many as stay open"),
        None => "at random".to_owned(),
    };
    match measured.curves.random_write.iter().find(|p| p.bytes == bytes) {
        None => profile_line(what, "not tested", missing_reason(measured)),
        Some(point) => profile_line(what, SpeedMbS(point.mb_s).to_string(), timing_text(point, &area)),
    }
}

fn timing_text(point: &SizePoint, order: &str) -> String {
    let ios = if point.ios == 1 { "I/O" } else { "I/Os" };
    format!("{} {ios} of {} {order}, one after the other", point.ios, BinarySize(point.bytes))
}

/// Returns the reason that a curve is missing. Curves have no status, so it is that of the other tests that write.
fn missing_reason(measured: &MeasuredMap) -> String {
    let reason = measured.open_blocks.linear.reason.clone();
    reason.unwrap_or_else(|| "no time left, or no I/O of that size fits".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card_map::lexar_card::{point, seed_004};

    /// Card of docs/reference/reports.md#lexar-review, with all its figures.
    fn lexar() -> MeasuredMap {
        let mut measured = seed_004();
        measured.curves.sequential_read = [(4, 5.0), (1024, 20.40)].map(point).to_vec();
        measured.curves.random_read = vec![SizePoint { p50_us: 850.0, ios: 100, ..point((4, 4.8)) }];
        measured
    }

    #[test]
    fn lexar_profile_has_the_lines_of_the_review() {
        let lines = profile_lines(&lexar());
        let said: Vec<(&str, &str)> = lines.iter().map(|l| (l.what.as_str(), l.value.as_str())).collect();
        let expected = [
            ("page size", "16 KiB"),
            ("block size", "4 MiB"),
            ("open AUs (seq/random)", "5/5"),
            ("read latency", "0.85 ms"),
            ("sequential read", "20.4 MB/s"),
            ("sequential write", "11.2 MB/s"),
            ("sequential write after the cache", "not tested"),
            ("random write 4 KiB", "1.20 MB/s"),
            ("random write 16 KiB", "4.54 MB/s"),
            ("random write 64 KiB", "8.78 MB/s"),
            ("random write 512 KiB", "12.1 MB/s"),
        ];
        assert_eq!(said, expected);
        assert!(lines.iter().all(|l| !l.how.is_empty()), "{lines:?}");
    }

    #[test]
    fn random_write_line_names_its_erase_blocks() {
        let mut measured = lexar();
        measured.curves.random_write_blocks = Some(5);
        let lines = profile_lines(&measured);
        let line = lines.iter().find(|l| l.what == "random write 4 KiB").unwrap();
        assert!(line.how.contains("within 5 fresh erase blocks"), "{line:?}");
    }

    #[test]
    fn unmeasured_lines_have_a_reason_and_no_number() {
        let mut measured = MeasuredMap::default();
        measured.open_blocks.linear = Property::not_tested("--read-only was given");
        for line in profile_lines(&measured) {
            assert_eq!(line.value, "not tested", "{line:?}");
            assert!(!line.how.is_empty() && !line.value.contains(char::is_numeric), "{line:?}");
        }
        measured.erase_block_bytes = Property::none(0.97, PropertyEvidence::from_method("reads"));
        measured.open_blocks.linear = Property::at_least(32, 0.9, PropertyEvidence::from_method("writes"));
        measured.open_blocks.random = Property::at_least(32, 0.9, PropertyEvidence::from_method("writes"));
        let lines = profile_lines(&measured);
        assert_eq!((lines[1].value.as_str(), lines[2].value.as_str()), ("none seen", "at least 32"));
    }
}
