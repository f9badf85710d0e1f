//! `doctor` as text: what is wrong first, with what to do; then all points in one line each.

use crate::page::table::Table;
use crate::page::{Block, Page, Tone};
use cardscope_model::doctor::{DoctorReport, Point, State};

/// The page.
pub fn page(report: &DoctorReport) -> Page {
    let tone = match (report.failed, report.warned) {
        (0, 0) => Tone::Good,
        (0, _) => Tone::Warning,
        _ => Tone::Bad,
    };
    let mut page = Page::new("", tone, answer(report));
    let of = |state: State| report.points.iter().filter(move |point| point.state == state);
    for point in of(State::Fail).chain(of(State::Warn)) {
        let advice = point.advice.iter().map(|advice| format!("do: {advice}"));
        let lines = [format!("why: {}", point.why)].into_iter().chain(advice);
        page.add(&format!("{}: {}", point.point, on(point)), [Block::Lines(lines.collect())]);
    }
    let table = Table::of(
        &report.points,
        &[("point", &|p| p.point.clone()), ("state", &|p| p.state.word().to_owned()), ("found", &on)],
    );
    page.fold(
        "All points",
        [Block::Table(table.left_aligned(["state", "found"]).always(["state", "found"]))],
    );
    page
}

fn answer(report: &DoctorReport) -> String {
    let target = report.target.as_ref().map_or_else(|| "a card".to_owned(), Clone::clone);
    match (report.failed, report.warned) {
        (0, 0) => format!("This computer is fit to measure {target}."),
        (0, 1) => format!("1 place where this computer slows {target}."),
        (0, warned) => format!("{warned} places where this computer slows {target}."),
        (1, _) => format!("NOT FIT to measure {target}: fix 1 point first."),
        (failed, _) => format!("NOT FIT to measure {target}: fix {failed} points first."),
    }
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
        let text = page(&DoctorReport::new(None, points)).text();
        assert!(text.starts_with("NOT FIT to measure a card: fix 1 point first.\n"), "{text}");
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} in\n{text}"));
        assert!(place("supply: under-voltage now") < place("governor: ondemand"));
        assert!(place("do: another supply") < place("do: echo performance"));
        place("reader-bus  ok     /dev/mmcblk0: SDR104");
    }
}
