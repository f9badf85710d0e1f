//! Names of volumes: what FAT and exFAT allow.

use crate::error::Failure;
use cardscope_sd::layout::FileSystem;

/// Both allow so many characters.
const MOST: usize = 11;
/// Not in a FAT label (Microsoft's FAT specification, section 6.1, and the dot).
const NOT_IN_FAT: &str = "\"*+,./:;<=>?[\\]|";

/// The label as it is written: FAT's in capitals.
pub(super) fn checked(text: &str, file_system: FileSystem) -> Result<String, Failure> {
    let refuse = |why: &str| Failure::refused(format!("--label {text:?}: {why}"));
    let units = text.encode_utf16().count();
    if text.trim().is_empty() || units > MOST {
        return Err(refuse(&format!("a volume's name has 1 to {MOST} characters")));
    }
    if text.chars().any(char::is_control) {
        return Err(refuse("a volume's name holds no control characters"));
    }
    if file_system == FileSystem::Exfat {
        return Ok(text.to_owned());
    }
    if !text.is_ascii() || text.contains(|c| NOT_IN_FAT.contains(c)) {
        return Err(refuse(&format!(
            "{file_system} allows letters, digits and blanks, none of {NOT_IN_FAT}"
        )));
    }
    Ok(text.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fat_label_is_in_capitals_and_an_exfat_label_as_typed() {
        assert_eq!(checked("Camera 1", FileSystem::Fat32).unwrap(), "CAMERA 1");
        assert_eq!(checked("Kamera Öl", FileSystem::Exfat).unwrap(), "Kamera Öl");
    }

    #[test]
    fn what_no_volume_may_be_called_is_refused() {
        for (label, file_system) in [
            ("", FileSystem::Exfat),
            ("twelve chars", FileSystem::Exfat),
            ("a\nb", FileSystem::Exfat),
            ("a/b", FileSystem::Fat16),
            ("Öl", FileSystem::Fat32),
        ] {
            assert!(checked(label, file_system).is_err(), "{label:?}");
        }
    }
}
