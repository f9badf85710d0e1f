//! Memory for the buffers of a test, whether they may be locked, and disk space for journals and the archive.

use cardscope_device::filesystem;
use cardscope_device::system::SystemRoots;
use cardscope_device::vitals;
use cardscope_model::doctor::{DoctorPoint, DoctorTopic, PointState};
use cardscope_model::units::{BinarySize, MIB};
use cardscope_session::archive_access::archive_path;
use cardscope_session::error::Result;
use cardscope_session::options::ArchiveAt;
use cardscope_store::{is_server_address, redact_address};
use rustix::process::{Resource, getrlimit};
use std::path::{Path, PathBuf};

/// Free memory that warns, and that fails. Queue depth 32 with 1 MiB blocks needs 32 MiB of buffers; a full verify and
/// maps need some hundred MiB.
const WANTED: u64 = 512 * MIB;
const LEAST: u64 = 96 * MIB;

/// Registered buffers and rings of the deepest queue in recipes.
const LOCKED: u64 = 40 * MIB;

/// CAP_IPC_LOCK (`capabilities(7)`): no limit on locked memory.
const CAP_IPC_LOCK: u32 = 14;

/// Pressure over ten seconds, in percent, that warns.
const PRESSURE: f64 = 5.0;

pub(super) fn points(system: &SystemRoots, disk: Option<&str>, at: &ArchiveAt) -> Result<Vec<DoctorPoint>> {
    let mut points = vec![memory_point(system)];
    if system.is_live() {
        points.push(locked_memory_point(system));
    }
    points.push(page_cache_point(system));
    if system.is_live() {
        points.extend([journal_place_point(disk), archive_place_point(disk, at)?]);
    }
    Ok(points)
}

fn memory_point(system: &SystemRoots) -> DoctorPoint {
    let point = DoctorTopic::Memory.define_point("memory", "swapping adds I/O to the test");
    let Some(memory) = vitals::memory_bytes(system) else {
        return point.unknown("not reported by the kernel");
    };
    let pressure = vitals::read_pressure(system, "memory").map_or(0.0, |p| p.some.avg10);
    let [free, all, swapped] = [memory.available, memory.total, memory.swap_used].map(|bytes| bytes / MIB);
    let waited = format!("tasks waited {pressure:.1} % of the last 10 s for memory");
    let seen = format!("{free} MiB of {all} MiB available, {swapped} MiB swapped, {waited}");
    match memory.available {
        bytes if bytes < LEAST => point.fail(seen, "stop other programs: a test needs some hundred MiB"),
        bytes if bytes >= WANTED && pressure <= PRESSURE => point.ok(seen),
        _ => point.warn(seen, "stop other programs before measuring"),
    }
}

fn locked_memory_point(system: &SystemRoots) -> DoctorPoint {
    let why = "io_uring locks its buffers in memory; without them each I/O takes more processor time";
    let point = DoctorTopic::Memory.define_point("locked-memory", why);
    if vitals::capabilities(system).is_some_and(|set| set >> CAP_IPC_LOCK & 1 == 1) {
        return point.ok("unlimited (CAP_IPC_LOCK)");
    }
    let unlimited = "add \"* - memlock unlimited\" to /etc/security/limits.d/cardscope.conf and log in again, or run with sudo";
    match getrlimit(Resource::Memlock).current {
        None => point.ok("no limit"),
        Some(bytes) if bytes >= LOCKED => point.ok(format!("{} may be locked", BinarySize(bytes))),
        Some(bytes) => point.warn(format!("{} may be locked", BinarySize(bytes)), unlimited),
    }
}

/// Limit of buffered writes, which matters for directories on file systems without direct I/O.
fn page_cache_point(system: &SystemRoots) -> DoctorPoint {
    let number = |name: &str| vitals::read_sysctl(system, name).and_then(|text| text.parse::<u64>().ok());
    let total = vitals::memory_bytes(system).map_or(0, |memory| memory.total);
    let limit = number("vm/dirty_bytes").filter(|bytes| *bytes > 0);
    let limit = limit.or_else(|| Some(total / 100 * number("vm/dirty_ratio")?));
    let why = "without direct I/O, a test smaller than this limit measures the page cache";
    let point = DoctorTopic::Memory.define_point("page-cache", why);
    let Some(limit) = limit else { return point.unknown("not reported by the kernel") };
    let seen = format!("up to {} MiB are buffered before writes wait", limit / MIB);
    match number("vm/laptop_mode") {
        Some(1..) => point.warn(format!("{seen}; laptop mode delays writes"), "sudo sysctl vm.laptop_mode=0"),
        _ => point.ok(seen),
    }
}

/// Free disk space that warns, and that fails. A quick verify saves some hundred MiB, a thorough one 2 GiB.
const WANTED_ON_DISK: u64 = 3072 * MIB;
const LEAST_ON_DISK: u64 = 128 * MIB;

/// Advice to move journals and archive to another disk.
const OTHER_FOLDERS: &str = "export XDG_STATE_HOME and XDG_DATA_HOME to folders on another disk";

fn journal_place_point(device: Option<&str>) -> DoctorPoint {
    let journal = cardscope_journal::folder::journal_folder().map_err(|e| e.to_string());
    let why = "journals are stored here, and restored after a crash";
    folder_point("journal-place", journal, device, (why, OTHER_FOLDERS))
}

/// Checks the place of the archive. Fails if its address is neither a file nor a server.
fn archive_place_point(device: Option<&str>, archive: &ArchiveAt) -> Result<DoctorPoint> {
    let why = "results are stored here as soon as they are measured";
    let path = archive_path(archive.named_path());
    if let Ok(path) = &path
        && is_server_address(path)?
    {
        let server = redact_address(path);
        let seen = format!("{} is on a server, which was not checked", server.display());
        return Ok(DoctorTopic::Storage.define_point("archive-place", why).unknown(seen));
    }
    let elsewhere = match archive.named_path() {
        Some(_) => "name an archive on another disk with --archive or CARDSCOPE_ARCHIVE",
        None => OTHER_FOLDERS,
    };
    Ok(folder_point("archive-place", path.map_err(|e| e.to_string()), device, (why, elsewhere)))
}

/// Checks disk, file system and free space of the folder that a path lies in.
fn folder_point(
    name: &str,
    path: Result<PathBuf, String>,
    device: Option<&str>,
    (why, elsewhere): (&str, &str),
) -> DoctorPoint {
    let point = DoctorTopic::Storage.define_point(name, why);
    let path = match path {
        Ok(path) => path,
        Err(reason) => return point.fail(reason, "export HOME, or XDG_STATE_HOME and XDG_DATA_HOME"),
    };
    if let Some(device) = device
        && filesystem::is_on_disk_of(&path, device)
    {
        let seen = format!("{} is on {device} itself", path.display());
        let state = if name == "journal-place" { PointState::Fail } else { PointState::Warn };
        return point.with_state(state, seen).with_advice(elsewhere);
    }
    let Some((free, read_only)) = free_space(&path) else {
        return point.unknown(format!("{} cannot be read", path.display()));
    };
    let below = filesystem::file_system_at(&path).ok();
    let kind = below.as_ref().map_or("an unknown file system", |found| found.name.as_str());
    let seen = format!("{} on {kind}, {} MiB free", path.display(), free / MIB);
    match free {
        _ if read_only => point.fail(format!("{seen}, read-only"), elsewhere),
        free if free < LEAST_ON_DISK => point.fail(seen, elsewhere),
        _ if matches!(kind, "tmpfs" | "ramfs") => {
            point.warn(format!("{seen}: in memory, lost after a crash"), elsewhere)
        }
        free if free < WANTED_ON_DISK => point.warn(seen, elsewhere),
        _ => point.ok(seen),
    }
}

/// Free bytes and read-only state of the nearest existing folder.
fn free_space(path: &Path) -> Option<(u64, bool)> {
    let path = std::path::absolute(path).ok()?;
    let there = path.ancestors().find(|p| p.is_dir())?;
    filesystem::disk_space(there).ok().map(|room| (room.free, room.read_only))
}
