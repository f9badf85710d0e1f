//! Numbers as people read them: as many digits as mean something, and a unit that fits.

/// A speed in MB/s: three significant digits below 100, one decimal above.
#[must_use]
pub fn speed(mb_s: f64) -> String {
    match mb_s.abs() {
        v if v >= 99.95 => format!("{mb_s:.1}"),
        v if v >= 9.995 => format!("{mb_s:.2}"),
        _ => format!("{mb_s:.3}"),
    }
}

/// A rate per second: whole numbers from 100 up, one decimal below.
#[must_use]
pub fn rate(per_s: f64) -> String {
    if per_s >= 100.0 { format!("{per_s:.0}") } else { format!("{per_s:.1}") }
}

/// A time given in microseconds, in the unit that fits.
#[must_use]
pub fn time_us(us: f64) -> String {
    match us {
        v if v >= 1e6 => format!("{:.2} s", v / 1e6),
        v if v >= 1e3 => format!("{:.2} ms", v / 1e3),
        v => format!("{v:.1} µs"),
    }
}

/// A duration in seconds as `1 h 02 min`, `3 min 05 s` or `4.2 s`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        s if s >= 3600 => format!("{} h {:02} min", s / 3600, s % 3600 / 60),
        s if s >= 60 => format!("{} min {:02} s", s / 60, s % 60),
        _ => format!("{seconds:.1} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_carry_as_many_digits_as_they_deserve() {
        assert_eq!([speed(1.2345), speed(20.4), speed(834.2)], ["1.234", "20.40", "834.2"]);
        assert_eq!([time_us(47.2), time_us(1335.9), time_us(2.5e6)], ["47.2 µs", "1.34 ms", "2.50 s"]);
        assert_eq!([duration(4.2), duration(185.0), duration(3720.0)], ["4.2 s", "3 min 05 s", "1 h 02 min"]);
    }
}
