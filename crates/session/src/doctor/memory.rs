//! Room for the buffers of a test, and whether the kernel lets them be locked.

use cardscope_device::system::System;
use cardscope_device::vitals;
use cardscope_model::doctor::{Point, State, Topic};
use cardscope_model::units::BinarySize;
use rustix::process::{Resource, getrlimit};

const MIB: u64 = 1 << 20;

/// Queue depth 32 with blocks of 1 MiB wants 32 MiB of buffers; a full verify and the maps want some hundred.
const WANTED: u64 = 512 * MIB;
const LEAST: u64 = 96 * MIB;

/// Registered buffers of the deepest queue that recipes ask for, with the rings.
const LOCKED: u64 = 40 * MIB;

/// CAP_IPC_LOCK (`capabilities(7)`): no limit on locked memory.
const CAP_IPC_LOCK: u32 = 14;

/// Pressure over ten seconds in percent.
const PRESSURE: f64 = 5.0;

pub(super) fn points(system: &System) -> Vec<Point> {
    let mut points = vec![available(system)];
    if system.is_live() {
        points.push(locked(system));
    }
    points.push(page_cache(system));
    points
}

fn available(system: &System) -> Point {
    let new = |state, seen: String| {
        Point::new(
            "memory",
            Topic::Memory,
            state,
            seen,
            "buffers that are swapped, or programs that swap meanwhile, put their I/O into the card's figures",
        )
    };
    let Some(memory) = vitals::memory(system) else {
        return new(State::Unknown, "the kernel does not tell".to_owned());
    };
    let pressure = vitals::pressure(system, "memory").map_or(0.0, |p| p.some.avg10);
    let size = |bytes: u64| format!("{} MiB", bytes / MIB);
    let seen = format!(
        "{} of {} are to be had, {} lie in swap, tasks waited {pressure:.1} % of the last ten seconds for memory",
        size(memory.available),
        size(memory.total),
        size(memory.swap_used)
    );
    match memory.available {
        bytes if bytes < LEAST => {
            new(State::Fail, seen).advise("end other programs: a test needs some hundred MiB")
        }
        bytes if bytes < WANTED || pressure > PRESSURE => {
            new(State::Warn, seen).advise("end other programs before measuring")
        }
        _ => new(State::Ok, seen),
    }
}

fn locked(system: &System) -> Point {
    let new = |state, seen: String| {
        Point::new(
            "locked-memory",
            Topic::Memory,
            state,
            seen,
            "buffers registered with io_uring are locked in memory; without them each I/O maps its own, which costs processor time",
        )
    };
    if vitals::capabilities(system).is_some_and(|set| set >> CAP_IPC_LOCK & 1 == 1) {
        return new(State::Ok, "this process may lock as much as it likes (CAP_IPC_LOCK)".to_owned());
    }
    match getrlimit(Resource::Memlock).current {
        None => new(State::Ok, "no limit".to_owned()),
        Some(bytes) if bytes >= LOCKED => new(State::Ok, format!("{} may be locked", BinarySize(bytes))),
        Some(bytes) => new(State::Warn, format!("{} may be locked", BinarySize(bytes)))
            .advise("add \"* - memlock unlimited\" to /etc/security/limits.d/cardscope.conf and log in again, or run with sudo"),
    }
}

/// The page cache matters for directories on file systems without direct I/O.
fn page_cache(system: &System) -> Point {
    let number = |name: &str| vitals::sysctl(system, name).and_then(|text| text.parse::<u64>().ok());
    let total = vitals::memory(system).map_or(0, |memory| memory.total);
    let limit = number("vm/dirty_bytes")
        .filter(|bytes| *bytes > 0)
        .or_else(|| Some(total / 100 * number("vm/dirty_ratio")?));
    let new = |state, seen: String| {
        Point::new(
            "page-cache",
            Topic::Memory,
            state,
            seen,
            "a directory on a file system without direct I/O is written through the page cache: a test smaller than this limit measures memory",
        )
    };
    let Some(limit) = limit else { return new(State::Unknown, "the kernel does not tell".to_owned()) };
    let seen = format!("up to {} MiB wait in memory before a writer is held back", limit / MIB);
    match number("vm/laptop_mode") {
        Some(1..) => new(State::Warn, format!("{seen}; laptop mode holds writes back"))
            .advise("sudo sysctl vm.laptop_mode=0"),
        _ => new(State::Ok, seen),
    }
}
