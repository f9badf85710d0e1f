//! Parsers of command-line values: sizes, regions, durations, shares.

use cardscope_engine::target::TargetRegion;
use cardscope_model::units::parse_size;
use std::time::Duration;

pub fn parse_size_argument(text: &str) -> Result<u64, String> {
    parse_size(text).map_err(|e| e.to_string())
}

/// Parses `START+LEN`, both sizes: `1G+512M`.
pub fn parse_region(text: &str) -> Result<TargetRegion, String> {
    let wrong = || format!("{text:?} is not a region; write START+LEN, e.g. 1G+512M");
    let (start, len) = text.split_once('+').ok_or_else(wrong)?;
    Ok(TargetRegion { start: parse_size_argument(start)?, len: parse_size_argument(len)? })
}

/// Parses `90s`, `3m`, `1.5h` or plain seconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let (number, factor) = match text.char_indices().last() {
        Some((i, 's')) => (&text[..i], 1.0),
        Some((i, 'm')) => (&text[..i], 60.0),
        Some((i, 'h')) => (&text[..i], 3600.0),
        _ => (text, 1.0),
    };
    let seconds = number.parse::<f64>().ok().map(|n| n * factor).filter(|s| *s > 0.0 && *s < 1e9);
    seconds.map(Duration::from_secs_f64).ok_or_else(|| format!("{text:?} is not a time; write 90s, 3m or 1h"))
}

/// Parses `10%` or `0.1` as a share above 0 and up to 1.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let (number, factor) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let share = number.trim().parse::<f64>().ok().map(|n| n * factor);
    let share = share.filter(|s| *s > 0.0 && *s <= 1.0);
    share.ok_or_else(|| format!("{text:?} is not a share; write 10% or 0.1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn region_is_start_plus_length() {
        assert_eq!(parse_region("1G+512M"), Ok(TargetRegion { start: 1 << 30, len: 512 << 20 }));
        assert_eq!(parse_region("0+1MiB"), Ok(TargetRegion { start: 0, len: 1 << 20 }));
        for bad in ["1G", "1G-512M", "+", "1G+", "x+1", ""] {
            assert!(parse_region(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_accept_units() {
        assert_eq!(parse_duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("20"), Ok(Duration::from_secs(20)));
        for bad in ["", "m", "-3m", "3x", "0", "nan", "inf"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn shares_accept_percent() {
        assert_eq!(
            (parse_share("10%"), parse_share("0.1"), parse_share("100 %")),
            (Ok(0.1), Ok(0.1), Ok(1.0))
        );
        for bad in ["0", "-1%", "101%", "half", "nan"] {
            assert!(parse_share(bad).is_err(), "{bad}");
        }
    }
}
