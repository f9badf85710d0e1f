//! Addresses of database servers, and their display without passwords.
//!
//! Addresses are those of libpq (<https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING>). Users also
//! type passwords with unescaped `/`, `?`, `#` or `@`, which make the address invalid and must stay hidden as well.

use std::path::{Path, PathBuf};

/// URL schemes of PostgreSQL.
const SCHEMES: [&str; 2] = ["postgres", "postgresql"];

/// Query parameters that are displayed: those that cannot hold a password.
const SAFE_PARAMETERS: [&str; 6] = ["host", "hostaddr", "port", "user", "dbname", "sslmode"];

/// Unsupported scheme of an address.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OtherScheme(pub(crate) String);

/// Address of a server's database.
#[derive(Debug, Clone)]
pub(crate) struct DatabaseAddress {
    pub(crate) url: String,
}

/// Returns the path, or the address without its password.
pub fn redact_address(path: &Path) -> PathBuf {
    match DatabaseAddress::parse(path) {
        Ok(Some(address)) => address.redacted(),
        _ => path.to_owned(),
    }
}

impl DatabaseAddress {
    /// Returns `None` for the path of a file, and an error for an unsupported scheme.
    pub(crate) fn parse(path: &Path) -> Result<Option<Self>, OtherScheme> {
        let text = path.to_string_lossy();
        let Some(scheme) = url_scheme(&text) else { return Ok(None) };
        let is_known = SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme));
        match path.to_str() {
            Some(url) if is_known => Ok(Some(DatabaseAddress { url: url.to_owned() })),
            _ => Err(OtherScheme(scheme.to_owned())),
        }
    }

    /// The address without its password.
    pub(crate) fn redacted(&self) -> PathBuf {
        let (scheme, rest) = self.url.split_once("://").unwrap_or((SCHEMES[0], ""));
        PathBuf::from(format!("{scheme}://{}", without_password(rest).unwrap_or("…".to_owned())))
    }
}

/// Scheme of an address (RFC 3986, section 3.1).
fn url_scheme(place: &str) -> Option<&str> {
    let (scheme, _) = place.split_once("://")?;
    let inside = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    (scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(inside)).then_some(scheme)
}

/// The part after the scheme without its password; `None` if the password cannot be located.
///
/// The password ends at the last `@`. An `@` behind `?word=` may belong to that word or to a password.
fn without_password(rest: &str) -> Option<String> {
    let (user, server) = match rest.rsplit_once('@') {
        Some((user, _)) if user.split_once('?').is_some_and(|(_, words)| words.contains('=')) => return None,
        Some((user, server)) => (Some(user.split(':').next().unwrap_or_default()), server),
        None => (None, rest),
    };
    let (server, words) = server.split_once('?').unwrap_or((server, ""));
    let (host, database) = server.split_at(server.find('/').unwrap_or(server.len()));
    if !user.is_none_or(is_unescaped) || !is_host(host) {
        return None;
    }
    let user = user.map(|user| format!("{user}@")).unwrap_or_default();
    let is_safe = |word: &&str| word.split_once('=').is_some_and(|(key, _)| SAFE_PARAMETERS.contains(&key));
    let words: Vec<&str> = words.split('&').filter(is_safe).collect();
    let mark = if words.is_empty() { "" } else { "?" };
    Some(format!("{user}{host}{database}{mark}{}", words.join("&")))
}

fn is_unescaped(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || "-._%+".contains(c))
}

/// True for a host with an optional numeric port; other text after `:` may be a password.
fn is_host(text: &str) -> bool {
    if let Some(numeric) = text.strip_prefix('[') {
        return numeric.chars().all(|c| c.is_ascii_hexdigit() || ":.]%".contains(c));
    }
    let (host, port) = text.split_once(':').unwrap_or((text, ""));
    is_unescaped(host) && port.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(url: &str) -> String {
        DatabaseAddress::parse(Path::new(url)).unwrap().unwrap().redacted().to_str().unwrap().to_owned()
    }

    #[test]
    fn displayed_address_lacks_password() {
        for (url, expected) in [
            ("postgres://me:secret@db.example/cards", "postgres://me@db.example/cards"),
            ("postgres://me@db.example:5/cards", "postgres://me@db.example:5/cards"),
            ("POSTGRES://me:secret@[::1]:5432/cards", "POSTGRES://me@[::1]:5432/cards"),
            ("postgresql:///cards?host=/run&password=secret", "postgresql:///cards?host=/run"),
            ("postgresql:///cards?passfile=x&user=me", "postgresql:///cards?user=me"),
            ("postgres://me:p@ss:w@db/cards?password=x", "postgres://me@db/cards"),
            ("postgres://db", "postgres://db"),
            ("postgres://me:se/cret@db:5/cards", "postgres://me@db:5/cards"),
            ("postgres://me:se?cret@db/cards?sslmode=disable", "postgres://me@db/cards?sslmode=disable"),
            ("postgres://me:se#cr@t@db/cards", "postgres://me@db/cards"),
            // The position of the password is ambiguous.
            ("postgres://me:se?x=cret@db/cards", "postgres://…"),
            ("postgres://db:5432/cards?user=me@there&password=a@b", "postgres://…"),
            ("postgres://me:secret/cards", "postgres://…"),
            ("postgres:///cards@x", "postgres://…"),
        ] {
            assert_eq!(shown(url), expected, "{url}");
        }
    }

    proptest! {
        #[test]
        fn password_with_any_characters_is_hidden(
            before in "[a-z0-9/?#@:%&=]{0,6}",
            after in "[a-z0-9/?#@:%&=]{0,6}",
        ) {
            let url = format!("postgres://me:{before}SECRET{after}@db/cards");
            prop_assert!(!shown(&url).contains("SECRET"), "{}", shown(&url));
        }
    }
}
