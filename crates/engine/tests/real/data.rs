//! Whatever way the bytes take, the same bytes arrive.

use crate::rig::{MIB, all, by, check, file, on_file, plan, write};
use cardscope_engine::content::{ContentMatch, IoContent, fill_content};
use cardscope_engine::real::{IoChoice, RealTarget};
use cardscope_engine::target::{IoDirection, IoRequest, LanePlan, Target};
use proptest::prelude::*;
use rstest::rstest;
use std::path::Path;

const SECTOR: u64 = 512;

fn open(path: &Path, io: IoChoice) -> RealTarget {
    on_file(path, by(io)).unwrap()
}

fn ios(direction: IoDirection, places: &[(u64, u32)], content: IoContent) -> Vec<IoRequest> {
    places.iter().map(|&(offset, len)| IoRequest { slot: 0, direction, offset, len, content }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn io_paths_read_each_others_writes(
        places in proptest::collection::vec((0u64..1984, 1u32..64), 1..40),
        depth in 1u32..9, seed: u64, uring_writes: bool, sync_each: bool,
    ) {
        let (_directory, path) = file(MIB);
        let places: Vec<(u64, u32)> =
            places.iter().map(|&(at, sectors)| (at * SECTOR, sectors * SECTOR as u32)).collect();
        let (first, second) =
            if uring_writes { (IoChoice::Auto, IoChoice::Preads) } else { (IoChoice::Preads, IoChoice::Auto) };
        let content = IoContent::Stream { seed };
        let plan = LanePlan { sync_each, ..plan(depth, 64 * SECTOR) };
        let mut writer = open(&path, first);
        writer.plan(&plan).unwrap();
        for completion in all(&mut writer, depth, ios(IoDirection::Write, &places, content)) {
            prop_assert!(completion.result.is_ok());
        }
        drop(writer);
        let mut reader = open(&path, second);
        reader.plan(&plan).unwrap();
        for &(offset, len) in &places {
            prop_assert_eq!(check(&mut reader, offset, len, content).unwrap(), ContentMatch::Same);
        }
    }
}

#[rstest]
fn slots_read_data_of_their_address(
    #[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice,
    #[values(1, 32)] depth: u32,
) {
    let (_directory, path) = file(MIB);
    let content = IoContent::Stamp { salt: 7, generation: 1 };
    let mut target = open(&path, io);
    target.plan(&plan(depth, 4096)).unwrap();
    let places: Vec<(u64, u32)> = (0..256).map(|n| (n * 4096, 4096)).collect();
    all(&mut target, depth, ios(IoDirection::Write, &places, content));
    let mut done = Vec::new();
    for batch in places.chunks(depth as usize) {
        for (slot, &(offset, len)) in batch.iter().enumerate() {
            let io = IoRequest { slot: slot as u32, direction: IoDirection::Read, offset, len, content };
            target.submit(&io).unwrap();
        }
        target.complete(batch.len(), &mut done).unwrap();
        for slot in 0..batch.len() {
            assert_eq!(target.compare(slot as u32, content).unwrap(), ContentMatch::Same);
            let other = IoContent::Stamp { salt: 7, generation: 2 };
            assert!(matches!(target.compare(slot as u32, other).unwrap(), ContentMatch::DiffersAt(_)));
        }
    }
    assert_eq!(done.len(), 256);
}

#[rstest]
fn buffer_content_is_written_unchanged(#[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice) {
    let (_directory, path) = file(MIB);
    let mut target = open(&path, io);
    target.plan(&plan(1, 4096)).unwrap();
    fill_content(IoContent::Constant(0x5a), 0, target.buffer(0).unwrap());
    write(&mut target, 8192, 4096, IoContent::Buffer).unwrap();
    assert_eq!(check(&mut target, 8192, 4096, IoContent::Constant(0x5a)).unwrap(), ContentMatch::Same);
    assert_eq!(check(&mut target, 4096, 4096, IoContent::Constant(0)).unwrap(), ContentMatch::Same);
    assert_eq!(target.buffer(0).unwrap()[..4096], [0; 4096]);
}

#[rstest]
fn noise_is_regenerated_after_read(#[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice) {
    let (_directory, path) = file(MIB);
    let mut target = open(&path, io);
    target.plan(&plan(1, 4096)).unwrap();
    write(&mut target, 0, 4096, IoContent::Noise).unwrap();
    assert_eq!(check(&mut target, 4096, 4096, IoContent::Constant(0)).unwrap(), ContentMatch::Same);
    write(&mut target, 8192, 4096, IoContent::Noise).unwrap();
    drop(target);
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes[..4096].iter().any(|&b| b != 0));
    assert_eq!(bytes[..4096], bytes[8192..8192 + 4096], "the same noise over and over");
}

#[test]
fn slots_write_different_noise() {
    let (_directory, path) = file(MIB);
    let mut target = open(&path, IoChoice::Auto);
    target.plan(&LanePlan { own_buffers: false, ..plan(2, 4096) }).unwrap();
    let mut done = Vec::new();
    for slot in 0..2 {
        let io = IoRequest {
            slot,
            direction: IoDirection::Write,
            offset: u64::from(slot) * 4096,
            len: 4096,
            content: IoContent::Noise,
        };
        target.submit(&io).unwrap();
    }
    target.complete(2, &mut done).unwrap();
    drop(target);
    let bytes = std::fs::read(&path).unwrap();
    assert_ne!(bytes[..4096], bytes[4096..8192]);
}

#[test]
fn large_queues_share_memory_with_caveat() {
    use cardscope_model::caveat::Caveat;
    let (_directory, path) = file(64 * MIB);
    let mut target = open(&path, IoChoice::Auto);
    target.plan(&LanePlan { own_buffers: false, ..plan(32, 16 * MIB) }).unwrap();
    assert!(target.caveats().contains(&Caveat::SharedBuffers { depth: 32, shared_bytes: 16 * MIB }));
    // A mix, as `mix70` has it: reads in flight must not spoil the noise that is written beside them.
    let (read, write) = (IoDirection::Read, IoDirection::Write);
    let mix = [(read, 0), (write, 16 * MIB), (read, 32 * MIB), (write, 48 * MIB)];
    let ios = mix.map(|(direction, offset)| IoRequest {
        slot: 0,
        direction,
        offset,
        len: 16 << 20,
        content: IoContent::Noise,
    });
    assert!(all(&mut target, 4, ios).iter().all(|completion| completion.result.is_ok()));
    let by_address =
        IoRequest { slot: 0, direction: write, offset: 0, len: 4096, content: IoContent::Stream { seed: 1 } };
    assert!(target.submit(&by_address).unwrap_err().to_string().contains("own_buffers"));
    drop(target);
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes[16 << 20..][..4096].iter().any(|&b| b != 0));
    assert_eq!(bytes[16 << 20..32 << 20], bytes[48 << 20..]);
}
