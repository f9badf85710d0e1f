//! Secrets of a server: 256 random bits for each start, known to whoever reads this user's files and to nobody else. Other users
//! of the machine reach the port as well.

use cardscope_model::shell::quoted_path;
use cardscope_session::frame::Failure;
use cardscope_session::private_file;
use cardscope_session::state::StateFile;
use constant_time_eq::constant_time_eq;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt::Write;
use std::path::Path;

/// File that holds the token of the server that runs, beside the journals.
const FILE: &str = "server-token";

/// Hex digits of a new token.
const DIGITS: usize = 64;

/// Characters of a token that a user made: at least 128 bits where each stands for four.
const LENGTHS: std::ops::RangeInclusive<usize> = 32..=256;

/// A secret that a client has to know.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(String);

impl std::fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

impl AccessToken {
    /// The token of the server of this user that runs on this computer, if one does.
    ///
    /// # Errors
    /// If others can read or change its file.
    pub fn of_running_server() -> Result<Option<Self>, Failure> {
        let text = private_file::read(&StateFile::of(FILE)?.path())?;
        Ok(text.and_then(|text| AccessToken::parse(&text)))
    }

    /// The token of a server that starts: from a file of the user's, made where it is missing, or a new one.
    pub(crate) fn of_start(file: Option<&Path>) -> Result<Self, Failure> {
        let Some(file) = file else {
            // What an earlier server left is not used, but must not betray what is written there next.
            StateFile::of(FILE).map_or(Ok(None), |file| private_file::read(&file.path()))?;
            return AccessToken::random();
        };
        match private_file::read(file)? {
            Some(text) => AccessToken::parse(&text).ok_or_else(|| {
                Failure::refused(format!(
                    "{0} holds no token: a line of 32 to 256 letters, digits, - and _; make one with: openssl rand -hex 32 > {0}",
                    quoted_path(file)
                ))
            }),
            None => {
                let token = AccessToken::random()?;
                private_file::create(file, token.text())?;
                Ok(token)
            }
        }
    }

    /// Stores it for programs of this user that ask this server.
    pub(crate) fn store(&self) -> Result<(), Failure> {
        StateFile::of(FILE)?.keep(self.0.as_bytes())
    }

    /// Removes what [`Token::store`] stored.
    pub(crate) fn remove_stored() {
        if let Ok(file) = StateFile::of(FILE) {
            file.remove();
        }
    }

    /// A new one.
    pub(crate) fn random() -> Result<Self, Failure> {
        let mut bytes = [0; DIGITS / 2];
        getrandom::fill(&mut bytes)
            .map_err(|e| Failure::io(format!("the system gives no random numbers for the token: {e}")))?;
        Ok(AccessToken(hex(&bytes)))
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        (fits && LENGTHS.contains(&text.len())).then(|| AccessToken(text.to_owned()))
    }

    /// Its characters.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not depend on where the two differ.
    pub(crate) fn is(&self, text: &str) -> bool {
        constant_time_eq(self.0.as_bytes(), text.as_bytes())
    }

    /// HMAC-SHA-256 of a client's nonce in hex: shows that the server knows the token, and not which it is.
    pub(crate) fn proof(&self, nonce: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).expect("a key of any length fits");
        mac.update(nonce.as_bytes());
        hex(&mac.finalize().into_bytes())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn tokens_are_long_all_different_and_not_printed_by_accident() {
        let (one, other) = (AccessToken::random().unwrap(), AccessToken::random().unwrap());
        assert_eq!(one.text().len(), DIGITS);
        assert!(one != other && one.is(one.text()) && !one.is(other.text()) && !one.is(""));
        assert!(!format!("{one:?}").contains(one.text()));
    }

    /// RFC 4231, test case 2, with a key that is no token.
    #[test]
    fn proof_is_hmac_sha_256() {
        let proof = AccessToken("Jefe".to_owned()).proof("what do ya want for nothing?");
        assert_eq!(proof, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn token_file_is_made_once_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("token");
        let made = AccessToken::of_start(Some(&file)).unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(AccessToken::of_start(Some(&file)).unwrap(), made);
        let refused = || AccessToken::of_start(Some(&file)).unwrap_err().to_string();
        for text in ["", "short", &"x y".repeat(20), &"a".repeat(257)] {
            std::fs::write(&file, text).unwrap();
            assert!(refused().contains("openssl rand -hex 32"), "{text:?}: {}", refused());
        }
    }
}
