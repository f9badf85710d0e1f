//! Jobs: what a card is to be used for, as data. A job is amounts of work and demands; with a card's figures it becomes
//! the seconds that a person waits, and a score.
//!
//! One file a job in `jobs/`.

mod file;
mod score;

pub use file::{Figure, Figures, JOBS, Job, JobDemand, JobWork, find, parse};
pub use score::{JobFit, JobScore, points_alone, points_beyond, score, score_assuming};

#[cfg(test)]
mod tests;
