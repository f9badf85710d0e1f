//! The kernel: io_uring, its age, whether it runs in a virtual machine, and quirks that somebody has set.

use cardscope_device::system::System;
use cardscope_device::{host, vitals};
use cardscope_engine::real::io_uring_allowed;
use cardscope_model::doctor::{Point, State, Topic};

/// First kernel that numbers the coming of disks, by which a swapped card is noticed (`diskseq`).
const NUMBERS_DISKS: (u32, u32) = (5, 15);

pub(super) fn points(system: &System) -> Vec<Point> {
    let mut points = vec![io_uring(system), age(system), machine(system)];
    points.extend(quirks(system));
    points
}

fn io_uring(system: &System) -> Point {
    let new = |state, seen: String| {
        Point::new(
            "io-uring",
            Topic::Kernel,
            state,
            seen,
            "deep queues are kept by io_uring; without it threads keep them, which costs processor time and understates fast cards",
        )
    };
    let setting = vitals::io_uring_disabled(system);
    let allow = "sudo sysctl kernel.io_uring_disabled=0";
    if !system.is_live() {
        return match setting {
            None => new(State::Unknown, "the recording does not tell".to_owned()),
            Some(0) => new(State::Ok, "allowed".to_owned()),
            Some(n) => new(State::Warn, format!("kernel.io_uring_disabled is {n}")).advise(allow),
        };
    }
    match (io_uring_allowed(), setting) {
        (Ok(()), _) => new(State::Ok, "allowed".to_owned()),
        (Err(_), Some(n @ 1..)) => new(State::Warn, format!("kernel.io_uring_disabled is {n}")).advise(allow),
        (Err(error), _) => new(State::Warn, format!("refused: {error}")).advise(
            "a container's seccomp profile is the usual reason: run outside of it, or with --security-opt seccomp=unconfined",
        ),
    }
}

fn age(system: &System) -> Point {
    let why = "a kernel before 5.15 does not number the coming of disks: a card that is swapped for one of the same size during a test is not noticed";
    let new = |state, seen: String| Point::new("kernel", Topic::Kernel, state, seen, why);
    let Some(release) = host::kernel(system) else {
        return new(State::Unknown, "unknown".to_owned());
    };
    match version(&release) {
        Some(version) if version >= NUMBERS_DISKS => new(State::Ok, release),
        Some(_) => {
            new(State::Warn, release).advise("do not swap cards during a test; a newer kernel would notice")
        }
        None => new(State::Unknown, release),
    }
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn machine(system: &System) -> Point {
    let why = "in a virtual machine each I/O and each timer goes through its host, whose caches and other guests take part";
    match vitals::hypervisor(system) {
        None => Point::new("machine", Topic::Kernel, State::Ok, "no virtual machine", why),
        Some(found) => {
            let name = found.name.map_or_else(String::new, |name| format!(" ({name})"));
            Point::new("machine", Topic::Kernel, State::Warn, format!("a virtual machine{name}"), why)
                .advise("measure on the host itself; or compare only with results of this machine")
        }
    }
}

/// `usb-storage.quirks` can turn UAS off, and with it the queue.
fn quirks(system: &System) -> Option<Point> {
    let set = vitals::module_parameter(system, "usb_storage", "quirks").filter(|text| text.contains(':'))?;
    let seen = format!("usb-storage.quirks={set}");
    let why = "quirks change how the kernel speaks to a reader; `u` turns UAS off, and with it the queue";
    Some(
        Point::new("usb-quirks", Topic::Kernel, State::Warn, seen, why)
            .advise("take it from the kernel's command line or /etc/modprobe.d unless the reader needs it"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_by_number() {
        assert_eq!(version("6.12.25+rpt-rpi-2712"), Some((6, 12)));
        assert!(version("5.4.0-42-generic").unwrap() < NUMBERS_DISKS);
        assert!(version("5.15.0").unwrap() >= NUMBERS_DISKS && version("10.0").unwrap() >= NUMBERS_DISKS);
        assert_eq!(version("unknown"), None);
    }
}
