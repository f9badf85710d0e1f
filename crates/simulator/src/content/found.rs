//! What a read found: pieces that say what is there, and the bits that are wrong. Bytes are made only when somebody
//! asks for them.

use cardscope_engine::content::{self, ContentMatch, IoContent};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContentPiece {
    pub(crate) len: u64,
    pub(crate) what: IoContent,
    /// Where [`Content::Buffer`] lie.
    pub(crate) at: u64,
    /// The address that the description was written to; the read's own on an honest card.
    pub(crate) origin: u64,
}

#[derive(Debug, Default)]
pub(crate) struct ReadContent {
    pub(crate) offset: u64,
    pub(crate) pieces: Vec<ContentPiece>,
    /// Bits that are wrong, by byte of the read.
    pub(crate) flips: Vec<(u64, u8)>,
    /// Bytes of an earlier answer that came in place of the first ones of this read.
    pub(crate) stale: Vec<u8>,
    /// True where a reader changed what the card answered.
    pub(crate) misread: bool,
    pub(crate) len: u64,
}

impl ReadContent {
    pub(crate) fn clear(&mut self, offset: u64) {
        self.offset = offset;
        self.pieces.clear();
        self.flips.clear();
        self.stale.clear();
        self.misread = false;
        self.len = 0;
    }

    /// Repeats what was found, wrong bits included, until it is `len` bytes long.
    pub(crate) fn repeat(&mut self, len: u64) {
        let (pieces, flips, once) = (self.pieces.clone(), self.flips.clone(), self.len);
        while self.len < len && once > 0 {
            let (from, room) = (self.len, len - self.len);
            self.flips
                .extend(flips.iter().filter(|(byte, _)| *byte < room).map(|(byte, m)| (from + byte, *m)));
            for piece in &pieces {
                let len = piece.len.min(len - self.len);
                if len > 0 {
                    self.push(ContentPiece { len, ..*piece });
                }
            }
        }
    }

    /// True where some of it is kept as bytes.
    pub(crate) fn has_bytes(&self) -> bool {
        self.pieces.iter().any(|p| p.what == IoContent::Buffer)
    }

    pub(crate) fn push(&mut self, piece: ContentPiece) {
        self.len += piece.len;
        match self.pieces.last_mut() {
            Some(last) if continues(last, &piece) => last.len += piece.len,
            _ => self.pieces.push(piece),
        }
    }

    /// Makes the bytes of all pieces but those kept as bytes, which stand in `out` already, puts stale ones in their
    /// place, and turns the bits that are wrong.
    pub(crate) fn fill(&self, out: &mut [u8]) {
        let mut at = 0;
        for piece in &self.pieces {
            let end = at + piece.len as usize;
            content::fill(piece.what, piece.origin, &mut out[at..end]);
            at = end;
        }
        out[..self.stale.len()].copy_from_slice(&self.stale);
        for (byte, mask) in &self.flips {
            out[*byte as usize] ^= mask;
        }
    }

    /// First byte that differs from what was expected there. `bytes` holds what was kept as bytes, and no more.
    pub(crate) fn first_difference(&self, expected: IoContent, bytes: Option<&[u8]>) -> Option<u64> {
        if self.flips.is_empty() && self.stale.is_empty() {
            self.between(expected, bytes)
        } else {
            self.between_bytes(expected, bytes)
        }
    }

    /// Only where two descriptions disagree are bytes made, a little at a time.
    fn between(&self, expected: IoContent, bytes: Option<&[u8]>) -> Option<u64> {
        let mut at = 0;
        for piece in &self.pieces {
            let address = self.offset + at;
            let same = piece.origin == address || everywhere(expected);
            if !(piece.what == expected && same) {
                let found = bytes.map(|b| &b[at as usize..(at + piece.len) as usize]);
                if let Some(first) = differs(piece, address, expected, found) {
                    return Some(at + first);
                }
            }
            at += piece.len;
        }
        None
    }

    /// The rare read with wrong bits: all of it is made.
    fn between_bytes(&self, expected: IoContent, bytes: Option<&[u8]>) -> Option<u64> {
        let mut made = bytes.map_or_else(Vec::new, <[u8]>::to_vec);
        made.resize(self.len as usize, 0);
        self.fill(&mut made);
        if expected == IoContent::Noise {
            // Noise is noise at any address; only its bits can be wrong.
            let moved = self.stale.is_empty() && self.pieces.iter().all(|p| p.what == IoContent::Noise);
            if moved {
                return self.flips.iter().map(|(byte, _)| *byte).min();
            }
        }
        match content::compare(expected, self.offset, &made) {
            ContentMatch::DiffersAt(first) => Some(first),
            ContentMatch::Same => None,
        }
    }
}

fn continues(last: &ContentPiece, next: &ContentPiece) -> bool {
    let follows = |end: u64, start: u64| end.checked_add(last.len) == Some(start);
    let same_bytes = next.what != IoContent::Buffer || follows(last.at, next.at);
    last.what == next.what
        && same_bytes
        && (follows(last.origin, next.origin) || everywhere(next.what) && next.what != IoContent::Noise)
}

/// True for content that passes for the same wherever it was written.
fn everywhere(content: IoContent) -> bool {
    matches!(content, IoContent::Constant(_) | IoContent::Noise)
}

fn differs(piece: &ContentPiece, address: u64, expected: IoContent, bytes: Option<&[u8]>) -> Option<u64> {
    let mut made = [0u8; 4096];
    let mut at = 0;
    while at < piece.len {
        let len = (piece.len - at).min(made.len() as u64);
        let found = match (piece.what, bytes) {
            (IoContent::Buffer, Some(bytes)) => &bytes[at as usize..(at + len) as usize],
            (what, _) => {
                content::fill(what, piece.origin + at, &mut made[..len as usize]);
                &made[..len as usize]
            }
        };
        if let ContentMatch::DiffersAt(first) = content::compare(expected, address + at, found) {
            return Some(at + first);
        }
        at += len;
    }
    None
}
