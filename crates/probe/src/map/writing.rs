//! The parts of a map that write.

use super::Options;
use crate::site::Site;
use crate::trouble::Stop;
use cardscope_model::card_map::Measured;

/// Measures what only writes can show.
pub(super) fn measure(
    _site: &mut Site<'_, '_>,
    _options: &Options,
    _into: &mut Measured,
) -> Result<(), Stop> {
    Ok(())
}

/// Says of every part that writes why it was left out.
pub(super) fn leave_out(_into: &mut Measured, _why: &str) {}
