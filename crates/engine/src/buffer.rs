//! Page-aligned memory for direct I/O: an anonymous mapping, zeroed, in huge pages if possible, fit for registration
//! with io_uring.
//!
//! Slots may share it and the kernel writes into it, so it returns pointers; callers that form slices guarantee
//! exclusive access.

use crate::target::{TargetError, TargetResult};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ptr::NonNull;

/// Bytes of a page. Slots begin on a page, which satisfies the alignment that any device demands for direct I/O.
pub const PAGE: usize = 4096;

/// A huge page of x86-64 and aarch64; for smaller buffers the hint would only waste memory.
const HUGE_PAGE: usize = 2 << 20;

/// Anonymous memory, page-aligned and zeroed, unmapped on drop.
#[derive(Debug)]
pub struct AlignedBuffer {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: it owns its mapping, which any thread may use and unmap; callers of `ptr` and `slice` guarantee exclusive
// access.
unsafe impl Send for AlignedBuffer {}
// SAFETY: as above; `&AlignedBuffer` exposes nothing but addresses.
unsafe impl Sync for AlignedBuffer {}

impl AlignedBuffer {
    /// Maps at least `bytes` bytes, rounded up to whole pages.
    pub fn new(bytes: usize) -> TargetResult<Self> {
        let out_of_memory = |reason: String| {
            let what = format!("taking {bytes} bytes of memory for the I/O buffers");
            TargetError::setup(what, format!("{reason}; choose a smaller block or queue depth"))
        };
        let len = bytes.max(1).checked_next_multiple_of(PAGE);
        let len = len.ok_or_else(|| out_of_memory("too large".into()))?;
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

    /// Size in bytes, a multiple of the page.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Always false; clippy expects it next to `len`.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Address of `len` bytes at `offset`; panics if they are not all inside.
    #[inline]
    pub fn ptr(&self, offset: usize, len: usize) -> *mut u8 {
        let size = self.len;
        assert!(offset <= size && len <= size - offset, "{len} bytes at {offset} of a buffer of {size}");
        // SAFETY: the range was just checked to lie within the mapping.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Part of the memory as a slice; panics outside.
    ///
    /// # Safety
    /// While the slice lives, nothing else may access that part: no other slice of it, no I/O in flight.
    #[expect(clippy::mut_from_ref, reason = "interior memory; exclusion is the caller's duty, as documented")]
    pub unsafe fn slice(&self, offset: usize, len: usize) -> &mut [u8] {
        let start = self.ptr(offset, len);
        // SAFETY: inside the mapping, initialised (zeroed by the kernel), exclusive by this function's contract.
        unsafe { std::slice::from_raw_parts_mut(start, len) }
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        // SAFETY: the mapping is owned, and the borrow checker ensures that no slice of it is alive.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_is_page_aligned_and_zeroed() {
        for bytes in [0, 1, 512, 4096, 4097, 3 << 20] {
            let buffer = AlignedBuffer::new(bytes).unwrap();
            assert_eq!(buffer.ptr(0, 1) as usize % PAGE, 0);
            assert!(buffer.len() >= bytes && buffer.len().is_multiple_of(PAGE) && !buffer.is_empty());
            // SAFETY: the buffer is local to this test.
            let all = unsafe { buffer.slice(0, buffer.len()) };
            assert!(all.iter().all(|&b| b == 0));
            all.fill(7);
        }
    }

    #[test]
    #[should_panic(expected = "0 bytes at 4097")]
    fn empty_slice_outside_is_refused() {
        let buffer = AlignedBuffer::new(PAGE).unwrap();
        // SAFETY: the buffer is local to this test.
        let _ = unsafe { buffer.slice(PAGE + 1, 0) };
    }

    #[test]
    fn too_large_buffer_fails_with_advice() {
        let error = AlignedBuffer::new(usize::MAX - PAGE).unwrap_err().to_string();
        assert!(error.contains("smaller block or queue depth"), "{error}");
        assert!(AlignedBuffer::new(usize::MAX).is_err());
    }
}
