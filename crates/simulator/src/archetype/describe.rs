//! An archetype in words, for `sim list` and `sim show`.

use super::schema::{Archetype, Cache, Close, FakeKind, Thermal, Write};
use cardscope_model::units::{BinarySize, Capacity};
use std::fmt::Write as _;

/// One line: name, size and title.
#[must_use]
pub fn summary(card: &Archetype) -> String {
    format!("{:<28} {:>7.1} GB  {}", card.name, card.announced_bytes as f64 / 1e9, card.title)
}

/// The card in words, a paragraph for each part.
#[must_use]
pub fn describe(card: &Archetype) -> String {
    let mut out = format!("{}: {}\n\nAnnounces {}.\n", card.name, card.title, Capacity(card.announced_bytes));
    let mut say = |text: String| {
        let _ = writeln!(out, "{text}");
    };
    say(capacity(card));
    if let Some(c) = &card.constant {
        say(format!(
            "Answers each command in {} plus its bytes at {} MB/s, without noise and without heat.",
            time(c.command_s),
            c.mb_s
        ));
    }
    if card.constant.is_none() {
        say(units(card));
    }
    say(reads(card));
    say(card.write.as_ref().map(writes).unwrap_or_default());
    say(card.cache.as_ref().map(cache).unwrap_or_default());
    say(card.thermal.as_ref().map(heat).unwrap_or_default());
    say(rig(card));
    out.lines().filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n\n") + "\n"
}

fn capacity(card: &Archetype) -> String {
    let size = |bytes: Option<u64>| Capacity(bytes.unwrap_or(0)).to_string();
    let fake = &card.fake;
    let cache = fake
        .cache_bytes
        .map_or(String::new(), |c| format!(" A cache of {} hides it for a while.", BinarySize(c)));
    match fake.kind {
        FakeKind::None => "The capacity is real.".to_owned(),
        FakeKind::Limbo => {
            format!("Fake: only {} are there, what is written beyond is lost.{cache}", size(fake.real_bytes))
        }
        FakeKind::Wraparound => {
            format!("Fake: addresses wrap at {}, later data overwrites earlier.", size(fake.wrap_bytes))
        }
        FakeKind::Chain => format!(
            "Fake: addresses wrap at {}, and of those only {} are there.",
            size(fake.wrap_bytes),
            size(fake.real_bytes)
        ),
    }
}

fn units(card: &Archetype) -> String {
    let f = &card.flash;
    format!("Flash: page {}, erase block {}.", BinarySize(f.page_bytes), BinarySize(f.au_bytes))
}

fn reads(card: &Archetype) -> String {
    let Some(r) = &card.read else { return String::new() };
    let queue = match card.queue.depth {
        1 => "no command queue".to_owned(),
        n => format!("up to {n} commands at a time"),
    };
    format!("Reads: {} before the first byte, then {} MB/s; {queue}.", time(r.base_s), r.mb_s)
}

fn writes(write: &Write) -> String {
    match write {
        Write::Hybrid(h) => {
            let close = match h.close {
                Close::Partial => "its rest is copied",
                Close::Full => "all of it is copied",
            };
            format!(
                "Writes: blocks mapped whole (hybrid). {} per write plus {} MB/s; {} blocks may be open in order and {} out of order. \
                 When one more is touched the oldest is closed: {close} at {} MB/s.",
                time(h.fixed_s),
                h.mb_s,
                h.open_linear,
                h.open_random,
                h.copy_mb_s
            )
        }
        Write::Log(l) => format!(
            "Writes: in order {} per write plus {} MB/s; out of order {} for 4 KiB into a log of {}, and {} for each erase block \
             that the log must be merged into: the wider random writes are spread, the slower they get.",
            time(l.fixed_s),
            l.mb_s,
            time(l.random_s),
            BinarySize(l.log_bytes),
            time(l.merge_s)
        ),
        Write::Page(p) => {
            format!(
                "Writes: mapped by page, {} per 4 KiB write plus {} MB/s anywhere.",
                time(p.base_s),
                p.mb_s
            )
        }
    }
}

fn cache(c: &Cache) -> String {
    format!(
        "Cache (pSLC): {:.1} GB clean take writes at {} MB/s. Once used up it stays closed until {:.1} GB are clean again, \
         at {} MB/s while nothing is written. Data in it reads after {}.",
        c.clean_bytes as f64 / 1e9,
        c.write_mb_s,
        c.reopen_bytes as f64 / 1e9,
        c.clean_mb_s,
        time(c.read_base_s)
    )
}

fn heat(t: &Thermal) -> String {
    format!(
        "Heat: {} K/W with a fan, {} K/W without, {} J/K. From {} °C on reads run at {:.0} % and writes at {:.0} %, from {} °C on \
         everything at {:.0} %.",
        t.active_k_per_w,
        t.passive_k_per_w,
        t.capacity_j_per_k,
        t.tmt1_c,
        t.light_read * 100.0,
        t.light_write * 100.0,
        t.tmt2_c,
        t.heavy * 100.0
    )
}

fn rig(card: &Archetype) -> String {
    let r = &card.rig;
    let mut parts = Vec::new();
    if let Some(speed) = r.bus_mb_s {
        parts.push(format!("the bus carries {speed} MB/s"));
    }
    if let Some(speed) = r.host_source_mb_s {
        parts.push(format!("the data to write comes at {speed} MB/s"));
    }
    if let Some(bytes) = r.split_bytes {
        parts.push(format!("the reader cuts commands at {}", BinarySize(bytes)));
    }
    if parts.is_empty() { String::new() } else { format!("Rig: {}.", parts.join(", ")) }
}

/// A time in the unit that suits it.
fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.1} µs", s * 1e6),
    }
}
