//! A request held against the export: what is to be done, or why not, and how much data follows it. Pure.

use super::super::live::whole;
use super::wire::{Errno, Request, command, command_flag};

/// The largest request, in bytes: what a client claims beyond it is never allocated.
pub(super) const LARGEST: u32 = 32 << 20;

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Read,
    Write,
    Flush,
    Trim,
    Cache,
    WriteZeroes,
}

/// What is to be done about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Do it; `len` bytes follow where it is a write. `sync` asks for a flush after it.
    Do { task: Task, offset: u64, len: u64, sync: bool },
    /// Answer with an error, after skipping so many bytes of data.
    Refuse { error: Errno, skip: u64 },
    /// The client is done, or cannot be followed.
    Close,
}

/// What the export allows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Bytes of the card.
    pub(super) bytes: u64,
    /// The client promised to keep to whole sectors.
    pub(super) aligned: bool,
}

/// Judges a request.
pub(super) fn judge(request: &Request, limits: Limits) -> Verdict {
    let len = u64::from(request.len);
    let follows = if request.command == command::WRITE { len } else { 0 };
    let refuse = |error| Verdict::Refuse { error, skip: follows };
    let task = match request.command {
        command::READ => Task::Read,
        command::WRITE => Task::Write,
        command::DISCONNECT => return Verdict::Close,
        command::FLUSH => Task::Flush,
        command::TRIM => Task::Trim,
        command::CACHE => Task::Cache,
        command::WRITE_ZEROES => Task::WriteZeroes,
        _ => return refuse(Errno::Invalid),
    };
    if matches!(task, Task::Read | Task::Write) && request.len > LARGEST {
        // To skip gigabytes for a client that ignores the announced limit is no service to the others.
        return if task == Task::Write { Verdict::Close } else { refuse(Errno::Overflow) };
    }
    match check(request, task, limits) {
        Some(error) => refuse(error),
        None => {
            let sync = request.flags & command_flag::FUA != 0 && task != Task::Read;
            Verdict::Do { task, offset: request.offset, len, sync }
        }
    }
}

fn check(request: &Request, task: Task, limits: Limits) -> Option<Errno> {
    if request.flags & !(command_flag::FUA | command_flag::NO_HOLE) != 0 {
        return Some(Errno::Invalid);
    }
    if task == Task::Flush {
        return (request.offset != 0 || request.len != 0).then_some(Errno::Invalid);
    }
    let (offset, len) = (request.offset, u64::from(request.len));
    let fits = offset.checked_add(len).is_some_and(|end| end <= limits.bytes);
    // Reads and writes of parts of a sector are a favour to who did not promise otherwise.
    let sectors = limits.aligned || matches!(task, Task::Trim | Task::WriteZeroes);
    if len == 0 || (sectors && !whole(offset, len)) {
        return Some(Errno::Invalid);
    }
    match (fits, task) {
        (true, _) => None,
        (false, Task::Write | Task::WriteZeroes) => Some(Errno::NoSpace),
        (false, _) => Some(Errno::Invalid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: Limits = Limits { bytes: 1 << 30, aligned: false };

    fn request(command: u16, offset: u64, len: u32) -> Request {
        Request { flags: 0, command, cookie: 7, offset, len }
    }

    fn refused(error: Errno, skip: u64) -> Verdict {
        Verdict::Refuse { error, skip }
    }

    #[test]
    fn what_reaches_beyond_the_end_is_refused_and_its_data_skipped() {
        let end = CARD.bytes - 4096;
        assert_eq!(judge(&request(command::READ, end, 8192), CARD), refused(Errno::Invalid, 0));
        assert_eq!(judge(&request(command::WRITE, end, 8192), CARD), refused(Errno::NoSpace, 8192));
        assert_eq!(
            judge(&request(command::WRITE_ZEROES, u64::MAX - 511, 4096), CARD),
            refused(Errno::NoSpace, 0)
        );
        assert!(matches!(judge(&request(command::READ, end, 4096), CARD), Verdict::Do { .. }));
    }

    #[test]
    fn a_read_beyond_the_largest_is_refused_and_a_write_cut_off() {
        let limits = Limits { bytes: u64::MAX, aligned: false };
        assert_eq!(judge(&request(command::READ, 0, LARGEST + 1), limits), refused(Errno::Overflow, 0));
        assert_eq!(judge(&request(command::WRITE, 0, LARGEST + 1), limits), Verdict::Close);
        assert!(matches!(judge(&request(command::WRITE, 0, LARGEST), limits), Verdict::Do { .. }));
        assert!(matches!(judge(&request(command::TRIM, 0, u32::MAX - 511), limits), Verdict::Do { .. }));
    }

    #[test]
    fn who_promised_whole_sectors_is_held_to_it() {
        let strict = Limits { aligned: true, ..CARD };
        assert_eq!(judge(&request(command::WRITE, 100, 512), strict), refused(Errno::Invalid, 512));
        assert!(matches!(judge(&request(command::WRITE, 100, 512), CARD), Verdict::Do { .. }));
        assert_eq!(judge(&request(command::WRITE_ZEROES, 100, 512), CARD), refused(Errno::Invalid, 0));
    }

    #[test]
    fn fua_asks_for_a_flush_and_unknown_flags_are_refused() {
        let fua = Request { flags: command_flag::FUA, ..request(command::WRITE, 0, 512) };
        assert!(matches!(judge(&fua, CARD), Verdict::Do { sync: true, .. }));
        let strange = Request { flags: 1 << 9, ..request(command::WRITE, 0, 512) };
        assert_eq!(judge(&strange, CARD), refused(Errno::Invalid, 512));
        assert_eq!(judge(&request(99, 0, 512), CARD), refused(Errno::Invalid, 0));
    }
}
