//! What the tables of flashbench in a log show of a card's flash, by the rules that `map` uses: where reads across a
//! boundary take longer, and from how many blocks on writes in turn cost more (docs/reference/flash.md#erase-blocks,
//! docs/reference/flash.md#open-blocks).

mod boundaries;
mod certainty;
mod open_blocks;

pub use open_blocks::{SOFT, SOFT_FIRST};

use cardscope_model::card_map::{FlashGeometry, OpenBlocks};
use cardscope_model::flashbench::{FlashbenchTables, TABLES};
use serde::Deserialize;
use serde_json::Value;

/// Page, erase block and open blocks; what a log has no table of, or not enough of, says so.
pub fn geometry(tables: &FlashbenchTables) -> FlashGeometry {
    let (page_bytes, erase_block_bytes) = boundaries::units(&tables.align);
    let linear = open_blocks::limit(tables, false);
    let random = open_blocks::limit(tables, true);
    FlashGeometry {
        page_bytes,
        erase_block_bytes,
        open_blocks: OpenBlocks { linear, random, ..OpenBlocks::default() },
    }
}

/// Geometry from the tables of flashbench among what a log says beside its runs; `None` where it has none.
pub fn geometry_in_log(other: &Value) -> Option<FlashGeometry> {
    FlashbenchTables::deserialize(other.get(TABLES)?).ok().map(|tables| geometry(&tables))
}
