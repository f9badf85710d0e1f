//! The medium behind its fake map: writes of descriptions or bytes, and reads that say what is there, piece by
//! piece. Bytes are made only when somebody asks for them.

use super::bytes::Bytes;
use super::fake::{FakeMap, Place};
use super::store::{Extents, What};
use crate::archetype::Lost;
use cardscope_engine::content::{self, Content};

/// Part of what a read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Bytes.
    pub(crate) len: u64,
    /// What they are.
    pub(crate) what: What,
    /// Place on the medium, where [`What::Bytes`] lie.
    pub(crate) at: u64,
    /// The address that the description was written to; the read's own on an honest card.
    pub(crate) origin: u64,
}

/// A read of a lost block fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// All that stands on a card.
#[derive(Debug)]
pub(crate) struct Medium {
    map: FakeMap,
    honest: bool,
    lost: Lost,
    extents: Extents,
    bytes: Bytes,
}

impl Medium {
    pub(crate) fn new(map: FakeMap, honest: bool, lost: Lost) -> Self {
        Medium { map, honest, lost, extents: Extents::default(), bytes: Bytes::default() }
    }

    /// Writes a description; [`Content::Buffer`] goes through [`Medium::write_bytes`].
    #[inline]
    pub(crate) fn write(&mut self, offset: u64, len: u64, content: Content) {
        let what = match content {
            Content::Noise => What::Noise,
            Content::Constant(byte) => What::Constant(byte),
            Content::Stream { seed } => What::Stream(seed),
            Content::Stamp { salt, generation } => What::Stamp(salt, generation),
            Content::Buffer => return,
        };
        if self.honest {
            self.put(offset, len, offset, what);
        } else {
            self.routed(offset, len, |medium, at, len, address| medium.put(at, len, address, what));
        }
    }

    /// Writes bytes as they are.
    pub(crate) fn write_bytes(&mut self, offset: u64, data: &[u8]) {
        self.routed(offset, data.len() as u64, |medium, at, len, address| {
            let from = (address - offset) as usize;
            let part = &data[from..from + len as usize];
            if part.iter().all(|b| *b == part[0]) {
                medium.put(at, len, address, What::Constant(part[0]));
            } else {
                medium.extents.write(at..at + len, What::Bytes, address as i64 - at as i64);
                medium.bytes.write(at, part);
            }
        });
    }

    /// Forgets a range: it reads as zeros.
    pub(crate) fn discard(&mut self, offset: u64, len: u64) {
        self.routed(offset, len, |medium, at, len, _| {
            medium.extents.remove(at..at + len);
            medium.bytes.drop_pages(at, at + len);
        });
    }

    #[inline]
    fn put(&mut self, at: u64, len: u64, address: u64, what: What) {
        let unchanged = self.extents.write(at..at + len, what, address as i64 - at as i64);
        if !unchanged {
            self.bytes.drop_pages(at, at + len);
        }
    }

    /// Calls `act` with (place, length, address) for each part of the range that is kept anywhere.
    fn routed(&mut self, offset: u64, len: u64, mut act: impl FnMut(&mut Self, u64, u64, u64)) {
        let (mut address, end) = (offset, offset + len);
        while address < end {
            let route = self.map.route(address, end - address);
            match route.place {
                Place::Kept(at) | Place::Cached(at) => act(self, at, route.len, address),
                Place::Lost => {}
            }
            address += route.len;
        }
    }

    /// Appends what a read of the range finds.
    ///
    /// # Errors
    /// If a part of it is lost and the card fails such reads.
    pub(crate) fn read(&self, offset: u64, len: u64, pieces: &mut Vec<Piece>) -> Result<(), Unreadable> {
        let (mut address, end) = (offset, offset + len);
        while address < end {
            let route = self.map.route(address, end - address);
            match route.place {
                Place::Kept(at) => self.find(at, route.len, address, None, pieces)?,
                Place::Cached(at) => {
                    self.find(at, route.len, address, Some(address as i64 - at as i64), pieces)?
                }
                Place::Lost => self.lose(route.len, address, pieces)?,
            }
            address += route.len;
        }
        Ok(())
    }

    /// Appends what lies at a place; with `owner` only what was written to this very address counts.
    fn find(
        &self,
        at: u64,
        len: u64,
        address: u64,
        owner: Option<i64>,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), Unreadable> {
        let (mut place, end) = (at, at + len);
        while place < end {
            let asked = address + (place - at);
            match self.extents.at(place) {
                Ok(extent) if owner.is_none_or(|shift| shift == extent.shift) => {
                    let len = extent.end.min(end) - place;
                    let origin = place.wrapping_add_signed(extent.shift);
                    pieces.push(Piece { len, what: extent.what, at: place, origin });
                    place += len;
                }
                Ok(extent) => {
                    let len = extent.end.min(end) - place;
                    self.lose(len, asked, pieces)?;
                    place += len;
                }
                Err(next) => {
                    let len = next.min(end) - place;
                    match owner {
                        Some(_) => self.lose(len, asked, pieces)?,
                        None => pieces.push(Piece { len, what: What::Constant(0), at: place, origin: asked }),
                    }
                    place += len;
                }
            }
        }
        Ok(())
    }

    fn lose(&self, len: u64, address: u64, pieces: &mut Vec<Piece>) -> Result<(), Unreadable> {
        let byte = match self.lost {
            Lost::Zeros => 0,
            Lost::Ones => 0xff,
            Lost::Error => return Err(Unreadable),
        };
        pieces.push(Piece { len, what: What::Constant(byte), at: address, origin: address });
        Ok(())
    }

    /// Fetches the bytes of a piece that are kept as such.
    pub(crate) fn fetch(&self, piece: &Piece, out: &mut [u8]) {
        self.bytes.read(piece.at, out);
    }

    /// Extents and pages of bytes kept.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> (usize, usize) {
        (self.extents.len(), self.bytes.kept())
    }
}

/// The description of a piece, in the engine's words.
fn content(what: What) -> Content {
    match what {
        What::Noise => Content::Noise,
        What::Constant(byte) => Content::Constant(byte),
        What::Stream(seed) => Content::Stream { seed },
        What::Stamp(salt, generation) => Content::Stamp { salt, generation },
        What::Bytes => Content::Buffer,
    }
}

/// Makes the bytes of all pieces but those kept as bytes, which stand in `out` already.
pub(crate) fn fill(pieces: &[Piece], out: &mut [u8]) {
    let mut at = 0;
    for piece in pieces {
        let end = at + piece.len as usize;
        content::fill(content(piece.what), piece.origin, &mut out[at..end]);
        at = end;
    }
}

/// First byte of the pieces, read from `offset` on, that differs from what was expected there. Only where two
/// descriptions disagree are bytes made, a little at a time.
pub(crate) fn first_difference(
    pieces: &[Piece],
    offset: u64,
    expected: Content,
    bytes: Option<&[u8]>,
) -> Option<u64> {
    let mut at = 0;
    for piece in pieces {
        let address = offset + at;
        if !(content(piece.what) == expected && (piece.origin == address || constant(expected))) {
            let found = bytes.map(|b| &b[at as usize..(at + piece.len) as usize]);
            if let Some(first) = differs(piece, address, expected, found) {
                return Some(at + first);
            }
        }
        at += piece.len;
    }
    None
}

fn constant(content: Content) -> bool {
    matches!(content, Content::Constant(_) | Content::Noise)
}

fn differs(piece: &Piece, address: u64, expected: Content, bytes: Option<&[u8]>) -> Option<u64> {
    let mut made = [0u8; 4096];
    let mut at = 0;
    while at < piece.len {
        let len = (piece.len - at).min(made.len() as u64);
        let found = match (piece.what, bytes) {
            (What::Bytes, Some(bytes)) => &bytes[at as usize..(at + len) as usize],
            (what, _) => {
                content::fill(content(what), piece.origin + at, &mut made[..len as usize]);
                &made[..len as usize]
            }
        };
        if let content::Match::DiffersAt(first) = content::compare(expected, address + at, found) {
            return Some(at + first);
        }
        at += len;
    }
    None
}
