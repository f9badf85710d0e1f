//! Benchmark of the archive's cost for a measurement: opening it and starting a session, as part of the 20 ms to the first
//! I/O, and storing a sample, which is the pause between two tests.
//!
//! `cargo bench -p cardscope-store`; a folder as argument puts the file on another disk.

use cardscope_model::condition::Condition;
use cardscope_model::histogram::LatencyHistogram;
use cardscope_model::result::{LoopSample, TemperatureC};
use cardscope_model::series::SeriesBucket;
use cardscope_model::session_file::SampleRecord;
use cardscope_model::session_file::{FileRecipe, SessionFile};
use cardscope_model::test_name::{AccessPattern, IoOrder, TestName, TestOp};
use cardscope_store::{Archive, RunStart};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().skip(1).find(|a| !a.starts_with("--"));
    let folder = folder.map_or_else(tempfile::tempdir, tempfile::tempdir_in)?;
    let (mut made, mut opened, mut begun, mut stored) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for file in 0..20 {
        let path = folder.path().join(format!("{file}.sqlite"));
        made.push(timed(|| Archive::open(&path))?.0);
        fill(&path, 10)?;
        let (time, mut archive) = timed(|| Archive::open(&path))?;
        opened.push(time);
        let (time, session) = timed(|| {
            let session = archive.begin_session(&start())?;
            archive
                .begin_run(session, RunStart { run: 1, seed: 1, counted: true, size_bytes: None })
                .map(|()| session)
        })?;
        begun.push(time);
        for index in 0..10 {
            stored.push(timed(|| archive.add_sample(session, 1, &sample(index)))?.0);
        }
    }
    for (what, times) in [
        ("make and open", made),
        ("open", opened),
        ("begin session and run", begun),
        ("store a sample", stored),
    ] {
        print(what, times);
    }
    Ok(())
}

fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(Duration, T), E> {
    let start = Instant::now();
    work().map(|value| (start.elapsed(), value))
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let ms = |d: &Duration| d.as_secs_f64() * 1e3;
    let (least, middle, most) = (&times[0], &times[times.len() / 2], &times[times.len() - 1]);
    println!("{what:<22} {:8.3} ms least {:8.3} ms median {:8.3} ms most", ms(least), ms(middle), ms(most));
}

/// Existing archive: sessions with samples.
fn fill(path: &Path, sessions: u32) -> Result<(), Box<dyn Error>> {
    let mut archive = Archive::open(path)?;
    for _ in 0..sessions {
        let session = archive.begin_session(&start())?;
        archive.begin_run(session, RunStart { run: 1, seed: 1, counted: true, size_bytes: None })?;
        for index in 0..8 {
            archive.add_sample(session, 1, &sample(index))?;
        }
    }
    Ok(())
}

fn start() -> SessionFile {
    SessionFile {
        kind: "bench".to_owned(),
        target: "/dev/mmcblk0".to_owned(),
        recipe: Some(FileRecipe {
            name: "quick".to_owned(),
            version: "1".to_owned(),
            text: "name = \"quick\"\n".repeat(200),
        }),
        seed: "1".to_owned(),
        condition: Condition::default(),
        io_path: Some("io_uring".to_owned()),
        tool_version: "0.1.0".to_owned(),
        ..SessionFile::default()
    }
}

/// One minute of random reads: 800 classes of latency, a series of 60 seconds.
fn sample(loop_index: u32) -> SampleRecord {
    let mut histogram = LatencyHistogram::default();
    (0..800).for_each(|i| histogram.record(80_000 + i * 1000));
    let pattern = AccessPattern { order: IoOrder::Random, block: 4096, queue: 1, threads: 1 };
    let test = TestName { pattern, op: TestOp::Read };
    SampleRecord {
        test_key: test.to_string(),
        test,
        step: None,
        loop_index,
        sample: LoopSample {
            bytes: 1 << 30,
            ios: 1 << 18,
            nanos: 60_000_000_000,
            histogram,
            series: (0..60).map(|at_s| SeriesBucket { at_s, ..SeriesBucket::default() }).collect(),
            temperature_c: TemperatureC::default(),
            counted: true,
        },
        caveats: Vec::new(),
    }
}
