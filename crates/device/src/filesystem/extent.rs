//! Position of a file's byte on its device, by FIEMAP (`Documentation/filesystems/fiemap` of the kernel) or FIBMAP
//! (`linux/fs.h`), which FAT and exFAT support and only root may use.

use rustix::fs::fstatfs;
use rustix::ioctl::{Updater, ioctl, opcode};
use std::ffi::c_int;
use std::fs::File;

const FS_IOC_FIEMAP: u32 = opcode::read_write::<FiemapHeader>(b'f', 11);
const FIBMAP: u32 = opcode::none(0, 1);
const FIGETBSZ: u32 = opcode::none(0, 2);

/// Extents whose position is unknown, delayed, encoded, encrypted, or shared with other data (linux/fiemap.h).
const NO_PLACE: u32 = 0x2 | 0x4 | 0x8 | 0x80 | 0x100 | 0x200 | 0x400;

/// btrfs reports logical addresses, which are not those of the device.
const BTRFS: u32 = 0x9123_683e;

/// `struct fiemap` without extents; its size is part of the request code.
#[repr(C)]
#[derive(Default)]
struct FiemapHeader {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Default)]
struct FiemapExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    more: [u32; 3],
}

#[repr(C)]
#[derive(Default)]
struct FiemapQuery {
    head: FiemapHeader,
    extent: FiemapExtent,
}

/// Byte of the device that holds byte `offset` of a file; `None` if the file system does not report it to this user.
pub fn device_offset(file: &File, offset: u64) -> Option<u64> {
    if fstatfs(file).ok()?.f_type as u32 == BTRFS {
        return None;
    }
    by_fiemap(file, offset).or_else(|| by_fibmap(file, offset))
}

fn by_fiemap(file: &File, offset: u64) -> Option<u64> {
    let head = FiemapHeader { start: offset, length: 1, count: 1, ..FiemapHeader::default() };
    let mut question = FiemapQuery { head, extent: FiemapExtent::default() };
    // SAFETY: the kernel reads the header and writes up to `count` extents behind it: one.
    unsafe { ioctl(file, Updater::<FS_IOC_FIEMAP, FiemapQuery>::new(&mut question)) }.ok()?;
    let FiemapQuery { head, extent } = question;
    let within = offset.checked_sub(extent.logical).filter(|within| *within < extent.length)?;
    (head.mapped == 1 && extent.flags & NO_PLACE == 0).then(|| extent.physical.checked_add(within)).flatten()
}

fn by_fibmap(file: &File, offset: u64) -> Option<u64> {
    let mut size: c_int = 0;
    // SAFETY: FIGETBSZ writes one int.
    unsafe { ioctl(file, Updater::<FIGETBSZ, c_int>::new(&mut size)) }.ok()?;
    let size = u64::try_from(size).ok().filter(|size| *size > 0)?;
    let mut block = c_int::try_from(offset / size).ok()?;
    // SAFETY: FIBMAP reads one int, the block of the file, and writes that of the device.
    unsafe { ioctl(file, Updater::<FIBMAP, c_int>::new(&mut block)) }.ok()?;
    // Block 0 means a hole.
    let block = u64::try_from(block).ok().filter(|block| *block > 0)?;
    Some(block * size + offset % size)
}
