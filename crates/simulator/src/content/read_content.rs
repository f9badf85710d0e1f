//! Content of a read, as pieces with a description each, and its wrong bits. Bytes are generated only on demand.

use cardscope_engine::content::{self, ContentMatch, IoContent};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContentPiece {
    pub(crate) len: u64,
    pub(crate) description: IoContent,
    /// Key of bytes that are stored ([`IoContent::Buffer`]).
    pub(crate) at: u64,
    /// Address that the description was written to; on an honest card that of the read.
    pub(crate) origin: u64,
}

#[derive(Debug, Default)]
pub(crate) struct ReadContent {
    pub(crate) offset: u64,
    pub(crate) pieces: Vec<ContentPiece>,
    /// Wrong bits: byte within the read, and mask.
    pub(crate) flips: Vec<(u64, u8)>,
    /// Bytes of an earlier read that replace the start of this one.
    pub(crate) stale: Vec<u8>,
    /// True if the reader falsified the card's answer.
    pub(crate) misread: bool,
    pub(crate) len: u64,
}

impl ReadContent {
    pub(crate) fn clear(&mut self, offset: u64) {
        (self.offset, self.len, self.misread) = (offset, 0, false);
        self.pieces.clear();
        self.flips.clear();
        self.stale.clear();
    }

    /// Repeats the content with its wrong bits up to `len` bytes.
    pub(crate) fn repeat_to(&mut self, len: u64) {
        let (pieces, flips, once) = (self.pieces.clone(), self.flips.clone(), self.len);
        while self.len < len && once > 0 {
            let (from, room) = (self.len, len - self.len);
            let inside = flips.iter().filter(|(byte, _)| *byte < room);
            self.flips.extend(inside.map(|(byte, mask)| (from + byte, *mask)));
            for piece in &pieces {
                let len = piece.len.min(len - self.len);
                if len > 0 {
                    self.push(ContentPiece { len, ..*piece });
                }
            }
        }
    }

    pub(crate) fn has_bytes(&self) -> bool {
        self.pieces.iter().any(|p| p.description == IoContent::Buffer)
    }

    pub(crate) fn push(&mut self, piece: ContentPiece) {
        self.len += piece.len;
        match self.pieces.last_mut() {
            Some(last) if continues_piece(last, &piece) => last.len += piece.len,
            _ => self.pieces.push(piece),
        }
    }

    /// Generates the bytes of all pieces except stored ones, which are in `out` already; then puts in stale bytes and
    /// flips wrong bits.
    pub(crate) fn generate_bytes(&self, out: &mut [u8]) {
        let mut at = 0;
        for piece in &self.pieces {
            let end = at + piece.len as usize;
            content::fill_content(piece.description, piece.origin, &mut out[at..end]);
            at = end;
        }
        out[..self.stale.len()].copy_from_slice(&self.stale);
        for (byte, mask) in &self.flips {
            out[*byte as usize] ^= mask;
        }
    }

    /// Offset of the first byte that differs from `expected`. `bytes` are the stored bytes, at their places.
    pub(crate) fn first_difference(&self, expected: IoContent, bytes: Option<&[u8]>) -> Option<u64> {
        if self.flips.is_empty() && self.stale.is_empty() {
            self.differing_description(expected, bytes)
        } else {
            self.differing_byte(expected, bytes)
        }
    }

    /// Compares descriptions. Bytes are generated only where two of them disagree, a little at a time.
    fn differing_description(&self, expected: IoContent, bytes: Option<&[u8]>) -> Option<u64> {
        let mut at = 0;
        for piece in &self.pieces {
            let address = self.offset + at;
            let same = piece.origin == address || is_address_free(expected);
            if !(piece.description == expected && same) {
                let found = bytes.map(|b| &b[at as usize..(at + piece.len) as usize]);
                if let Some(first) = first_differing(piece, address, expected, found) {
                    return Some(at + first);
                }
            }
            at += piece.len;
        }
        None
    }

    /// Compares bytes, for the rare read with wrong bits or stale data.
    fn differing_byte(&self, expected: IoContent, bytes: Option<&[u8]>) -> Option<u64> {
        let mut made = bytes.map_or_else(Vec::new, <[u8]>::to_vec);
        made.resize(self.len as usize, 0);
        self.generate_bytes(&mut made);
        // Noise matches noise at any address, so only its flipped bits are wrong.
        let is_noise = |piece: &ContentPiece| piece.description == IoContent::Noise;
        if expected == IoContent::Noise && self.stale.is_empty() && self.pieces.iter().all(is_noise) {
            return self.flips.iter().map(|(byte, _)| *byte).min();
        }
        match content::compare_content(expected, self.offset, &made) {
            ContentMatch::DiffersAt(first) => Some(first),
            ContentMatch::Same => None,
        }
    }
}

fn continues_piece(last: &ContentPiece, next: &ContentPiece) -> bool {
    let follows = |end: u64, start: u64| end.checked_add(last.len) == Some(start);
    let same_bytes = next.description != IoContent::Buffer || follows(last.at, next.at);
    last.description == next.description
        && same_bytes
        && (follows(last.origin, next.origin)
            || is_address_free(next.description) && next.description != IoContent::Noise)
}

/// True for content that is the same at any address.
fn is_address_free(content: IoContent) -> bool {
    matches!(content, IoContent::Constant(_) | IoContent::Noise)
}

fn first_differing(
    piece: &ContentPiece,
    from: u64,
    expected: IoContent,
    bytes: Option<&[u8]>,
) -> Option<u64> {
    let mut made = [0u8; 4096];
    let mut at = 0;
    while at < piece.len {
        let len = (piece.len - at).min(made.len() as u64);
        let part = &mut made[..len as usize];
        let found = match bytes.filter(|_| piece.description == IoContent::Buffer) {
            Some(bytes) => &bytes[at as usize..(at + len) as usize],
            None => {
                content::fill_content(piece.description, piece.origin + at, part);
                part
            }
        };
        if let ContentMatch::DiffersAt(first) = content::compare_content(expected, from + at, found) {
            return Some(at + first);
        }
        at += len;
    }
    None
}
