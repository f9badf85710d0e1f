//! What the checks of all tables share: each says what is wrong by key, value and what it must be, so that the model
//! itself need not doubt its parameters.

/// Says what is wrong with the first thing that is.
pub(super) type Verdict = Result<(), String>;

pub(super) const SECTOR: u64 = 512;

pub(super) fn whole_sectors(key: &str, value: u64) -> Verdict {
    if value == 0 || !value.is_multiple_of(SECTOR) {
        return Err(format!("{key} = {value} must be a multiple of 512 and not 0"));
    }
    Ok(())
}

pub(super) fn some_bytes(key: &str, value: u64) -> Verdict {
    if value == 0 { Err(format!("{key} must not be 0")) } else { Ok(()) }
}

pub(super) fn positive(key: &str, value: f64) -> Verdict {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(format!("{key} = {value} must be above 0")) }
}

pub(super) fn seconds(key: &str, value: f64) -> Verdict {
    if (0.0..=3600.0).contains(&value) {
        Ok(())
    } else {
        Err(format!("{key} = {value} must be 0 to 3600 seconds"))
    }
}

pub(super) fn share(key: &str, value: f64) -> Verdict {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(format!("{key} = {value} must be 0 to 1")) }
}
