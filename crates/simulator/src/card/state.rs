//! Engine state of a card, to be saved and restored: open blocks and logs, cache, heat, wear, random numbers.
//! Parameters are left out, since they belong to the archetype.

use super::counters::CommandTally;
use super::engine::MappingEngine;
use super::mapped::{MapState, MappedBlocks};
use super::{CardModel, cache, hybrid, log, page, thermal, wear};
use cardscope_model::random::SeededRandom;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Times are card times: the card's clock continues where it was saved.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CardState {
    engine: EngineState,
    pslc: Option<cache::CacheState>,
    heat: Option<thermal::ThermalState>,
    held: Option<Range<u64>>,
    mapped: Option<MappedBlocks>,
    map_cache: Option<MapState>,
    wear: Option<wear::WearState>,
    read_next: Option<u64>,
    random: u64,
    last_end: f64,
    tally: CommandTally,
    worn: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum EngineState {
    Hybrid(hybrid::HybridState),
    Log(log::LogState),
    Page(page::PageState),
    Constant,
}

/// Error for the state of another card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OtherCard;

impl CardModel {
    pub(crate) fn save_state(&self) -> CardState {
        CardState {
            engine: match &self.engine {
                MappingEngine::Hybrid(hybrid) => EngineState::Hybrid(hybrid.state.clone()),
                MappingEngine::Log(log) => EngineState::Log(log.state.clone()),
                MappingEngine::Page(page) => EngineState::Page(page.state.clone()),
                MappingEngine::Constant(_) => EngineState::Constant,
            },
            pslc: self.pslc.as_ref().map(|p| p.state.clone()),
            heat: self.heat.as_ref().map(|h| h.state.clone()),
            held: self.ram.as_ref().map(|r| r.held.clone()),
            mapped: self.mapped.clone(),
            map_cache: self.map_cache.as_ref().map(|m| m.state.clone()),
            wear: self.wear.as_ref().map(|w| w.state.clone()),
            read_next: self.reads.as_ref().map(|r| r.next),
            random: self.noise.random.state(),
            last_end: self.last_end,
            tally: self.tally,
            worn: self.counted_erasures,
        }
    }

    /// Continues from a saved state. Parts that only one of both has (heat that was switched off, for example) begin
    /// anew. Fails for the state of a card of another shape, and changes nothing then.
    pub(crate) fn restore_state(&mut self, state: CardState) -> Result<(), OtherCard> {
        if !self.fits_card(&state) {
            return Err(OtherCard);
        }
        match (&mut self.engine, state.engine) {
            (MappingEngine::Hybrid(hybrid), EngineState::Hybrid(state)) => hybrid.state = state,
            (MappingEngine::Log(log), EngineState::Log(state)) => log.restore_state(state),
            (MappingEngine::Page(page), EngineState::Page(state)) => page.state = state,
            _ => {}
        }
        replace_if_both(self.pslc.as_mut().map(|p| &mut p.state), state.pslc);
        if let Some((heat, state)) = self.heat.as_mut().zip(state.heat) {
            heat.restore_state(state);
        }
        replace_if_both(self.ram.as_mut().map(|r| &mut r.held), state.held);
        replace_if_both(self.mapped.as_mut(), state.mapped);
        replace_if_both(self.map_cache.as_mut().map(|m| &mut m.state), state.map_cache);
        replace_if_both(self.wear.as_mut().map(|w| &mut w.state), state.wear);
        replace_if_both(self.reads.as_mut().map(|r| &mut r.next), state.read_next);
        self.noise.random = SeededRandom::from_state(state.random);
        (self.last_end, self.tally, self.counted_erasures) = (state.last_end, state.tally, state.worn);
        Ok(())
    }

    /// True if engines and lengths of tables are those of this card.
    fn fits_card(&self, state: &CardState) -> bool {
        fn same<T>(mine: Option<&T>, theirs: Option<&T>, length: impl Fn(&T) -> usize) -> bool {
            mine.zip(theirs).is_none_or(|(a, b)| length(a) == length(b))
        }
        let engine = match (&self.engine, &state.engine) {
            (MappingEngine::Log(log), EngineState::Log(theirs)) => log.state.units == theirs.units,
            (MappingEngine::Hybrid(_), EngineState::Hybrid(_))
            | (MappingEngine::Page(_), EngineState::Page(_))
            | (MappingEngine::Constant(_), EngineState::Constant) => true,
            _ => false,
        };
        engine
            && same(self.pslc.as_ref().map(|p| &p.state), state.pslc.as_ref(), |s| s.cycles.len())
            && same(self.mapped.as_ref(), state.mapped.as_ref(), |m| m.words.len())
            && same(self.map_cache.as_ref().map(|m| &m.state), state.map_cache.as_ref(), |m| {
                m.resident.len() + m.ring.len()
            })
            && same(self.wear.as_ref().map(|w| &w.state), state.wear.as_ref(), |w| w.reads.len())
    }
}

fn replace_if_both<T>(place: Option<&mut T>, saved: Option<T>) {
    if let Some((place, saved)) = place.zip(saved) {
        *place = saved;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archetype::{Archetype, load_builtin};
    use crate::card::CardCommand;

    const MIB: u64 = 1 << 20;

    /// Executes commands of all kinds and lengths one after the other; returns their ends.
    fn run_commands(card: &mut CardModel, archetype: &Archetype, from: u64, count: u64) -> Vec<u64> {
        let mut random = SeededRandom::from_state(from);
        let span = archetype.announced_bytes.min(2048 * MIB) / 4096;
        let mut next = 0;
        (0..count)
            .map(|i| {
                let len = [4096, 4096, 8192, 65536, MIB][(random.next_u64() % 5) as usize];
                let offset =
                    if random.next_u64().is_multiple_of(3) { random.next_u64() % span * 4096 } else { next };
                let offset = offset.min(archetype.announced_bytes - len) / 4096 * 4096;
                next = offset + len;
                let write = !random.next_u64().is_multiple_of(4);
                let now = card.last_end + if i % 50 == 49 { 2e9 } else { 0.0 };
                if i % 97 == 96 {
                    card.discard(now, offset, len);
                }
                card.execute_command(now, CardCommand { write, offset, len, in_flight: 1 }).to_bits()
            })
            .collect()
    }

    #[test]
    fn restored_card_continues_to_the_nanosecond() {
        let odd = [
            "sim:random-3?front.ram_bytes=64KiB&wear.level_every=20&wear.disturb_reads=50",
            // Throttled from the start for good; a cache that is used up.
            "sim:lexar-1tb-express?thermal.tmt1_c=20&thermal.tmt2_c=200&light_read=0.5",
            "sim:sandisk-256g-express?clean_bytes=500MB&reopen_bytes=400MB&clean_mb_s=20",
        ];
        let odd = odd.map(|name| crate::target_spec::parse(name).unwrap().archetype);
        for archetype in load_builtin().unwrap().into_iter().chain(odd) {
            let mut first = CardModel::new(&archetype, 1);
            run_commands(&mut first, &archetype, 7, 2000);
            let saved = serde_json::to_value(first.save_state()).unwrap();
            let cache = saved["pslc"].to_string();
            assert!(cache.len() < 200_000, "runs keep it short: {} bytes", cache.len());
            let mut second = CardModel::new(&archetype, 2);
            second.restore_state(serde_json::from_value(saved).unwrap()).unwrap();
            let (on, again) = (
                run_commands(&mut first, &archetype, 8, 2000),
                run_commands(&mut second, &archetype, 8, 2000),
            );
            assert_eq!(on, again, "{}", archetype.name);
            assert_eq!(first.counters(), second.counters(), "{}", archetype.name);
        }
    }

    #[test]
    fn state_of_other_family_or_size_is_refused() {
        let open = |name: &str| CardModel::new(&crate::target_spec::parse(name).unwrap().archetype, 1);
        let state = open("sim:lexar-16g-c10").save_state();
        assert_eq!(open("sim:lexar-1tb-express").restore_state(state).unwrap_err(), OtherCard);
        let state = open("sim:sandian-1tb-52g").save_state();
        assert_eq!(open("sim:sandisk-extremepro-32g-a1").restore_state(state).unwrap_err(), OtherCard);
    }
}
