//! Planes that share the work of a queue (model 1.1; the interleaving that read pairs at growing strides show): two
//! commands on one plane follow each other, on two planes they overlap.

use super::timing::Unit;
use crate::archetype::Flash;

/// Which plane an address lies on, and which one is at work.
#[derive(Debug)]
pub(super) struct Planes {
    unit: Unit,
    count: u64,
    last: u64,
}

impl Planes {
    /// Absent where there is one plane, or no queue that could use more.
    pub(super) fn new(flash: &Flash, depth: u32) -> Option<Self> {
        let count = u64::from(flash.planes);
        (count > 1 && depth > 1).then(|| Planes {
            unit: Unit::new(flash.plane_bytes()),
            count,
            last: u64::MAX,
        })
    }

    /// True where a read at `offset` must wait for the command before it. A write occupies no plane for long: the
    /// controller holds its data.
    #[inline]
    pub(super) fn waits(&mut self, offset: u64, write: bool) -> bool {
        let plane = if write { u64::MAX } else { self.unit.number(offset) % self.count };
        std::mem::replace(&mut self.last, plane) == plane && !write
    }
}
