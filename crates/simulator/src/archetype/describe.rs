//! An archetype in words, for `sim list` and `sim show`.

use super::schema::{
    Archetype, Cache, Close, EndOfLife, FatRegion, HybridWrite, PageWrite, Thermal, Throttle, Wear, WhenFull,
    Write,
};
use cardscope_model::units::{BinarySize, Capacity};
use std::fmt::Write as _;

/// One line: name, size and title.
pub fn summary(card: &Archetype) -> String {
    format!("{:<28} {:>7.1} GB  {}", card.name, card.announced_bytes as f64 / 1e9, card.title)
}

/// The card in words, a paragraph for each part.
pub fn describe(card: &Archetype) -> String {
    let mut out = format!("{}: {}\n\nAnnounces {}.\n", card.name, card.title, Capacity(card.announced_bytes));
    let mut say = |text: String| {
        let _ = writeln!(out, "{text}");
    };
    say(super::describe_capacity::capacity(card));
    say(super::describe_capacity::faults(card));
    say(super::describe_capacity::state(card));
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
    say(front(card));
    say(card.fat_region.as_ref().map(region).unwrap_or_default());
    say(card.wear.as_ref().map(wear).unwrap_or_default());
    say(card.cache.as_ref().map(cache).unwrap_or_default());
    say(card.thermal.as_ref().map(heat).unwrap_or_default());
    say(rig(card));
    out.lines().filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n\n") + "\n"
}

fn units(card: &Archetype) -> String {
    let f = &card.flash;
    let planes = if f.planes > 1 { format!(" of {} planes", f.planes) } else { String::new() };
    let segment =
        f.map_segment_bytes.map_or(String::new(), |s| format!(", mapped in segments of {}", BinarySize(s)));
    format!(
        "Flash: page {}{planes}, erase block {}{segment}.",
        BinarySize(f.page_bytes),
        BinarySize(f.au_bytes)
    )
}

fn reads(card: &Archetype) -> String {
    let Some(r) = &card.read else { return String::new() };
    let queue = match card.queue.depth {
        1 => "no command queue".to_owned(),
        n => format!("up to {n} commands at a time"),
    };
    let unmapped = r
        .unmapped_s
        .map_or(String::new(), |t| format!(" Where nothing was ever written it answers after {}.", time(t)));
    let misses = r.map_cache_bytes.map_or(String::new(), |held| {
        format!(
            " It knows the mapping of {} at a time; elsewhere a read waits {} more.",
            BinarySize(held),
            time(r.map_miss_s)
        )
    });
    format!(
        "Reads: {} before the first byte, then {} MB/s; {queue}.{unmapped}{misses}",
        time(r.base_s),
        r.mb_s
    )
}

fn writes(write: &Write) -> String {
    match write {
        Write::Hybrid(h) => hybrid(h),
        Write::Log(l) => format!(
            "Writes: in order {} per write plus {} MB/s; out of order {} for 4 KiB into a log of {}, and {} for each erase block \
             that the log must be merged into: the wider random writes are spread, the slower they get.",
            time(l.fixed_s),
            l.mb_s,
            time(l.random_s),
            BinarySize(l.log_bytes),
            time(l.merge_s)
        ),
        Write::Page(p) => format!(
            "Writes: mapped by page, {} per 4 KiB write plus {} MB/s anywhere.{}",
            time(p.base_s),
            p.mb_s,
            collection(p)
        ),
    }
}

fn blocks(count: u32) -> String {
    if count == 1 { "1 block".to_owned() } else { format!("{count} blocks") }
}

fn hybrid(h: &HybridWrite) -> String {
    let close = match h.close {
        Close::Partial => "its rest is copied",
        Close::Full => "all of it is copied",
        Close::Written => "what was written to it is copied",
    };
    let small = h.small_log.map_or(String::new(), |log| {
        let (most, takes) = (BinarySize(log.max_write_bytes), time(log.write_s));
        format!(" Writes of up to {most} that jump go to a log of their own, in {takes} and more.")
    });
    let open = match (h.open_linear, h.open_random) {
        (linear, 0) => {
            format!("{} may be open in order, each write out of order merges its block", blocks(linear))
        }
        (linear, random) => format!("{} may be open in order and {random} out of order", blocks(linear)),
    };
    format!(
        "Writes: blocks mapped whole (hybrid). {} per write plus {} MB/s; {open}. \
         When one more is touched the oldest is closed: {close} at {} MB/s.{small}",
        time(h.fixed_s),
        h.mb_s,
        h.copy_mb_s
    )
}

fn front(card: &Archetype) -> String {
    match card.front.ram_bytes {
        0 => String::new(),
        bytes => format!(
            "Its memory joins writes that continue each other, up to {}; until a flush they could be lost.",
            BinarySize(bytes)
        ),
    }
}

fn region(r: &FatRegion) -> String {
    let size = BinarySize(r.bytes);
    match r.page_write_s {
        Some(t) => format!(
            "The first {size} are mapped by page: a write anywhere there takes {} and opens no block.",
            time(t)
        ),
        None => format!(
            "The first {size} are treated specially: writes there run at {:.0} % of the speed.",
            r.speed * 100.0
        ),
    }
}

fn wear(w: &Wear) -> String {
    let end = match w.end {
        EndOfLife::ReadOnly => "it can only be read",
        EndOfLife::SwallowsWrites => "it accepts writes and drops them",
        EndOfLife::LosesBlocks => "each further block that fails is lost",
        EndOfLife::Dead => "it answers no more",
    };
    let moved =
        w.level_every.map_or(String::new(), |n| format!(" A block at rest is moved every {n} erasures."));
    let disturbed =
        w.disturb_reads.map_or(String::new(), |n| format!(" A block is rewritten after {n} reads."));
    format!(
        "Wear: half of the blocks outlive {} erasures, {} spare ones replace those that fail, then {end}.{moved}{disturbed}",
        w.endurance_cycles, w.spare_blocks
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

fn cache(c: &Cache) -> String {
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

fn collection(p: &PageWrite) -> String {
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

fn heat(t: &Thermal) -> String {
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
fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.1} µs", s * 1e6),
    }
}
