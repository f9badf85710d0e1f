//! Description of a simulated card in sentences, for `sim show`.

use super::schema::{
    Archetype, CacheKind, CloseCopy, ConstantCard, EndOfLife, FakeCapacity, FakeKind, FatRegion,
    GarbageCollection, HybridWrite, LostRead, PoolFull, PslcCache, ReadTimes, StaleReads, StartContent,
    ThermalNode, ThrottleKind, UnwrittenRead, WearParameters, WhenFull, WriteTimes,
};
use cardscope_model::units::{BinarySize, DecimalSize, ExactCapacity, three_digits};

/// Paragraphs that describe the card, each about one part.
pub fn describe_card(card: &Archetype) -> Vec<String> {
    let f = &card.flash;
    let planes = if f.planes > 1 { format!(" of {} planes", f.planes) } else { String::new() };
    let segment = clause(f.map_segment_bytes, |s| format!(", mapped in segments of {}", BinarySize(s)));
    let (page, block) = (BinarySize(f.page_bytes), BinarySize(f.au_bytes));
    let units = format!("Flash: page {page}{planes}, erase block {block}{segment}.");
    let paragraphs = [
        card.source.as_ref().map(|source| format!("Source: {source}.")),
        Some(format!("Announces {}.", ExactCapacity(card.announced_bytes))),
        Some(capacity_text(card)),
        faults_text(card),
        Some(start_text(card)),
        Some(card.constant.as_ref().map_or(units, constant_text)),
        card.read.as_ref().map(|r| reads_text(r, card.queue.depth)),
        card.write.as_ref().map(writes_text),
        joining_text(card),
        card.fat_region.as_ref().map(region_text),
        card.wear.as_ref().map(wear_text),
        card.cache.as_ref().map(cache_text),
        card.thermal.as_ref().map(heat_text),
        rig_text(card),
    ];
    paragraphs.into_iter().flatten().collect()
}

/// Text for a value that the card has; empty for one that it lacks.
fn clause<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map(text).unwrap_or_default()
}

fn constant_text(c: &ConstantCard) -> String {
    let (each, mb_s) = (time_text(c.command_s), c.mb_s);
    format!("Answers each command in {each} plus its bytes at {mb_s} MB/s, without noise and without heat.")
}

fn reads_text(r: &ReadTimes, depth: u32) -> String {
    let queue = match depth {
        1 => "no command queue".to_owned(),
        n => format!("up to {n} commands at a time"),
    };
    let unmapped = clause(r.unmapped_s.map(time_text), |time| {
        format!(" Where nothing was ever written it answers after {time}.")
    });
    let misses = clause(r.map_cache_bytes, |held| {
        let (held, miss) = (BinarySize(held), time_text(r.map_miss_s));
        format!(" It knows the mapping of {held} at a time; elsewhere a read waits {miss} more.")
    });
    let base = time_text(r.base_s);
    format!("Reads: {base} before the first byte, then {} MB/s; {queue}.{unmapped}{misses}", r.mb_s)
}

fn writes_text(write: &WriteTimes) -> String {
    match write {
        WriteTimes::Hybrid(h) => hybrid_text(h),
        WriteTimes::Log(l) => {
            let (fixed, random, merge) = (time_text(l.fixed_s), time_text(l.random_s), time_text(l.merge_s));
            let (mb_s, log) = (l.mb_s, BinarySize(l.log_bytes));
            format!(
                "Writes: in order {fixed} per write plus {mb_s} MB/s; out of order {random} for 4 KiB into a log of {log}, \
                 and {merge} for each erase block that the log must be merged into: the wider random writes are spread, \
                 the slower they get."
            )
        }
        WriteTimes::Page(p) => {
            let (base, mb_s, collection) = (time_text(p.base_s), p.mb_s, clause(p.gc, collection_text));
            format!("Writes: mapped by page, {base} per 4 KiB write plus {mb_s} MB/s anywhere.{collection}")
        }
    }
}

fn hybrid_text(h: &HybridWrite) -> String {
    let close = match h.close {
        CloseCopy::Partial => "its rest is copied",
        CloseCopy::Full => "all of it is copied",
        CloseCopy::Written => "what was written to it is copied",
    };
    let small = clause(h.small_log, |log| {
        let (most, takes) = (BinarySize(log.max_write_bytes), time_text(log.write_s));
        format!(" Writes of up to {most} that jump go to a log of their own, in {takes} and more.")
    });
    let blocks = if h.open_linear == 1 { "block" } else { "blocks" };
    let random = match h.open_random {
        0 => ", each write out of order merges its block".to_owned(),
        count => format!(" and {count} out of order"),
    };
    let open = format!("{} {blocks} may be open in order{random}", h.open_linear);
    let HybridWrite { mb_s, copy_mb_s, .. } = *h;
    let fixed = time_text(h.fixed_s);
    format!(
        "Writes: blocks mapped whole (hybrid). {fixed} per write plus {mb_s} MB/s; {open}. \
         When one more is touched the oldest is closed: {close} at {copy_mb_s} MB/s.{small}"
    )
}

fn joining_text(card: &Archetype) -> Option<String> {
    let size = BinarySize(Some(card.front.ram_bytes).filter(|bytes| *bytes > 0)?);
    Some(format!(
        "Its memory joins writes that continue each other, up to {size}; until a flush they could be lost."
    ))
}

fn region_text(r: &FatRegion) -> String {
    let size = BinarySize(r.bytes);
    let speed = share_text(r.speed);
    let treated = match r.page_write_s.map(time_text) {
        Some(time) => format!("mapped by page: a write anywhere there takes {time} and opens no block"),
        None => format!("treated specially: writes there run at {speed} of the speed"),
    };
    format!("The first {size} are {treated}.")
}

fn wear_text(w: &WearParameters) -> String {
    let end = match w.end {
        EndOfLife::ReadOnly => "it can only be read",
        EndOfLife::SwallowsWrites => "it accepts writes and drops them",
        EndOfLife::LosesBlocks => "each further block that fails is lost",
        EndOfLife::Dead => "it answers no more",
    };
    let moved = clause(w.level_every, |n| format!(" A block at rest is moved every {n} erasures."));
    let disturbed = clause(w.disturb_reads, |n| format!(" A block is rewritten after {n} reads."));
    let WearParameters { endurance_cycles, spare_blocks, .. } = w;
    format!(
        "Wear: half of the blocks outlive {endurance_cycles} erasures, {spare_blocks} spare ones replace those that \
         fail, then {end}.{moved}{disturbed}"
    )
}

fn rig_text(card: &Archetype) -> Option<String> {
    let (r, shown) = (&card.rig, card.shown_bytes());
    let stale = match r.stale_reads {
        StaleReads::None => None,
        StaleReads::Backwards => Some("a read that goes backwards"),
        StaleReads::Following => Some("a read that follows another one"),
    };
    let last = "it fails reads of several sectors at the end of the card".to_owned();
    let parts = [
        r.bus_mb_s.map(|speed| format!("the bus carries {speed} MB/s")),
        r.host_source_mb_s.map(|speed| format!("the data to write comes at {speed} MB/s")),
        r.split_bytes.map(|bytes| format!("the reader cuts commands at {}", BinarySize(bytes))),
        r.repeat_bytes.map(|most| format!("longer reads repeat their first {}", BinarySize(most))),
        (r.flip_read_every > 0).then(|| format!("one read in {} comes with a wrong bit", r.flip_read_every)),
        r.align_bytes
            .map(|unit| format!("reads are answered from the last multiple of {}", BinarySize(unit))),
        stale.map(|which| format!("{which} is answered with the data of the one before")),
        (shown != card.announced_bytes).then(|| format!("the reader announces {}", ExactCapacity(shown))),
        r.end_bytes.map(|end| format!("it reaches no address beyond {}", BinarySize(end))),
        r.address_limit_bytes.map(|end| format!("its addresses begin again at {}", BinarySize(end))),
        r.last_sector_bug.then_some(last),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("Rig: {}.", parts.join(", ")))
}

fn cache_text(c: &PslcCache) -> String {
    let share = c.bits.map(|bits| share_text(c.alpha / f64::from(bits)));
    let dynamic = clause(share, |share| format!(", at most {share} of what is free,"));
    let full = match c.when_full {
        WhenFull::Direct => "writes pass it",
        WhenFull::Fold => "each byte waits until one is moved",
    };
    let pool = clause(c.pool_bytes, |bytes| {
        let (most, rest) = (DecimalSize(bytes), time_text(c.pool_rest_s));
        format!(" After {most} of writes it cleans no more until it has rested {rest}.")
    });
    let read = clause(c.read_base_s, |s| format!(" Data in it reads after {}.", time_text(s)));
    let until = match c.reopen_bytes {
        0 => String::new(),
        bytes => format!(" until {} are clean again", DecimalSize(bytes)),
    };
    let (PslcCache { write_mb_s, clean_mb_s, .. }, clean) = (c, DecimalSize(c.clean_bytes));
    format!(
        "Cache (pSLC): {clean} clean{dynamic} take writes at {write_mb_s} MB/s. Once used up, {full}{until}. \
         It is cleaned at {clean_mb_s} MB/s while nothing is written.{pool}{read}"
    )
}

fn collection_text(gc: GarbageCollection) -> String {
    let (spare, unit, erase) = (share_text(gc.spare_share), BinarySize(gc.unit_bytes), time_text(gc.erase_s));
    let copy_mb_s = gc.copy_mb_s;
    format!(
        " With its {spare} of spare flash written, it collects {unit} at a time: what is valid there is copied at \
         {copy_mb_s} MB/s, then the whole is erased in {erase}."
    )
}

fn heat_text(t: &ThermalNode) -> String {
    let what = match t.throttle {
        ThrottleKind::Clock => "everything runs",
        ThrottleKind::Duty => "its data path may be busy",
    };
    let ThermalNode { active_k_per_w, passive_k_per_w, capacity_j_per_k, tmt1_c, tmt2_c, .. } = t;
    let (read, write, heavy) = (share_text(t.light_read), share_text(t.light_write), share_text(t.heavy));
    format!(
        "Heat: {active_k_per_w} K/W with a fan, {passive_k_per_w} K/W without, {capacity_j_per_k} J/K. \
         From {tmt1_c} °C on {what} at {read} for reads and {write} for writes, from {tmt2_c} °C on at {heavy}."
    )
}

fn share_text(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

fn time_text(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{} s", three_digits(s)),
        s if s >= 1e-3 => format!("{} ms", three_digits(s * 1e3)),
        s => format!("{} µs", three_digits(s * 1e6)),
    }
}

fn capacity_text(card: &Archetype) -> String {
    let fake = &card.fake;
    let size = |bytes: Option<u64>| DecimalSize(bytes.unwrap_or(0));
    let (real, wrap) = (size(fake.real_bytes), size(fake.wrap_bytes));
    let (share, unit) = (rounded_percent(fake.damaged_share), BinarySize(fake.damaged_unit_bytes));
    let kind = match fake.kind {
        FakeKind::None => return "The capacity is real.".to_owned(),
        FakeKind::Limbo if fake.real_bytes == Some(0) => "Fake: keeps no data.".to_owned(),
        FakeKind::Limbo => format!("Fake: holds {real}, writes beyond are lost."),
        FakeKind::Wraparound => format!("Fake: addresses wrap at {wrap}, later data overwrites earlier."),
        FakeKind::Chain => format!("Fake: addresses wrap at {wrap}, of which {real} hold data."),
        FakeKind::AddressLine => {
            let worth = BinarySize(fake.wrap_bytes.unwrap_or(0));
            format!("Fake: the address line of {worth} is dead, so blocks that far apart share one place.")
        }
        FakeKind::Damaged => format!("Damaged: {share} % of its units of {unit} lose data."),
        FakeKind::Overcommitted => {
            let full = match fake.pool_full {
                PoolFull::Vanish => "what is written to new places vanishes".to_owned(),
                PoolFull::Slow => format!("writes take {} times as long", fake.slow_factor),
                PoolFull::Dies => "it answers no more".to_owned(),
            };
            format!("Overcommitted: every address works until {real} are in use; then {full}.")
        }
        FakeKind::ReadOnly => return "Worn out: accepts writes but keeps the old data.".to_owned(),
    };
    [Some(kind), write_cache_text(fake), lost_text(fake)].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn write_cache_text(fake: &FakeCapacity) -> Option<String> {
    let size = BinarySize(fake.cache_bytes?);
    let order = match fake.cache_kind {
        CacheKind::Direct => "each block has one place in it",
        CacheKind::Lru => "the block used longest ago gives way",
        CacheKind::Fifo => "the block written first gives way",
    };
    let strict = if fake.cache_strict { "holds lost blocks only" } else { "every write passes through it" };
    let reset = if fake.cache_survives { "" } else { ", and a reset empties it" };
    Some(format!("A cache of {size} hides it for a while: {order}, it {strict}{reset}."))
}

fn lost_text(fake: &FakeCapacity) -> Option<String> {
    let reads = match (fake.kind, fake.lost) {
        (FakeKind::Wraparound | FakeKind::AddressLine, _) => return None,
        (_, LostRead::Zeros) => "reads as zeros",
        (_, LostRead::Ones) => "reads as 0xFF",
        (_, LostRead::Stale) => "reads as older data or as that of another block",
        (_, LostRead::Noise) => "reads as random bytes, others each time",
        (_, LostRead::Garbage) => "reads as random bytes that stay the same",
        (_, LostRead::Last) => "reads as the block that was written last",
        (_, LostRead::Error) => "cannot be read",
    };
    Some(format!("What is lost {reads}."))
}

fn faults_text(card: &Archetype) -> Option<String> {
    let f = &card.faults;
    let unit = BinarySize(f.unit_bytes);
    let parts: Vec<_> = [
        (f.lost_share, format!("of its units of {unit} lose their data")),
        (f.failing_share, format!("of its units of {unit} fail each command")),
        (f.flip_p, "of its sectors hold a wrong bit".to_owned()),
        (f.read_flip_p, "of sectors come with a wrong bit once".to_owned()),
        (f.read_error_p, "of reads fail".to_owned()),
        (f.write_error_p, "of writes fail".to_owned()),
    ]
    .into_iter()
    .filter(|(share, _)| *share > 0.0)
    .map(|(share, what)| format!("{} % {what}", rounded_percent(share)))
    .chain((f.error_tries > 1).then(|| format!("each error comes {} times", f.error_tries)))
    .collect();
    let ranges = (!f.error_ranges.is_empty()).then(|| format!("Commands fail at {}.", f.error_ranges));
    let stalls = (f.stall_every_ios > 0)
        .then(|| format!("It answers nothing for {} each {} I/Os.", time_text(f.stall_s), f.stall_every_ios));
    let begin = match f.begin_after_bytes {
        0 => String::new(),
        bytes => format!(" after {} written", DecimalSize(bytes)),
    };
    let all = (!parts.is_empty()).then(|| format!("Faults{begin}: {}.", parts.join(", ")));
    let bytes = f.vanish_after_bytes.map(|bytes| format!("{} written", DecimalSize(bytes)));
    let ios = f.vanish_after_ios.map(|ios| format!("{ios} reads and writes"));
    let time = f.vanish_after_s.map(|s| format!("{s} s"));
    let any: Vec<_> = [bytes, ios, time].into_iter().flatten().collect();
    let torn = if f.vanish_tears { ", and the write under way is torn" } else { "" };
    let vanishes = (!any.is_empty()).then(|| format!("It vanishes after {}{torn}.", any.join(" or ")));
    let sentences: Vec<_> = [all, ranges, stalls, vanishes].into_iter().flatten().collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn start_text(card: &Archetype) -> String {
    let share = rounded_percent(card.state.used_share);
    let rest = match card.state.unwritten {
        UnwrittenRead::Zeros => "zeros",
        UnwrittenRead::Ones => "0xFF",
    };
    match card.state.start {
        StartContent::Factory => format!("The card starts empty and reads as {rest}."),
        StartContent::Filled => "It was written once completely.".to_owned(),
        StartContent::Used => format!("{share} % of its erase blocks hold data; the rest reads as {rest}."),
    }
}

/// Share in percent, rounded so that errors of binary fractions do not show.
fn rounded_percent(share: f64) -> f64 {
    (share * 1e14).round() / 1e12
}
