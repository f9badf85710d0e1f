//! Bounded reads from a device, aligned for `O_DIRECT`.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Accepted by every block device for memory, position and length.
const ALIGN: u64 = 4096;

/// Random-access source of bytes.
#[allow(clippy::len_without_is_empty, reason = "a device of no bytes is refused long before")]
pub trait ByteSource {
    /// Size in bytes.
    fn len(&self) -> u64;

    /// Logical sector size.
    fn sector(&self) -> u64 {
        512
    }

    /// Reads exactly `count` bytes; `None` past the end or if the card fails.
    fn read(&self, offset: u64, count: u64) -> Option<Vec<u8>>;
}

pub(crate) struct FileBytes<'a> {
    pub(crate) file: &'a File,
    pub(crate) bytes: u64,
}

impl ByteSource for FileBytes<'_> {
    fn len(&self) -> u64 {
        self.bytes
    }

    fn sector(&self) -> u64 {
        rustix::fs::ioctl_blksszget(self.file).map_or(512, u64::from)
    }

    fn read(&self, offset: u64, count: u64) -> Option<Vec<u8>> {
        let end = offset.checked_add(count).filter(|end| *end <= self.bytes)?;
        let start = offset - offset % ALIGN;
        let stop = end.checked_next_multiple_of(ALIGN)?.min(self.bytes);
        let len = usize::try_from(stop - start).ok()?;
        let mut memory = vec![0u8; len + ALIGN as usize];
        let shift = memory.as_ptr().align_offset(ALIGN as usize);
        let aligned = memory.get_mut(shift..shift + len)?;
        self.file.read_exact_at(aligned, start).ok()?;
        let from = (offset - start) as usize;
        Some(aligned[from..from + count as usize].to_vec())
    }
}

#[cfg(test)]
impl ByteSource for Vec<u8> {
    fn len(&self) -> u64 {
        Vec::len(self) as u64
    }

    fn read(&self, offset: u64, count: u64) -> Option<Vec<u8>> {
        let start = usize::try_from(offset).ok()?;
        self.get(start..start.checked_add(usize::try_from(count).ok()?)?).map(<[u8]>::to_vec)
    }
}

/// Decodes `N` little-endian bytes at `at`; 0 past the end.
pub(crate) fn read_le<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + N).map_or(0, |part| part.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

/// Text up to the first NUL, trimmed; `None` if empty.
pub(crate) fn parse_label(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    sanitize_label(&String::from_utf8_lossy(&bytes[..end]))
}

/// UTF-16 text, as in names of GPT, exFAT and F2FS.
pub(crate) fn parse_wide_label(bytes: &[u8]) -> Option<String> {
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .take_while(|unit| *unit != 0)
        .collect();
    sanitize_label(&String::from_utf16_lossy(&units))
}

/// Labels are untrusted: control characters must not reach the terminal.
fn sanitize_label(text: &str) -> Option<String> {
    let clean: String = text.trim().chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    (!clean.is_empty()).then_some(clean)
}
