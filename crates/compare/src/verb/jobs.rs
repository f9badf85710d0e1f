//! `jobs`: lists the built-in jobs, or explains any job.

use cardscope_engine::input_file;
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
pub fn builtin_jobs() -> Result<Vec<Job>> {
    JOBS.parse_all(job::parse_job).map_err(Failure::io)
}

/// A built-in job; refuses an unknown name.
pub fn builtin_job(name: &str) -> Result<Job> {
    job::find_job(name).map_err(Failure::refused)
}

/// All built-in hosts.
pub fn builtin_hosts() -> Result<Vec<Host>> {
    HOSTS.parse_all(host::parse_host).map_err(Failure::io)
}

/// A job by its name, or from a file.
pub fn find_job(name: &str) -> Result<Job> {
    match read_own_file(name)? {
        Some(text) => job::parse_job(&text).map_err(|e| Failure::refused_for(format!("{name}: {e}"), e)),
        None => job::find_job(name).map_err(Failure::refused),
    }
}

/// A host by its name, or from a file.
pub(crate) fn find_host(name: &str) -> Result<Host> {
    match read_own_file(name)? {
        Some(text) => host::parse_host(&text).map_err(|e| Failure::refused_for(format!("{name}: {e}"), e)),
        None => host::find_host(name).map_err(Failure::refused),
    }
}

/// Text of a file, if the name is that of one (`.toml`).
fn read_own_file(name: &str) -> Result<Option<String>> {
    if Path::new(name).extension().is_none_or(|e| e != "toml") {
        return Ok(None);
    }
    let text = input_file::read_text(Path::new(name), input_file::MAX_TEXT_BYTES);
    text.map(Some).map_err(|e| Failure::refused_for(format!("{name} cannot be read: {e}"), e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_found_and_a_wrong_name_gets_a_suggestion() {
        let all = builtin_jobs().unwrap();
        assert_eq!(all.len(), JOBS.names().count());
        assert!(all.iter().all(|job| find_job(&job.name).unwrap() == *job));
        let refused = find_job("pi-bot").unwrap_err().to_string();
        assert!(
            refused.contains("did you mean \"pi-boot\"?") && refused.contains("`cardscope jobs` lists"),
            "{refused}"
        );
    }
}
