//! Session files from `archive export`, recognised by their first field.

use cardscope_engine::cause::ErrorCause;
use cardscope_model::session_file::{FORMAT, SessionFile};

/// Longest session file that is written and read. A session of hours with a value for each second has some 10 MiB, and
/// pictures add some more. Parsing takes several times as much memory, since it also searches for unknown fields.
pub const MOST_BYTES: u64 = 128 << 20;

/// Bytes within which the first field must lie.
const HEAD_BYTES: usize = 256;

/// True if a file claims to be a session file.
pub(super) fn is_session_file(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD_BYTES)]);
    head.trim_start().starts_with('{') && head.contains(&format!("\"{FORMAT}\""))
}

pub fn parse_session_file(bytes: &[u8]) -> Result<SessionFile, ErrorCause> {
    check_length(bytes.len() as u64)?;
    let not_text = |error| ErrorCause::with_message("it is not text, so it is not a result file", error);
    Ok(SessionFile::from_json(std::str::from_utf8(bytes).map_err(not_text)?)?)
}

/// Checks a length in bytes against [`MOST_BYTES`].
pub fn check_length(bytes: u64) -> Result<(), ErrorCause> {
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let (mib, most) = (bytes.div_ceil(1 << 20), MOST_BYTES >> 20);
    Err(format!("{mib} MiB exceed the limit of {most} MiB for a result file").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_above_the_limit_is_refused() {
        assert_eq!(check_length(MOST_BYTES), Ok(()));
        assert_eq!(
            check_length(MOST_BYTES + 1).unwrap_err().to_string(),
            "129 MiB exceed the limit of 128 MiB for a result file"
        );
    }

    #[test]
    fn session_file_is_recognised_by_its_first_field() {
        assert!(is_session_file(b"\n{ \"format\": \"cardscope-session\", \"version\": 1"));
        assert!(
            !is_session_file(b"a log of \"cardscope-session\"")
                && !is_session_file(b"")
                && !is_session_file(&[0xff; 300])
        );
    }
}
