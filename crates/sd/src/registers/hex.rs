//! Parser of registers in hex, with hints for typical mistakes.
//!
//! Accepts blanks, line ends, colons and commas between digits, and `0x` before any group.

/// Error of hex text that is not the expected register.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {register} {fault}")]
pub struct RegisterError {
    /// Expected register, e.g. `CID`, `CSD`, `SCR`, `SSR` or `OCR`.
    pub register: &'static str,
    pub fault: HexFault,
}

/// Fault in the text of a register.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HexFault {
    /// No digits. Holds the expected number.
    #[error("is empty; it has {0} hex digits")]
    Empty(usize),
    /// Character that is not a hex digit, and its position, counted in characters from 1.
    #[error(
        "holds {0:?} at character {1}, which is not a hex digit; paste only 0-9 and a-f (blanks, colons and 0x are ignored)"
    )]
    NotHex(char, usize),
    /// Odd number of digits. Holds the actual and the expected number.
    #[error(
        "has an odd number of hex digits, {0}; it should have {1}: look for a digit lost or doubled in copying"
    )]
    OddLength(usize, usize),
    /// Wrong number of digits. Holds the actual number, the expected number, and after `: ` a guess at what the text
    /// is; an empty guess if there is none.
    #[error("has {0} hex digits; it should have {1}{2}")]
    WrongLength(usize, usize, &'static str),
    /// Register of an eMMC.
    #[error(
        "is that of an eMMC, not of an SD card (CSD_STRUCTURE is 3): eMMC registers have another layout and would decode to nonsense; give the registers of an SD card"
    )]
    Emmc,
}

/// Parses the `N` bytes of a register. `register` is its name for errors.
///
/// # Errors
/// If a character is not a hex digit, or there are not exactly `2 N` digits.
pub fn parse<const N: usize>(register: &'static str, text: &str) -> Result<[u8; N], RegisterError> {
    let digits = parse_digits(text).map_err(|fault| RegisterError { register, fault })?;
    let wanted = 2 * N;
    let fault = match digits.len() {
        count if count == wanted => {
            return Ok(std::array::from_fn(|n| digits[2 * n] << 4 | digits[2 * n + 1]));
        }
        0 => HexFault::Empty(wanted),
        count if count % 2 == 1 => HexFault::OddLength(count, wanted),
        count => HexFault::WrongLength(count, wanted, guess_register(&digits, wanted)),
    };
    Err(RegisterError { register, fault })
}

fn parse_digits(text: &str) -> Result<Vec<u8>, HexFault> {
    let mut digits = Vec::with_capacity(text.len());
    let mut characters = text.chars().enumerate().peekable();
    // `0x` is a prefix only at the start of a group, so that `c0xf` is an error.
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
        digits.push(c.to_digit(16).ok_or(HexFault::NotHex(c, index + 1))? as u8);
    }
    Ok(digits)
}

macro_rules! from_hex {
    ($name:ident, $register:literal, $digits:literal) => {
        impl $name {
            /// Decodes the register from hex text.
            ///
            /// # Errors
            #[doc = concat!("If the text is not ", $digits, " hex digits.")]
            pub fn from_hex(text: &str) -> Result<Self, $crate::registers::RegisterError> {
                $crate::registers::hex::parse($register, text).map(Self::decode)
            }
        }
    };
}
pub(super) use from_hex;

fn guess_register(digits: &[u8], wanted: usize) -> &'static str {
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
    fn separators_prefixes_and_case_are_ignored() {
        let plain = parse::<4>("OCR", "c0ff8000");
        assert_eq!(plain, Ok([0xc0, 0xff, 0x80, 0x00]));
        for text in
            ["0xC0FF8000\n", "c0:ff:80:00", " C0 ff 80 00 ", "0xc0, 0xff, 0x80, 0x00", "0Xc0ff 8000\r\n"]
        {
            assert_eq!(parse::<4>("OCR", text), plain, "{text:?}");
        }
    }

    #[test]
    fn invalid_character_error_has_position() {
        for (text, found, position) in [("c0fg8000", 'g', 4), ("c0xf8000", 'x', 3), ("é", 'é', 1)] {
            let error = parse::<4>("OCR", text).unwrap_err();
            assert_eq!(error.fault, HexFault::NotHex(found, position));
            assert!(error.to_string().contains(&format!("{found:?} at character {position}")), "{error}");
        }
    }

    #[test]
    fn wrong_length_error_guesses_the_register() {
        for (text, says) in [
            (" 0x \n", "the CID is empty; it has 32 hex digits"),
            ("035", "the CID has an odd number of hex digits, 3; it should have 32"),
            ("0235800100000000", "the CID has 16 hex digits; it should have 32: 16 digits are an SCR"),
            ("3f035344535530344780811ea6ab00b37f", "leave out the leading 3f"),
        ] {
            let error = parse::<16>("CID", text).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn hex_round_trips(bytes: [u8; 16]) {
            let text: String = bytes.iter().map(|b| format!("{b:02X}:")).collect();
            proptest::prop_assert_eq!(parse::<16>("CID", &text), Ok(bytes));
        }
        #[test]
        fn hex_parser_never_panics(text in ".{0,80}") {
            let _ = parse::<16>("CID", &text);
        }
    }
}
