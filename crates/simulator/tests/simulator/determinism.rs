//! Determinism: the same seed, card and commands give the same nanoseconds on every machine, in every build, in any
//! thread. The digests were made once; they change only with the model or with one of these cards.

use crate::common::{MIB, direct_plan, open_card, slot_io};
use cardscope_engine::target::{Target, TargetRegion};
use std::time::Duration;

/// A card of each family.
const CARDS: &[&str] = &[
    "sim:constant",
    "sim:lexar-16g-c10",
    "sim:sandisk-extremepro-32g-a1",
    "sim:lexar-1tb-express?cooling=passive",
    "sim:a2-command-queue?seed=7",
];

/// FNV-1a over the completion times of 20 000 mixed commands.
fn time_digest(name: &str) -> u64 {
    let mut card = open_card(name);
    let mut state = 42u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    card.plan(&direct_plan(8, MIB)).unwrap();
    let (mut digest, mut done, mut free) =
        (0xcbf2_9ce4_8422_2325u64, Vec::new(), (0..8).collect::<Vec<u32>>());
    for i in 0..20_000 {
        let len = [4096, 4096, 16384, MIB][next() as usize % 4];
        let offset = 192 * MIB + next() % 100_000 * 4096;
        if let Some(slot) = free.pop() {
            card.submit(&slot_io(slot, next() % 2 == 0, offset, len)).unwrap();
        }
        if i % 1000 == 999 {
            card.flush().unwrap();
            card.discard(TargetRegion { start: offset, len }).unwrap();
            card.idle(Duration::from_secs(3));
        }
        card.complete(usize::from(free.is_empty()), &mut done).unwrap();
        for ended in done.drain(..) {
            free.push(ended.slot);
            for byte in ended.at.to_le_bytes() {
                digest = (digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
    }
    digest
}

fn digest_table(digests: &[u64]) -> String {
    CARDS.iter().zip(digests).map(|(name, digest)| format!("{digest:016x} {name}\n")).collect()
}

#[test]
fn completion_times_match_snapshot() {
    let digests: Vec<u64> = CARDS.iter().map(|name| time_digest(name)).collect();
    insta::assert_snapshot!(digest_table(&digests));
}

#[test]
fn threads_do_not_change_completion_times() {
    let alone: Vec<u64> = CARDS.iter().map(|name| time_digest(name)).collect();
    let beside: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = CARDS.iter().map(|name| scope.spawn(move || time_digest(name))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(digest_table(&alone), digest_table(&beside));
    let mut all = alone;
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), CARDS.len(), "different cards give different times");
}
