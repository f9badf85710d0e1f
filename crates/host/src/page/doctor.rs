//! Page of `doctor`: failures first, with advice, then all points in one line each.

use cardscope_model::doctor::{DoctorPoint, DoctorReport, PointState};
use cardscope_model::report::NewsTone;
use cardscope_model::statistics::distinct_values;
use cardscope_page::figure::{ANSWER_COLUMNS, pluralize};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Page, PageBlock};

pub fn page(report: &DoctorReport) -> Page {
    let tone = match (report.failed, report.warned) {
        (0, 0) => NewsTone::Good,
        (0, _) => NewsTone::Warning,
        _ => NewsTone::Bad,
    };
    let mut page = Page::new("", tone, answer_line(report));
    let of = |state: PointState| report.points.iter().filter(move |point| point.state == state);
    for points in by_advice(of(PointState::Fail).chain(of(PointState::Warn))) {
        let seen: Vec<String> = points.iter().map(|p| format!("{}: {}", p.point, point_text(p))).collect();
        // A head that does not fit into a line moves below it.
        let (head, seen) = match seen.join(" · ") {
            head if head.chars().count() <= ANSWER_COLUMNS => (head, Vec::new()),
            _ => (points.iter().map(|p| p.point.clone()).collect::<Vec<_>>().join(" · "), seen),
        };
        let why = distinct_values(points.iter().map(|point| format!("why: {}", point.why)));
        let advice = points[0].advice.iter().map(|advice| format!("do: {advice}"));
        page.add_section(&head, [PageBlock::Lines(seen.into_iter().chain(why).chain(advice).collect())]);
    }
    let table = Table::from_items(
        &report.points,
        &[("point", &|p| p.point.clone()), ("state", &|p| p.state.word().to_owned()), ("found", &point_text)],
    );
    let table = table.left_aligned(["state", "found"]).never_dropped(["state", "found"]);
    page.add_detail("All points", [PageBlock::Table(table)]);
    page
}

/// Groups of points that share their advice.
fn by_advice<'a>(points: impl Iterator<Item = &'a DoctorPoint>) -> Vec<Vec<&'a DoctorPoint>> {
    let mut groups: Vec<Vec<&DoctorPoint>> = Vec::new();
    for point in points {
        match groups.iter_mut().find(|group| point.advice.is_some() && group[0].advice == point.advice) {
            Some(group) => group.push(point),
            None => groups.push(vec![point]),
        }
    }
    groups
}

fn answer_line(report: &DoctorReport) -> String {
    let target = report.target.as_deref().unwrap_or("a card");
    match (report.failed, report.warned) {
        (0, 0) => format!("This computer is fit to measure {target}."),
        (0, n) => format!("{} on this computer can distort results.", pluralize(n as u64, "condition")),
        (n, _) => format!("NOT FIT to measure {target}: fix {} first.", pluralize(n as u64, "problem")),
    }
}

/// Finding of a point, with its device if it has one.
fn point_text(point: &DoctorPoint) -> String {
    match &point.device {
        Some(device) => format!("{device}: {}", point.seen),
        None => point.seen.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::doctor::DoctorTopic;

    #[test]
    fn failed_points_come_first_with_advice() {
        let points = vec![
            DoctorTopic::Processor
                .define_point("governor", "clocks down")
                .with_state(PointState::Warn, "ondemand")
                .with_advice("echo performance"),
            DoctorTopic::Heat
                .define_point("supply", "slows")
                .with_state(PointState::Fail, "under-voltage now")
                .with_advice("another supply"),
            DoctorTopic::Processor
                .define_point("turbo", "clocks up")
                .with_state(PointState::Warn, "on")
                .with_advice("echo performance"),
            DoctorTopic::Reader
                .define_point("reader-bus", "bus")
                .with_state(PointState::Ok, "SDR104")
                .for_device("/dev/mmcblk0"),
        ];
        let text = page(&DoctorReport::new(None, points)).to_text();
        assert!(text.starts_with("NOT FIT to measure a card: fix 1 problem first.\n"), "{text}");
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} in\n{text}"));
        assert!(place("supply: under-voltage now") < place("governor: ondemand"));
        assert!(place("do: another supply") < place("do: echo performance"));
        assert_eq!(text.matches("do: echo performance").count(), 1, "one advice stands once: {text}");
        place("governor: ondemand · turbo: on\n  why: clocks down\n  why: clocks up\n  do: echo performance");
        place("reader-bus  ok     /dev/mmcblk0: SDR104");
    }
}
