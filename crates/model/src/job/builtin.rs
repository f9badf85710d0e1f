//! The jobs that come with the program. A new one is a file in `jobs/` and one line here.

use super::{Job, JobError, parse};
use crate::recipe::nearest::nearest;

macro_rules! jobs {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../jobs/", $name, ".toml")))),*]
    };
}

static BUILTIN: &[(&str, &str)] = jobs![
    "pi-boot",
    "camera-4k",
    "game-load",
    "game-move",
    "android",
    "server-log",
    "database",
    "mostly-4k",
    "all-round"
];

/// Every job that comes with the program, in order.
///
/// # Errors
/// If one of the files is wrong; a test holds that none is.
pub fn builtin() -> Result<Vec<Job>, JobError> {
    BUILTIN.iter().map(|(_, text)| parse(text)).collect()
}

/// The job of a name.
///
/// # Errors
/// If there is none of that name; the message lists all, and the one that was probably meant.
pub fn find(name: &str) -> Result<Job, JobError> {
    let names = || BUILTIN.iter().map(|(n, _)| *n);
    match BUILTIN.iter().find(|(n, _)| *n == name) {
        Some((_, text)) => parse(text),
        None => Err(JobError::Unknown {
            name: name.to_owned(),
            meant: nearest(name, names()).map_or(String::new(), |n| format!("did you mean {n:?}? ")),
            there: names().collect::<Vec<_>>().join(", "),
        }),
    }
}
