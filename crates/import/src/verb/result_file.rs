//! Sessions that an archive wrote (`archive export`), known among logs by what their first field says.

use cardscope_engine::cause::ErrorCause;
use cardscope_model::session_file::{FORMAT, SessionFile};

/// Longest one that is written and read: a session of hours with every second of it has some ten MiB, its pictures some
/// more. Reading takes several times as much memory, since it is looked through for fields that nobody here knows.
pub const MOST_BYTES: u64 = 128 << 20;

/// Bytes within which the first field stands.
const HEAD: usize = 256;

/// Whether a file says that it is one.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]);
    head.trim_start().starts_with('{') && head.contains(&format!("\"{FORMAT}\""))
}

/// The session in it.
pub fn read(bytes: &[u8]) -> Result<SessionFile, ErrorCause> {
    fits(bytes.len() as u64)?;
    let text = std::str::from_utf8(bytes).map_err(|e| {
        ErrorCause::worded(
            "it is not text, so it is not a result \
            file",
            e,
        )
    })?;
    Ok(SessionFile::from_json(text)?)
}

/// Whether a file of that many bytes is read.
pub fn fits(bytes: u64) -> Result<(), ErrorCause> {
    match bytes <= MOST_BYTES {
        true => Ok(()),
        false => Err(format!(
            "{} MiB exceed the limit of {} MiB for a result file",
            bytes.div_ceil(1 << 20),
            MOST_BYTES >> 20
        )
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_not_be_read_again_does_not_fit() {
        assert_eq!(fits(MOST_BYTES), Ok(()));
        assert_eq!(
            fits(MOST_BYTES + 1).unwrap_err().to_string(),
            "129 MiB exceed the limit of 128 MiB for a result file"
        );
    }

    #[test]
    fn a_result_file_is_known_by_its_first_field() {
        assert!(is_one(b"\n{ \"format\": \"cardscope-session\", \"version\": 1"));
        assert!(!is_one(b"a log of \"cardscope-session\"") && !is_one(b"") && !is_one(&[0xff; 300]));
    }
}
