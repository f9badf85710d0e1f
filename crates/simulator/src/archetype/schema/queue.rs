//! Commands in flight.

use super::check::{Verdict, positive, seconds};
use serde::{Deserialize, Serialize};

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
    /// The same for what lies in the pSLC cache, or goes there; as `factor` where absent.
    #[serde(default)]
    pub cached: Option<f64>,
}

impl Queue {
    pub(super) fn check(&self) -> Verdict {
        if self.depth == 0 || self.depth > 65536 {
            return Err(format!("queue.depth = {} must be 1 to 65536", self.depth));
        }
        for step in self.read_cost.iter().chain(&self.write_cost) {
            positive("queue cost factor", step.factor)?;
            positive("queue cost cached", step.cached.unwrap_or(1.0))?;
        }
        seconds("queue.flush_s", self.flush_s)
    }
}
