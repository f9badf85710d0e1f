//! Address of the server and its token: this user's own for a local server, a given one for a remote server.

use cardscope_server::AccessToken;
use cardscope_session::{Failure, Result};
use rustix::process::geteuid;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerAddress {
    /// Without a trailing slash.
    pub(super) url: String,
    /// Token given by the user.
    given_token: Option<String>,
    /// Port of a server on this computer; `None` for another computer.
    port: Option<u16>,
    /// True if the user gave the address.
    pub(super) is_explicit: bool,
}

impl ServerAddress {
    /// Address of this computer's server at `port`, or of `url` as `serve` prints it, its token included. Refuses other
    /// URLs.
    pub(super) fn from_arguments(port: u16, url: Option<&str>, token: Option<String>) -> Result<Self> {
        let Some(named) = url else {
            let url = format!("http://127.0.0.1:{port}");
            return Ok(ServerAddress { url, given_token: token, port: Some(port), is_explicit: false });
        };
        let (url, fragment) = named.split_once('#').unwrap_or((named, ""));
        let url = url.trim_end_matches('/');
        let odd = |why: &str| Failure::refused(format!("--url {url}: {why}"));
        let Some(authority) = url.strip_prefix("http://") else {
            return Err(odd("give the address as `cardscope serve` printed it, e.g. http://127.0.0.1:7373"));
        };
        if authority.is_empty()
            || authority.contains(['/', '?', '@', ' '])
            || authority.contains(char::is_control)
        {
            return Err(odd("an address consists of http://, a host and a port"));
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| odd("the port is not a number up to 65535"))?)
            }
            _ => (authority, 80),
        };
        let port = ["127.0.0.1", "localhost", "[::1]"].contains(&host).then_some(port);
        let given_token = token.or(fragment.strip_prefix("token=").map(str::to_owned));
        if port.is_none() && given_token.is_none() {
            let advice = "give the token that `cardscope serve` printed there, in --token or CARDSCOPE_TOKEN";
            return Err(odd(advice));
        }
        Ok(ServerAddress { url: url.to_owned(), given_token, port, is_explicit: true })
    }

    /// Token to send, or a sentence why there is none. This user's own token is sent only to a server of this user or root,
    /// because any user can listen on a port.
    pub(super) fn token_to_send(&self) -> Result<String, String> {
        if let Some(token) = &self.given_token {
            return Ok(token.clone());
        }
        let foreign = self.port.is_some_and(|port| {
            let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(std::fs::read_to_string);
            let mut owners = tables.iter().flatten().flat_map(|table| listener_uids(table, port));
            owners.any(|owner| owner != 0 && owner != geteuid().as_raw())
        });
        if foreign {
            return Err("the server there is another user's; give its token in CARDSCOPE_TOKEN".to_owned());
        }
        // Without a token the server answers 401, which explains itself.
        let token = AccessToken::of_running_server().map_err(|why| why.to_string())?;
        Ok(token.map(|token| token.text().to_owned()).unwrap_or_default())
    }
}

/// User ids of the listeners on a port, from a table of `/proc/net`.
fn listener_uids(table: &str, port: u16) -> Vec<u32> {
    let owner = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (_, at) = words.get(1)?.rsplit_once(':')?;
        let listens = *words.get(3)? == "0A" && u16::from_str_radix(at, 16).ok()? == port;
        words.get(7)?.parse().ok().filter(|_| listens)
    };
    table.lines().skip(1).filter_map(owner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Result<ServerAddress> {
        ServerAddress::from_arguments(7373, Some(url), None)
    }

    #[test]
    fn printed_address_is_accepted() {
        let address = of("http://127.0.0.1:7400/#token=abc").unwrap();
        assert_eq!(
            (address.url.as_str(), address.token_to_send().as_deref()),
            ("http://127.0.0.1:7400", Ok("abc"))
        );
        assert_eq!(ServerAddress::from_arguments(7373, None, None).unwrap().url, "http://127.0.0.1:7373");
        let elsewhere =
            ServerAddress::from_arguments(7373, Some("http://pi.local:7373"), Some("t".into())).unwrap();
        assert_eq!((elsewhere.port, elsewhere.token_to_send().as_deref()), (None, Ok("t")));
    }

    #[test]
    fn invalid_and_remote_addresses_without_token_are_refused() {
        for odd in [
            "https://127.0.0.1",
            "pi.local",
            "http://",
            "http://a/b",
            "http://127.0.0.1:x",
            "http://u@h",
            "http://a\u{1b}",
        ] {
            assert!(matches!(of(odd), Err(Failure::Refused(_))), "{odd}");
        }
        let why = of("http://pi.local:7373").unwrap_err().to_string();
        assert!(why.contains("CARDSCOPE_TOKEN"), "{why}");
    }

    #[test]
    fn listener_is_found_in_proc_net_tcp() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1CCD 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1\n\
            1: 0100007F:1CCD 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1001        0 1 1\n";
        assert_eq!(listener_uids(table, 7373), [1000]);
        assert!(listener_uids(table, 80).is_empty() && listener_uids("", 80).is_empty());
    }
}
