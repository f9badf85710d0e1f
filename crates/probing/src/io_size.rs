//! Block sizes and queue depths shared by probes.

/// Bytes per I/O of a quick probe: the allocation unit of most cards. With [`PROBE_DEPTH`], 8 MiB of memory.
pub const PROBE_BLOCK: u32 = 4 << 20;

/// I/Os in flight in a quick probe.
pub const PROBE_DEPTH: u32 = 2;

/// Bytes per I/O of a pass over the whole card: twice the largest that readers take in one command. With
/// [`PASS_DEPTH`], 8 MiB of memory.
pub const PASS_BLOCK: u32 = 1 << 20;

/// I/Os in flight in a pass over the whole card: some A2 cards corrupt data only under queue depth.
pub const PASS_DEPTH: u32 = 8;
