//! Saving what a probe is about to overwrite: what is saved already is not saved again, and a block that cannot be
//! read, so that it cannot be saved, must not be overwritten.

use crate::card::{Answer, Card, Piece, pieces};
use crate::keeper::Keeper;
use crate::ranges::Ranges;
use crate::trouble::Stop;
use cardscope_engine::content::Content;
use cardscope_model::units::Nanos;

/// Smallest stretch that is saved or given up by itself: the page of every cache of a fake that is known, and a
/// multiple of every sector.
pub(crate) const UNIT: u32 = 4096;

/// What is saved of a card. Without a keeper its content may go, and nothing is saved.
pub struct Saving<'k> {
    keeper: Option<&'k mut dyn Keeper>,
    saved: Ranges,
    unsavable: Ranges,
    end: Option<Nanos>,
}

impl<'k> Saving<'k> {
    /// Nothing is saved yet. `None` says that the card's content may go.
    #[must_use]
    pub fn new(keeper: Option<&'k mut dyn Keeper>) -> Self {
        Saving { keeper, saved: Ranges::default(), unsavable: Ranges::default(), end: None }
    }

    /// Saves nothing more after this moment of the card's clock: a card that begins to stall must not be waited for
    /// until the whole of a batch is saved.
    pub(crate) fn end_at(&mut self, end: Nanos) {
        self.end = Some(end);
    }

    /// True where the content is kept.
    #[must_use]
    pub fn keeps_data(&self) -> bool {
        self.keeper.is_some()
    }

    /// Whether a piece may be overwritten now: all of it is saved, or may go.
    #[must_use]
    pub fn covers(&self, piece: Piece) -> bool {
        self.keeper.is_none() || self.saved.contains(piece.offset, piece.end())
    }

    /// Whether a part of a piece could not be saved.
    pub(crate) fn failed_on(&self, piece: Piece) -> bool {
        self.unsavable.touches(piece.offset, piece.end())
    }

    /// Saves what stands in pieces that are about to be overwritten. On disk when it returns.
    ///
    /// # Errors
    /// If the card is gone, the user stopped it, or the keeper cannot keep; then nothing may be written.
    /// [`Stop::Limit`] where the time was over before all of it was saved.
    pub fn save(&mut self, card: &mut Card<'_>, wanted: &[Piece]) -> Result<(), Stop> {
        let Some(keeper) = self.keeper.as_deref_mut() else { return Ok(()) };
        let block = card.block();
        // Each byte once: two copies of a place would have to be put back in the order in which they were saved.
        let mut wanted_now = Ranges::default();
        let new: Vec<Piece> = wanted
            .iter()
            .flat_map(|p| wanted_now.add(p.offset, p.end()))
            .flat_map(|(start, end)| self.saved.missing(start, end))
            .flat_map(|(start, end)| pieces(start, end, block))
            .filter(|p| !self.unsavable.contains(p.offset, p.end()))
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        let (mut kept, mut unreadable) = (Vec::new(), Vec::new());
        let ended = card.read(new, Content::Buffer, |piece, at, answer| {
            match answer {
                Answer::Differs { bytes, .. } => {
                    keeper.keep(piece.offset, bytes)?;
                    kept.push(piece);
                }
                Answer::Same | Answer::Failed(_) => unreadable.push(piece),
            }
            if self.end.is_some_and(|end| at > end) { Err(Stop::Limit) } else { Ok(()) }
        });
        if ended.as_ref().is_err_and(|stop| *stop != Stop::Limit) {
            return ended;
        }
        keeper.commit()?;
        kept.iter().for_each(|p| {
            self.saved.add(p.offset, p.end());
        });
        ended?;
        // A large piece may be unreadable in one place only: what can be saved of it is.
        for piece in unreadable {
            if piece.len <= UNIT {
                self.unsavable.add(piece.offset, piece.end());
            } else {
                let parts: Vec<Piece> = pieces(piece.offset, piece.end(), UNIT).collect();
                self.save(card, &parts)?;
            }
        }
        Ok(())
    }
}
