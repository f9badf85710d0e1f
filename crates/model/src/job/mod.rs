//! Jobs as data: amounts of work and demands, one file per job in `jobs/`. With a card's figures a job gives the
//! seconds that a person waits, and a score.

mod file;
mod score;

pub use file::{Figure, Figures, JOBS, Job, JobDemand, JobWork, find_job, parse_job};
pub use score::{JobFit, JobScore, clamped_points, score_job, score_with_upper_bounds, unclamped_points};

#[cfg(test)]
mod tests;
