//! Where NBD clients connect, as a user writes it: `host:port`, or the path of a Unix socket.

use super::super::ServeError;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where NBD clients connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A host and a port; port 0 lets the kernel choose.
    Tcp(String),
    /// A Unix socket.
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = ServeError;

    /// Whatever has a slash, or does not end in a colon and a number, is a path.
    fn from_str(text: &str) -> Result<Self, ServeError> {
        let port = text.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>()));
        match port {
            _ if text.is_empty() => Err(refused(text, "write host:port, or the path of a socket")),
            _ if text.contains('/') => Ok(Address::Unix(PathBuf::from(text))),
            Some(("", _)) => {
                Err(refused(text, "a host is missing; write 127.0.0.1:10809, or 0.0.0.0:10809 for any"))
            }
            Some((_, Ok(_))) => Ok(Address::Tcp(text.to_owned())),
            Some((_, Err(_))) => Err(refused(text, "the port must be a number up to 65535")),
            None => Ok(Address::Unix(PathBuf::from(text))),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(text) => f.write_str(text),
            Address::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

pub(super) fn refused(address: impl ToString, reason: &str) -> ServeError {
    ServeError::Address(address.to_string(), reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_paths_are_told_apart() {
        let address = |text: &str| text.parse::<Address>().map_err(|e| e.to_string());
        assert_eq!(address("127.0.0.1:10809"), Ok(Address::Tcp("127.0.0.1:10809".to_owned())));
        assert_eq!(address("[::1]:0"), Ok(Address::Tcp("[::1]:0".to_owned())));
        assert_eq!(address("/run/card:1"), Ok(Address::Unix("/run/card:1".into())));
        assert_eq!(address("card.sock"), Ok(Address::Unix("card.sock".into())));
        for (bad, word) in [("", "host:port"), (":10809", "host is missing"), ("host:99999", "port")] {
            assert!(address(bad).is_err_and(|e| e.contains(word)), "{bad}");
        }
    }
}
