//! How fast content is made, and how fast what was read is checked against it, in GiB per second of processor time;
//! beside it what f3write and f3read spend in user time on the same bytes, in the same run. The figures to reach are 10 GiB/s for
//! making and 5 GiB/s for making and checking together.
//!
//! `cargo bench -p cardscope-engine --bench patterns`, alone on a quiet machine.

#![allow(clippy::unwrap_used, reason = "a bench that cannot go on ends with its reason")]

use cardscope_engine::content::{ContentMatch, IoContent, compare_content, fill_content};
use std::path::Path;
use std::process::Command;

/// An I/O of `verify --files` and `--full`; it fits the second-level cache, as an I/O's buffer does.
const BLOCK: usize = 1 << 20;
/// What one round moves.
const ROUND: u64 = 1 << 30;
const ROUNDS: usize = 7;

fn main() {
    println!(
        "| content | made, GiB/s | checked, GiB/s | made and checked, GiB/s |\n| --- | --- | --- | --- |"
    );
    let contents = [
        ("stamps", IoContent::Stamp { salt: 0x5a17, generation: 1 }),
        ("h2w", IoContent::H2w { base: 3 << 30 }),
        ("stream", IoContent::Stream { seed: 1 }),
        ("noise", IoContent::Noise),
        ("constant", IoContent::Constant(0x55)),
    ];
    for (name, content) in contents {
        let made = median(|| seconds_of(|at, bytes| fill_content(content, at, bytes)));
        let checked = median(|| checking(content));
        row(name, made, checked);
    }
    match f3() {
        Some((write, read)) => row("h2w by f3write and f3read, user time", write, read),
        None => println!("f3write and f3read are not here, or /dev/shm has no room for them."),
    }
}

fn row(name: &str, made: f64, checked: f64) {
    let [a, b, c] =
        [made, checked, made + checked].map(|seconds| ROUND as f64 / (1u64 << 30) as f64 / seconds);
    println!("| {name} | {a:.1} | {b:.1} | {c:.1} |");
}

fn median(mut round: impl FnMut() -> f64) -> f64 {
    let mut rounds: Vec<f64> = (0..ROUNDS).map(|_| round()).collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

fn seconds_of(mut each: impl FnMut(u64, &mut [u8])) -> f64 {
    let mut block = vec![0u8; BLOCK];
    let start = own_seconds();
    for at in (0..ROUND).step_by(BLOCK) {
        each(at, std::hint::black_box(&mut block));
    }
    own_seconds() - start
}

/// Checking alone: the blocks are made beforehand, and a few of them suffice.
fn checking(content: IoContent) -> f64 {
    let mut blocks = vec![vec![0u8; BLOCK]; 4];
    for (number, block) in blocks.iter_mut().enumerate() {
        fill_content(content, (number * BLOCK) as u64, block);
    }
    let start = own_seconds();
    for number in 0..ROUND as usize / BLOCK {
        let place = number % blocks.len();
        let found = compare_content(content, (place * BLOCK) as u64, std::hint::black_box(&blocks[place]));
        assert_eq!(found, ContentMatch::Same);
    }
    own_seconds() - start
}

/// Processor time of this process, in seconds: other programs on a busy machine do not count.
fn own_seconds() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// User seconds of f3write and f3read for 1 GiB in memory; medians.
fn f3() -> Option<(f64, f64)> {
    let folder = Path::new("/dev/shm").join(format!("cardscope-patterns-{}", std::process::id()));
    std::fs::create_dir(&folder).ok()?;
    let user = |tool: &str| -> Option<f64> {
        let before = children_user_seconds();
        let status = Command::new(tool).args(["--end-at=1"]).arg(&folder).output().ok()?.status;
        (status.success() && folder.join("1.h2w").metadata().is_ok_and(|m| m.len() == ROUND))
            .then(|| children_user_seconds() - before)
    };
    let rounds: Option<Vec<(f64, f64)>> = (0..3)
        .map(|_| {
            let _ = std::fs::remove_file(folder.join("1.h2w"));
            Some((user("f3write")?, user("f3read")?))
        })
        .collect();
    let _ = std::fs::remove_dir_all(&folder);
    let (mut write, mut read): (Vec<f64>, Vec<f64>) = rounds?.into_iter().unzip();
    write.sort_by(f64::total_cmp);
    read.sort_by(f64::total_cmp);
    Some((write[1], read[1]))
}

/// User time of children that ended, from `/proc/self/stat` (proc(5), field 16, in hundredths).
fn children_user_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit_once(')').unwrap().1;
    fields.split_whitespace().nth(13).unwrap().parse::<f64>().unwrap() / 100.0
}
