//! Attachments of cards and sessions: photographs, screenshots, receipts.

use crate::error::{Failure, Result};
use cardscope_engine::input_file;
use std::path::Path;

/// Largest attachment: photographs have some MiB. An exported session file holds several of them, and its own size is limited
/// by [`cardscope_import::verb::session_file::MOST_BYTES`].
const MOST_BYTES: u64 = 16 << 20;

/// Reads a file. Returns its name, its media type by content, and its bytes.
pub fn read_attachment(file: &Path) -> Result<(String, String, Vec<u8>)> {
    let bytes = input_file::read_bytes(file, MOST_BYTES)
        .map_err(|e| Failure::refused_for(format!("{}: not attached: {e}", file.display()), e))?;
    let name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok((name, media_type(&bytes).to_owned(), bytes))
}

/// Media type by the signatures of common image formats and PDF, never by the name of the file.
pub fn media_type(bytes: &[u8]) -> &'static str {
    match bytes {
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        [b'%', b'P', b'D', b'F', ..] => "application/pdf",
        _ if std::str::from_utf8(bytes).is_ok() => "text/plain",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_type_ignores_the_file_name() {
        assert_eq!(media_type(&[0xff, 0xd8, 0xff, 0xe1]), "image/jpeg");
        assert_eq!(media_type(b"bought in May"), "text/plain");
        assert_eq!(media_type(&[0, 159, 146, 150]), "application/octet-stream");
    }
}
