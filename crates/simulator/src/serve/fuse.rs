//! A file system with one file, `card`. The file is opened for direct I/O, so that each request of a tool reaches
//! the model and nothing is answered by the kernel's page cache.

use super::delay::Delay;
use super::live::Live;
use super::{FILE, Options};
use crate::target_spec::TargetSpec;
use fuser::{
    BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

const CARD: INodeNo = INodeNo(2);

/// Names and sizes never change.
const FOR_LONG: Duration = Duration::from_secs(3600);

/// Largest request; the kernel's own limit of 256 pages.
const MAX_REQUEST: u32 = 1 << 20;

/// Requests that the kernel may have in flight without waiting; its default of 12 would hide deep queues.
const IN_FLIGHT: u16 = 1024;

struct CardFile {
    live: Live,
    /// Absent where answers are given at once.
    delay: Option<Delay>,
    root: FileAttr,
    card: FileAttr,
}

/// Mounts a card on a directory.
pub(super) fn mount(
    spec: &TargetSpec,
    directory: &Path,
    options: Options,
) -> std::io::Result<fuser::BackgroundSession> {
    let live = Live::new(spec);
    let delay = if options.timing { Some(Delay::start()?) } else { None };
    let root = attributes(INodeNo::ROOT, FileType::Directory, 0o755, 0);
    let card = attributes(CARD, FileType::RegularFile, 0o600, live.bytes());
    let name = MountOption::FSName(format!("sim:{}", spec.archetype.name));
    let mut config = Config::default();
    config.mount_options = vec![name, MountOption::Subtype("cardscope".to_owned()), MountOption::NoAtime];
    fuser::spawn_mount(CardFile { live, delay, root, card }, directory, &config)
}

fn attributes(ino: INodeNo, kind: FileType, perm: u16, size: u64) -> FileAttr {
    let now = SystemTime::now();
    FileAttr {
        ino,
        size,
        blocks: size / 512,
        atime: now,
        mtime: now,
        ctime: now,
        crtime: now,
        kind,
        perm,
        nlink: 1,
        uid: rustix::process::getuid().as_raw(),
        gid: rustix::process::getgid().as_raw(),
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

impl CardFile {
    /// Gives an answer at its time.
    fn answer(&self, at: Instant, answer: impl FnOnce() + Send + 'static) {
        match &self.delay {
            Some(delay) => delay.answer(at, Box::new(answer)),
            None => answer(),
        }
    }

    /// Commands in flight, the one that just came included.
    fn in_flight(&self) -> u32 {
        self.delay.as_ref().map_or(0, Delay::in_flight) + 1
    }

    fn attributes_of(&self, ino: INodeNo) -> Option<&FileAttr> {
        match ino {
            INodeNo::ROOT => Some(&self.root),
            CARD => Some(&self.card),
            _ => None,
        }
    }

    fn fits(&self, offset: u64, len: u64) -> bool {
        offset.checked_add(len).is_some_and(|end| end <= self.live.bytes())
    }
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
        if parent == INodeNo::ROOT && name == FILE {
            reply.entry(&FOR_LONG, &self.card, Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _req: &Request, ino: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes_of(ino) {
            Some(found) => reply.attr(&FOR_LONG, found),
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
        self.getattr(req, ino, fh, reply);
    }

    fn open(&self, _req: &Request, ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        if ino == CARD {
            let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
            reply.opened(FileHandle(0), flags);
        } else {
            reply.error(Errno::EISDIR);
        }
    }

    fn read(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let len = u64::from(size).min(self.live.bytes().saturating_sub(offset));
        if len == 0 {
            return reply.data(&[]);
        }
        let (at, data) = self.live.read(offset, len, self.in_flight());
        self.answer(at, move || match data {
            Ok(data) => reply.data(&data),
            Err(_) => reply.error(Errno::EIO),
        });
    }

    fn write(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let room = self.live.bytes().saturating_sub(offset).min(data.len() as u64) as usize;
        if room == 0 {
            return reply.error(Errno::ENOSPC);
        }
        let at = self.live.write(offset, &data[..room], self.in_flight());
        self.answer(at, move || reply.written(room as u32));
    }

    fn flush(&self, _req: &Request, _ino: INodeNo, _fh: FileHandle, _owner: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _req: &Request, _ino: INodeNo, _fh: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        let at = self.live.flush();
        self.answer(at, move || reply.ok());
    }

    /// Loop devices discard by punching holes.
    fn fallocate(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        if !self.fits(offset, length) {
            return reply.error(Errno::ENOSPC);
        }
        if mode & (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE) != 0 {
            self.live.discard(offset, length);
        }
        reply.ok();
    }

    fn readdir(&self, _req: &Request, ino: INodeNo, _fh: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        if ino != INodeNo::ROOT {
            return reply.error(Errno::ENOTDIR);
        }
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (CARD, FileType::RegularFile, FILE),
        ];
        for (next, (ino, kind, name)) in (1u64..).zip(entries).skip(offset as usize) {
            if reply.add(ino, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}
