//! Own output of fio 2 and 3 in its normal form, with several jobs, units and cuts.

use super::*;
use crate::effort::seconds_of;
use cardscope_model::log::LogFigure;
use proptest::prelude::*;

const NEW: &str = "\
w: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=16
...
fio-3.28
Starting 4 processes
Jobs: 4 (f=4): [m(4)][50.0%][r=5000KiB/s,w=2000KiB/s][r=1250,w=500 IOPS][eta 00m:30s]
w: (groupid=0, jobs=4): err= 0: pid=77: Sun Mar  3 11:12:13 2024
  read: IOPS=1250, BW=5000KiB/s (5120kB/s)(293MiB/60001msec)
    slat (usec): min=5, max=300, avg=20.10, stdev=3.00
    clat (usec): min=200, max=90123, avg=1500.25, stdev=99.00
     lat (usec): min=210, max=90200, avg=1520.50, stdev=99.00
   bw (  KiB/s): min= 4000, max= 6000, per=100.00%, avg=5000.00, stdev=10.00, samples=480
  write: IOPS=1.5k, BW=6144KiB/s (6291kB/s)(360MiB/60001msec); 0 zone resets
    clat (msec): min=1, max=800, avg=30.50, stdev=9.00
     lat (msec): min=1, max=801, avg=30.60, stdev=9.00
  lat (usec)   : 250=0.10%, 500=10.00%
  cpu          : usr=0.50%, sys=1.00%, ctx=1000, majf=0, minf=10

Run status group 0 (all jobs):
   READ: bw=5000KiB/s (5120kB/s), 5000KiB/s-5000KiB/s (5120kB/s-5120kB/s), io=293MiB (307MB), run=60001-60001msec

Disk stats (read/write):
  mmcblk1: ios=75000/90000, merge=0/0, ticks=1/2, in_queue=3, util=99.90%
";

const OLD: &str = "\
seq: (g=0): rw=write, bs=1M-1M/1M-1M/1M-1M, ioengine=sync, iodepth=1
fio-2.1.3
Starting 1 process

seq: (groupid=0, jobs=1): err= 0: pid=5: Mon Jan  5 01:02:03 2015
  write: io=512.0MB, bw=10240KB/s, iops=10, runt= 51200msec
    clat (msec): min=80 , max=700 , avg=99.50, stdev=20.00
";

fn log(text: &str) -> Log {
    read(&Text::decode(text.as_bytes())).unwrap().remove(0)
}

fn told(results: &[LogFigure]) -> Vec<(String, f64, Option<f64>)> {
    results.iter().map(|r| (r.name().to_string(), r.mb_s, r.iops)).collect()
}

#[test]
fn a_mixed_job_of_version_3_is_a_mix_with_its_parts() {
    let log = log(NEW);
    assert_eq!(
        told(&log.runs[0].results),
        [
            ("RND4K Q16T4 mix45".to_owned(), 11.411_456, Some(2750.0)),
            ("RND4K Q16T4 read".to_owned(), 5.12, Some(1250.0)),
            ("RND4K Q16T4 write".to_owned(), 6.291_456, Some(1500.0)),
        ]
    );
    let write = &log.runs[0].results[2];
    assert_eq!((write.latency_us, write.max_latency_us), (Some(30_500.0), Some(800_000.0)));
    assert_eq!((write.as_printed.value, write.as_printed.unit.as_str()), (6144.0, "KiB/s"));
    assert_eq!(
        (log.date.as_deref(), log.condition.get("note")),
        (Some("2024-03-03T11:12:13"), Some("disk mmcblk1"))
    );
}

#[test]
fn kilobytes_of_version_2_are_kibibytes() {
    let log = log(OLD);
    assert_eq!(told(&log.runs[0].results), [("SEQ1M Q1T1 write".to_owned(), 10.485_76, Some(10.0))]);
    assert_eq!(log.runs[0].results[0].max_latency_us, Some(700_000.0));
    assert_eq!(log.tool.unwrap().version.as_deref(), Some("2.1.3"));
}

#[test]
fn fio_started_twice_is_two_runs() {
    assert_eq!(log(&format!("{OLD}\n{OLD}")).runs.len(), 2);
    let both = log(&format!("{OLD}\n{NEW}"));
    assert_eq!((both.runs.len(), both.runs[0].results.len()), (1, 4));
}

#[test]
fn reports_on_jobs_that_still_run_are_not_added_up() {
    let report = |iops: u32, pid: u32| {
        format!(
            "t: (groupid=0, jobs=1): err= 0: pid={pid}: Sun Mar  3 11:12:13 2024\n  write: IOPS={iops}, BW={}KiB/s (1MB/s)(1MiB/1msec); 0 zone resets\n\nRun status group 0 (all jobs):\n",
            iops * 4
        )
    };
    let interim = log(&format!(
        "t: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=1\nfio-3.33\n{}{}{}",
        report(300, 7),
        report(280, 7),
        report(250, 7)
    ));
    assert_eq!(told(&interim.runs[0].results), [("RND4K Q1T1 write".to_owned(), 1.024, Some(250.0))]);
    let twice = log(&format!("{}{}", report(100, 7), report(200, 8)));
    let speeds: Vec<_> = twice.runs.iter().map(|run| run.results[0].iops).collect();
    assert_eq!(speeds, [Some(100.0), Some(200.0)]);
}

#[test]
fn what_is_read_back_to_verify_makes_no_mix() {
    let text = "v: (g=0): rw=write, bs=(R) 64.0KiB-64.0KiB, (W) 64.0KiB-64.0KiB, (T) 64.0KiB-64.0KiB, ioengine=psync, iodepth=1\nfio-3.33\n\
        v: (groupid=0, jobs=1): err= 0: pid=7: Sun Mar  3 11:12:13 2024\n  read: IOPS=400, BW=25.0MiB/s (26.2MB/s)(1MiB/1msec)\n  write: IOPS=160, BW=10.0MiB/s (10.5MB/s)(1MiB/1msec)\n";
    let found = log(text);
    let steps: Vec<_> =
        found.runs[0].results.iter().map(|r| (r.name().to_string(), r.step.clone())).collect();
    assert_eq!(
        steps,
        [("SEQ64K Q1T1 write".to_owned(), None), ("SEQ64K Q1T1 read".to_owned(), Some("verify".to_owned()))]
    );
}

#[test]
fn jobs_that_ran_at_the_same_time_are_no_tests_of_their_own() {
    let job = |name: &str, group: u32, op: &str| {
        format!(
            "{name}: (groupid={group}, jobs=1): err= 0: pid={group}: x\n  {op}: IOPS=10, BW=40KiB/s (41kB/s)(1MiB/1msec)\n"
        )
    };
    let found = log(&format!("{}{}", job("a", 0, "read"), job("b", 0, "write")));
    let steps: Vec<_> = found.runs[0].results.iter().map(|r| r.step.as_deref()).collect();
    assert_eq!(steps, [Some("beside b"), Some("beside a")]);
    assert!(found.doubts.iter().any(|doubt| doubt.contains("at the same time")), "{:?}", found.doubts);
    let one_by_one = log(&format!("{}{}", job("a", 0, "read"), job("b", 1, "write")));
    assert!(one_by_one.runs[0].results.iter().all(|r| r.step.is_none()));
}

#[test]
fn directions_reported_as_one_are_a_mix_and_a_trim_changes_no_latency() {
    let text = "m: (groupid=0, jobs=1): err= 0: pid=7: x\n  mixed: IOPS=100, BW=400KiB/s (410kB/s)(1MiB/1msec)\n    clat (usec): min=1, max=9, avg=5.00, stdev=1\n\
        t: (groupid=1, jobs=1): err= 0: pid=8: x\n  write: IOPS=10, BW=40KiB/s (41kB/s)(1MiB/1msec)\n    clat (usec): min=1, max=20, avg=10.00, stdev=1\n  trim: IOPS=10, BW=40KiB/s (41kB/s)(1MiB/1msec)\n    clat (usec): min=1, max=2, avg=1.00, stdev=1\n";
    let found = log(text);
    let results: Vec<_> =
        found.runs[0].results.iter().map(|r| (r.name().to_string(), r.latency_us)).collect();
    assert_eq!(
        results,
        [("RND4K Q1T1 mix50".to_owned(), Some(5.0)), ("RND4K Q1T1 write".to_owned(), Some(10.0))]
    );
    assert!(found.doubts.iter().any(|doubt| doubt.contains("discarded")), "{:?}", found.doubts);
}

#[test]
fn windows_lines_change_nothing() {
    assert_eq!(log(&NEW.replace('\n', "\r\n")), log(NEW));
}

#[test]
fn a_job_that_was_cut_off_before_it_reported_is_an_error() {
    let end = NEW.find("  read: IOPS").unwrap();
    let error = read(&Text::of(&NEW[..end])).unwrap_err().to_string();
    assert!(error.contains("cut off"), "{error}");
    let end = NEW.find("  write: IOPS").unwrap();
    let log = log(&NEW[..end]);
    assert_eq!(told(&log.runs[0].results), [("RND4K Q16T4 read".to_owned(), 5.12, Some(1250.0))]);
}

#[test]
fn units_are_what_they_say_in_version_3_and_binary_before() {
    for (unit, old, bytes) in [
        ("B/s", false, Some(1.0)),
        ("KiB/s", false, Some(1024.0)),
        ("kB/s", false, Some(1000.0)),
        ("MB/s", true, Some(1_048_576.0)),
        ("GiB/s", false, Some(1_073_741_824.0)),
        ("Mbit/s", false, None),
    ] {
        assert_eq!(unit_bytes(unit, old), bytes, "{unit}");
    }
}

#[test]
fn jobs_that_all_failed_are_doubted_up_to_a_number() {
    let job = |n: u32| format!("j{n}: (groupid={n}, jobs=1): err= 5: pid=1\n  read: IOPS=10, BW=40KiB/s\n");
    let text: String = (0..60_000).map(job).collect();
    let (seconds, log) = seconds_of(|| log(&text));
    assert_eq!((log.doubts.len(), log.doubts[50].as_str()), (51, "more of its jobs have such doubts"));
    assert!(seconds < 6.0, "{seconds} s");
}

proptest! {
    #[test]
    fn printed_figures_come_back(kib_s in 1_u32..1_000_000) {
        let text = OLD.replace("10240KB/s", &format!("{kib_s}KB/s"));
        prop_assert_eq!(log(&text).runs[0].results[0].mb_s, f64::from(kib_s) * 1024.0 / 1e6);
    }
}
