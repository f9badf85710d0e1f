//! What is false about a card's capacity, what else goes wrong with it and what stands on it, in words.

use super::schema::{Archetype, CacheKind, Fake, FakeKind, Faults, Lost, PoolFull, Start, Unwritten};
use cardscope_model::units::{BinarySize, Capacity};

pub(super) fn capacity(card: &Archetype) -> String {
    let fake = &card.fake;
    let size = |bytes: Option<u64>| Capacity(bytes.unwrap_or(0)).to_string();
    let kind = match fake.kind {
        FakeKind::None => return "The capacity is real.".to_owned(),
        FakeKind::Limbo if fake.real_bytes == Some(0) => "Fake: it keeps nothing at all.".to_owned(),
        FakeKind::Limbo => {
            format!("Fake: only {} are there, what is written beyond is lost.", size(fake.real_bytes))
        }
        FakeKind::Wraparound => {
            format!("Fake: addresses wrap at {}, later data overwrites earlier.", size(fake.wrap_bytes))
        }
        FakeKind::Chain => format!(
            "Fake: addresses wrap at {}, and of those only {} are there.",
            size(fake.wrap_bytes),
            size(fake.real_bytes)
        ),
        FakeKind::AddressLine => format!(
            "Fake: the address line worth {} is not wired, so that a block and its twin so far away share one place.",
            BinarySize(fake.wrap_bytes.unwrap_or(0))
        ),
        FakeKind::Damaged => format!(
            "Damaged: {} % of its units of {} lose what is written to them, here and there.",
            percent(fake.damaged_share),
            BinarySize(fake.damaged_unit_bytes)
        ),
        FakeKind::Overcommitted => format!(
            "Overcommitted: any address works until {} are in use; then {}.",
            size(fake.real_bytes),
            when_full(fake)
        ),
        FakeKind::ReadOnly => {
            return "Worn out: writes are accepted and dropped, what stood there stays.".to_owned();
        }
    };
    [kind, cache(fake), lost(fake)]
        .iter()
        .filter(|part| !part.is_empty())
        .cloned()
        .collect::<Vec<_>>()
        .join(" ")
}

fn when_full(fake: &Fake) -> String {
    match fake.pool_full {
        PoolFull::Vanish => "what is written to new places vanishes".to_owned(),
        PoolFull::Slow => format!("writes take {} times as long", fake.slow_factor),
        PoolFull::Dies => "it answers no more".to_owned(),
    }
}

fn cache(fake: &Fake) -> String {
    let Some(bytes) = fake.cache_bytes else { return String::new() };
    let order = match fake.cache_kind {
        CacheKind::Direct => "each block has one place in it",
        CacheKind::Lru => "the block used longest ago gives way",
        CacheKind::Fifo => "the block written first gives way",
    };
    let strict = if fake.cache_strict { "holds lost blocks only" } else { "every write passes through it" };
    let reset = if fake.cache_survives { "" } else { ", and a reset empties it" };
    format!("A cache of {} hides it for a while: {order}, it {strict}{reset}.", BinarySize(bytes))
}

fn lost(fake: &Fake) -> String {
    let reads = match (fake.kind, fake.lost) {
        (FakeKind::Wraparound | FakeKind::AddressLine, _) => return String::new(),
        (_, Lost::Zeros) => "reads as zeros",
        (_, Lost::Ones) => "reads as 0xFF",
        (_, Lost::Stale) => "reads as older data or as that of another block",
        (_, Lost::Noise) => "reads as random bytes, others each time",
        (_, Lost::Garbage) => "reads as random bytes that stay the same",
        (_, Lost::Last) => "reads as the block that was written last",
        (_, Lost::Error) => "cannot be read",
    };
    format!("What is lost {reads}.")
}

pub(super) fn faults(card: &Archetype) -> String {
    let f = &card.faults;
    if f.none() {
        return String::new();
    }
    let mut parts = Vec::new();
    let unit = BinarySize(f.unit_bytes);
    let mut say = |share: f64, text: String| {
        if share > 0.0 {
            parts.push(text);
        }
    };
    say(f.lost_share, format!("{} % of its units of {unit} lose their data", percent(f.lost_share)));
    say(f.failing_share, format!("{} % of its units of {unit} fail each command", percent(f.failing_share)));
    say(f.flip_p, format!("{} % of its sectors hold a wrong bit", percent(f.flip_p)));
    say(f.read_flip_p, format!("{} % of sectors come with a wrong bit once", percent(f.read_flip_p)));
    say(f.read_error_p, format!("{} % of reads fail", percent(f.read_error_p)));
    say(f.write_error_p, format!("{} % of writes fail", percent(f.write_error_p)));
    let begin = match f.begin_after_bytes {
        0 => String::new(),
        bytes => format!(" after {} written", Capacity(bytes)),
    };
    let all = if parts.is_empty() { String::new() } else { format!("Faults{begin}: {}.", parts.join(", ")) };
    format!("{all} {}", vanishing(f)).trim().to_owned()
}

fn vanishing(f: &Faults) -> String {
    let bytes = f.vanish_after_bytes.map(|bytes| format!("{} written", Capacity(bytes)));
    let ios = f.vanish_after_ios.map(|ios| format!("{ios} reads and writes"));
    let time = f.vanish_after_s.map(|s| format!("{s} s"));
    let any: Vec<_> = [bytes, ios, time].into_iter().flatten().collect();
    if any.is_empty() { String::new() } else { format!("It vanishes after {}.", any.join(" or ")) }
}

pub(super) fn state(card: &Archetype) -> String {
    let s = &card.state;
    let unwritten = match s.unwritten {
        Unwritten::Zeros => "zeros",
        Unwritten::Ones => "0xFF",
    };
    match s.start {
        Start::Factory => format!("Nothing is written on it yet; it reads as {unwritten}."),
        Start::Filled => "It was written once from end to end.".to_owned(),
        Start::Used => {
            format!(
                "{} % of its erase blocks hold data; the rest reads as {unwritten}.",
                percent(s.used_share)
            )
        }
    }
}

/// A share in percent, without digits that the arithmetic made.
fn percent(share: f64) -> f64 {
    (share * 1e14).round() / 1e12
}
