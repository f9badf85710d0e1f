//! FUSE file system of a served card. Files are opened for direct I/O, so that each request of a tool reaches the model
//! and the kernel's page cache answers none.

use super::delay::{self, AnswerDelay, DelayOptions};
use super::round_trip::HostRoundTrip;
use super::served_card::{RequestArrival, ServedCard, ServedRequest, TimedResult, is_whole_sectors};
use super::{CARD_FILE, LagMeasure};
use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenAccMode, OpenFlags, ReplyAttr,
    ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Largest request: the kernel's limit of 256 pages.
const MAX_REQUEST: u32 = 1 << 20;

/// Requests that the kernel sends without waiting; its default of 12 would limit deep queues.
const MAX_BACKGROUND: u16 = 1024;

/// Threads that read requests if one of them may wait for an answer.
const READERS: usize = 2;

struct CardFile {
    card: Arc<ServedCard>,
    /// None if answers are given at once.
    delay: Option<AnswerDelay>,
    own_path: Arc<HostRoundTrip>,
    handles: AtomicU64,
    since: SystemTime,
    /// Counters by open file, so that a file read in parts is consistent.
    snapshots: Mutex<BTreeMap<u64, Arc<str>>>,
}

/// Request in flight, and half of the round trip through the host.
struct FuseRequest {
    request: ServedRequest,
    half_trip: Duration,
}

pub(super) fn mount_card(card: &Arc<ServedCard>, directory: &Path) -> io::Result<BackgroundSession> {
    let options = &card.options;
    let real_time = options.has_measure(LagMeasure::Priority);
    let inline = options.has_measure(LagMeasure::Inline);
    let start_delay = || AnswerDelay::start(DelayOptions { real_time, wait_inline: inline });
    let own_path = Arc::new(HostRoundTrip::unmeasured());
    let file = CardFile {
        card: Arc::clone(card),
        delay: options.timing.then(start_delay).transpose()?,
        own_path: Arc::clone(&own_path),
        handles: AtomicU64::new(1),
        since: SystemTime::now(),
        snapshots: Mutex::default(),
    };
    let mut config = Config::default();
    // fusermount takes its options as one list separated by commas.
    let name = MountOption::FSName(card.spec_text.replace(',', "_"));
    config.mount_options = vec![name, MountOption::Subtype("cardscope".to_owned()), MountOption::NoAtime];
    config.n_threads = Some(if inline { READERS } else { 1 });
    // Mounts from a new thread: the library creates its readers deep inside, and threads inherit their scheduling.
    let mount = || {
        if options.timing {
            delay::set_precise_wakeups(real_time);
        }
        fuser::spawn_mount(file, directory, &config)
    };
    let joined = std::thread::scope(|scope| scope.spawn(mount).join());
    let session = joined.unwrap_or_else(|_| Err(io::Error::other("the thread that mounts panicked")))?;
    if options.has_measure(LagMeasure::Allowance) {
        own_path.measure_round_trips(&directory.join(TRUTH_FILE));
    }
    Ok(session)
}

impl CardFile {
    /// Registers a request; returns it with the time at which the client sent it.
    fn begin_request(&self) -> (FuseRequest, RequestArrival) {
        let request = self.card.begin_request();
        let half = self.own_path.half_trip(request.arrival.at);
        let came = RequestArrival { at: earlier(request.arrival.at, half), ..request.arrival };
        (FuseRequest { request, half_trip: half }, came)
    }

    /// Gives an answer early enough to arrive at its time.
    fn send_answer(&self, asked: FuseRequest, at: Instant, answer: impl FnOnce() + Send + 'static) {
        let due = earlier(at, asked.half_trip);
        self.own_path.record_answer(due, Instant::now());
        asked.request.answer_at(self.delay.as_ref(), due, answer);
    }

    fn send_empty_answer(&self, asked: FuseRequest, (at, result): TimedResult<()>, reply: ReplyEmpty) {
        self.send_answer(asked, at, move || match result {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(Errno::from_i32(error.errno())),
        });
    }

    /// Attributes, and how long the kernel may cache them.
    fn attributes(&self, ino: INodeNo) -> Option<(FileAttr, Duration)> {
        let (perm, size) = match ino {
            INodeNo::ROOT => (0o755, 0),
            CARD => (0o600, self.card.live.bytes),
            TRUTH => (0o444, self.card.truth.len() as u64),
            COUNTERS => (0o444, self.counters_text().len() as u64),
            _ => return None,
        };
        let kind = if ino == INodeNo::ROOT { FileType::Directory } else { FileType::RegularFile };
        let valid = if ino == COUNTERS { Duration::ZERO } else { ATTRIBUTE_LIFETIME };
        let attributes = FileAttr {
            ino,
            size,
            blocks: size / 512,
            atime: self.since,
            mtime: self.since,
            ctime: self.since,
            crtime: self.since,
            kind,
            perm,
            nlink: 1,
            uid: rustix::process::getuid().as_raw(),
            gid: rustix::process::getgid().as_raw(),
            rdev: 0,
            blksize: 4096,
            flags: 0,
        };
        Some((attributes, valid))
    }

    /// Reads part of `truth.json` or `counters.json`; a read from the start takes the current counters.
    fn read_text(&self, ino: INodeNo, handle: u64, offset: u64, len: u32) -> Vec<u8> {
        let part = |text: &str| {
            let from = (offset as usize).min(text.len());
            let to = from.saturating_add(len as usize).min(text.len());
            text.as_bytes()[from..to].to_vec()
        };
        if ino == TRUTH {
            return part(&self.card.truth);
        }
        let earlier = self.lock_snapshots().get(&handle).cloned().filter(|_| offset > 0);
        let text = earlier.unwrap_or_else(|| self.counters_text().into());
        self.lock_snapshots().insert(handle, Arc::clone(&text));
        part(&text)
    }

    fn counters_text(&self) -> String {
        // A report has only numbers and names, which serde_json can always write.
        let text = serde_json::to_string_pretty(&self.card.report()).unwrap_or_default();
        format!("{text}\n")
    }

    fn lock_snapshots(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<str>>> {
        self.snapshots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn earlier(at: Instant, by: Duration) -> Instant {
    at.checked_sub(by).unwrap_or(at)
}

impl Filesystem for CardFile {
    fn init(&mut self, _req: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Failures are ignored: a kernel without these serves the card with fewer requests in flight.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.add_capabilities(InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP);
        let _ = config.set_max_write(MAX_REQUEST);
        let _ = config.set_max_background(MAX_BACKGROUND);
        Ok(())
    }

    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = inode_of_name(name).filter(|_| parent == INodeNo::ROOT);
        match found.and_then(|ino| self.attributes(ino)) {
            Some((found, valid)) => reply.entry(&valid, &found, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _req: &Request, ino: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(ino) {
            Some((found, valid)) => reply.attr(&valid, &found),
            None => reply.error(Errno::ENOENT),
        }
    }

    /// Ignores changes of owner, mode, times and size: `dd` and `mkfs` truncate what they open, but a card has one
    /// size.
    fn setattr(
        &self,
        req: &Request,
        ino: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        _size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        if ino == CARD {
            self.getattr(req, ino, fh, reply);
        } else {
            reply.error(Errno::EACCES);
        }
    }

    fn open(&self, _req: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        if ino == INodeNo::ROOT {
            return reply.error(Errno::EISDIR);
        }
        if ino != CARD && flags.acc_mode() != OpenAccMode::O_RDONLY {
            return reply.error(Errno::EACCES);
        }
        let handle = FileHandle(self.handles.fetch_add(1, Ordering::Relaxed));
        reply.opened(handle, FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES);
    }

    fn release(
        &self,
        _req: &Request,
        _ino: INodeNo,
        fh: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        self.lock_snapshots().remove(&fh.0);
        reply.ok();
    }

    fn read(
        &self,
        _req: &Request,
        ino: INodeNo,
        fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        if ino != CARD {
            let data = self.read_text(ino, fh.0, offset, size);
            // Probes of the round trip are answered with a delay, as by a card.
            let Some((delay, time)) = self.delay.as_ref().zip(self.own_path.probe_delay()) else {
                return reply.data(&data);
            };
            return delay.answer_at(Instant::now() + time, Box::new(move |_| reply.data(&data)));
        }
        let len = u64::from(size).min(self.card.live.bytes.saturating_sub(offset));
        if len == 0 {
            return reply.data(&[]);
        }
        let (asked, came) = self.begin_request();
        let (at, data) = self.card.live.read(came, offset, len);
        self.send_answer(asked, at, move || match data {
            Ok(data) => reply.data(&data),
            Err(error) => reply.error(Errno::from_i32(error.errno())),
        });
    }

    fn write(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if ino != CARD {
            return reply.error(Errno::EACCES);
        }
        let room = self.card.live.bytes.saturating_sub(offset).min(data.len() as u64) as usize;
        if room == 0 {
            return reply.error(Errno::ENOSPC);
        }
        let (asked, came) = self.begin_request();
        let (at, result) = self.card.live.write(came, offset, &data[..room]);
        self.send_answer(asked, at, move || match result {
            Ok(()) => reply.written(room as u32),
            Err(error) => reply.error(Errno::from_i32(error.errno())),
        });
    }

    fn flush(&self, _req: &Request, _ino: INodeNo, _fh: FileHandle, _owner: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _req: &Request, ino: INodeNo, _fh: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        if ino != CARD {
            return reply.ok();
        }
        let (asked, came) = self.begin_request();
        let answered = self.card.live.flush(came);
        self.send_empty_answer(asked, answered, reply);
    }

    /// Discards punched holes, as loop devices request them.
    fn fallocate(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        if ino != CARD || !self.card.is_within(offset, length) {
            return reply.error(Errno::ENOSPC);
        }
        if !is_whole_sectors(offset, length) {
            return reply.error(Errno::EINVAL);
        }
        if mode & (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE) == 0 || length == 0 {
            return reply.ok();
        }
        let zero = mode & libc::FALLOC_FL_ZERO_RANGE != 0;
        // A program that punches a hole may rely on zeros in it.
        if !zero && !self.card.live.holes_are_zeros {
            return reply.error(Errno::EOPNOTSUPP);
        }
        let (asked, came) = self.begin_request();
        let live = &self.card.live;
        let answered =
            if zero { live.write_zeros(came, offset, length) } else { live.discard(came, offset, length) };
        self.send_empty_answer(asked, answered, reply);
    }

    fn readdir(&self, _req: &Request, ino: INodeNo, _fh: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        if ino != INodeNo::ROOT {
            return reply.error(Errno::ENOTDIR);
        }
        for (next, (ino, kind, name)) in (1u64..).zip(LISTING).skip(offset as usize) {
            if reply.add(ino, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}

const CARD: INodeNo = INodeNo(2);
const TRUTH: INodeNo = INodeNo(3);
const COUNTERS: INodeNo = INodeNo(4);

const TRUTH_FILE: &str = "truth.json";
const COUNTERS_FILE: &str = "counters.json";

/// Validity of names and sizes, which never change.
const ATTRIBUTE_LIFETIME: Duration = Duration::from_secs(3600);

const LISTING: [(INodeNo, FileType, &str); 5] = [
    (INodeNo::ROOT, FileType::Directory, "."),
    (INodeNo::ROOT, FileType::Directory, ".."),
    (CARD, FileType::RegularFile, CARD_FILE),
    (COUNTERS, FileType::RegularFile, COUNTERS_FILE),
    (TRUTH, FileType::RegularFile, TRUTH_FILE),
];

fn inode_of_name(name: &OsStr) -> Option<INodeNo> {
    LISTING.iter().skip(2).find(|(_, _, listed)| name == *listed).map(|(ino, _, _)| *ino)
}
