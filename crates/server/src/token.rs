//! What a client must know: 256 random bits, made at first use and kept where only this user reads them. Other users of the
//! machine reach the port as well.

use cardscope_session::frame::Failure;
use cardscope_session::state::StateFile;
use constant_time_eq::constant_time_eq;
use std::fmt::Write;

/// Its file, beside the journals.
pub(crate) const FILE: &str = "server-token";

/// Hex digits of a token.
const DIGITS: usize = 64;

/// A token.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    /// This user's token; made where there is none, or what is there is none.
    ///
    /// # Errors
    /// If it cannot be kept, or the system has no random numbers.
    pub fn of_user() -> Result<Self, Failure> {
        let file = StateFile::of(FILE)?;
        let is_one = |text: &str| text.len() == DIGITS && text.bytes().all(|b| b.is_ascii_hexdigit());
        let kept = file.load().and_then(|text| String::from_utf8(text).ok());
        if let Some(kept) = kept.map(|text| text.trim().to_owned()).filter(|text| is_one(text)) {
            return Ok(Token(kept));
        }
        let token = Token::new()?;
        file.keep(token.0.as_bytes())?;
        Ok(token)
    }

    pub(crate) fn new() -> Result<Self, Failure> {
        let mut bytes = [0; DIGITS / 2];
        getrandom::fill(&mut bytes)
            .map_err(|e| Failure::io(format!("the system gives no random numbers for the token: {e}")))?;
        let mut text = String::new();
        bytes.iter().for_each(|byte| {
            let _ = write!(text, "{byte:02x}");
        });
        Ok(Token(text))
    }

    /// Its digits.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether that is it; how long the answer takes says nothing of where it differs.
    pub(crate) fn is(&self, text: &str) -> bool {
        constant_time_eq(self.0.as_bytes(), text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_long_of_its_own_and_never_printed_by_accident() {
        let (one, other) = (Token::new().unwrap(), Token::new().unwrap());
        assert_eq!(one.text().len(), DIGITS);
        assert!(one != other && one.is(one.text()) && !one.is(other.text()) && !one.is(""));
        assert!(!format!("{one:?}").contains(one.text()));
    }
}
