//! The shape of an archetype's file: every parameter with its unit and what it stands for. Symbols in brackets are
//! those of the equations that the engines' modules name; what a value rests on stands in each card's file.
//!
//! Unknown keys are refused, so that a typing error never silently leaves a default in place.

use super::identity::Identity;
use super::truth::Truth;
use serde::{Deserialize, Serialize};

/// A simulated card, with its rig and its truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Archetype {
    /// The name behind `sim:`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Bytes that the card announces.
    pub announced_bytes: u64,
    /// Units of the flash.
    #[serde(default)]
    pub flash: Flash,
    /// Scatter of the times.
    #[serde(default)]
    pub noise: Noise,
    /// Commands in flight.
    #[serde(default)]
    pub queue: Queue,
    /// Times of reads; absent only where `constant` is given.
    pub read: Option<Read>,
    /// Times of writes and the mapping engine; absent only where `constant` is given.
    pub write: Option<Write>,
    /// A card of constant speed, to calibrate against.
    pub constant: Option<Constant>,
    /// Flash used with one bit a cell as a cache.
    pub cache: Option<Cache>,
    /// Heat; absent where nothing is known of it.
    pub thermal: Option<Thermal>,
    /// What is false about the capacity.
    #[serde(default)]
    pub fake: Fake,
    /// Reader, bus and host between the card and whoever measures.
    #[serde(default)]
    pub rig: Rig,
    /// What the card says of itself.
    #[serde(default)]
    pub identity: Identity,
    /// What a probe should find.
    pub truth: Truth,
}

/// Units of the flash, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Effective page (planes and dies joined) \[P\].
    pub page_bytes: u64,
    /// What one read fetches into the controller's buffer.
    pub read_unit_bytes: u64,
    /// Allocation unit: erase blocks that are mapped as one \[A\].
    pub au_bytes: u64,
    /// Segment of the mapping table; crossing one costs `read.segment_step_s`.
    #[serde(default)]
    pub map_segment_bytes: Option<u64>,
}

impl Default for Flash {
    fn default() -> Self {
        Flash { page_bytes: 16384, read_unit_bytes: 4096, au_bytes: 4 << 20, map_segment_bytes: None }
    }
}

/// Scatter: each cost is multiplied by exp(N(0, σ)), and now and then a hiccup is added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Noise {
    /// σ of a read's logarithm.
    pub read_sigma: f64,
    /// σ of a write's logarithm.
    pub write_sigma: f64,
    /// Probability of a hiccup per command \[p_o\].
    pub hiccup_p: f64,
    /// Mean length of a hiccup in seconds, exponentially distributed \[t_o\].
    pub hiccup_s: f64,
}

/// How many commands the card works on at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Queue {
    /// Commands whose access times overlap; 1 without a command queue \[Q\].
    pub depth: u32,
    /// Cost of reads by commands in flight, as steps.
    pub read_cost: Vec<QueueCost>,
    /// Cost of writes by commands in flight, as steps (a fake queue has a step far above 1).
    pub write_cost: Vec<QueueCost>,
    /// Seconds that a flush takes, besides waiting for what is in flight.
    pub flush_s: f64,
}

impl Default for Queue {
    fn default() -> Self {
        Queue { depth: 1, read_cost: Vec::new(), write_cost: Vec::new(), flush_s: 0.0 }
    }
}

/// From `in_flight` commands on, a command costs `factor` times as much.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueCost {
    /// Commands in flight, this one included.
    pub in_flight: u32,
    /// Multiplies the whole cost.
    pub factor: f64,
}

/// Times of a read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// Seconds before the first byte of a 4 KiB read anywhere \[h_r + t_x\].
    pub base_s: f64,
    /// The same for a read that continues the last one; as `base_s` where absent.
    #[serde(default)]
    pub sequential_s: Option<f64>,
    /// The same at `ramp_bytes` and more; as `base_s` where absent. In between it is a straight line.
    #[serde(default)]
    pub large_s: Option<f64>,
    /// Length at which `large_s` is reached.
    #[serde(default = "ramp_bytes")]
    pub ramp_bytes: u64,
    /// Added where the read crosses a page \[δ_p\].
    #[serde(default)]
    pub page_step_s: f64,
    /// Added where it crosses an allocation unit \[δ_a\].
    #[serde(default)]
    pub au_step_s: f64,
    /// Added where it crosses a segment of the mapping table \[δ_s\].
    #[serde(default)]
    pub segment_step_s: f64,
    /// The whole read, where all of it lies in the unit read last.
    #[serde(default)]
    pub within_read_unit_s: Option<f64>,
    /// Least seconds from one read's end to the next one's \[t_ser\].
    #[serde(default)]
    pub serial_s: f64,
    /// Speed of the transfer in MB/s \[B_r\].
    pub mb_s: f64,
}

fn ramp_bytes() -> u64 {
    512 << 10
}

/// Times of a write, by the family of the mapping.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "engine", rename_all = "kebab-case")]
pub enum Write {
    /// Blocks mapped whole, a few of them open at a time.
    Hybrid(HybridWrite),
    /// Random writes go to a log, whose reclaiming costs a merge for each allocation unit in it.
    Log(LogWrite),
    /// Pages mapped one by one.
    Page(PageWrite),
}

/// How a block that was written in order but not to its end is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Close {
    /// Only the rest is copied.
    Partial,
    /// All of it is copied.
    Full,
}

/// Parameters of the hybrid engine (model, W-H).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HybridWrite {
    /// How an unfinished block is closed.
    pub close: Close,
    /// Blocks that may be open while they are written in order \[K\].
    pub open_linear: u32,
    /// Blocks that may be open while some are written out of order.
    pub open_random: u32,
    /// Seconds before the data of any write \[t_w0\].
    pub fixed_s: f64,
    /// Added in the first block of a stream, and where blocks take turns \[t_wn\].
    pub new_stream_s: f64,
    /// Paid once where a stream that had run through a whole block is left.
    #[serde(default)]
    pub stream_end_s: f64,
    /// Added to a write in order that is no multiple of the page \[t_sub\].
    pub sub_page_s: f64,
    /// Added to a write out of order that is shorter than a page.
    pub sub_page_random_s: f64,
    /// Speed of the transfer and programming in MB/s \[B_w\].
    pub mb_s: f64,
    /// Speed of copying inside the card in MB/s \[B_copy\].
    pub copy_mb_s: f64,
    /// Added to each closing that copies \[t_c\].
    pub close_s: f64,
    /// Bytes out of order that one block takes before it is merged \[R_log\].
    pub random_log_bytes: u64,
}

/// Parameters of the log engine (model, W-L).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogWrite {
    /// Seconds before the data of a write in order \[t_w0\].
    pub fixed_s: f64,
    /// Seconds of one 4 KiB write out of order \[t_b\].
    pub random_s: f64,
    /// Speed of the transfer and programming in MB/s \[B_w\].
    pub mb_s: f64,
    /// Bytes that the log holds \[L\].
    pub log_bytes: u64,
    /// Seconds of merging one allocation unit \[T_m\].
    pub merge_s: f64,
}

/// Parameters of the page engine (model, W-P).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageWrite {
    /// Seconds before the data of a 4 KiB write \[t_b\].
    pub base_s: f64,
    /// The same at `ramp_bytes` and more; as `base_s` where absent.
    #[serde(default)]
    pub large_s: Option<f64>,
    /// Length at which `large_s` is reached.
    #[serde(default = "ramp_bytes")]
    pub ramp_bytes: u64,
    /// Least seconds from one write's end to the next one's.
    #[serde(default)]
    pub serial_s: f64,
    /// Speed of the transfer and programming in MB/s \[B_w\].
    pub mb_s: f64,
}

/// A card that answers each command in a fixed time plus its bytes at a fixed rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// Seconds of any command.
    pub command_s: f64,
    /// Speed of the transfer in MB/s, both ways.
    pub mb_s: f64,
}

/// The pSLC cache: times while it takes the writes, and how its clean blocks are used up and come back.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Clean bytes of a card that has rested long \[C_slc\].
    pub clean_bytes: u64,
    /// Clean bytes at the start; as `clean_bytes` where absent.
    #[serde(default)]
    pub start_bytes: Option<u64>,
    /// Once used up, the cache takes no write until so many bytes are clean again.
    pub reopen_bytes: u64,
    /// Speed of cleaning in MB/s, while nothing is written.
    pub clean_mb_s: f64,
    /// Seconds without a write before cleaning starts \[t_idle\].
    pub idle_s: f64,
    /// Seconds without any command after which an open cache is cleaned too.
    pub rest_s: f64,
    /// Speed of writes into the cache in MB/s \[B_slc\].
    pub write_mb_s: f64,
    /// Seconds before the data of a 4 KiB write into the cache.
    pub write_base_s: f64,
    /// The same at the engine's `ramp_bytes` and more.
    pub write_large_s: f64,
    /// Least seconds from one write's end to the next one's.
    pub write_serial_s: f64,
    /// Seconds before the first byte of a 4 KiB read from the cache.
    pub read_base_s: f64,
    /// Least seconds from one such read's end to the next one's.
    pub read_serial_s: f64,
}

/// Heat (model, T): one thermal node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thermal {
    /// True where the card reports its temperature (NVMe does, SD does not).
    pub sensor: bool,
    /// Temperature around it in °C \[T_amb\].
    pub ambient_c: f64,
    /// Resistance to the surroundings without a fan, in K/W.
    pub passive_k_per_w: f64,
    /// The same with a fan.
    pub active_k_per_w: f64,
    /// Heat capacity in J/K \[C_th\].
    pub capacity_j_per_k: f64,
    /// Power at rest in W.
    pub idle_w: f64,
    /// Power while a command is under way in W \[P_op\].
    pub busy_w: f64,
    /// Added power in W while reads keep the data path busy without a pause \[e_r\].
    pub read_w: f64,
    /// The same for writes \[e_w\].
    pub write_w: f64,
    /// Light throttling from this temperature on, in °C \[TMT1\].
    pub tmt1_c: f64,
    /// Heavy throttling from this temperature on, in °C \[TMT2\].
    pub tmt2_c: f64,
    /// Kelvin below a limit at which its throttling ends.
    pub hysteresis_k: f64,
    /// Speed of reads under light throttling, as a share \[f₁\].
    pub light_read: f64,
    /// Speed of writes under light throttling, as a share.
    pub light_write: f64,
    /// Speed under heavy throttling, as a share \[f₂\].
    pub heavy: f64,
}

/// Kinds of false capacity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FakeKind {
    /// The capacity is real.
    #[default]
    None,
    /// What lies beyond the real bytes is lost, but for a cache.
    Limbo,
    /// Addresses wrap at `wrap_bytes`.
    Wraparound,
    /// Addresses wrap at `wrap_bytes`, and what then lies beyond the real bytes is lost.
    Chain,
}

/// What a lost block reads as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lost {
    /// Zeros.
    #[default]
    Zeros,
    /// 0xFF, as erased flash.
    Ones,
    /// The read fails.
    Error,
}

/// False capacity (model, F).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fake {
    /// The kind.
    pub kind: FakeKind,
    /// Bytes that really are there.
    pub real_bytes: Option<u64>,
    /// Where addresses wrap.
    pub wrap_bytes: Option<u64>,
    /// Bytes of the lost range that a cache keeps for a while, by address modulo its size.
    pub cache_bytes: Option<u64>,
    /// What a lost block reads as.
    pub lost: Lost,
}

/// How the card is cooled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cooling {
    /// With a fan.
    #[default]
    Active,
    /// Without.
    Passive,
}

/// Reader, bus and host (model, X). What is not the card's stands here and nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rig {
    /// Cooling of the card.
    pub cooling: Cooling,
    /// False for a card that stays at room temperature whatever it does.
    pub heat: bool,
    /// What the bus carries, in MB/s.
    pub bus_mb_s: Option<f64>,
    /// Speed in MB/s of the source from which the measuring tool takes the data of its writes.
    pub host_source_mb_s: Option<f64>,
    /// Seconds that the reader adds to each command.
    pub overhead_s: f64,
    /// The reader cuts commands into pieces of at most so many bytes.
    pub split_bytes: Option<u64>,
    /// Speed of the host's memory in MB/s, for I/O through the page cache.
    pub host_memory_mb_s: f64,
    /// Memory that the host has for its page cache, in bytes.
    pub host_memory_bytes: u64,
    /// Bytes not yet written at which the host makes a writer wait.
    pub dirty_bytes: u64,
    /// Bytes in which the host writes back what was gathered.
    pub writeback_bytes: u64,
    /// Bytes in which the host reads ahead.
    pub read_ahead_bytes: u64,
}

impl Default for Rig {
    /// The host is a small board of 4 GB: Linux makes writers wait at a fifth of its memory and writes back in
    /// pieces of up to 1 MiB. Its memory speed is that of a Raspberry Pi 4. \[I\]
    fn default() -> Self {
        Rig {
            cooling: Cooling::Active,
            heat: true,
            bus_mb_s: None,
            host_source_mb_s: None,
            overhead_s: 0.0,
            split_bytes: None,
            host_memory_mb_s: 2000.0,
            host_memory_bytes: 3 << 30,
            dirty_bytes: 256 << 20,
            writeback_bytes: 1 << 20,
            read_ahead_bytes: 1 << 20,
        }
    }
}
