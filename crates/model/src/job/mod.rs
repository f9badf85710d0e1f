//! Jobs as data: amounts of work and demands, one file per job in `jobs/`. With a card's figures a job gives the
//! seconds that a person waits, and a score.

mod file;
mod score;

pub use file::{Figure, Figures, JOBS, Job, JobDemand, JobWork, find, parse};
pub use score::{JobFit, JobScore, points_alone, points_beyond, score, score_assuming};

#[cfg(test)]
mod tests;
