//! What a map is asked to do.

use crate::frame::Common;
use cardscope_engine::target::Region;
use cardscope_probe::map::Part;

/// A map as asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What every verb is asked for.
    pub common: Common,
    /// Nothing is written, only reading parts are made.
    pub read_only: bool,
    /// The region at the start of the card is written to as well.
    pub fat: bool,
    /// What stands in this region may go.
    pub region: Option<Region>,
    /// What stands on the whole card may go.
    pub erase: bool,
    /// Bytes after which the search for the end of the cache is given up.
    pub cache: Option<u64>,
    /// The tables of flashbench are measured too.
    pub flashbench: bool,
    /// Only these parts; all of them where it is empty.
    pub only: Vec<Part>,
    /// File systems are made on the card and small writes on them measured.
    pub try_file_systems: bool,
}
