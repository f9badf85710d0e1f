//! Runs schedules in processes: a supervisor for each processor, with disks in its own mount namespace, starts workers one
//! after the other. A worker ends when all schedules are done, or when a schedule kills it.

use super::run::play_schedule;
use super::workspace::FaultWorkspace;
use cardscope_testkit::devices::with_own_mounts;
use std::any::Any;
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Environment of the child processes: folder of all workers, number of the worker, number of finished seeds.
const FOLDER: &str = "SCHEDULES_FOLDER";
const WORKER: &str = "SCHEDULES_WORKER";
const PLAYED: &str = "SCHEDULES_PLAYED";

/// Time limit of a schedule.
const LONGEST: Duration = Duration::from_secs(120);

/// Exit status of a worker whose schedule exceeded the limit.
const HANGS: i32 = 9;

/// Results of schedules.
#[derive(Debug, Default)]
pub(super) struct PlayedSchedules {
    /// Failed schedules, each with the command that repeats it.
    pub(super) failures: Vec<String>,
    /// Hash of the calls on the target, by seed of each passed schedule.
    pub(super) calls: BTreeMap<u64, u64>,
}

/// Runs schedules on all processors.
pub(super) fn play_all(seeds: impl IntoIterator<Item = u64>) -> PlayedSchedules {
    let seeds: Vec<u64> = seeds.into_iter().collect();
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let folder = tempfile::Builder::new().prefix("cardscope-schedules-").tempdir_in(place).unwrap();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = seeds.chunks(seeds.len().div_ceil(workers).max(1)).enumerate();
    let supervisors: Vec<(usize, Child)> =
        parts.map(|(n, part)| (n, supervisor(folder.path(), n, part))).collect();
    let mut played = PlayedSchedules::default();
    for (n, mut supervisor) in supervisors {
        let status = supervisor.wait().unwrap();
        if !status.success() {
            played.failures.push(format!(
                "the supervisor of worker {n} failed ({status}); it needs `unshare` and the right to mount"
            ));
        }
        let told =
            |what| std::fs::read_to_string(folder.path().join(format!("{what}-{n}"))).unwrap_or_default();
        played.failures.extend(told("failures").lines().map(str::to_owned));
        for line in told("calls").lines() {
            let (seed, calls) = line.split_once(' ').unwrap();
            played.calls.insert(seed.parse().unwrap(), calls.parse().unwrap());
        }
    }
    played
}

fn supervisor(folder: &Path, number: usize, seeds: &[u64]) -> Child {
    let lines: Vec<String> = seeds.iter().map(u64::to_string).collect();
    std::fs::write(folder.join(format!("seeds-{number}")), lines.join("\n")).unwrap();
    let as_root = if rustix::process::geteuid().is_root() { &[][..] } else { &["--map-root-user"] };
    let mut unshare = with_own_mounts(as_root);
    let command = program(&mut unshare, "supervise");
    environment(command, folder, number, 0).spawn().expect("`unshare` (util-linux) runs")
}

/// Command that starts this test program for one ignored test.
fn program<'c>(command: &'c mut Command, what: &str) -> &'c mut Command {
    command
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--nocapture", "--quiet"])
        .arg(format!("fault_injection::workers::{what}"))
        .stdout(Stdio::null())
}

fn environment<'c>(command: &'c mut Command, folder: &Path, number: usize, played: usize) -> &'c mut Command {
    let desk = FaultWorkspace::for_worker(folder, number);
    command
        .env(FOLDER, folder)
        .env(WORKER, number.to_string())
        .env(PLAYED, played.to_string())
        .env("XDG_STATE_HOME", &desk.disks.journals)
        .env("XDG_DATA_HOME", &desk.disks.archive)
}

/// Task of a child process; `None` if somebody runs the ignored tests.
fn worker_task() -> Option<(PathBuf, usize, Vec<u64>, usize)> {
    let [folder, number, played] = [FOLDER, WORKER, PLAYED].map(|name| std::env::var(name).ok());
    let (folder, number) = (PathBuf::from(folder?), number?.parse().ok()?);
    let text = std::fs::read_to_string(folder.join(format!("seeds-{number}"))).unwrap();
    let seeds = text.lines().map(|seed| seed.parse().unwrap()).collect();
    Some((folder, number, seeds, played?.parse().ok()?))
}

/// Not a test: starts workers one after the other until all schedules are done.
#[test]
#[ignore = "runs only as a child of other tests"]
fn supervise() {
    let Some((folder, number, seeds, mut next)) = worker_task() else { return };
    let desk = FaultWorkspace::for_worker(&folder, number);
    desk.set_up();
    while next < seeds.len() {
        let mut command = Command::new("env");
        let worker = environment(program(&mut command, "work"), &folder, number, next);
        let status = worker.status().unwrap();
        if status.success() {
            break;
        }
        // A worker that ended before its first schedule must not be restarted for ever.
        next = played_count(&folder, number).max(next);
        if status.signal() == Some(rustix::process::Signal::KILL.as_raw()) {
            desk.count_kill();
            continue;
        }
        report_failure(&folder, number, seeds[next], &ended_by(status));
        desk.forget_kills();
        next += 1;
    }
}

fn ended_by(status: ExitStatus) -> String {
    if status.code() == Some(HANGS) {
        "it hangs".to_owned()
    } else {
        format!("its process ended with {status}")
    }
}

/// Not a test: runs schedules until all are done, or one kills this process.
#[test]
#[ignore = "runs only as a child of other tests"]
fn work() {
    let Some((folder, number, seeds, played)) = worker_task() else { return };
    let desk = FaultWorkspace::for_worker(&folder, number);
    watch_timeout();
    for (at, seed) in seeds.into_iter().enumerate().skip(played) {
        std::fs::write(folder.join(format!("reached-{number}")), at.to_string()).unwrap();
        UNDER_WAY.store(seed + 1, Ordering::Relaxed);
        let played = catch_unwind(AssertUnwindSafe(|| play_schedule(seed, &desk)));
        match played {
            Ok(calls) => append_line(&folder, &format!("calls-{number}"), &format!("{seed} {calls}")),
            Err(why) => {
                report_failure(&folder, number, seed, &format!("{}: {}", desk.read_note(), panic_text(&*why)))
            }
        }
        desk.forget_kills();
    }
}

/// Message of a panic.
fn panic_text(why: &(dyn Any + Send)) -> &str {
    let text = why.downcast_ref::<String>().map(String::as_str);
    text.or(why.downcast_ref::<&str>().copied()).unwrap_or_default()
}

/// Index of the schedule at which a worker ended.
fn played_count(folder: &Path, number: usize) -> usize {
    std::fs::read_to_string(folder.join(format!("reached-{number}"))).unwrap().parse().unwrap()
}

fn report_failure(folder: &Path, number: usize, seed: u64, why: &str) {
    let why = why.replace('\n', " ");
    let line = format!("SCHEDULE={seed} cargo test -p cardscope-verbs --test verbs schedules # {why}");
    append_line(folder, &format!("failures-{number}"), &line);
}

/// Appends a line to a file for the parent process.
fn append_line(folder: &Path, file: &str, line: &str) {
    use std::io::Write;
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(folder.join(file)).unwrap();
    writeln!(file, "{line}").unwrap();
}

/// Current seed plus one; 0 before the first schedule.
static UNDER_WAY: AtomicU64 = AtomicU64::new(0);

/// Ends this process if a schedule exceeds the time limit.
fn watch_timeout() {
    std::thread::spawn(|| {
        loop {
            let before = UNDER_WAY.load(Ordering::Relaxed);
            std::thread::sleep(LONGEST);
            if UNDER_WAY.load(Ordering::Relaxed) == before {
                std::process::exit(HANGS);
            }
        }
    });
}
