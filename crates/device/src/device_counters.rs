//! Kernel counters of a device in use, read without any I/O on it.
//!
//! `Documentation/admin-guide/iostats.rst` and `Documentation/block/stat.rst` of the Linux kernel. The kernel generates
//! all files read here from memory.

use crate::block::{BlockDevice, SYSFS_UNIT};
use crate::mounts::MountTable;
use crate::system::{SystemRoots, read_text};
use crate::vitals::{self, CpuTimes};

/// Activity of a block device since it appeared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeviceCounters {
    /// Completed reads, after merging.
    pub reads: u64,
    pub read_bytes: u64,
    /// Sum of latencies.
    pub read_ms: u64,
    /// Completed writes, after merging.
    pub writes: u64,
    pub write_bytes: u64,
    /// Sum of latencies.
    pub write_ms: u64,
    /// Number of I/Os in flight now.
    pub in_flight: u64,
    /// Time with at least one I/O in flight.
    pub busy_ms: u64,
    /// Time weighted by the number of I/Os in flight.
    pub queue_ms: u64,
}

impl DeviceCounters {
    /// Parses a `stat` file, or the fields after the name in `/proc/diskstats`.
    fn parse(fields: &str) -> Option<DeviceCounters> {
        let field: Vec<u64> = fields.split_whitespace().map_while(|word| word.parse().ok()).collect();
        (field.len() >= 11).then(|| DeviceCounters {
            reads: field[0],
            read_bytes: field[2].saturating_mul(SYSFS_UNIT),
            read_ms: field[3],
            writes: field[4],
            write_bytes: field[6].saturating_mul(SYSFS_UNIT),
            write_ms: field[7],
            in_flight: field[8],
            busy_ms: field[9],
            queue_ms: field[10],
        })
    }
}

/// Counters of a device by kernel name; `None` if it is gone, or the kernel has no counters.
pub fn counters_by_name(system: &SystemRoots, name: &str) -> Option<DeviceCounters> {
    let device = BlockDevice::by_name(system, name)?;
    read_text(device.dir.join("stat")).and_then(|fields| DeviceCounters::parse(&fields))
}

/// Counters of the device and the computer at one time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CounterSnapshot {
    pub uptime: f64,
    pub device: DeviceCounters,
    pub partitions: Vec<(String, DeviceCounters)>,
    /// Time since boot in which some tasks, and all, waited for I/O, in µs; `None` without PSI.
    pub io_stall_us: Option<(u64, u64)>,
    /// Likewise for memory.
    pub memory_stall_us: Option<(u64, u64)>,
    /// Time in which some task waited for a processor, in µs.
    pub cpu_stall_us: Option<u64>,
    pub cpu: Option<CpuTimes>,
    /// Bytes moved to and from swap since boot.
    pub swap_bytes: Option<u64>,
    /// Average of the last minute.
    pub load: Option<f64>,
    /// Busy time of other disks in ms, without those built on the watched one.
    pub others: Vec<(String, u64)>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WatchError {
    #[error("{0} is not a block device; `cardscope list --all` shows the devices")]
    NotFound(String),
    #[error("{0} went away; the samples so far are stored")]
    Gone(String),
    #[error("the kernel has no statistics of {0}; switch them on with echo 1 > /sys/block/{0}/queue/iostats")]
    NoStatistics(String),
}

#[derive(Debug, Clone)]
pub struct DeviceWatcher {
    system: SystemRoots,
    device: BlockDevice,
    sequence: Option<u64>,
    name: String,
}

impl DeviceWatcher {
    /// Finds a disk or partition by name or path.
    pub fn open(system: &SystemRoots, name: &str) -> Result<DeviceWatcher, WatchError> {
        let device = BlockDevice::find(system, name).ok_or_else(|| WatchError::NotFound(name.to_owned()))?;
        let (sequence, name) = (device.sequence(), name.to_owned());
        let watcher = DeviceWatcher { system: system.clone(), sequence, device, name };
        let off = read_text(watcher.device.disk().dir.join("queue/iostats")).as_deref() == Some("0");
        if off || watcher.read_counters(&watcher.device).is_none() {
            return Err(WatchError::NoStatistics(watcher.device.disk().name));
        }
        Ok(watcher)
    }

    pub fn disk(&self) -> String {
        self.device.disk().name
    }

    /// Reads all counters. Fails if the device is gone or was replaced.
    pub fn take_snapshot(&self) -> Result<CounterSnapshot, WatchError> {
        let gone = || WatchError::Gone(self.name.clone());
        // A reader without a card keeps its device and reports size 0.
        if self.device.sequence() != self.sequence || self.device.bytes() == Some(0) {
            return Err(gone());
        }
        let device = self.read_counters(&self.device).ok_or_else(gone)?;
        let partitions = self.device.partitions();
        let counted = |part: &BlockDevice| Some((part.name.clone(), self.read_counters(part)?));
        let stall = |resource| vitals::read_pressure(&self.system, resource);
        let both = |name| stall(name).map(|p| (p.some.total_us, p.full.map_or(0, |full| full.total_us)));
        Ok(CounterSnapshot {
            uptime: vitals::uptime_seconds(&self.system).unwrap_or_default(),
            device,
            partitions: partitions.iter().filter_map(counted).collect(),
            io_stall_us: both("io"),
            memory_stall_us: both("memory"),
            cpu_stall_us: stall("cpu").map(|p| p.some.total_us),
            cpu: vitals::cpu_times(&self.system),
            swap_bytes: vitals::swap_bytes(&self.system),
            load: vitals::load_average(&self.system),
            others: self.other_busy_ms(),
        })
    }

    fn read_counters(&self, device: &BlockDevice) -> Option<DeviceCounters> {
        read_text(device.dir.join("stat")).and_then(|fields| DeviceCounters::parse(&fields)).or_else(|| {
            let all = read_text(self.system.proc.join("diskstats"))?;
            all.lines().find_map(|line| parse_diskstats(line, &device.name))
        })
    }

    /// Busy time of the other disks. Devices built on the watched one (LVM, LUKS, RAID, a loop device over a file on
    /// it) are left out, since they wait for the same card.
    fn other_busy_ms(&self) -> Vec<(String, u64)> {
        let all = read_text(self.system.proc.join("diskstats")).unwrap_or_default();
        let busy = |disk: &BlockDevice| {
            all.lines().find_map(|line| parse_diskstats(line, &disk.name)).map(|c| c.busy_ms)
        };
        let disks = BlockDevice::all_disks(&self.system);
        let busy = disks.into_iter().filter_map(|disk| Some((busy(&disk)?, disk)));
        let table = MountTable::read_own(&self.system);
        let own = self.disk();
        let depends_on_it = |disk: &BlockDevice| {
            table.with_all_below(vec![disk.clone()]).iter().any(|device| device.disk().name == own)
        };
        busy.filter(|(_, disk)| !depends_on_it(disk)).map(|(busy, disk)| (disk.name, busy)).collect()
    }
}

/// Parses a line of `/proc/diskstats` if it belongs to this device.
fn parse_diskstats(line: &str, name: &str) -> Option<DeviceCounters> {
    let mut words = line.split_whitespace().skip(2);
    (words.next()? == name).then(|| DeviceCounters::parse(&words.collect::<Vec<_>>().join(" "))).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{machine, put};

    const STAT: &str = " 4642361 174987 305833905 4293959 1890831 972167 940362010 6005019 3 1037396 10757790 810043 86 574198312 426696 254818 32115";

    fn watched(stat: &str) -> (tempfile::TempDir, SystemRoots) {
        let lines = "179 2 mmcblk0p2 10 0 80 5 20 0 160 9 0 7 14\n 8 0 sda 1 0 8 1 1 0 8 1 0 4242 2\n";
        let (dir, system) = machine(&format!(
            "
            sys/block/mmcblk0/stat = {stat}
            sys/block/mmcblk0/mmcblk0p2/partition = 2
            sys/block/sda/size = 8
            proc/uptime = 61.50 80.00
            "
        ));
        put(dir.path(), "proc/diskstats", lines);
        (dir, system)
    }

    #[test]
    fn counters_are_in_bytes_and_ms() {
        let (_dir, system) = watched(STAT);
        let look = DeviceWatcher::open(&system, "/dev/mmcblk0").unwrap().take_snapshot().unwrap();
        let device = look.device;
        assert_eq!(
            (device.reads, device.read_bytes, device.read_ms),
            (4_642_361, 305_833_905 * 512, 4_293_959)
        );
        assert_eq!(
            (device.writes, device.write_bytes, device.write_ms),
            (1_890_831, 940_362_010 * 512, 6_005_019)
        );
        assert_eq!((device.in_flight, device.busy_ms, device.queue_ms), (3, 1_037_396, 10_757_790));
        assert_eq!(look.partitions[0].0, "mmcblk0p2");
        assert_eq!((look.partitions[0].1.write_bytes, look.partitions[0].1.busy_ms), (160 * 512, 7));
        assert_eq!((look.uptime, look.others), (61.5, vec![("sda".to_owned(), 4242)]));
        assert_eq!((look.io_stall_us, look.cpu), (None, None), "what not reported by the kernel is unknown");
    }

    #[test]
    fn devices_on_watched_disk_are_not_other_disks() {
        let (dir, system) = watched(STAT);
        let file = |name: &str, content: &str| put(dir.path(), name, content);
        // LUKS on the card's partition, LVM on that, a loop device over a file there; RAID and a loop device elsewhere.
        file("sys/block/dm-0/dm/uuid", "CRYPT-LUKS2-1\n");
        file("sys/block/dm-0/slaves/mmcblk0p2/size", "8\n");
        file("sys/block/dm-1/dm/uuid", "LVM-1\n");
        file("sys/block/dm-1/slaves/dm-0/size", "8\n");
        file("sys/block/dm-1/dev", "253:1\n");
        file("sys/block/loop0/loop/backing_file", "/media/card/card.img\n");
        file("sys/block/md0/slaves/sda/size", "8\n");
        file("sys/block/loop1/loop/backing_file", "/home/other.img\n");
        file("sys/block/sda/dev", "8:0\n");
        file(
            "proc/self/mountinfo",
            "1 0 8:0 / / rw - ext4 /dev/sda rw\n2 1 253:1 / /media/card rw - ext4 /dev/mapper/card rw\n",
        );
        let line = |name: &str| format!(" 9 9 {name} 1 0 8 1 1 0 8 1 0 4242 2\n");
        file(
            "proc/diskstats",
            &["sda", "mmcblk0", "dm-0", "dm-1", "loop0", "md0", "loop1", "mmcblk0p2"].map(line).concat(),
        );
        let others = |watched: &str| -> Vec<String> {
            let look = DeviceWatcher::open(&system, watched).unwrap().take_snapshot().unwrap();
            look.others.into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(others("mmcblk0"), ["loop1", "md0", "sda"]);
        assert_eq!(others("mmcblk0p2"), ["loop1", "md0", "sda"]);
        assert_eq!(others("sda"), ["dm-0", "dm-1", "loop0", "mmcblk0"]);
    }

    #[test]
    fn partition_is_watched_and_wrong_name_refused() {
        let (_dir, system) = watched(STAT);
        assert_eq!(
            DeviceWatcher::open(&system, "mmcblk0p2").unwrap().take_snapshot().unwrap().device.writes,
            20
        );
        let error = DeviceWatcher::open(&system, "mmcblk7").unwrap_err();
        assert!(error.to_string().contains("mmcblk7"));
    }

    #[test]
    fn disabled_statistics_are_refused_with_advice() {
        let (dir, system) = watched(STAT);
        put(dir.path(), "sys/block/mmcblk0/queue/iostats", "0\n");
        let error = DeviceWatcher::open(&system, "mmcblk0").unwrap_err().to_string();
        assert!(error.contains("queue/iostats"), "{error}");
    }

    #[test]
    fn removed_device_and_empty_slot_are_gone() {
        let (dir, system) = watched(STAT);
        let watcher = DeviceWatcher::open(&system, "mmcblk0").unwrap();
        std::fs::write(dir.path().join("sys/block/mmcblk0/size"), "0\n").unwrap();
        assert!(matches!(watcher.take_snapshot(), Err(WatchError::Gone { .. })));
        std::fs::remove_dir_all(dir.path().join("sys/block/mmcblk0")).unwrap();
        assert!(matches!(watcher.take_snapshot(), Err(WatchError::Gone { .. })));
    }

    proptest::proptest! {
        #[test]
        fn no_line_panics(line in "[0-9 a-z\\-]{0,120}") {
            let _ = (DeviceCounters::parse(&line), parse_diskstats(&line, "sda"));
        }
    }
}
