//! A simulated card: nothing to lose, nothing to ask.

use super::opened::{Limit, Opened};
use crate::error::Failure;
use cardscope_simulator::{SimTarget, identity, target_spec};

pub(super) fn open(name: &str) -> Result<Opened, Failure> {
    let spec = target_spec::parse(name).map_err(Failure::refused)?;
    let identity = identity(&spec.archetype).map_err(Failure::refused)?;
    let bus = identity.ceiling_mb_s().or(spec.archetype.rig.bus_mb_s);
    let condition = spec.condition();
    Ok(Opened {
        target: Box::new(SimTarget::open(spec).map_err(Failure::refused)?),
        identity: Some(identity),
        condition,
        ceiling_mb_s: bus,
        may_write: true,
        caveats: Vec::new(),
        held: None,
        limit: Limit::default(),
        files: None,
        _thermometer: None,
    })
}
