//! Access token: 256 random bits a start, readable by this user only. It is needed even on the loopback interface, because
//! other users of the computer reach the port.
//!
//! A file redirects a browser to the app. Only this user can read it, while a link with the token in the browser's
//! arguments would be visible to every user of the computer. It lies in the home folder under a name without a dot,
//! because sandboxed browsers (snap, flatpak) cannot read hidden files, `/tmp` or `XDG_RUNTIME_DIR`.

use cardscope_model::shell::shell_quote_path;
use cardscope_session::frame::Failure;
use cardscope_session::secret_file;
use cardscope_session::state_file::StateFile;
use constant_time_eq::constant_time_eq;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// File of the running server's token, in the state folder.
const TOKEN_FILE: &str = "server-token";

const TOKEN_DIGITS: usize = 64;

/// Accepted lengths of a user's token: at least 128 bits at four bits a character.
const TOKEN_LENGTHS: std::ops::RangeInclusive<usize> = 32..=256;

/// Secret that authorizes requests.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(String);

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl AccessToken {
    /// Returns the token of this user's running server on this computer. Fails if others can read or change its file.
    pub fn of_running_server() -> Result<Option<Self>, Failure> {
        let text = secret_file::read_secret(&StateFile::with_name(TOKEN_FILE)?.path())?;
        Ok(text.and_then(|text| AccessToken::parse(&text)))
    }

    /// Token for a new server: from the user's file, which is created if missing, else a random one.
    pub(crate) fn for_start(file: Option<&Path>) -> Result<Self, Failure> {
        let Some(file) = file else {
            // An earlier server's token is not reused, but its file must be private, since the new token is written there.
            StateFile::with_name(TOKEN_FILE).map_or(Ok(None), |f| secret_file::read_secret(&f.path()))?;
            return AccessToken::random();
        };
        match secret_file::read_secret(file)? {
            Some(text) => AccessToken::parse(&text).ok_or_else(|| {
                let name = shell_quote_path(file);
                Failure::refused(format!(
                    "{name} holds no token: a line of 32 to 256 letters, digits, - and _; make one with: openssl rand -hex 32 > {name}"
                ))
            }),
            None => {
                let token = AccessToken::random()?;
                secret_file::create_secret(file, token.text())?;
                Ok(token)
            }
        }
    }

    /// Writes the token to the state folder for programs of this user.
    pub(crate) fn publish(&self) -> Result<(), Failure> {
        StateFile::with_name(TOKEN_FILE)?.store(self.0.as_bytes())
    }

    /// Removes the file that [`AccessToken::publish`] wrote.
    pub(crate) fn unpublish() {
        if let Ok(file) = StateFile::with_name(TOKEN_FILE) {
            file.remove();
        }
    }

    pub(crate) fn random() -> Result<Self, Failure> {
        let mut bytes = [0; TOKEN_DIGITS / 2];
        getrandom::fill(&mut bytes)
            .map_err(|e| Failure::io(format!("the system gives no random numbers for the token: {e}")))?;
        Ok(AccessToken(hex(&bytes)))
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        (fits && TOKEN_LENGTHS.contains(&text.len())).then(|| AccessToken(text.to_owned()))
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    /// Compares in constant time.
    pub(crate) fn matches(&self, text: &str) -> bool {
        constant_time_eq(self.0.as_bytes(), text.as_bytes())
    }

    /// HMAC-SHA-256 of a client's nonce in hex: proves knowledge of the token without revealing it.
    pub(crate) fn nonce_proof(&self, nonce: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).expect("a key of any length fits");
        mac.update(nonce.as_bytes());
        hex(&mac.finalize().into_bytes())
    }
}

/// Writes or replaces the page that redirects to `link`. Fails without a home folder that only this user can change.
pub(crate) fn write_redirect_page(address: SocketAddr, link: &str) -> Result<PathBuf, Failure> {
    let path = page_path(address).ok_or_else(|| Failure::refused("HOME is not set"))?;
    let page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={link}\">\n<title>Cardscope</title>\n<p><a href=\"{link}\">Open Cardscope</a>\n"
    );
    secret_file::replace_secret(&path, &page)?;
    Ok(path)
}

/// Removes the page if it still holds this token: it was used, or its server has ended.
pub(crate) fn remove_redirect_page(address: SocketAddr, token: &AccessToken) {
    if let Some(path) = page_path(address) {
        secret_file::remove_secret(&path, token.text());
    }
}

fn page_path(address: SocketAddr) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())?;
    Some(home.join(format!("cardscope-{}.html", address.port())))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn tokens_are_long_unique_and_hidden_in_debug() {
        let (one, other) = (AccessToken::random().unwrap(), AccessToken::random().unwrap());
        assert_eq!(one.text().len(), TOKEN_DIGITS);
        assert!(one != other && one.matches(one.text()) && !one.matches(other.text()) && !one.matches(""));
        assert!(!format!("{one:?}").contains(one.text()));
    }

    /// RFC 4231, test case 2, with a key that is no token.
    #[test]
    fn proof_is_hmac_sha_256() {
        let proof = AccessToken("Jefe".to_owned()).nonce_proof("what do ya want for nothing?");
        assert_eq!(proof, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn token_file_is_created_once_and_reused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("token");
        let made = AccessToken::for_start(Some(&file)).unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(AccessToken::for_start(Some(&file)).unwrap(), made);
        let refused = || AccessToken::for_start(Some(&file)).unwrap_err().to_string();
        for text in ["", "short", &"x y".repeat(20), &"a".repeat(257)] {
            std::fs::write(&file, text).unwrap();
            assert!(refused().contains("openssl rand -hex 32"), "{text:?}: {}", refused());
        }
    }
}
