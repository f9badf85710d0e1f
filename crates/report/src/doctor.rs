//! `doctor` as text: what is wrong first, with what to do; then all points in one line each.

use crate::page::{Block, Page};
use cardscope_model::doctor::{DoctorReport, Point, State};

/// The report as people read it.
pub fn text(report: &DoctorReport) -> String {
    let mut page = Page::new("", answer(report));
    for state in [State::Fail, State::Warn] {
        for point in report.points.iter().filter(|point| point.state == state) {
            let head = format!("{} {}: {}", point.state.word(), point.point, on(point));
            let advice = point.advice.iter().map(|advice| format!("   do: {advice}"));
            let lines = [format!("  why: {}", point.why)].into_iter().chain(advice);
            page.add(&head, [Block::Lines(lines.collect())]);
        }
    }
    let all = report.points.iter().map(|p| format!("{:<8}{:<20}{}", p.state.word(), p.point, on(p)));
    page.add("", [Block::Lines(all.collect())]);
    page.text()
}

fn answer(report: &DoctorReport) -> String {
    let of = report.target.as_ref().map_or_else(String::new, |target| format!(" with {target}"));
    match (report.failed, report.warned) {
        (0, 0) => format!("This computer is fit to measure{of}."),
        (0, warned) => format!("This computer can measure{of}; {} to be warned of.", points(warned)),
        (failed, warned) => {
            let warned =
                if warned > 0 { format!(", {} to be warned of", points(warned)) } else { String::new() };
            let fail = if failed == 1 { "fails" } else { "fail" };
            format!("This computer is not fit to measure{of}: {} {fail}{warned}.", points(failed))
        }
    }
}

fn points(count: usize) -> String {
    if count == 1 { "one point".to_owned() } else { format!("{count} points") }
}

fn on(point: &Point) -> String {
    match &point.device {
        Some(device) => format!("{device}: {}", point.seen),
        None => point.seen.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::doctor::Topic;

    #[test]
    fn what_fails_comes_first_with_what_to_do() {
        let points = vec![
            Topic::Processor
                .asks("governor", "clocks down")
                .is(State::Warn, "ondemand")
                .advise("echo performance"),
            Topic::Heat.asks("supply", "slows").is(State::Fail, "under-voltage now").advise("another supply"),
            Topic::Reader.asks("reader-bus", "bus").is(State::Ok, "SDR104").about("/dev/mmcblk0"),
        ];
        let text = text(&DoctorReport::new(None, points));
        assert!(text.starts_with(
            "This computer is not fit to measure: one point fails, one point to be warned of.\n"
        ));
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} in\n{text}"));
        assert!(place("FAIL supply: under-voltage now") < place("warn governor: ondemand"));
        assert!(place("do: another supply") < place("warn governor"));
        place("ok      reader-bus          /dev/mmcblk0: SDR104");
    }
}
