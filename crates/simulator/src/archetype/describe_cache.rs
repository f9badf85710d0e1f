//! The cache, the garbage collection and the heat of an archetype in words.

use super::schema::{Cache, PageWrite, Thermal, Throttle, WhenFull};
use cardscope_model::units::BinarySize;

pub(super) fn cache(c: &Cache) -> String {
    let gb = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
    let dynamic = c.bits.map_or(String::new(), |bits| {
        format!(", at most {} of what is free,", share(c.alpha / f64::from(bits)))
    });
    let full = match c.when_full {
        WhenFull::Direct => "writes pass it",
        WhenFull::Fold => "each byte waits until one is moved",
    };
    let pool = c.pool_bytes.map_or(String::new(), |bytes| {
        format!(
            " After {} of writes it cleans no more until it has rested {}.",
            gb(bytes),
            time(c.pool_rest_s)
        )
    });
    let read = c.read_base_s.map_or(String::new(), |s| format!(" Data in it reads after {}.", time(s)));
    let until = match c.reopen_bytes {
        0 => String::new(),
        bytes => format!(" until {} are clean again", gb(bytes)),
    };
    format!(
        "Cache (pSLC): {} clean{dynamic} take writes at {} MB/s. Once used up, {full}{until}. It is cleaned at {} MB/s while \
         nothing is written.{pool}{read}",
        gb(c.clean_bytes),
        c.write_mb_s,
        c.clean_mb_s
    )
}

pub(super) fn collection(p: &PageWrite) -> String {
    p.gc.map_or(String::new(), |gc| {
        format!(
            " With its {} of spare flash written, it collects {} at a time: what is valid there is copied at {} MB/s, then the \
             whole is erased in {}.",
            share(gc.spare_share),
            BinarySize(gc.unit_bytes),
            gc.copy_mb_s,
            time(gc.erase_s)
        )
    })
}

pub(super) fn heat(t: &Thermal) -> String {
    let what = match t.throttle {
        Throttle::Clock => "everything runs",
        Throttle::Duty => "its data path may be busy",
    };
    format!(
        "Heat: {} K/W with a fan, {} K/W without, {} J/K. From {} °C on {what} at {} for reads and {} for writes, from {} °C on at {}.",
        t.active_k_per_w,
        t.passive_k_per_w,
        t.capacity_j_per_k,
        t.tmt1_c,
        share(t.light_read),
        share(t.light_write),
        t.tmt2_c,
        share(t.heavy)
    )
}

fn share(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

/// A time in the unit that suits it.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.1} µs", s * 1e6),
    }
}
