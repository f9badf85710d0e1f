//! Checks that an archetype can be a card, so that the model itself need not doubt its parameters.

use super::schema::{Archetype, Cache, Fake, FakeKind, Rig, Thermal, Write};

/// Says what is wrong with the first thing that is.
type Verdict = Result<(), String>;

const SECTOR: u64 = 512;

/// Holds a card against what the model needs.
///
/// # Errors
/// A sentence that names the key, its value and what it must be.
pub(super) fn check(card: &Archetype) -> Verdict {
    whole_sectors("announced_bytes", card.announced_bytes)?;
    sources_of_time(card)?;
    flash(card)?;
    noise(card)?;
    if card.queue.depth == 0 || card.queue.depth > 65536 {
        return Err(format!("queue.depth = {} must be 1 to 65536", card.queue.depth));
    }
    times(card)?;
    card.cache.as_ref().map_or(Ok(()), |c| cache(c, card))?;
    card.thermal.as_ref().map_or(Ok(()), thermal)?;
    fake(&card.fake, card.announced_bytes)?;
    rig(&card.rig)
}

fn sources_of_time(card: &Archetype) -> Verdict {
    match (card.constant.is_some(), card.read.is_some(), card.write.is_some()) {
        (true, false, false) | (false, true, true) => Ok(()),
        _ => Err("a card needs either [constant], or [read] and [write]".to_owned()),
    }
}

fn flash(card: &Archetype) -> Verdict {
    let f = &card.flash;
    for (key, value) in [
        ("flash.page_bytes", f.page_bytes),
        ("flash.read_unit_bytes", f.read_unit_bytes),
        ("flash.au_bytes", f.au_bytes),
        ("flash.map_segment_bytes", f.map_segment_bytes.unwrap_or(f.au_bytes)),
    ] {
        whole_sectors(key, value)?;
    }
    if !f.au_bytes.is_multiple_of(f.page_bytes) {
        return Err(format!(
            "flash.au_bytes = {} is no multiple of flash.page_bytes = {}",
            f.au_bytes, f.page_bytes
        ));
    }
    // The model keeps one entry an allocation unit: a unit of one sector on a terabyte would fill the memory.
    if f.au_bytes < 64 << 10 {
        return Err(format!("flash.au_bytes = {} must be at least 64 KiB", f.au_bytes));
    }
    Ok(())
}

fn noise(card: &Archetype) -> Verdict {
    let n = &card.noise;
    share("noise.read_sigma", n.read_sigma)?;
    share("noise.write_sigma", n.write_sigma)?;
    share("noise.hiccup_p", n.hiccup_p)?;
    seconds("noise.hiccup_s", n.hiccup_s)
}

fn times(card: &Archetype) -> Verdict {
    seconds("queue.flush_s", card.queue.flush_s)?;
    for step in card.queue.read_cost.iter().chain(&card.queue.write_cost) {
        positive("queue cost factor", step.factor)?;
    }
    if let Some(c) = &card.constant {
        seconds("constant.command_s", c.command_s)?;
        positive("constant.mb_s", c.mb_s)?;
    }
    if let Some(r) = &card.read {
        for (key, value) in [
            ("read.base_s", r.base_s),
            ("read.sequential_s", r.sequential_s.unwrap_or(0.0)),
            ("read.large_s", r.large_s.unwrap_or(0.0)),
            ("read.page_step_s", r.page_step_s),
            ("read.au_step_s", r.au_step_s),
            ("read.segment_step_s", r.segment_step_s),
            ("read.within_read_unit_s", r.within_read_unit_s.unwrap_or(0.0)),
            ("read.serial_s", r.serial_s),
        ] {
            seconds(key, value)?;
        }
        positive("read.mb_s", r.mb_s)?;
        some_bytes("read.ramp_bytes", r.ramp_bytes)?;
    }
    card.write.as_ref().map_or(Ok(()), write)
}

fn write(write: &Write) -> Verdict {
    match write {
        Write::Hybrid(h) => {
            for (key, value) in [
                ("write.fixed_s", h.fixed_s),
                ("write.new_stream_s", h.new_stream_s),
                ("write.stream_end_s", h.stream_end_s),
                ("write.sub_page_s", h.sub_page_s),
                ("write.sub_page_random_s", h.sub_page_random_s),
                ("write.close_s", h.close_s),
            ] {
                seconds(key, value)?;
            }
            positive("write.mb_s", h.mb_s)?;
            positive("write.copy_mb_s", h.copy_mb_s)?;
            some_bytes("write.random_log_bytes", h.random_log_bytes)?;
            some_bytes("write.open_linear", u64::from(h.open_linear))?;
            some_bytes("write.open_random", u64::from(h.open_random))
        }
        Write::Log(l) => {
            seconds("write.fixed_s", l.fixed_s)?;
            seconds("write.random_s", l.random_s)?;
            seconds("write.merge_s", l.merge_s)?;
            positive("write.mb_s", l.mb_s)?;
            if l.log_bytes < 4096 {
                return Err(format!("write.log_bytes = {} must be at least 4096", l.log_bytes));
            }
            Ok(())
        }
        Write::Page(p) => {
            seconds("write.base_s", p.base_s)?;
            seconds("write.large_s", p.large_s.unwrap_or(0.0))?;
            seconds("write.serial_s", p.serial_s)?;
            positive("write.mb_s", p.mb_s)?;
            some_bytes("write.ramp_bytes", p.ramp_bytes)
        }
    }
}

fn cache(cache: &Cache, card: &Archetype) -> Verdict {
    if !matches!(card.write, Some(Write::Page(_))) {
        return Err(
            "[cache] stands before the page engine only; set write.engine = \"page\" or drop it".to_owned()
        );
    }
    if cache.clean_bytes > card.announced_bytes {
        return Err(format!("cache.clean_bytes = {} is more than the card has", cache.clean_bytes));
    }
    if cache.reopen_bytes > cache.clean_bytes {
        return Err(format!("cache.reopen_bytes = {} is more than cache.clean_bytes", cache.reopen_bytes));
    }
    positive("cache.write_mb_s", cache.write_mb_s)?;
    for (key, value) in [
        ("cache.clean_mb_s", cache.clean_mb_s),
        ("cache.idle_s", cache.idle_s),
        ("cache.rest_s", cache.rest_s),
        ("cache.write_base_s", cache.write_base_s),
        ("cache.write_large_s", cache.write_large_s),
        ("cache.write_serial_s", cache.write_serial_s),
        ("cache.read_base_s", cache.read_base_s),
        ("cache.read_serial_s", cache.read_serial_s),
    ] {
        seconds(key, value)?;
    }
    Ok(())
}

fn thermal(t: &Thermal) -> Verdict {
    for (key, value) in [
        ("thermal.passive_k_per_w", t.passive_k_per_w),
        ("thermal.active_k_per_w", t.active_k_per_w),
        ("thermal.capacity_j_per_k", t.capacity_j_per_k),
        ("thermal.light_read", t.light_read),
        ("thermal.light_write", t.light_write),
        ("thermal.heavy", t.heavy),
    ] {
        positive(key, value)?;
    }
    for (key, value) in [
        ("thermal.light_read", t.light_read),
        ("thermal.light_write", t.light_write),
        ("thermal.heavy", t.heavy),
    ] {
        share(key, value)?;
    }
    if t.tmt1_c > t.tmt2_c {
        return Err(format!("thermal.tmt1_c = {} is above thermal.tmt2_c = {}", t.tmt1_c, t.tmt2_c));
    }
    Ok(())
}

fn fake(fake: &Fake, announced: u64) -> Verdict {
    let given = |key: &str, value: Option<u64>| value.ok_or_else(|| format!("this kind of fake needs {key}"));
    let sizes = [
        ("fake.real_bytes", fake.real_bytes),
        ("fake.wrap_bytes", fake.wrap_bytes),
        ("fake.cache_bytes", fake.cache_bytes),
    ];
    for (key, value) in sizes.into_iter().filter_map(|(key, value)| value.map(|v| (key, v))) {
        if value % SECTOR != 0 {
            return Err(format!("{key} = {value} must be a multiple of 512"));
        }
        if value > announced {
            return Err(format!("{key} = {value} is more than the card announces ({announced})"));
        }
    }
    match fake.kind {
        FakeKind::None => Ok(()),
        FakeKind::Limbo => {
            some_bytes("fake.real_bytes", given("fake.real_bytes (fake_bytes=…)", fake.real_bytes)?)
        }
        FakeKind::Wraparound => {
            some_bytes("fake.wrap_bytes", given("fake.wrap_bytes (wrap_bytes=…)", fake.wrap_bytes)?)
        }
        FakeKind::Chain => {
            some_bytes("fake.real_bytes", given("fake.real_bytes (fake_bytes=…)", fake.real_bytes)?)?;
            some_bytes("fake.wrap_bytes", given("fake.wrap_bytes (wrap_bytes=…)", fake.wrap_bytes)?)
        }
    }
}

fn rig(rig: &Rig) -> Verdict {
    if let Some(speed) = rig.bus_mb_s {
        positive("rig.bus_mb_s", speed)?;
    }
    if let Some(speed) = rig.host_source_mb_s {
        positive("rig.host_source_mb_s", speed)?;
    }
    if let Some(bytes) = rig.split_bytes {
        whole_sectors("rig.split_bytes", bytes)?;
    }
    seconds("rig.overhead_s", rig.overhead_s)?;
    positive("rig.host_memory_mb_s", rig.host_memory_mb_s)?;
    whole_sectors("rig.writeback_bytes", rig.writeback_bytes)?;
    whole_sectors("rig.read_ahead_bytes", rig.read_ahead_bytes)
}

fn whole_sectors(key: &str, value: u64) -> Verdict {
    if value == 0 || !value.is_multiple_of(SECTOR) {
        return Err(format!("{key} = {value} must be a multiple of 512 and not 0"));
    }
    Ok(())
}

fn some_bytes(key: &str, value: u64) -> Verdict {
    if value == 0 { Err(format!("{key} must not be 0")) } else { Ok(()) }
}

fn positive(key: &str, value: f64) -> Verdict {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(format!("{key} = {value} must be above 0")) }
}

fn seconds(key: &str, value: f64) -> Verdict {
    if (0.0..=3600.0).contains(&value) {
        Ok(())
    } else {
        Err(format!("{key} = {value} must be 0 to 3600 seconds"))
    }
}

fn share(key: &str, value: f64) -> Verdict {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(format!("{key} = {value} must be 0 to 1")) }
}
