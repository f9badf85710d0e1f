//! Hosts as data: speed limits of a slot or reader, one file per host in `hosts/`.

use crate::builtin_files;
use crate::builtin_names::{BuiltinFiles, FileError};
use crate::job::{Figure, Figures};
use crate::toml_error::message_with_line;
use serde::{Deserialize, Serialize};

/// Share above the host's limit from which a figure counts as limited.
const SAME_AT_LIMIT: f64 = 0.001;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    pub name: String,
    pub title: String,
    pub source: String,
    /// True if the host connects cards by PCIe. On others an SD Express card works as a UHS-I card.
    #[serde(default)]
    pub express: bool,
    pub read_mb_s: f64,
    pub write_mb_s: f64,
    /// Shortest read of 4 KiB in microseconds; None if it was never the limit.
    pub small_read_us: Option<f64>,
}

/// Built-in hosts: the files of `hosts/`.
pub static HOSTS: BuiltinFiles = BuiltinFiles { kind: "host", files: builtin_files!("hosts"), also: "" };

pub fn find_host(name: &str) -> Result<Host, FileError> {
    parse_host(HOSTS.find_text(name)?)
}

pub fn parse_host(text: &str) -> Result<Host, FileError> {
    let host: Host = toml::from_str(text)
        .map_err(|e| FileError::Syntax("host", message_with_line(text, &e), Box::new(e)))?;
    let numbers = [Some(host.read_mb_s), Some(host.write_mb_s), host.small_read_us];
    let valid = numbers.into_iter().flatten().all(|n| n.is_finite() && n > 0.0) && !host.name.is_empty();
    let odd = |name| FileError::Invalid("host", name, "its speeds and times must be above 0".to_owned());
    if valid { Ok(host) } else { Err(odd(host.name)) }
}

impl Host {
    pub fn figure_limit(&self, figure: Figure) -> Option<f64> {
        match figure {
            Figure::ReadMbS => Some(self.read_mb_s),
            Figure::WriteMbS | Figure::SustainedWriteMbS => Some(self.write_mb_s),
            Figure::RandomReadIops => self.small_read_us.map(|us| 1e6 / us),
            Figure::RandomWriteIops | Figure::LongestWriteS | Figure::CapacityGb => None,
        }
    }

    /// Limits figures to the host's, and returns them with a text for each limited one.
    pub fn cap_figures(&self, figures: &Figures) -> (Figures, Vec<String>) {
        let mut capped = *figures;
        let mut words = Vec::new();
        for figure in Figure::ALL {
            let (Some(value), Some(limit)) = (figures.get(figure), self.figure_limit(figure)) else {
                continue;
            };
            if value > limit * (1.0 + SAME_AT_LIMIT) {
                capped.set(figure, limit);
                let (name, unit) = figure.name_and_unit();
                words.push(format!("{name} {value:.0} → {limit:.0} {unit}"));
            }
        }
        (capped, words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtin_hosts_are_valid_and_named_like_their_files() {
        for (host, name) in HOSTS.parse_all(parse_host).unwrap().iter().zip(HOSTS.names()) {
            assert_eq!(host.name, name);
            assert!(!host.source.is_empty());
        }
    }

    #[test]
    fn host_caps_fast_figures_only() {
        let host = find_host("pi-3").unwrap();
        let fast = Figures { read_mb_s: Some(90.0), write_mb_s: Some(12.0), ..Figures::default() };
        let (capped, words) = host.cap_figures(&fast);
        assert_eq!((capped.read_mb_s, capped.write_mb_s), (Some(host.read_mb_s), Some(12.0)));
        assert_eq!(words, ["sequential read 90 → 22 MB/s"]);
    }

    #[test]
    fn mistyped_host_gets_suggestion_and_invalid_numbers_are_refused() {
        assert!(find_host("pi3").unwrap_err().to_string().contains("did you mean \"pi-3\"?"));
        let text = "name=\"x\"\ntitle=\"x\"\nsource=\"x\"\nread_mb_s=0\nwrite_mb_s=1\n";
        let says = "host \"x\": its speeds and times must be above 0";
        assert_eq!(parse_host(text).unwrap_err().to_string(), says);
    }
}
