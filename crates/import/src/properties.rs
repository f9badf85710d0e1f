//! Whatever number stands in a log comes back as it was printed, of every tool whose line is one figure.

use crate::formats::formats;
use crate::text::Text;
use proptest::prelude::*;

/// Formats with the decimals and the decimal sign that they print, and a log with `{}` in the place of its only figure.
const LOGS: [(&str, usize, &str, &str); 13] = [
    ("agnostics", 0, ".", "rand-4k-read;8;{};0;0"),
    ("as-ssd", 2, ",", "AS SSD\nSeq {} MB/s\n"),
    ("bonnie++", 0, ".", BONNIE),
    ("disk-benchmark", 2, ".", "| 4K random read | {} MB/s |"),
    ("f3", 2, ".", "Average writing speed: {} KB/s\n"),
    ("f3", 2, ".", "Average writing speed: {} MB/s\n"),
    ("f3", 2, ".", "Average writing speed: {} GB/s\n"),
    ("figures", 2, ".", "card,test,mb_s\nA 8GB,RND4K Q1T1 read,{}\n"),
    ("h2testw", 2, ".", "Reading speed: {} MByte/s\n"),
    ("hdparm", 2, ".", " Timing buffered disk reads: 204 MB in  3.02 seconds = {} MB/sec\n"),
    ("ioping", 2, ".", IOPING),
    ("pibenchmarks", 0, ".", "FIO   4k random read  {} IOPS (8 KB/s)\n"),
    ("crystaldiskmark", 3, ".", "Sequential Read : {} MB/s\n"),
];

const BONNIE: &str = "1.97,1.97,host,1,1400000000,256M,,500,90,{},1,3100,1,1500,98,17100,2,55.5,1,2,102400,2,,100,7,0,+++++,+++,301,1,8,0,+++++,+++,902,3,20100us,9011ms,8022ms,5033us,44us,55us,21066us,577us,388us,20199ms,4110us,1211us\n";

const IOPING: &str = "--- x (ext4) ioping statistics ---\n\
    5 requests completed in 1.00 s, 20 KiB read, 5 iops, {} MiB/s\n";

proptest! {
    #[test]
    fn any_figure_comes_back_as_printed(number in 1u32..10_000_000) {
        for (name, decimals, sign, log) in LOGS {
            let format = formats().iter().find(|format| format.name == name).unwrap();
            let printed = format!("{:.decimals$}", f64::from(number) / 10f64.powi(decimals as i32));
            let text = log.replace("{}", &printed.replace('.', sign));
            let logs = (format.read)(&Text::of(&text)).unwrap();
            let value = logs[0].runs[0].results[0].printed().value;
            prop_assert_eq!(value, printed.parse::<f64>().unwrap(), "{}: {}", name, text);
        }
    }
}
