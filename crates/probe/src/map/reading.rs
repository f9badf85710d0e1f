//! The parts of a map that only read.

use super::Options;
use crate::site::Site;
use crate::trouble::Stop;
use cardscope_model::card_map::Measured;

/// Measures everything that reads can show.
pub(super) fn measure(
    _site: &mut Site<'_, '_>,
    _options: &Options,
    _into: &mut Measured,
) -> Result<(), Stop> {
    Ok(())
}
