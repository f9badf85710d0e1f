//! Benchmark of a large archive: a million runs of two thousand cards, in both databases.
//!
//! `cargo bench -p cardscope-store --bench million` creates the archives in a temporary folder; a folder as argument
//! selects another disk, `--runs N` fewer runs. PostgreSQL is included if `CARDSCOPE_BENCH_POSTGRES` holds the address of
//! an empty database. `--make FILE|URL` only creates an archive, for `benches/large-archive`. `--tables FILE|URL FOLDER`
//! exports an archive as tables into an empty folder (docs/tables.md).

use cardscope_model::card::CardFacts;
use cardscope_model::condition::ConditionOrigin;
use cardscope_model::log::{CardLog, LogTool};
use cardscope_model::result::ToolPrints;
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::TestName;
use cardscope_store::{Archive, NewSource};
use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const CARDS: usize = 2000;
/// Tests of a run: CrystalDiskMark's default profile and its derivatives.
const TESTS: [&str; 8] = [
    "SEQ1M Q8T1 read",
    "SEQ1M Q1T1 read",
    "RND4K Q32T1 read",
    "RND4K Q1T1 read",
    "SEQ1M Q8T1 write",
    "SEQ1M Q1T1 write",
    "RND4K Q32T1 write",
    "RND4K Q1T1 write",
];
/// Runs of one log.
const RUNS: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [ask_of, place] = &arguments[..]
        && ask_of == "--ask"
    {
        return ask(Path::new(place));
    }
    if let [make, place] = &arguments[..]
        && make == "--make"
    {
        return fill(Path::new(place), 1_000_000);
    }
    if let [tables, place, folder] = &arguments[..]
        && tables == "--tables"
    {
        return write_tables(Path::new(place), Path::new(folder));
    }
    let runs = match arguments.iter().position(|a| a == "--runs") {
        Some(place) => arguments.get(place + 1).ok_or("--runs needs a number")?.parse::<usize>()?,
        None => 1_000_000,
    };
    let runs = runs.max(CARDS * RUNS);
    let folder = arguments.iter().find(|a| Path::new(a).is_dir());
    let folder = folder.map_or_else(tempfile::tempdir, tempfile::tempdir_in)?;
    let mut places = vec![folder.path().join("million.sqlite")];
    places.extend(std::env::var_os("CARDSCOPE_BENCH_POSTGRES").map(PathBuf::from));
    small_sources(&folder.path().join("small.sqlite"))?;
    for place in places {
        let what = if place.starts_with("postgres:") { "PostgreSQL" } else { "SQLite" };
        println!("{what}: {runs} runs of {CARDS} cards, {} tests each", TESTS.len());
        fill(&place, runs)?;
        // Runs in a separate process, to measure only the memory of reading.
        Command::new(std::env::current_exe()?).arg("--ask").arg(&place).status()?;
        let tables = tempfile::tempdir_in(folder.path())?;
        Command::new(std::env::current_exe()?).arg("--tables").arg(&place).arg(tables.path()).status()?;
    }
    Ok(())
}

/// Ten thousand files of one log with one run each.
fn small_sources(place: &Path) -> Result<(), Box<dyn Error>> {
    let mut archive = Archive::open(place)?;
    let logs: Vec<CardLog> = (0..10_000).map(|n| log(n % CARDS, n, 1)).collect();
    let names: Vec<String> = (0..logs.len()).map(|n| format!("small {n}.log")).collect();
    let before = processor_seconds();
    let (time, ()) = timed(|| import(&mut archive, &names, &logs))?;
    let (time, processor) = (time.as_secs_f64(), processor_seconds() - before);
    let rate = logs.len() as f64 / processor;
    println!(
        "SQLite: {} small files in {time:.2} s, {processor:.2} s of one core: {rate:.0} files/s",
        logs.len()
    );
    Ok(())
}

fn import(archive: &mut Archive, names: &[String], logs: &[CardLog]) -> Result<(), Box<dyn Error>> {
    let sources: Vec<NewSource<'_>> = names
        .iter()
        .zip(logs)
        .map(|(name, log)| NewSource {
            name,
            title: None,
            shares_card_of: None,
            format: "bench",
            bytes: name.as_bytes().into(),
            logs: std::slice::from_ref(log),
        })
        .collect();
    archive.import(sources)?;
    Ok(())
}

/// Processor time so far in seconds, user and system (proc(5), `stat`, in ticks of 1/100 s).
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn fill(place: &Path, runs: usize) -> Result<(), Box<dyn Error>> {
    let mut archive = Archive::open(place)?;
    let logs = runs / RUNS;
    let began = Instant::now();
    for first in (0..logs).step_by(1000) {
        let some: Vec<CardLog> =
            (first..logs.min(first + 1000)).map(|n| log(n * CARDS / logs, n, RUNS)).collect();
        let names: Vec<String> = (first..first + some.len()).map(|n| format!("{n}.log")).collect();
        import(&mut archive, &names, &some)?;
    }
    println!("  made in {:.0} s", began.elapsed().as_secs_f64());
    Ok(())
}

fn ask(place: &Path) -> Result<(), Box<dyn Error>> {
    let (opened, mut archive) = timed(|| Archive::open(place))?;
    print("open", opened, "");
    let (time, cards) = timed(|| archive.cards())?;
    print("all cards", time, &format!("{} cards", cards.len()));
    let (time, found) = timed(|| archive.find_cards("brand 7 64gb"))?;
    print("find cards", time, &format!("{} cards", found.len()));
    let two: Vec<String> =
        cards.iter().step_by(cards.len() / 2).map(|card| card.id.clone()).take(2).collect();
    let tests: Vec<TestName> = TESTS[..6].iter().map(|test| test.parse()).collect::<Result<_, _>>()?;
    for _ in 0..3 {
        let (time, runs) = timed(|| archive.measurements(&two))?;
        print("runs of two cards", time, &format!("{} runs", runs.len()));
        let (time, rows) = timed(|| archive.summaries(|test| tests.contains(&test)))?;
        print("6 tests of all cards", time, &format!("{} rows", rows.len()));
    }
    println!("  memory at most {} MB", peak_bytes() / 1_000_000);
    Ok(())
}

/// Measures the export as tables: time, memory and size.
fn write_tables(place: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut archive = Archive::open(place)?;
    archive.recompute_stale()?;
    let before = processor_seconds();
    let make = |name: &str| {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap_or(folder))?;
        std::fs::File::create_new(file)
    };
    let (time, files) = timed(|| archive.write_tables(&HashMap::new(), make, || false))?;
    let (time, processor) = (time.as_secs_f64(), processor_seconds() - before);
    println!("  written as tables in {time:.1} s, {processor:.1} s of processors");
    for table in ["sessions", "figures", "series", "findings", "cards"] {
        let of_table: Vec<_> = files.iter().filter(|file| file.table == table).collect();
        let rows: u64 = of_table.iter().map(|file| file.rows).sum();
        let bytes: u64 = of_table.iter().map(|file| file.bytes).sum();
        let each = bytes as f64 / rows.max(1) as f64;
        println!(
            "  {table:<10} {rows:>10} rows {bytes:>12} bytes, {each:.1} a row, {} files",
            of_table.len()
        );
    }
    println!("  memory at most {} MB", peak_bytes() / 1_000_000);
    Ok(())
}

fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(Duration, T), E> {
    let start = Instant::now();
    work().map(|value| (start.elapsed(), value))
}

fn print(what: &str, time: Duration, of: &str) {
    println!("  {what:<22} {:9.1} ms  {of}", time.as_secs_f64() * 1e3);
}

/// Log of a card. Half of the logs are cooled, so that each card has two settings.
fn log(card: usize, number: usize, runs: usize) -> CardLog {
    let mut log = CardLog::new("bench");
    log.tool = Some(LogTool { name: "CrystalDiskMark".to_owned(), version: Some("8.0.4".to_owned()) });
    log.date = Some(format!("20{:02}-{:02}-{:02}", number % 26, number % 12 + 1, number % 28 + 1));
    log.card = CardFacts {
        brand: Some(format!("Brand {}", card % 40)),
        name: Some(format!("Model {card}")),
        capacity_label: Some("64GB".to_owned()),
        ..CardFacts::default()
    };
    let cooling = if number.is_multiple_of(2) { "active" } else { "passive" };
    for (word, value) in [("cooling", cooling), ("reader", "USB 3 reader"), ("bus_mode", "SDR104")] {
        log.condition.set(word, value, ConditionOrigin::Stated);
    }
    log.runs = (1..=runs as u32).map(|run| log_run(card, number, run)).collect();
    log
}

fn log_run(card: usize, number: usize, run: u32) -> Run {
    let results = TESTS.iter().enumerate().map(|(place, test)| {
        let wobble = ((number * 7919 + place * 104_729 + run as usize * 31) % 1000) as f64 / 2e4;
        figure(test, (10.0 + (card % 90) as f64) * (1.0 + wobble) / (1.0 + place as f64))
    });
    Run { run, size_bytes: Some(1 << 30), loops: Some(5), results: results.collect(), ..Run::default() }
}

fn figure(test: &str, mb_s: f64) -> TestFigure {
    let name: TestName = test.parse().expect("the names above are names of tests");
    TestFigure {
        iops: Some(mb_s * 1e6 / name.pattern.block as f64),
        latency_us: Some(1e6 / mb_s),
        as_printed: Some(ToolPrints { value: (mb_s * 1000.0).round() / 1000.0, unit: "MB/s".to_owned() }),
        ..TestFigure::from_speed(name, mb_s)
    }
}

/// Peak resident memory.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next())
        .and_then(|n| n.parse().ok())
        .map_or(0, |kib: u64| kib * 1024)
}
