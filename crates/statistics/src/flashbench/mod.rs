//! Flash geometry from flashbench tables in logs, by the same rules as `map` (docs/reference/flash.md#erase-blocks,
//! docs/reference/flash.md#open-blocks).

mod alignment_table;

mod open_blocks;

pub use open_blocks::{SOFT_LIMIT_RATIO, SOFT_LIMIT_RATIO_FIRST};

use cardscope_model::card_map::{FlashGeometry, OpenBlocks};
use cardscope_model::flashbench::{FlashbenchTables, TABLES};
use serde::Deserialize;
use serde_json::Value;

/// Page, erase block and open blocks. A property without sufficient data states the reason.
pub fn geometry_from_tables(tables: &FlashbenchTables) -> FlashGeometry {
    let (page_bytes, erase_block_bytes) = alignment_table::page_and_block(&tables.align);
    let linear = open_blocks::open_block_limit(tables, false);
    let random = open_blocks::open_block_limit(tables, true);
    FlashGeometry {
        page_bytes,
        erase_block_bytes,
        open_blocks: OpenBlocks { linear, random, ..OpenBlocks::default() },
    }
}

/// Geometry from the extra data of a log, None if it has no flashbench tables.
pub fn geometry_in_log(other: &Value) -> Option<FlashGeometry> {
    FlashbenchTables::deserialize(other.get(TABLES)?).ok().map(|tables| geometry_from_tables(&tables))
}
