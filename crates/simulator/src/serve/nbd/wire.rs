//! The numbers of the protocol, and its fixed records as bytes. All integers are big-endian.

/// Opens a connection: `NBDMAGIC`.
pub(super) const MAGIC: u64 = 0x4e42_444d_4147_4943;
/// Opens the newstyle negotiation and each option: `IHAVEOPT`.
pub(super) const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
/// Opens each reply to an option.
pub(super) const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// Opens each request.
pub(super) const REQUEST_MAGIC: u32 = 0x2560_9513;
/// Opens each simple reply.
pub(super) const REPLY_MAGIC: u32 = 0x6744_6698;

/// Handshake and client flags.
pub(super) mod flag {
    pub(in super::super) const FIXED_NEWSTYLE: u16 = 1;
    pub(in super::super) const NO_ZEROES: u16 = 2;
}

/// Options of the negotiation.
pub(super) mod option {
    pub(in super::super) const EXPORT_NAME: u32 = 1;
    pub(in super::super) const ABORT: u32 = 2;
    pub(in super::super) const LIST: u32 = 3;
    pub(in super::super) const INFO: u32 = 6;
    pub(in super::super) const GO: u32 = 7;
}

/// Replies to options.
pub(super) mod reply {
    const ERROR: u32 = 1 << 31;
    pub(in super::super) const ACK: u32 = 1;
    pub(in super::super) const SERVER: u32 = 2;
    pub(in super::super) const INFO: u32 = 3;
    pub(in super::super) const UNSUPPORTED: u32 = ERROR | 1;
    pub(in super::super) const INVALID: u32 = ERROR | 3;
    pub(in super::super) const UNKNOWN: u32 = ERROR | 6;
    pub(in super::super) const TOO_BIG: u32 = ERROR | 9;
}

/// Kinds of information about an export.
pub(super) mod info {
    pub(in super::super) const EXPORT: u16 = 0;
    pub(in super::super) const NAME: u16 = 1;
    pub(in super::super) const BLOCK_SIZE: u16 = 3;
}

/// What an export can do: has flags, flush, FUA, trim, write zeroes, several connections, cache.
pub(super) const EXPORT_FLAGS: u16 = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 8 | 1 << 10;

/// Commands.
pub(super) mod command {
    pub(in super::super) const READ: u16 = 0;
    pub(in super::super) const WRITE: u16 = 1;
    pub(in super::super) const DISCONNECT: u16 = 2;
    pub(in super::super) const FLUSH: u16 = 3;
    pub(in super::super) const TRIM: u16 = 4;
    pub(in super::super) const CACHE: u16 = 5;
    pub(in super::super) const WRITE_ZEROES: u16 = 6;
}

/// Flags of commands: force unit access; the zeros must not be a hole (they never are here).
pub(super) mod command_flag {
    pub(in super::super) const FUA: u16 = 1;
    pub(in super::super) const NO_HOLE: u16 = 2;
}

/// Errors in replies; the protocol's own numbers, which are Linux's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Errno {
    Io = 5,
    Invalid = 22,
    NoSpace = 28,
    Overflow = 75,
}

/// Bytes of a request without its data.
pub(super) const REQUEST_BYTES: usize = 28;

/// A request as it stands on the wire; nothing in it is believed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) flags: u16,
    pub(super) command: u16,
    pub(super) cookie: u64,
    pub(super) offset: u64,
    pub(super) len: u32,
}

/// Reads integers from the front of bytes; `None` once they run out.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
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

impl Request {
    /// `None` where the magic number is wrong: the client is out of step and cannot be followed any more.
    pub(super) fn parse(bytes: &[u8; REQUEST_BYTES]) -> Option<Request> {
        let mut reader = Reader(bytes);
        let magic = reader.u32()?;
        let (flags, command, cookie) = (reader.u16()?, reader.u16()?, reader.u64()?);
        let (offset, len) = (reader.u64()?, reader.u32()?);
        (magic == REQUEST_MAGIC).then_some(Request { flags, command, cookie, offset, len })
    }
}

/// The head of a simple reply; the data of a read follows it.
pub(super) fn reply_head(cookie: u64, error: Option<Errno>) -> [u8; 16] {
    let mut head = [0; 16];
    head[..4].copy_from_slice(&REPLY_MAGIC.to_be_bytes());
    head[4..8].copy_from_slice(&error.map_or(0, |e| e as u32).to_be_bytes());
    head[8..].copy_from_slice(&cookie.to_be_bytes());
    head
}

/// A reply to an option.
pub(super) fn option_reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    out.extend(OPTION_REPLY_MAGIC.to_be_bytes());
    out.extend(option.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(data);
}
