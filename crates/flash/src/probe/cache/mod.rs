//! pSLC cache: bytes written at full speed and the speed after it (docs/reference/flash.md#pslc-cache), with the
//! stalls on the way (docs/reference/flash.md#garbage-collection).

mod heat;
mod stalls;
mod write_run;

use crate::probe::discard;
use crate::probe::options::Result;
use crate::probe::write_tester::{MAX_WRITE, WriteTester};
use cardscope_engine::io_driver::ProbeStop;
use cardscope_model::card_map::advice::BEFORE_DISCARD;
use cardscope_model::card_map::plot::AxisScale::Linear;
use cardscope_model::card_map::plot::Plot;
use cardscope_model::card_map::property::{Property, PropertyEvidence};
use cardscope_model::statistics::median;
use cardscope_model::units::{DecimalSize, MIB};
use cardscope_statistics::speed_fall::SpeedFall;
use std::time::Duration;
use write_run::{WriteRun, WriteRunEnd};

const MIN_BYTES: u64 = 64 * MIB;

/// Pause before the test, in which the card empties its cache.
const REST: Duration = Duration::from_secs(60);

/// Fewest bytes, a dozen chunks and those before them, in which a drop can show. Below this the pause is skipped.
const MIN_BYTES_FOR_END: u64 = 256 * MIB;

/// Most bytes to write on a whole card, in percent of it.
const MAX_PERCENT_OF_CARD: u64 = 115;

/// Pause before the recovered part of the cache is measured.
const RECOVERY: Duration = Duration::from_secs(30);

/// Chunks written after the cache ends for the speed there, and chunks after the pause.
const CHUNKS_AFTER: usize = 16;
const CHUNKS_RECOVERED: usize = 8;

pub(super) fn measure_cache(bench: &mut WriteTester) -> Result<()> {
    // A cache may be nearly as large as the card, so a whole card is written a little more than once.
    let percent = if bench.is_whole_card() { MAX_PERCENT_OF_CARD } else { 100 };
    let round = bench.slots.bytes() / 100 * percent / MIB * MIB;
    let most = bench.options.max_cache_bytes.min(round);
    if most < MIN_BYTES || !bench.context.may_write(MIN_BYTES) {
        let least = MIN_BYTES / MIB;
        let why = format!("the write limit is below {least} MiB, too little to reach the end of a cache");
        skip_cache(bench, &why);
        return Ok(());
    }
    let rest = if most < MIN_BYTES_FOR_END { Duration::ZERO } else { REST };
    bench.require_time(rest.as_secs_f64() + 5.0)?;
    let before = bench.context.total_cost();
    discard_if_allowed(bench)?;
    bench.context.rest(rest);
    let whole = most == round;
    let mut write_run = WriteRun::new(bench, most);
    let end = write_run.run_to_end(bench)?;
    let evidence = write_run.evidence();
    match end {
        WriteRunEnd::SpeedDropped(fall) => {
            let after = write_run.write_more(bench, CHUNKS_AFTER)?;
            let recovered = write_run.recovered_bytes(bench, RECOVERY, CHUNKS_RECOVERED, fall)?;
            let evidence = drop_evidence(evidence, fall, recovered).with_plot(plot(&write_run, Some(fall)));
            let evidence = evidence.with_cost(bench.context.cost_since(before));
            let confidence = (1.0 - (-fall.sigmas / 2.0).exp()).clamp(0.5, 0.98);
            bench.into.slc_cache_bytes = Property::measured(fall.bytes as u64, confidence, evidence.clone());
            let level = median(&after).unwrap_or(fall.after);
            bench.into.after_cache_mb_s = Property::measured(level / 1e6, confidence, evidence);
        }
        WriteRunEnd::WriteLimit if whole && bench.is_whole_card() && write_run.is_complete() => {
            let cost = bench.context.cost_since(before);
            let evidence = evidence.with_plot(plot(&write_run, None)).with_cost(cost);
            bench.into.slc_cache_bytes = Property::none(0.97, evidence.clone());
            bench.into.after_cache_mb_s = Property::none(0.97, evidence);
        }
        WriteRunEnd::WritesFail if write_run.written_bytes() == 0 => {
            skip_cache(bench, "no write of it succeeded");
        }
        WriteRunEnd::TimeLimit if write_run.written_bytes() == 0 => return Err(ProbeStop::Limit),
        WriteRunEnd::WriteLimit | WriteRunEnd::TimeLimit | WriteRunEnd::WritesFail => {
            let cost = bench.context.cost_since(before);
            let evidence = evidence.with_plot(plot(&write_run, None)).with_cost(cost);
            // Overwriting the same addresses needs no additional cache.
            let distinct = write_run.written_bytes().min(bench.slots.bytes());
            bench.into.slc_cache_bytes = Property::at_least(distinct, 0.95, evidence);
            let written = DecimalSize(write_run.written_bytes());
            let why = match end {
                WriteRunEnd::WritesFail => {
                    format!("the card accepted no more writes after {written}, before the end of a cache")
                }
                _ => format!("no end of a cache within {written} written"),
            };
            bench.into.after_cache_mb_s = Property::not_tested(why);
        }
    }
    bench.into.findings.extend(write_run.findings());
    Ok(())
}

fn skip_cache(bench: &mut WriteTester, why: &str) {
    bench.into.slc_cache_bytes = Property::not_tested(why);
    bench.into.after_cache_mb_s = Property::not_tested(why);
}

/// Discards the write region where its data may be lost, since a dynamic cache uses the free space. Small writes
/// are timed before, as the card's earlier state is gone afterwards. In a directory a discard would deallocate the
/// test file's own blocks.
fn discard_if_allowed(bench: &mut WriteTester) -> Result<()> {
    if bench.context.saves_first() || !bench.options.card_addresses {
        return Ok(());
    }
    let beside = discard::series_seconds() + REST.as_secs_f64() + 5.0;
    if bench.context.has_time(beside) && bench.context.may_write(discard::series_bytes() + MIN_BYTES) {
        bench.into.small_writes = Some(discard::time_small_writes(bench.context, BEFORE_DISCARD)?);
        bench.context.set_queue(MAX_WRITE, 1)?;
    }
    bench.context.discard(bench.context.region.start, bench.context.region.len)?;
    Ok(())
}

fn drop_evidence(evidence: PropertyEvidence, fall: SpeedFall, recovered: Option<f64>) -> PropertyEvidence {
    evidence
        .with_number("before the end", fall.before / 1e6, "MB/s")
        .with_number("after the end", fall.after / 1e6, "MB/s")
        .with_number("written before the end", fall.bytes, "bytes")
        .with_numbers(recovered.map(|bytes| ("cache freed by 30 s of rest", bytes, "bytes")))
}

fn plot(write_run: &WriteRun, fall: Option<SpeedFall>) -> Plot {
    Plot::new("write speed by bytes written", ("written", "bytes", Linear), ("speed", "MB/s", Linear))
        .with_line("chunks", write_run.chart_points())
        .with_marks(fall.map(|f| (f.bytes, "end of the cache".to_owned())))
}
