//! Hex text as people paste it, into the bytes of one register.
//!
//! Accepted besides digits: blanks and line ends, colons, commas, and `0x` before any group.

/// Hex text that is not the register it was given for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// Nothing but blanks.
    #[error("the {register} is empty; it has {wanted} hex digits")]
    Empty {
        /// Which register.
        register: &'static str,
        /// Hex digits it has.
        wanted: usize,
    },
    /// A character that is no hex digit.
    #[error(
        "the {register} holds {found:?} at character {position}, which is no hex digit; paste only 0-9 and a-f (blanks, colons and 0x are ignored)"
    )]
    NotHex {
        /// Which register.
        register: &'static str,
        /// What stands there.
        found: char,
        /// Where, counted in characters from 1.
        position: usize,
    },
    /// Half a byte is left over.
    #[error(
        "the {register} has an odd number of hex digits, {digits}; it should have {wanted}: look for a digit lost or doubled in copying"
    )]
    OddLength {
        /// Which register.
        register: &'static str,
        /// Hex digits found.
        digits: usize,
        /// Hex digits it has.
        wanted: usize,
    },
    /// Whole bytes, but not as many as the register has.
    #[error("the {register} has {digits} hex digits; it should have {wanted}{hint}")]
    WrongLength {
        /// Which register.
        register: &'static str,
        /// Hex digits found.
        digits: usize,
        /// Hex digits it has.
        wanted: usize,
        /// What the text looks like instead, if anything; begins with `: `.
        hint: &'static str,
    },
    /// The registers are an eMMC's.
    #[error(
        "the {register} is that of an eMMC, not of an SD card (CSD_STRUCTURE is 3): eMMC registers have another layout and would decode to nonsense; give the registers of an SD card"
    )]
    Emmc {
        /// Which register says so.
        register: &'static str,
    },
}

impl RegisterError {
    /// The register that failed: `CID`, `CSD`, `SCR`, `SSR` or `OCR`.
    #[must_use]
    pub fn register(&self) -> &'static str {
        match self {
            RegisterError::Empty { register, .. }
            | RegisterError::NotHex { register, .. }
            | RegisterError::OddLength { register, .. }
            | RegisterError::WrongLength { register, .. }
            | RegisterError::Emmc { register } => register,
        }
    }
}

/// Reads the `N` bytes of the register named.
///
/// # Errors
/// If a character is no hex digit, or there are not exactly `2 N` of them.
pub fn parse<const N: usize>(register: &'static str, text: &str) -> Result<[u8; N], RegisterError> {
    let digits = digits(register, text)?;
    let (count, wanted) = (digits.len(), 2 * N);
    if count == 0 {
        return Err(RegisterError::Empty { register, wanted });
    }
    if count % 2 == 1 {
        return Err(RegisterError::OddLength { register, digits: count, wanted });
    }
    if count != wanted {
        return Err(RegisterError::WrongLength {
            register,
            digits: count,
            wanted,
            hint: hint(&digits, wanted),
        });
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = pair[0] << 4 | pair[1];
    }
    Ok(bytes)
}

/// The values of all hex digits, separators and `0x` left out.
fn digits(register: &'static str, text: &str) -> Result<Vec<u8>, RegisterError> {
    let mut digits = Vec::with_capacity(text.len());
    let mut characters = text.chars().enumerate().peekable();
    let mut at_group_start = true;
    while let Some((index, c)) = characters.next() {
        if c.is_whitespace() || matches!(c, ':' | ',') {
            at_group_start = true;
            continue;
        }
        let prefix =
            at_group_start && c == '0' && characters.next_if(|(_, x)| matches!(x, 'x' | 'X')).is_some();
        at_group_start = false;
        if prefix {
            continue;
        }
        let value =
            c.to_digit(16).ok_or(RegisterError::NotHex { register, found: c, position: index + 1 })?;
        digits.push(value as u8);
    }
    Ok(digits)
}

/// What text of a wrong length most likely is.
fn hint(digits: &[u8], wanted: usize) -> &'static str {
    match digits.len() {
        8 => ": 8 digits are an OCR",
        16 => ": 16 digits are an SCR",
        32 => ": 32 digits are a CID or a CSD",
        128 => ": 128 digits are an SSR",
        34 if wanted == 32 && digits.starts_with(&[3, 15]) => {
            ": leave out the leading 3f, it belongs to the answer and not to the register"
        }
        30 if wanted == 32 => ": the last byte, which carries the CRC, seems to be missing; append 00 for it",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_colons_prefixes_case_and_a_line_end_do_not_matter() {
        let plain = parse::<4>("OCR", "c0ff8000");
        assert_eq!(plain, Ok([0xc0, 0xff, 0x80, 0x00]));
        for text in
            ["0xC0FF8000\n", "c0:ff:80:00", " C0 ff 80 00 ", "0xc0, 0xff, 0x80, 0x00", "0Xc0ff 8000\r\n"]
        {
            assert_eq!(parse::<4>("OCR", text), plain, "{text:?}");
        }
    }

    #[test]
    fn a_wrong_character_is_named_with_its_place() {
        let error = parse::<4>("OCR", "c0fg8000").unwrap_err();
        assert_eq!(error, RegisterError::NotHex { register: "OCR", found: 'g', position: 4 });
        assert_eq!(
            parse::<4>("OCR", "c0xf8000").unwrap_err().to_string().matches("'x' at character 3").count(),
            1
        );
        assert!(matches!(parse::<4>("OCR", "é").unwrap_err(), RegisterError::NotHex { position: 1, .. }));
    }

    #[test]
    fn a_wrong_length_says_what_would_be_right_and_what_the_text_looks_like() {
        assert_eq!(
            parse::<16>("CID", "035").unwrap_err(),
            RegisterError::OddLength { register: "CID", digits: 3, wanted: 32 }
        );
        let scr_for_cid = parse::<16>("CID", "0235800100000000").unwrap_err().to_string();
        assert_eq!(scr_for_cid, "the CID has 16 hex digits; it should have 32: 16 digits are an SCR");
        let with_header = parse::<16>("CID", "3f035344535530344780811ea6ab00b37f").unwrap_err().to_string();
        assert!(with_header.contains("leading 3f"), "{with_header}");
        assert_eq!(
            parse::<4>("OCR", " 0x \n").unwrap_err(),
            RegisterError::Empty { register: "OCR", wanted: 8 }
        );
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_survive_hex(bytes: [u8; 16]) {
            let text: String = bytes.iter().map(|b| format!("{b:02X}:")).collect();
            proptest::prop_assert_eq!(parse::<16>("CID", &text), Ok(bytes));
        }
        #[test]
        fn no_text_panics(text in ".{0,80}") {
            let _ = parse::<16>("CID", &text);
        }
    }
}
