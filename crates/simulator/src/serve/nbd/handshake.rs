//! NBD negotiation as a state machine without sockets: it names the bytes that it wants next, takes them, and returns
//! the answer and the next step. It stores nothing that a client claims except one option of limited length.

use super::super::served_card::SECTOR;
use super::request::*;

/// Longest option that is read; the protocol limits names to 4096 bytes.
const MAX_OPTION_BYTES: u32 = 8192;

/// Longest option that is skipped; a longer one ends the connection.
const MAX_SKIPPED_BYTES: u32 = 1 << 20;

const SKIP_CHUNK: u32 = 4096;

/// Smallest, preferred and largest block: a card's sector, the usual block of file systems, and [`MAX_REQUEST_BYTES`].
const BLOCK_SIZES: [u32; 3] = [SECTOR as u32, 4096, MAX_REQUEST_BYTES];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NbdExport {
    pub(super) name: String,
    pub(super) bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HandshakeNext {
    Negotiate,
    /// Requests to an export follow.
    Transmit {
        export: usize,
        /// True if the client knows the smallest block and adheres to it.
        aligned: bool,
    },
    Close,
}

#[derive(Debug, Clone, Copy)]
enum HandshakeState {
    ClientFlags,
    OptionHead,
    OptionData { option: u32, len: u32 },
    Skip { option: u32, left: u32 },
}

#[derive(Debug)]
pub(super) struct NbdHandshake<'a> {
    exports: &'a [NbdExport],
    state: HandshakeState,
    no_zeroes: bool,
}

impl<'a> NbdHandshake<'a> {
    pub(super) fn new(exports: &'a [NbdExport]) -> Self {
        NbdHandshake { exports, state: HandshakeState::ClientFlags, no_zeroes: false }
    }

    pub(super) fn greeting() -> Vec<u8> {
        let flags = (HANDSHAKE_FIXED_NEWSTYLE | HANDSHAKE_NO_ZEROES).to_be_bytes();
        [&NBD_MAGIC.to_be_bytes()[..], &OPTION_MAGIC.to_be_bytes(), &flags].concat()
    }

    /// Number of bytes wanted next; at most [`MAX_OPTION_BYTES`].
    pub(super) fn wanted_bytes(&self) -> usize {
        match self.state {
            HandshakeState::ClientFlags => 4,
            HandshakeState::OptionHead => 16,
            HandshakeState::OptionData { len, .. } => len as usize,
            HandshakeState::Skip { left, .. } => left.min(SKIP_CHUNK) as usize,
        }
    }

    /// Takes the bytes that were wanted; appends the answer to `out`.
    pub(super) fn take_bytes(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> HandshakeNext {
        match self.state {
            HandshakeState::ClientFlags => self.read_client_flags(bytes),
            HandshakeState::OptionHead => self.read_option_head(bytes, out),
            HandshakeState::OptionData { option, .. } => {
                self.state = HandshakeState::OptionHead;
                self.answer_option(option, bytes, out)
            }
            HandshakeState::Skip { option, left } if left > SKIP_CHUNK => {
                self.state = HandshakeState::Skip { option, left: left - SKIP_CHUNK };
                HandshakeNext::Negotiate
            }
            HandshakeState::Skip { option, .. } => {
                self.state = HandshakeState::OptionHead;
                option_reply(out, option, REPLY_TOO_BIG, b"this option is too long");
                HandshakeNext::Negotiate
            }
        }
    }

    fn read_client_flags(&mut self, bytes: &[u8]) -> HandshakeNext {
        let known = u32::from(HANDSHAKE_FIXED_NEWSTYLE | HANDSHAKE_NO_ZEROES);
        let flags = IntegerReader(bytes).u32().filter(|flags| flags & !known == 0);
        let Some(flags) = flags else { return HandshakeNext::Close };
        self.no_zeroes = flags & u32::from(HANDSHAKE_NO_ZEROES) != 0;
        self.state = HandshakeState::OptionHead;
        HandshakeNext::Negotiate
    }

    fn read_option_head(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> HandshakeNext {
        let mut reader = IntegerReader(bytes);
        let (Some(OPTION_MAGIC), Some(option), Some(len)) = (reader.u64(), reader.u32(), reader.u32()) else {
            return HandshakeNext::Close;
        };
        self.state = match len {
            0 => return self.answer_option(option, &[], out),
            1..=MAX_OPTION_BYTES => HandshakeState::OptionData { option, len },
            len if len <= MAX_SKIPPED_BYTES => HandshakeState::Skip { option, left: len },
            _ => return HandshakeNext::Close,
        };
        HandshakeNext::Negotiate
    }

    fn answer_option(&mut self, number: u32, data: &[u8], out: &mut Vec<u8>) -> HandshakeNext {
        match number {
            OPTION_EXPORT_NAME => return self.choose_by_name(data, out),
            OPTION_ABORT => {
                option_reply(out, number, REPLY_ACK, &[]);
                return HandshakeNext::Close;
            }
            OPTION_LIST if data.is_empty() => self.list_exports(out),
            OPTION_LIST => option_reply(out, number, REPLY_INVALID, b"a list takes no data"),
            OPTION_INFO | OPTION_GO => return self.answer_info(number, data, out),
            _ => option_reply(out, number, REPLY_UNSUPPORTED, &[]),
        }
        HandshakeNext::Negotiate
    }

    /// Number of an export; the empty name is the first one.
    fn find_export(&self, name: &[u8]) -> Option<usize> {
        match name {
            [] => (!self.exports.is_empty()).then_some(0),
            _ => self.exports.iter().position(|e| e.name.as_bytes() == name),
        }
    }

    /// Old form of choosing an export. It has no error replies: a wrong name ends the connection.
    fn choose_by_name(&self, name: &[u8], out: &mut Vec<u8>) -> HandshakeNext {
        let Some(export) = self.find_export(name) else { return HandshakeNext::Close };
        out.extend(self.exports[export].bytes.to_be_bytes());
        out.extend(EXPORT_FLAGS.to_be_bytes());
        if !self.no_zeroes {
            out.extend([0; 124]);
        }
        HandshakeNext::Transmit { export, aligned: false }
    }

    fn list_exports(&self, out: &mut Vec<u8>) {
        for export in self.exports {
            let mut data = (export.name.len() as u32).to_be_bytes().to_vec();
            data.extend(export.name.as_bytes());
            option_reply(out, OPTION_LIST, REPLY_SERVER, &data);
        }
        option_reply(out, OPTION_LIST, REPLY_ACK, &[]);
    }

    fn answer_info(&self, number: u32, data: &[u8], out: &mut Vec<u8>) -> HandshakeNext {
        let Some(query) = ExportQuery::parse(data) else {
            option_reply(out, number, REPLY_INVALID, b"name and list do not fill the option");
            return HandshakeNext::Negotiate;
        };
        let Some(found) = self.find_export(query.name) else {
            option_reply(out, number, REPLY_UNKNOWN, b"no card of that name is served here");
            return HandshakeNext::Negotiate;
        };
        let export = &self.exports[found];
        let mut inform = |kind: u16, fields: &[&[u8]]| {
            let data = [&kind.to_be_bytes(), fields.concat().as_slice()].concat();
            option_reply(out, number, REPLY_INFO, &data);
        };
        inform(INFO_EXPORT, &[&export.bytes.to_be_bytes(), &EXPORT_FLAGS.to_be_bytes()]);
        if query.wants_kind(INFO_NAME) {
            inform(INFO_NAME, &[export.name.as_bytes()]);
        }
        let blocks = BLOCK_SIZES.map(u32::to_be_bytes);
        inform(INFO_BLOCK_SIZE, &[&blocks[0], &blocks[1], &blocks[2]]);
        option_reply(out, number, REPLY_ACK, &[]);
        if number != OPTION_GO {
            return HandshakeNext::Negotiate;
        }
        HandshakeNext::Transmit { export: found, aligned: query.wants_kind(INFO_BLOCK_SIZE) }
    }
}

/// Data of INFO and GO: a name, and the kinds of information wanted.
struct ExportQuery<'a> {
    name: &'a [u8],
    kinds: &'a [u8],
}

impl<'a> ExportQuery<'a> {
    fn parse(data: &'a [u8]) -> Option<Self> {
        let mut reader = IntegerReader(data);
        let len = reader.u32()?;
        let name = reader.take_slice(len as usize)?;
        let count = reader.u16()?;
        let kinds = reader.take_slice(usize::from(count) * 2)?;
        reader.0.is_empty().then_some(ExportQuery { name, kinds })
    }

    fn wants_kind(&self, kind: u16) -> bool {
        self.kinds.chunks_exact(2).any(|two| two == kind.to_be_bytes())
    }
}
