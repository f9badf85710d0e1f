//! Two layers of content: the flash by its own places, and the memory of a fake's cache by address. Both keep
//! descriptions as such and share the room for bytes.

use super::bytes::{Bytes, PAGE, Pages};
use super::extents::{Extents, Kind};
use super::faults::IoError;
use super::found::Piece;
use cardscope_engine::content::Content;
use std::io;
use std::ops::Range;

/// Which layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layer {
    Flash,
    Cache,
}

/// What is to be stored.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Data<'a> {
    Described(Content),
    Bytes(&'a [u8]),
}

impl Data<'_> {
    /// The part of `len` bytes from `from` on.
    pub(crate) fn part(&self, from: u64, len: u64) -> Self {
        match *self {
            Data::Described(what) => Data::Described(what),
            Data::Bytes(bytes) => Data::Bytes(&bytes[from as usize..(from + len) as usize]),
        }
    }
}

/// All that is stored.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) flash: Extents,
    pub(crate) cache: Extents,
    pub(crate) bytes: Bytes,
}

/// Bytes of the cache's layer lie behind those of any flash.
const CACHE_BYTES: u64 = 1 << 62;

fn key(layer: Layer, at: u64) -> u64 {
    match layer {
        Layer::Flash => at,
        Layer::Cache => CACHE_BYTES + at,
    }
}

impl Store {
    /// Keeps up to `budget` bytes of pages in memory.
    pub(crate) fn new(budget: u64) -> Self {
        Store { flash: Extents::default(), cache: Extents::default(), bytes: Bytes::new(Pages::new(budget)) }
    }

    #[inline]
    fn layer(&mut self, layer: Layer) -> &mut Extents {
        match layer {
            Layer::Flash => &mut self.flash,
            Layer::Cache => &mut self.cache,
        }
    }

    /// Stores `len` bytes at a place, written to `address`. Fails if there is no room for bytes.
    #[inline]
    pub(crate) fn put(
        &mut self,
        layer: Layer,
        at: u64,
        len: u64,
        address: u64,
        data: Data<'_>,
    ) -> Result<(), IoError> {
        match data {
            Data::Described(what) => {
                self.describe(layer, at..at + len, Kind { what, shift: address as i64 - at as i64 });
                Ok(())
            }
            Data::Bytes(bytes) => self.put_bytes(layer, at, bytes).map_err(no_room),
        }
    }

    #[inline]
    fn describe(&mut self, layer: Layer, range: Range<u64>, kind: Kind) {
        let (start, end) = (key(layer, range.start), key(layer, range.end));
        if !self.layer(layer).write(range, kind) {
            self.bytes.drop_pages(start, end);
        }
    }

    /// Page by page: one that is all one byte, as most of a file system is, is described and not kept.
    fn put_bytes(&mut self, layer: Layer, at: u64, bytes: &[u8]) -> io::Result<()> {
        let (mut place, mut rest) = (at, bytes);
        while !rest.is_empty() {
            let room = PAGE - (place % PAGE as u64) as usize;
            let (part, tail) = rest.split_at(rest.len().min(room));
            let range = place..place + part.len() as u64;
            if part.iter().all(|b| *b == part[0]) {
                self.describe(layer, range.clone(), Kind { what: Content::Constant(part[0]), shift: 0 });
            } else {
                self.bytes.write(key(layer, place), part)?;
                self.layer(layer).write(range.clone(), Kind { what: Content::Buffer, shift: 0 });
            }
            place = range.end;
            rest = tail;
        }
        Ok(())
    }

    /// Forgets a range.
    pub(crate) fn remove(&mut self, layer: Layer, range: Range<u64>) {
        self.bytes.drop_pages(key(layer, range.start), key(layer, range.end));
        self.layer(layer).remove(range);
    }

    /// What stands at a place, and the length of which it is the same; nothing where nobody wrote.
    pub(crate) fn at(&self, layer: Layer, at: u64, len: u64) -> (u64, Option<Piece>) {
        let extents = match layer {
            Layer::Flash => &self.flash,
            Layer::Cache => &self.cache,
        };
        let (end, kind) = extents.at(at, at + len);
        let len = end - at;
        let piece = kind.map(|Kind { what, shift }| {
            let origin = at.wrapping_add_signed(shift);
            Piece { len, what, at: key(layer, at), origin }
        });
        (len, piece)
    }

    /// Fetches the bytes of a piece that are kept as such. Fails if the file that memory spilled to cannot be read.
    pub(crate) fn fetch(&self, piece: &Piece, out: &mut [u8]) -> Result<(), IoError> {
        self.bytes.read(piece.at, out).map_err(|e| IoError::Failed {
            reason: format!("the simulation's file of spilled data cannot be read: {e}"),
            errno: e.raw_os_error().unwrap_or(libc::EIO),
        })
    }
}

pub(super) fn no_room(error: io::Error) -> IoError {
    let errno = match error.kind() {
        io::ErrorKind::StorageFull => libc::ENOSPC,
        _ => error.raw_os_error().unwrap_or(libc::EIO),
    };
    let reason = format!(
        "the simulation has no room left for what is written ({error}); free some, or set TMPDIR to a larger disk"
    );
    IoError::Failed { reason, errno }
}
