//! Reads what of the archive concerns a batch: pieces, names, and the cards behind them.

use super::{Card, CardResolver, Specimen, unnamed_id};
use crate::connection::{Connection, Outcome, composed, in_chunks};
use crate::naming::{Names, Sighting};
use std::collections::BTreeSet;

impl CardResolver {
    /// Everything in the archive that these might be.
    pub(crate) async fn of(c: &mut Connection, sightings: &[Sighting]) -> Outcome<Self> {
        let mut resolver = CardResolver::default();
        let names: Vec<Names> = sightings.iter().filter_map(|s| Names::of(&s.facts)).collect();
        let pieces = sightings.iter().filter_map(|s| s.piece.as_ref()).map(|p| p.identity_hash.clone());
        resolver.load_specimens(c, distinct(pieces)).await?;
        let fingerprints = distinct(names.iter().map(|n| n.fingerprint.clone()));
        resolver.load_names(c, "fingerprint", fingerprints).await?;
        resolver.load_names(c, "label", distinct(names.iter().filter_map(|n| n.label.clone()))).await?;
        resolver
            .load_names(c, "registers", distinct(names.iter().filter_map(|n| n.registers.clone())))
            .await?;
        // A card of which nothing is known is named by its place, and may be there already.
        let unnamed =
            sightings.iter().filter(|s| Names::of(&s.facts).is_none()).map(|s| unnamed_id(&s.met_at));
        let specimens = resolver.specimens.values().map(|s| s.card.clone());
        let brought = sightings.iter().filter_map(|s| s.id.clone());
        let ids = distinct(
            resolver.by_fingerprint.values().cloned().chain(specimens).chain(unnamed).chain(brought),
        );
        resolver.load_cards(c, ids).await?;
        Ok(resolver)
    }

    async fn load_specimens(&mut self, c: &mut Connection, ids: Vec<String>) -> Outcome<()> {
        for some in in_chunks(&ids) {
            let text =
                format!("SELECT id, card_id, facts FROM specimen WHERE id IN ({})", c.all_places(some.len()));
            let read = c.all(composed(text).bind_all(some), |row| {
                let specimen = Specimen { card: row.get(1)?, facts: row.json(2)?, new: None, changed: false };
                Ok((row.get::<String>(0)?, specimen))
            });
            self.specimens.extend(read.await?);
        }
        Ok(())
    }

    async fn load_names(&mut self, c: &mut Connection, column: &str, keys: Vec<String>) -> Outcome<()> {
        for some in in_chunks(&keys) {
            let text = format!(
                "SELECT fingerprint, card_id, label, registers FROM known_as WHERE {column} IN ({})",
                c.all_places(some.len())
            );
            let read = c.all(composed(text).bind_all(some), |row| {
                let names = Names { fingerprint: row.get(0)?, label: row.get(2)?, registers: row.get(3)? };
                Ok((row.get::<String>(1)?, names))
            });
            for (card, names) in read.await? {
                self.remember(&card, &names);
            }
        }
        Ok(())
    }

    async fn load_cards(&mut self, c: &mut Connection, ids: Vec<String>) -> Outcome<()> {
        for some in in_chunks(&ids) {
            let text = format!(
                "SELECT id, facts, title, named FROM card WHERE id IN ({})",
                c.all_places(some.len())
            );
            let read = c.all(composed(text).bind_all(some), |row| {
                let title = if row.get(3)? { None } else { Some(row.get(2)?) };
                Ok((row.get::<String>(0)?, Card { facts: row.json(1)?, title, new: false, changed: false }))
            });
            self.cards.extend(read.await?);
        }
        Ok(())
    }
}

fn distinct(all: impl Iterator<Item = String>) -> Vec<String> {
    all.collect::<BTreeSet<_>>().into_iter().collect()
}
