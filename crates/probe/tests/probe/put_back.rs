//! Every place of a card ends with its oldest content, in whatever way its addresses lead to one another.

use crate::memory::Memory;
use cardscope_engine::card::{Answer, Card, Extent};
use cardscope_engine::content::Content;
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::Interrupt;
use cardscope_journal::put_back::{PutBack, put_back};
use cardscope_probe::write_scope::WriteScope;
use cardscope_simulator::SimTarget;

const MIB: u64 = 1 << 20;
const LEN: u32 = 4096;

fn at(offset: u64) -> Extent {
    Extent { offset, len: LEN }
}

fn stamp(generation: u32) -> Content {
    Content::Stamp { salt: 0x5a17, generation }
}

fn read(card: &mut Card<'_>, offset: u64) -> Vec<u8> {
    let mut found = Vec::new();
    card.read([at(offset)], Content::Buffer, |_, _, answer| {
        if let Answer::Differs { bytes, .. } = answer {
            found = bytes.to_vec();
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(found.len(), LEN as usize);
    found
}

/// Saves and overwrites places one after the other, each a batch of its own, then puts everything back: what stood in
/// the places before and after. `damage` changes what was saved.
fn there_and_back(
    card: &mut Card<'_>,
    places: &[u64],
    damage: impl Fn(&mut Memory),
) -> (Vec<Vec<u8>>, Vec<Vec<u8>>, PutBack) {
    let before = places.iter().map(|place| read(card, *place)).collect();
    let mut memory = Memory::default();
    let mut scope = WriteScope::new(Some(&mut memory));
    for place in places {
        scope.save(card, &[at(*place)]).unwrap();
        card.write([at(*place)], stamp(1), |_, _, io_error| assert!(io_error.is_none())).unwrap();
    }
    damage(&mut memory);
    let result = put_back(card, &mut memory, &mut Silent).unwrap();
    (before, places.iter().map(|place| read(card, *place)).collect(), result)
}

fn target(name: &str) -> SimTarget {
    SimTarget::named(name).unwrap()
}

#[test]
fn two_addresses_of_one_place_end_with_its_oldest_content_whichever_was_saved_first() {
    for places in [[MIB, 17 * MIB, 33 * MIB], [33 * MIB, MIB, 17 * MIB], [17 * MIB, 33 * MIB, MIB]] {
        let mut target =
            target("sim:constant?announced_bytes=64MiB&fake=wraparound&wrap_bytes=16MiB&state=filled");
        let mut card = Card::new(&mut target, &Interrupt::default(), LEN, 1).unwrap();
        let (before, after, result) = there_and_back(&mut card, &places, |_| {});
        assert_eq!(before, after, "{places:?}");
        assert_eq!(result.lost, []);
    }
}

#[test]
fn a_stamp_that_came_back_damaged_does_not_cost_what_it_was_written_over() {
    // Data, and one byte repeated. A bit in the body; and so much that nothing tells any more whose it was.
    let bits = [vec![300], (0..48).collect::<Vec<usize>>()];
    for (state, bits) in
        ["filled", "factory"].iter().flat_map(|state| bits.iter().map(move |bits| (state, bits)))
    {
        let mut target = target(&format!(
            "sim:constant?announced_bytes=64MiB&fake=wraparound&wrap_bytes=16MiB&state={state}"
        ));
        let mut card = Card::new(&mut target, &Interrupt::default(), LEN, 1).unwrap();
        let (before, after, _) = there_and_back(&mut card, &[MIB, 17 * MIB], |memory| {
            memory.change(17 * MIB, |saved| {
                saved.chunks_mut(512).for_each(|sector| bits.iter().for_each(|i| sector[*i] ^= 4));
            });
        });
        assert_eq!(before[0], after[0], "{state}: {} bytes changed", bits.len());
    }
}

#[test]
fn what_only_the_cache_of_a_fake_held_is_there_again() {
    let name =
        "sim:constant?announced_bytes=64MiB&fake=limbo&fake_bytes=8MiB&cache_bytes=1MiB&cache_kind=direct";
    for places in [[20 * MIB, 21 * MIB], [21 * MIB, 20 * MIB]] {
        let mut target = target(name);
        let mut card = Card::new(&mut target, &Interrupt::default(), LEN, 1).unwrap();
        card.write([at(places[0])], Content::Noise, |_, _, io_error| assert!(io_error.is_none())).unwrap();
        let (before, after, _) = there_and_back(&mut card, &places, |_| {});
        assert!(before[0].iter().any(|byte| *byte != before[0][0]), "the cache holds it");
        assert_eq!(before[0], after[0], "{places:?}");
    }
}
