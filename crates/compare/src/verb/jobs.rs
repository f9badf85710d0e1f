//! `jobs`: lists the built-in jobs, or explains any job.

use cardscope_engine::input;
use cardscope_model::host::{self, HOSTS, Host};
use cardscope_model::job::{self, JOBS, Job};
use cardscope_session::error::{Failure, Result};
use clap::Args;
use std::path::Path;

/// List the jobs that cards are ranked for, or explain one
///
/// A job is a list of workloads, the times that count as good and as poor, and what a card must reach.
#[derive(Debug, Clone, Default, Args)]
pub struct JobsRequest {
    /// The job to explain: a name, or FILE.toml
    pub name: Option<String>,
}

/// All built-in jobs.
pub fn list() -> Result<Vec<Job>> {
    JOBS.all(job::parse).map_err(Failure::io)
}

/// A built-in job; refuses an unknown name.
pub fn builtin(name: &str) -> Result<Job> {
    job::find(name).map_err(Failure::refused)
}

/// All built-in hosts.
pub fn hosts() -> Result<Vec<Host>> {
    HOSTS.all(host::parse).map_err(Failure::io)
}

/// A job by its name, or from a file.
pub fn show(name: &str) -> Result<Job> {
    match own(name)? {
        Some(text) => job::parse(&text).map_err(|e| Failure::refused_for(format!("{name}: {e}"), e)),
        None => job::find(name).map_err(Failure::refused),
    }
}

/// Text of a file, if the name is that of one (`.toml`).
pub(crate) fn own(name: &str) -> Result<Option<String>> {
    if Path::new(name).extension().is_none_or(|e| e != "toml") {
        return Ok(None);
    }
    let text = input::text(Path::new(name), input::MOST_TEXT);
    text.map(Some).map_err(|e| Failure::refused_for(format!("{name} cannot be read: {e}"), e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_found_and_a_wrong_name_gets_a_suggestion() {
        let all = list().unwrap();
        assert_eq!(all.len(), JOBS.names().count());
        assert!(all.iter().all(|job| show(&job.name).unwrap() == *job));
        let refused = show("pi-bot").unwrap_err().to_string();
        assert!(
            refused.contains("did you mean \"pi-boot\"?") && refused.contains("`cardscope jobs` lists"),
            "{refused}"
        );
    }
}
