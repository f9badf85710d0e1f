//! Page-aligned memory for direct I/O, taken from the kernel by an anonymous mapping: zeroed, never on the heap,
//! in huge pages where there are any, fit to be registered with io_uring.
//!
//! Several slots may share it and the kernel writes into it, so it hands out pointers; who makes slices of them
//! answers for nobody else writing there at that time.

use crate::target::TargetError;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ptr::NonNull;

/// Bytes of a page; a slot begins on one, which satisfies every device's demand on direct I/O's memory.
pub const PAGE: usize = 4096;

/// A huge page of x86-64 and aarch64; below this size the hint would only waste memory.
const HUGE_PAGE: usize = 2 << 20;

/// Anonymous memory, page aligned, zeroed at first, given back on drop.
#[derive(Debug)]
pub struct AlignedBuffer {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: it owns its mapping, which any thread may use and unmap; access goes through `ptr`, whose users answer
// for exclusion.
unsafe impl Send for AlignedBuffer {}
// SAFETY: as above; `&AlignedBuffer` gives out nothing but addresses.
unsafe impl Sync for AlignedBuffer {}

impl AlignedBuffer {
    /// Maps at least `bytes` bytes (at least one page).
    pub fn new(bytes: usize) -> Result<Self, TargetError> {
        let out_of_memory = |reason: String| {
            let what = format!("taking {bytes} bytes of memory for the I/O buffers");
            TargetError::setup(what, format!("{reason}; choose a smaller block or queue depth"))
        };
        let len =
            bytes.max(1).checked_next_multiple_of(PAGE).ok_or_else(|| out_of_memory("too large".into()))?;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a fresh private mapping at an address of the kernel's choice touches no memory of ours.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), len, access, flags) }
            .map_err(|errno| out_of_memory(errno.to_string()))?;
        if len >= HUGE_PAGE {
            // SAFETY: the range is the mapping just made. A refused hint costs speed only.
            let _ = unsafe { madvise(start, len, Advice::LinuxHugepage) };
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| out_of_memory("mapped at zero".into()))?;
        Ok(Self { start, len })
    }

    /// Bytes there are, a multiple of the page.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never true; there for completeness beside `len`.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Address of the byte at `offset`.
    ///
    /// # Panics
    /// If `offset` lies outside.
    #[inline]
    pub fn ptr(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.len, "offset {offset} outside a buffer of {} bytes", self.len);
        // SAFETY: the offset was just checked to lie within the mapping.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// A part of it as a slice.
    ///
    /// # Safety
    /// While the slice lives nobody else may read or write that part: no other slice of it, no I/O in flight.
    ///
    /// # Panics
    /// If the part lies outside.
    #[expect(clippy::mut_from_ref, reason = "interior memory; exclusion is the caller's duty, as documented")]
    pub unsafe fn slice(&self, offset: usize, len: usize) -> &mut [u8] {
        assert!(
            len <= self.len - offset.min(self.len),
            "{len} bytes at {offset} of a buffer of {}",
            self.len
        );
        // SAFETY: inside the mapping, initialised (zeroed by the kernel), exclusive by this function's contract.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(offset), len) }
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nobody can hold a slice of it any more.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_page_aligned_zeroed_and_whole_pages() {
        for bytes in [0, 1, 512, 4096, 4097, 3 << 20] {
            let buffer = AlignedBuffer::new(bytes).unwrap();
            assert_eq!(buffer.ptr(0) as usize % PAGE, 0);
            assert!(buffer.len() >= bytes && buffer.len().is_multiple_of(PAGE) && !buffer.is_empty());
            // SAFETY: nobody else knows of this buffer.
            let all = unsafe { buffer.slice(0, buffer.len()) };
            assert!(all.iter().all(|&b| b == 0));
            all.fill(7);
        }
    }

    #[test]
    fn memory_that_cannot_be_had_is_an_error_that_says_what_to_do() {
        let error = AlignedBuffer::new(usize::MAX - PAGE).unwrap_err().to_string();
        assert!(error.contains("smaller block or queue depth"), "{error}");
        assert!(AlignedBuffer::new(usize::MAX).is_err());
    }
}
