//! Checks that all tables of an archetype share. An error names key, value and what it must be, so that the model can
//! rely on its parameters. The range of a number follows from the unit that its key ends in; each table checks sizes
//! and values that depend on each other.

use toml::Value;

/// Error text for the first wrong value.
pub(super) type ValueCheck = Result<(), String>;

pub(super) const SECTOR: u64 = 512;

/// Returns the formatted error unless the value fits.
macro_rules! ensure {
    ($fits:expr, $($wrong:tt)+) => {
        match $fits {
            true => {}
            false => return Err(format!($($wrong)+)),
        }
    };
}
pub(super) use ensure;

/// Largest SDUC capacity (SDUC Host Implementation Guideline 1.00: 128 TB).
const LARGEST_CARD: u64 = 128 << 40;

pub(super) fn check_capacity(key: &str, value: u64) -> ValueCheck {
    check_whole_sectors(key, value)?;
    ensure!(value <= LARGEST_CARD, "{key} = {value} must be at most {LARGEST_CARD} (128 TiB)");
    Ok(())
}

pub(super) fn check_whole_sectors(key: &str, value: u64) -> ValueCheck {
    let whole = value > 0 && value.is_multiple_of(SECTOR);
    ensure!(whole, "{key} = {value} must be a multiple of 512 and not 0");
    Ok(())
}

pub(super) fn check_not_zero(key: &str, value: u64) -> ValueCheck {
    ensure!(value > 0, "{key} must not be 0");
    Ok(())
}

/// Checks all floating-point numbers of a table and of the tables in it.
pub(super) fn check_numbers(path: &str, value: &Value) -> ValueCheck {
    match value {
        Value::Table(table) => table.iter().try_for_each(|(key, value)| match path {
            "" => check_numbers(key, value),
            _ => check_numbers(&format!("{path}.{key}"), value),
        }),
        Value::Array(all) => all.iter().try_for_each(|value| check_numbers(path, value)),
        Value::Float(value) => check_number(path, *value),
        _ => Ok(()),
    }
}

fn check_number(path: &str, value: f64) -> ValueCheck {
    let key = path.rsplit('.').next().unwrap_or(path);
    let ends = |units: &[&str]| units.iter().any(|unit| key.ends_with(unit));
    let (fits, range) = match key {
        "clean_mb_s" => (value >= 0.0, "0 or more"),
        "vanish_after_s" => ((0.0..=1e9).contains(&value), "0 to 1000000000 seconds"),
        "spare_share" => ((0.001..=10.0).contains(&value), "0.001 to 10"),
        "disturb_share" => ((0.0..=0.95).contains(&value), "0 to 0.95"),
        // At most 64 weak bits are drawn for each MiB; 0.01 gives 20 on average.
        "flip_p" | "read_flip_p" => ((0.0..=0.01).contains(&value), "0 to 0.01"),
        "slow_factor" => ((1.0..=1e6).contains(&value), "1 to 1000000"),
        "start_cycles" => ((0.0..=1e9).contains(&value), "0 to 1000000000"),
        "alpha" | "light_read" | "light_write" | "heavy" | "throttled_busy" => {
            (value > 0.0 && value <= 1.0, "above 0 and at most 1")
        }
        "endurance_cycles" | "endurance_sigma" | "factor" | "cached" | "speed" => (value > 0.0, "above 0"),
        _ if ends(&["mb_s", "_k_per_w", "_j_per_k"]) => (value > 0.0, "above 0"),
        _ if ends(&["_share", "_p", "_sigma"]) => ((0.0..=1.0).contains(&value), "0 to 1"),
        _ if ends(&["_s"]) => ((0.0..=3600.0).contains(&value), "0 to 3600 seconds"),
        _ => (true, "a number"),
    };
    ensure!(fits && value.is_finite(), "{path} = {value} must be {range}");
    Ok(())
}
