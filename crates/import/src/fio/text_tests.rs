//! Own output of fio 2 and 3 in its normal form, with several jobs, units and cuts.

use super::*;
use proptest::prelude::*;

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

proptest! {
    #[test]
    fn printed_figures_come_back(kib_s in 1_u32..1_000_000) {
        let text = OLD.replace("10240KB/s", &format!("{kib_s}KB/s"));
        prop_assert_eq!(log(&text).runs[0].results[0].mb_s, f64::from(kib_s) * 1024.0 / 1e6);
    }
}
