//! NBD requests: checks them against the export (what to do, or why not, and how much data follows), and the numbers
//! and fixed records of the protocol. Pure. All integers are big-endian.

use super::super::served_card::is_whole_sectors;

/// Largest request in bytes; nothing beyond it is ever allocated.
pub(super) const MAX_REQUEST_BYTES: u32 = 32 << 20;

/// Command, with its number in the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NbdCommand {
    Read = 0,
    Write = 1,
    Flush = 3,
    Trim = 4,
    Cache = 5,
    WriteZeroes = 6,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestVerdict {
    /// Execute it; `len` bytes follow a write. `sync` asks for a flush afterwards.
    Do { task: NbdCommand, offset: u64, len: u64, sync: bool },
    /// Answer with an error, after skipping this number of bytes.
    Refuse { error: NbdErrno, skip: u64 },
    /// The client leaves, or breaks the protocol.
    Close,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ExportLimits {
    pub(super) bytes: u64,
    /// True if the client promised whole sectors.
    pub(super) aligned: bool,
}

pub(super) fn check_request(request: &WireRequest, limits: ExportLimits) -> RequestVerdict {
    let len = u64::from(request.len);
    let task = match request.command {
        0 => NbdCommand::Read,
        1 => NbdCommand::Write,
        // The client leaves.
        2 => return RequestVerdict::Close,
        3 => NbdCommand::Flush,
        4 => NbdCommand::Trim,
        5 => NbdCommand::Cache,
        6 => NbdCommand::WriteZeroes,
        _ => return RequestVerdict::Refuse { error: NbdErrno::Invalid, skip: 0 },
    };
    let skip = if task == NbdCommand::Write { len } else { 0 };
    let refuse = |error| RequestVerdict::Refuse { error, skip };
    if matches!(task, NbdCommand::Read | NbdCommand::Write) && request.len > MAX_REQUEST_BYTES {
        // Skipping gigabytes for a client that ignores the announced limit would delay the others.
        return if task == NbdCommand::Write { RequestVerdict::Close } else { refuse(NbdErrno::Overflow) };
    }
    let sync = request.flags & COMMAND_FUA != 0 && task != NbdCommand::Read;
    let accepted = RequestVerdict::Do { task, offset: request.offset, len, sync };
    invalid_reason(request, task, limits).map_or(accepted, refuse)
}

fn invalid_reason(request: &WireRequest, task: NbdCommand, limits: ExportLimits) -> Option<NbdErrno> {
    let (offset, len) = (request.offset, u64::from(request.len));
    let known_flags = request.flags & !(COMMAND_FUA | COMMAND_NO_HOLE) == 0;
    if task == NbdCommand::Flush {
        return (!known_flags || offset != 0 || len != 0).then_some(NbdErrno::Invalid);
    }
    let fits = offset.checked_add(len).is_some_and(|end| end <= limits.bytes);
    // Parts of sectors are accepted in reads and writes of clients that promised nothing.
    let sectors = limits.aligned || matches!(task, NbdCommand::Trim | NbdCommand::WriteZeroes);
    if !known_flags || len == 0 || (sectors && !is_whole_sectors(offset, len)) {
        return Some(NbdErrno::Invalid);
    }
    let writes = matches!(task, NbdCommand::Write | NbdCommand::WriteZeroes);
    (!fits).then_some(if writes { NbdErrno::NoSpace } else { NbdErrno::Invalid })
}

/// Start of a connection: `NBDMAGIC`.
pub(super) const NBD_MAGIC: u64 = 0x4e42_444d_4147_4943;
/// Start of the newstyle negotiation and of each option: `IHAVEOPT`.
pub(super) const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
/// Start of each reply to an option.
const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
pub(super) const REQUEST_MAGIC: u32 = 0x2560_9513;
/// Start of each simple reply.
const REPLY_MAGIC: u32 = 0x6744_6698;

pub(super) const HANDSHAKE_FIXED_NEWSTYLE: u16 = 1;
pub(super) const HANDSHAKE_NO_ZEROES: u16 = 2;

pub(super) const OPTION_EXPORT_NAME: u32 = 1;
pub(super) const OPTION_ABORT: u32 = 2;
pub(super) const OPTION_LIST: u32 = 3;
pub(super) const OPTION_INFO: u32 = 6;
pub(super) const OPTION_GO: u32 = 7;

const REPLY_ERROR: u32 = 1 << 31;
pub(super) const REPLY_ACK: u32 = 1;
pub(super) const REPLY_SERVER: u32 = 2;
pub(super) const REPLY_INFO: u32 = 3;
pub(super) const REPLY_UNSUPPORTED: u32 = REPLY_ERROR | 1;
pub(super) const REPLY_INVALID: u32 = REPLY_ERROR | 3;
pub(super) const REPLY_UNKNOWN: u32 = REPLY_ERROR | 6;
pub(super) const REPLY_TOO_BIG: u32 = REPLY_ERROR | 9;

pub(super) const INFO_EXPORT: u16 = 0;
pub(super) const INFO_NAME: u16 = 1;
pub(super) const INFO_BLOCK_SIZE: u16 = 3;

/// Abilities of an export: has flags, flush, FUA, trim, write zeroes, several connections, cache.
pub(super) const EXPORT_FLAGS: u16 = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 8 | 1 << 10;

/// Flags of commands: force unit access; zeros must not become a hole (they never do here).
const COMMAND_FUA: u16 = 1;
const COMMAND_NO_HOLE: u16 = 2;

/// Errors in replies, with the protocol's numbers, which are those of Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum NbdErrno {
    Io = 5,
    Invalid = 22,
    NoSpace = 28,
    Overflow = 75,
}

/// Length of a request without its data.
pub(super) const REQUEST_BYTES: usize = 28;

/// Request as on the wire, not yet checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WireRequest {
    pub(super) flags: u16,
    pub(super) command: u16,
    pub(super) cookie: u64,
    pub(super) offset: u64,
    pub(super) len: u32,
}

/// Reads integers from the front of a slice; None if it is too short.
pub(super) struct IntegerReader<'a>(pub(super) &'a [u8]);

impl<'a> IntegerReader<'a> {
    pub(super) fn take_slice(&mut self, len: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(front)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (front, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*front)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }
}

impl WireRequest {
    /// None if the magic number is wrong: the stream is out of step and cannot be parsed any more.
    pub(super) fn parse(bytes: &[u8; REQUEST_BYTES]) -> Option<WireRequest> {
        let mut reader = IntegerReader(bytes);
        let magic = reader.u32()?;
        let (flags, command, cookie) = (reader.u16()?, reader.u16()?, reader.u64()?);
        let (offset, len) = (reader.u64()?, reader.u32()?);
        (magic == REQUEST_MAGIC).then_some(WireRequest { flags, command, cookie, offset, len })
    }
}

/// Head of a simple reply; the data of a read follows it.
pub(super) fn reply_head(cookie: u64, error: Option<NbdErrno>) -> [u8; 16] {
    let mut head = [0; 16];
    head[..4].copy_from_slice(&REPLY_MAGIC.to_be_bytes());
    head[4..8].copy_from_slice(&error.map_or(0, |e| e as u32).to_be_bytes());
    head[8..].copy_from_slice(&cookie.to_be_bytes());
    head
}

pub(super) fn option_reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    out.extend(OPTION_REPLY_MAGIC.to_be_bytes());
    out.extend(option.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(data);
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: ExportLimits = ExportLimits { bytes: 1 << 30, aligned: false };

    fn judged(limits: ExportLimits, command: u16, flags: u16, offset: u64, len: u32) -> RequestVerdict {
        check_request(&WireRequest { flags, command, cookie: 7, offset, len }, limits)
    }

    #[test]
    fn invalid_requests_are_refused_and_skipped() {
        let (end, last) = (CARD.bytes - 4096, u64::MAX - 511);
        let (endless, strict) =
            (ExportLimits { bytes: u64::MAX, ..CARD }, ExportLimits { aligned: true, ..CARD });
        for (limits, command, flags, offset, len, error, skip) in [
            // Beyond the end of the card.
            (CARD, NbdCommand::Read as u16, 0, end, 8192, NbdErrno::Invalid, 0),
            (CARD, NbdCommand::Write as u16, 0, end, 8192, NbdErrno::NoSpace, 8192),
            (CARD, NbdCommand::WriteZeroes as u16, 0, last, 4096, NbdErrno::NoSpace, 0),
            // Beyond the largest request.
            (endless, NbdCommand::Read as u16, 0, 0, MAX_REQUEST_BYTES + 1, NbdErrno::Overflow, 0),
            // Parts of sectors, of a client that promised whole ones, or in a command that clears whole ones.
            (strict, NbdCommand::Write as u16, 0, 100, 512, NbdErrno::Invalid, 512),
            (CARD, NbdCommand::WriteZeroes as u16, 0, 100, 512, NbdErrno::Invalid, 0),
            // Unknown flags and commands.
            (CARD, NbdCommand::Write as u16, 1 << 9, 0, 512, NbdErrno::Invalid, 512),
            (CARD, 99, 0, 0, 512, NbdErrno::Invalid, 0),
        ] {
            let found = judged(limits, command, flags, offset, len);
            assert_eq!(found, RequestVerdict::Refuse { error, skip }, "{command} at {offset}");
        }
        assert_eq!(
            judged(endless, NbdCommand::Write as u16, 0, 0, MAX_REQUEST_BYTES + 1),
            RequestVerdict::Close
        );
    }

    #[test]
    fn valid_requests_are_accepted_and_fua_flushes() {
        let endless = ExportLimits { bytes: u64::MAX, ..CARD };
        for (limits, task, flags, offset, len) in [
            (CARD, NbdCommand::Read, 0, CARD.bytes - 4096, 4096),
            (endless, NbdCommand::Write, 0, 0, MAX_REQUEST_BYTES),
            (endless, NbdCommand::Trim, 0, 0, u32::MAX - 511),
            (CARD, NbdCommand::Write, 0, 100, 512),
            (CARD, NbdCommand::Write, COMMAND_FUA, 0, 512),
        ] {
            let sync = flags == COMMAND_FUA;
            let done = RequestVerdict::Do { task, offset, len: u64::from(len), sync };
            assert_eq!(judged(limits, task as u16, flags, offset, len), done);
        }
    }
}
