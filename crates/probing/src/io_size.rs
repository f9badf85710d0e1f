//! Block sizes and queue depths that several probes drive a card with.

/// Bytes of an I/O of a quick probe: an allocation unit of most cards. With [`PROBE_DEPTH`] of them 8 MiB of memory.
pub const PROBE_BLOCK: u32 = 4 << 20;

/// I/Os in flight in a quick probe.
pub const PROBE_DEPTH: u32 = 2;

/// Bytes of an I/O of a pass over a whole card: the largest that readers take in one command, twice; with
/// [`PASS_DEPTH`], 8 MiB of memory.
pub const PASS_BLOCK: u32 = 1 << 20;

/// I/Os in flight in a pass over a whole card: A2 cards corrupt data under depth, so it is written and read that way.
pub const PASS_DEPTH: u32 = 8;
