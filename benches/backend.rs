//! What the real target costs beside fio: 4 KiB random reads, the same file, the same run (`cargo bench -p
//! cardscope-engine --bench backend [-- DIRECTORY|DEVICE]`: a file of 256 MiB is made and removed, a device is only read). Only the ratios mean anything beyond this machine.

use cardscope_engine::content::{IoContent, fill_content};
use cardscope_engine::real::{BlockDevice, IoChoice, RealOptions, RealTarget};
use cardscope_engine::target::{IoDirection, IoRequest, LanePlan, Target};
use cardscope_model::recipe::KernelPath as Way;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const BLOCK: u32 = 4096;
const SIZE: u64 = 256 << 20;
const SECONDS: u64 = 3;

struct Cost {
    per_second: f64,
    /// Of the submitting thread.
    user_us: f64,
    system_us: f64,
    /// User and system of the whole process, the kernel's workers and fio's start with it.
    all_us: f64,
}

fn main() {
    pattern_speed();
    let given =
        PathBuf::from(std::env::args().nth(1).filter(|a| !a.starts_with('-')).unwrap_or("/dev/shm".into()));
    let file = if given.is_dir() { given.join("cardscope-bench-file") } else { given };
    let size = if is_device(&file) { SIZE } else { make_file(&file) };
    println!(
        "{:<18} {:>3} {:>9} {:>8} {:>10} {:>8}",
        "4 KiB random read", "Q", "I/O/s", "user µs", "system µs", "all µs"
    );
    for depth in [1, 32] {
        print("io_uring", depth, &ours(&file, size, depth, IoChoice::Auto));
        print("preads", depth, &ours(&file, size, depth, IoChoice::Preads));
        if let Some(cost) = fio(&file, depth, &["--ioengine=io_uring"]) {
            print("fio io_uring", depth, &cost);
        }
        if let Some(cost) = fio(&file, depth, &["--ioengine=io_uring", "--registerfiles", "--fixedbufs"]) {
            print("fio registered", depth, &cost);
        }
    }
    if !is_device(&file) {
        let _ = std::fs::remove_file(&file);
    }
}

fn is_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.file_type().is_block_device())
}

fn open(path: &Path, options: RealOptions) -> RealTarget {
    if !is_device(path) {
        let file = std::fs::File::options().read(true).write(true).open(path).expect("the file opens");
        return RealTarget::open_file(file.into(), path, options).expect("a file target");
    }
    let name = path.display().to_string();
    let fd = std::fs::File::options().read(true).write(true).open(path).expect("the device opens").into();
    RealTarget::open_device(BlockDevice { fd, bytes: SIZE, sector: 512, name }, options)
        .expect("a device target")
}

fn pattern_speed() {
    let mut bytes = vec![0u8; 1 << 20];
    for content in [IoContent::Stream { seed: 1 }, IoContent::Stamp { salt: 1, generation: 1 }] {
        let (before, rounds) = (cpu(libc::RUSAGE_THREAD).0, 4000u64);
        for round in 0..rounds {
            fill_content(content, round << 20, std::hint::black_box(&mut bytes));
        }
        let gb_s = (rounds << 20) as f64 / (cpu(libc::RUSAGE_THREAD).0 - before) / 1e9;
        println!("{content:?}: {gb_s:.1} GB a second of processor time");
    }
}

fn make_file(path: &Path) -> u64 {
    let mut bytes = vec![0u8; SIZE as usize];
    fill_content(IoContent::Noise, 0, &mut bytes);
    std::fs::write(path, bytes).expect("room for the test file");
    SIZE
}

fn print(name: &str, depth: u32, cost: &Cost) {
    let Cost { per_second, user_us, system_us, all_us } = cost;
    println!("{name:<18} {depth:>3} {per_second:>9.0} {user_us:>8.3} {system_us:>10.3} {all_us:>8.3}");
}

/// The loop that the runner has, without its bookkeeping: submit what is free, wait for one, take all.
fn ours(file: &Path, size: u64, depth: u32, io: IoChoice) -> Cost {
    let mut target = open(file, RealOptions { io, ..RealOptions::default() });
    let plan =
        LanePlan { depth, block: u64::from(BLOCK), path: Way::Direct, sync_each: false, own_buffers: false };
    target.plan(&plan).expect("a plan");
    let mut free: Vec<u32> = (0..depth).collect();
    let (mut done, mut count, mut state) = (Vec::new(), 0u64, 0x9e37_79b9u64);
    let (started, before, all_before) = (Instant::now(), cpu(libc::RUSAGE_THREAD), cpu(libc::RUSAGE_SELF));
    while started.elapsed() < Duration::from_secs(SECONDS) {
        for _ in 0..64 {
            for slot in free.drain(..) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let offset = (state >> 33) % (size / u64::from(BLOCK)) * u64::from(BLOCK);
                let io = IoRequest {
                    slot,
                    direction: IoDirection::Read,
                    offset,
                    len: BLOCK,
                    content: IoContent::Noise,
                };
                target.submit(&io).expect("submitted");
            }
            target.complete(1, &mut done).expect("completed");
            count += done.len() as u64;
            free.extend(done.drain(..).map(|completion| completion.slot));
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    let (after, all_after) = (cpu(libc::RUSAGE_THREAD), cpu(libc::RUSAGE_SELF));
    let per_io = |from: f64, to: f64| (to - from) * 1e6 / count as f64;
    Cost {
        per_second: count as f64 / seconds,
        user_us: per_io(before.0, after.0),
        system_us: per_io(before.1, after.1),
        all_us: per_io(all_before.0 + all_before.1, all_after.0 + all_after.1),
    }
}

/// User and system seconds of a thread, a process or its children.
fn cpu(whose: libc::c_int) -> (f64, f64) {
    // SAFETY: getrusage fills the structure that is passed, for which all zeros are valid.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(whose, &raw mut usage);
        usage
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    (seconds(usage.ru_utime), seconds(usage.ru_stime))
}

fn fio(file: &Path, depth: u32, engine: &[&str]) -> Option<Cost> {
    let before = cpu(libc::RUSAGE_CHILDREN);
    let output = Command::new("fio")
        .args(["--name=bench", "--direct=1", "--bs=4k", "--rw=randread", "--norandommap", "--time_based"])
        .args([
            "--output-format=json",
            "--readonly",
            &format!("--size={SIZE}"),
            &format!("--runtime={SECONDS}"),
            &format!("--iodepth={depth}"),
        ])
        .arg(format!("--filename={}", file.display()))
        .args(engine)
        .output()
        .ok()?;
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    let job = &json["jobs"][0];
    let per_second = job["read"]["iops"].as_f64()?;
    let after = cpu(libc::RUSAGE_CHILDREN);
    // Percent of the job's time, both.
    let per_io = |name: &str| Some(job[name].as_f64()? / 100.0 * 1e6 / per_second);
    let all = after.0 + after.1 - before.0 - before.1;
    let all_us = all * 1e6 / job["read"]["total_ios"].as_f64()?;
    Some(Cost { per_second, user_us: per_io("usr_cpu")?, system_us: per_io("sys_cpu")?, all_us })
}
