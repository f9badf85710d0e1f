//! Host names that requests may use.

use std::net::SocketAddr;

#[derive(Debug, Clone)]
pub(crate) struct AllowedHosts(Vec<String>);

impl AllowedHosts {
    /// The address itself, all names of the loopback interface if it listens there, and the user's names.
    pub(crate) fn from_address(address: SocketAddr, added: &[String]) -> Self {
        let port = address.port();
        let mut names = vec![address.to_string()];
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            names.extend(["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")));
        }
        for name in added {
            names.push(format!("{name}:{port}"));
            names.push(name.clone());
        }
        names.iter_mut().for_each(|name| name.make_ascii_lowercase());
        AllowedHosts(names)
    }

    pub(crate) fn contains(&self, host: &str) -> bool {
        self.0.iter().any(|known| known.eq_ignore_ascii_case(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_own_names_are_allowed_hosts() {
        let hosts = AllowedHosts::from_address("127.0.0.1:7373".parse().unwrap(), &["pi.local".to_owned()]);
        for ours in ["127.0.0.1:7373", "LOCALHOST:7373", "[::1]:7373", "pi.local:7373", "pi.local"] {
            assert!(hosts.contains(ours), "{ours}");
        }
        for other in [
            "",
            "localhost",
            "localhost.evil.example:7373",
            "127.0.0.1:80",
            "evil.example",
            "127.0.0.1:73730",
        ] {
            assert!(!hosts.contains(other), "{other}");
        }
        let wide = AllowedHosts::from_address("192.168.1.9:7373".parse().unwrap(), &[]);
        assert!(wide.contains("192.168.1.9:7373") && !wide.contains("localhost:7373"));
    }
}
