//! A read timed with other I/Os under way (seed 002: reads while the card writes).

use super::Card;
use crate::piece::Piece;
use crate::trouble::{Stop, trouble};
use cardscope_engine::content::Content;
use cardscope_engine::target::{Completion, Direction, Io};
use cardscope_model::units::seconds;

impl Card<'_> {
    /// How long a read takes that is asked for right after other I/Os, which are still under way: as many of those as
    /// the depth leaves room for. `None` where it failed.
    ///
    /// # Errors
    /// If the card is gone or the user asked to stop.
    pub fn time_among(
        &mut self,
        direction: Direction,
        content: Content,
        others: &[Piece],
        read: Piece,
    ) -> Result<Option<f64>, Stop> {
        self.go_on()?;
        let room = self.depth.saturating_sub(1) as usize;
        let others = &others[..others.len().min(room)];
        for (slot, Piece { offset, len }) in (1..).zip(others) {
            let io = Io { slot, direction, offset: *offset, len: *len, content };
            self.target.submit(&io).map_err(Stop::Target)?;
        }
        let asked = self.now();
        let Piece { offset, len } = read;
        let io = Io { slot: 0, direction: Direction::Read, offset, len, content: Content::Buffer };
        self.target.submit(&io).map_err(Stop::Target)?;
        self.count(Direction::Read, read);
        let (mut done, mut took) = (Vec::new(), None);
        while done.len() < others.len() + 1 {
            let missing = others.len() + 1 - done.len();
            self.target.complete(missing, &mut done).map_err(Stop::Target)?;
        }
        for Completion { slot, at, result } in done {
            match result {
                Ok(()) if slot == 0 => took = Some(seconds(at.saturating_sub(asked))),
                Ok(()) => others.get(slot as usize - 1).into_iter().for_each(|p| self.count(direction, *p)),
                Err(error) => self.record(trouble(error)?),
            }
        }
        Ok(took)
    }
}
