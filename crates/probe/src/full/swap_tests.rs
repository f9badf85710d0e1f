//! Another card in the slot: how much of it is overwritten, at most.
//!
//! A real device does not let it come so far: its descriptor fails for good once the card is out. The double here is
//! a reader that hides the change from the host.

use super::tests::settings;
use super::{Findings, Settings, verify};
use crate::full::{BLOCK, DEPTH};
use cardscope_engine::card::{Card, Stop};
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::target::{
    Completion, Direction, Io, Plan, Region, Target, TargetError, TargetInfo, place_area,
};
use cardscope_model::verify::Verdict;
use cardscope_simulator::SimTarget;
use std::time::Duration;

const MIB: u64 = 1 << 20;
const CARD: &str = "sim:constant?announced_bytes=256MiB";

/// Two cards; the second is put in after so many bytes.
struct Slot {
    cards: [SimTarget; 2],
    inside: usize,
    swap_after: (Direction, u64),
    moved: u64,
    plan: Option<Plan>,
    flying: usize,
    /// Bytes written to the second card.
    overwritten: u64,
}

impl Slot {
    fn new(direction: Direction, after: u64) -> Self {
        let cards = [CARD, "sim:constant?announced_bytes=256MiB&state=filled"];
        Slot {
            cards: cards.map(|name| SimTarget::named(name).unwrap()),
            inside: 0,
            swap_after: (direction, after),
            moved: 0,
            plan: None,
            flying: 0,
            overwritten: 0,
        }
    }

    fn card(&mut self) -> &mut SimTarget {
        &mut self.cards[self.inside]
    }

    fn maybe_swap(&mut self) {
        if self.inside == 0 && self.flying == 0 && self.moved >= self.swap_after.1 {
            self.inside = 1;
            let now = self.cards[0].now();
            self.cards[1].idle(Duration::from_nanos(now));
            if let Some(plan) = self.plan {
                self.cards[1].plan(&plan).unwrap();
            }
        }
    }
}

impl Target for Slot {
    cardscope_engine::delegate_target!([card()] now, flush, discard, idle, reopen, buffer, compare);

    fn info(&self) -> &TargetInfo {
        self.cards[0].info()
    }

    fn plan(&mut self, plan: &Plan) -> Result<(), TargetError> {
        self.plan = Some(*plan);
        self.card().plan(plan)
    }

    fn submit(&mut self, io: &Io) -> Result<(), TargetError> {
        self.maybe_swap();
        self.flying += 1;
        if io.direction == self.swap_after.0 {
            self.moved += u64::from(io.len);
        }
        if io.direction == Direction::Write && self.inside == 1 {
            self.overwritten += u64::from(io.len);
        }
        self.card().submit(io)
    }

    fn complete(&mut self, _at_least: usize, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        // All that is under way ends at once, so that the swap comes between two I/Os.
        let (flying, before) = (self.flying, done.len());
        let result = self.card().complete(flying, done);
        self.flying -= done.len() - before;
        result
    }

    fn area(&mut self, bytes: u64) -> Result<Region, TargetError> {
        place_area(self.info().bytes, bytes)
    }
}

fn run(slot: &mut Slot, settings: &Settings) -> Findings {
    let mut card = Card::new(slot, &Interrupt::default(), BLOCK, DEPTH).unwrap();
    verify(&mut card, settings, &mut |_| (), &mut Silent)
}

#[track_caller]
fn noticed(slot: &Slot, found: &Findings, at_most: u64) {
    assert_eq!(slot.inside, 1, "the card was swapped");
    assert!(matches!(found.stop, Some(Stop::Swapped(_))), "{:?} {:?}", found.stop, found.verdict);
    assert!(slot.overwritten <= at_most, "{} bytes of the other card are overwritten", slot.overwritten);
    assert_eq!(
        (found.verdict, found.usable_bytes),
        (Verdict::Inconclusive, None),
        "the first card is not accused"
    );
}

/// A stretch of this card is 8 MiB: before each the stretches before are looked at.
#[test]
fn a_swap_while_writing_costs_the_other_card_a_stretch_at_most() {
    for after in [40 * MIB, 100 * MIB + 1, 203 * MIB, 250 * MIB] {
        let mut slot = Slot::new(Direction::Write, after);
        let found = run(&mut slot, &settings());
        noticed(&slot, &found, 8 * MIB);
    }
}

#[test]
fn a_swap_while_reading_back_costs_the_other_card_nothing() {
    for (two_passes, after) in [(false, 20 * MIB), (false, 150 * MIB), (true, 100 * MIB)] {
        let mut slot = Slot::new(Direction::Read, after);
        let found = run(&mut slot, &Settings { two_passes, ..settings() });
        noticed(&slot, &found, 0);
    }
}
