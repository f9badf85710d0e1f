//! Engine state of a card, to be saved and restored: open blocks and logs, cache, heat, wear, random numbers.
//! Parameters are left out, since they belong to the archetype.

pub(crate) use super::cache::OtherCard;
use super::command::CommandTally;
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

impl CardModel {
    pub(crate) fn save_state(&self) -> CardState {
        CardState {
            engine: match &self.engine {
                MappingEngine::Hybrid(hybrid) => EngineState::Hybrid(hybrid.state.clone()),
                MappingEngine::Log(log) => EngineState::Log(log.state.clone()),
                MappingEngine::Page(page) => EngineState::Page(page.state.clone()),
                MappingEngine::Constant(_) => EngineState::Constant,
            },
            pslc: self.pslc.as_ref().map(cache::PslcModel::save_state),
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
    /// anew. Fails for the state of a card of another shape, and leaves a card that must not be used.
    pub(crate) fn restore_state(&mut self, state: CardState) -> Result<(), OtherCard> {
        match (&mut self.engine, state.engine) {
            (MappingEngine::Hybrid(hybrid), EngineState::Hybrid(state)) => hybrid.state = state,
            (MappingEngine::Log(log), EngineState::Log(state)) if state.is_valid(log.state.units) => {
                log.restore_state(state);
            }
            (MappingEngine::Page(page), EngineState::Page(state)) => page.state = state,
            (MappingEngine::Constant(_), EngineState::Constant) => {}
            _ => return Err(OtherCard),
        }
        if let Some((pslc, state)) = self.pslc.as_mut().zip(state.pslc) {
            pslc.restore_state(state)?;
        }
        if let Some((heat, state)) = self.heat.as_mut().zip(state.heat) {
            heat.restore_state(state);
        }
        let map_cache = self.map_cache.as_mut().map(|m| &mut m.state);
        replace_if_both(self.ram.as_mut().map(|r| &mut r.held), state.held, |_| 0)?;
        replace_if_both(self.mapped.as_mut(), state.mapped, |m| m.words.len())?;
        replace_if_both(map_cache, state.map_cache, |m| m.resident.len() + m.ring.len())?;
        replace_if_both(self.wear.as_mut().map(|w| &mut w.state), state.wear, |w| w.reads.len())?;
        replace_if_both(self.reads.as_mut().map(|r| &mut r.next), state.read_next, |_| 0)?;
        self.noise.random = SeededRandom::from_state(state.random);
        (self.last_end, self.tally, self.counted_erasures) = (state.last_end, state.tally, state.worn);
        Ok(())
    }
}

/// Replaces a part by its saved state. Fails if the lengths of their tables differ.
fn replace_if_both<T>(
    part: Option<&mut T>,
    saved: Option<T>,
    length: impl Fn(&T) -> usize,
) -> Result<(), OtherCard> {
    let Some((part, saved)) = part.zip(saved) else { return Ok(()) };
    let fits = length(part) == length(&saved);
    *part = saved;
    if fits { Ok(()) } else { Err(OtherCard) }
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

    #[test]
    fn tables_of_impossible_length_are_refused_unexpanded() {
        let open = |name: &str| CardModel::new(&crate::target_spec::parse(name).unwrap().archetype, 1);
        let change = |name: &str, place: &str, value| {
            let mut state = serde_json::to_value(open(name).save_state()).unwrap();
            *state.pointer_mut(place).unwrap() = value;
            open(name).restore_state(serde_json::from_value(state).unwrap())
        };
        let gibibytes = serde_json::json!([[1, u32::MAX], [2, u32::MAX]]);
        assert_eq!(change("sim:lexar-1tb-express", "/pslc/runs", gibibytes), Err(OtherCard));
        let far_unit = serde_json::json!([u32::MAX]);
        assert_eq!(change("sim:sandisk-extremepro-32g-a1", "/engine/Log/entries", far_unit), Err(OtherCard));
    }
}
