//! Contents of loop devices and folders in these tests.

pub(crate) use cardscope_testkit::devices::{
    LoopDevice, SwapArea, TestMount, run_tool, try_tool, undo_when_free,
};
use std::path::{Path, PathBuf};

pub(crate) const MIB: u64 = 1 << 20;

/// Image file of this size, with data that shows changes.
pub(crate) fn image(dir: &Path, mib: u64) -> PathBuf {
    let path = dir.join("card.img");
    std::fs::write(&path, data((mib * MIB) as usize)).unwrap();
    path
}

/// Data in which no two blocks of 4 KiB are equal.
pub(crate) fn data(bytes: usize) -> Vec<u8> {
    let words = (1..=512u64).flat_map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    let mut data = words.collect::<Vec<u8>>().repeat(bytes.div_ceil(4096));
    (0u64..).zip(data.chunks_mut(4096)).for_each(|(n, block)| block[..8].copy_from_slice(&n.to_le_bytes()));
    data.truncate(bytes);
    data
}

/// Offset of the first difference.
pub(crate) fn first_difference(a: &[u8], b: &[u8]) -> Option<usize> {
    let differs = |(a, b): (&[u8], &[u8])| a != b;
    let block = a.chunks(4096).zip(b.chunks(4096)).position(differs)? * 4096;
    a[block..].iter().zip(&b[block..]).position(|(a, b)| a != b).map(|byte| block + byte)
}

/// Loop device over an image with such data.
#[track_caller]
pub(crate) fn with_data(mib: u64, options: &[&str]) -> LoopDevice {
    LoopDevice::in_memory(options, |dir| image(dir, mib))
}

/// Bytes that a kernel short of memory may write at any time: a swap area behind its header.
pub(crate) const SWAP_PAGES: std::ops::Range<usize> = 4 << 10..64 << 10;

/// Creates a swap area and enables it.
#[track_caller]
pub(crate) fn swap_on(device: &str) -> SwapArea {
    run_tool("mkswap", &[device, &(SWAP_PAGES.end >> 10).to_string()]);
    SwapArea::switch_on(device)
}

/// Names in a directory, including hidden ones.
pub(crate) fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.retain(|name| name != "lost+found");
    names.sort();
    names
}
