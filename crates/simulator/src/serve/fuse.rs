//! A card as a file system (FUSE). The files are opened for direct I/O, so that each request of a tool reaches the
//! model and nothing is answered by the kernel's page cache.

use super::delay::{self, Delay, How};
use super::files::{CARD, Files, TRUTH_FILE};
use super::live::{Answered, Came, whole};
use super::options::Measure;
use super::slot::{Request as InFlight, Slot};
use crate::content::IoError;
use fuser::{
    BsdFileFlags, Config, Errno, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, MountOption, OpenAccMode, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// Largest request; the kernel's own limit of 256 pages.
const MAX_REQUEST: u32 = 1 << 20;

/// Requests that the kernel may have in flight without waiting; its default of 12 would hide deep queues.
const IN_FLIGHT: u16 = 1024;

/// Where one reader may wait for an answer by itself, another reads on.
const READERS: usize = 2;

struct CardFile {
    card: Arc<Slot>,
    files: Files,
    /// Absent where answers are given at once.
    delay: Option<Delay>,
    /// Half of the host's own way, in nanoseconds: a request came that much before it is seen, and its answer
    /// arrives that much after it is given.
    half_path: Arc<AtomicU64>,
    handles: AtomicU64,
}

/// Mounts a card on a directory.
pub(super) fn mount(card: &Arc<Slot>, directory: &Path) -> std::io::Result<fuser::BackgroundSession> {
    let options = &card.options;
    let (first, inline) = (options.takes(Measure::Priority), options.takes(Measure::Inline));
    let delay = if options.timing { Some(Delay::start(How { first, inline })?) } else { None };
    let half_path = Arc::new(AtomicU64::new(0));
    let file = CardFile {
        card: Arc::clone(card),
        files: Files::new(card),
        delay,
        half_path: Arc::clone(&half_path),
        handles: AtomicU64::new(1),
    };
    let mut config = Config::default();
    // fusermount takes its options in one list between commas.
    let name = MountOption::FSName(card.text.replace(',', "_"));
    config.mount_options = vec![name, MountOption::Subtype("cardscope".to_owned()), MountOption::NoAtime];
    config.n_threads = Some(if inline { READERS } else { 1 });
    let session = spawn(file, directory, &config, options.timing, first)?;
    if options.takes(Measure::Allowance) {
        let half = delay::own_way(&directory.join(TRUTH_FILE)) / 2;
        half_path.store(half.as_nanos() as u64, Ordering::Relaxed);
    }
    Ok(session)
}

/// Threads inherit how the one that makes them is scheduled, and the readers are made deep inside the library.
fn spawn(
    file: CardFile,
    directory: &Path,
    config: &Config,
    timing: bool,
    first: bool,
) -> std::io::Result<fuser::BackgroundSession> {
    let mount = || {
        if timing {
            delay::hurry(first);
        }
        fuser::spawn_mount(file, directory, config)
    };
    let joined = std::thread::scope(|scope| scope.spawn(mount).join());
    joined.unwrap_or_else(|_| Err(std::io::Error::other("the thread that mounts panicked")))
}

impl CardFile {
    /// A request, and when it set out.
    fn came(&self) -> (InFlight, Came) {
        let request = self.card.request();
        let at = request.came.at.checked_sub(self.half_path()).unwrap_or(request.came.at);
        let came = Came { at, ..request.came };
        (request, came)
    }

    fn half_path(&self) -> Duration {
        Duration::from_nanos(self.half_path.load(Ordering::Relaxed))
    }

    /// Gives an answer so that it arrives at its time.
    fn answer(&self, request: InFlight, at: Instant, answer: impl FnOnce() + Send + 'static) {
        let due = at.checked_sub(self.half_path()).unwrap_or(at);
        request.answer_at(self.delay.as_ref(), due, answer);
    }

    fn answer_empty(&self, request: InFlight, (at, result): Answered<()>, reply: ReplyEmpty) {
        self.answer(request, at, move || match result {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(errno(&error)),
        });
    }
}

fn errno(error: &IoError) -> Errno {
    Errno::from_i32(error.errno())
}

impl Filesystem for CardFile {
    fn init(&mut self, _req: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // Each is a wish: a kernel that lacks it serves the card with fewer requests in flight.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.add_capabilities(InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP);
        let _ = config.set_max_write(MAX_REQUEST);
        let _ = config.set_max_background(IN_FLIGHT);
        Ok(())
    }

    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = Files::named(name).filter(|_| parent == INodeNo::ROOT);
        match found.and_then(|ino| self.files.attributes(ino)) {
            Some((found, valid)) => reply.entry(&valid, &found, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _req: &Request, ino: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        match self.files.attributes(ino) {
            Some((found, valid)) => reply.attr(&valid, &found),
            None => reply.error(Errno::ENOENT),
        }
    }

    /// Owner, mode, times and size are as they are: `dd` and `mkfs` truncate what they open, a card cannot be.
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
        self.files.forget(fh.0);
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
            return reply.data(&self.files.read(ino, fh.0, offset, size));
        }
        let len = u64::from(size).min(self.card.live.bytes.saturating_sub(offset));
        if len == 0 {
            return reply.data(&[]);
        }
        let (request, came) = self.came();
        let (at, data) = self.card.live.read(came, offset, len);
        self.answer(request, at, move || match data {
            Ok(data) => reply.data(&data),
            Err(error) => reply.error(errno(&error)),
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
        let (request, came) = self.came();
        let (at, result) = self.card.live.write(came, offset, &data[..room]);
        self.answer(request, at, move || match result {
            Ok(()) => reply.written(room as u32),
            Err(error) => reply.error(errno(&error)),
        });
    }

    fn flush(&self, _req: &Request, _ino: INodeNo, _fh: FileHandle, _owner: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _req: &Request, ino: INodeNo, _fh: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        if ino != CARD {
            return reply.ok();
        }
        let (request, came) = self.came();
        let answered = self.card.live.flush(came);
        self.answer_empty(request, answered, reply);
    }

    /// Loop devices discard by punching holes.
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
        if ino != CARD || !self.card.holds(offset, length) {
            return reply.error(Errno::ENOSPC);
        }
        if !whole(offset, length) {
            return reply.error(Errno::EINVAL);
        }
        if mode & (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE) == 0 || length == 0 {
            return reply.ok();
        }
        let zero = mode & libc::FALLOC_FL_ZERO_RANGE != 0;
        // Who punches a hole may count on zeros in it.
        if !zero && !self.card.live.holes_are_zeros {
            return reply.error(Errno::EOPNOTSUPP);
        }
        let (request, came) = self.came();
        let live = &self.card.live;
        let answered =
            if zero { live.write_zeros(came, offset, length) } else { live.discard(came, offset, length) };
        self.answer_empty(request, answered, reply);
    }

    fn readdir(&self, _req: &Request, ino: INodeNo, _fh: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        if ino != INodeNo::ROOT {
            return reply.error(Errno::ENOTDIR);
        }
        for (next, (ino, kind, name)) in (1u64..).zip(Files::listing()).skip(offset as usize) {
            if reply.add(ino, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}
