//! Property tests: any number in a log of any tool is read as printed.

use crate::readers::LogText;
use crate::readers::formats::{LogFormat, formats};
use cardscope_model::log::CardLog;
use cardscope_model::run::TestFigure;
use proptest::prelude::*;

/// Formats with the decimals and the decimal sign that they print, and a log with `{}` in place of its only figure.
const LOGS: [(&str, usize, &str, &str); 14] = [
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
    ("plotly-page", 1, ".", PAGE),
];

const BONNIE: &str = "1.97,1.97,host,1,1400000000,256M,,500,90,{},1,3100,1,1500,98,17100,2,55.5,1,2,102400,2,,100,7,0,+++++,+++,301,1,8,0,+++++,+++,902,3,20100us,9011ms,8022ms,5033us,44us,55us,21066us,577us,388us,20199ms,4110us,1211us\n";

const IOPING: &str = "--- x (ext4) ioping statistics ---\n\
    5 requests completed in 1.00 s, 20 KiB read, 5 iops, {} MiB/s\n";

const PAGE: &str = "## 64GB Example\n{{< plotly >}}\n{\"data\": [{\"x\": [{}], \"y\": [\"SEQ1G Q1T1 Read\"], \
    \"name\": \"Test 1\"}],\n\"layout\": {\"xaxis\": {\"ticksuffix\": \" MB/s\"}}}\n{{< /plotly  >}}\n";

const FIO: &str = "seq: (groupid=0, jobs=1): err= 0: pid=5: Mon Jan  5 01:02:03 2015\n\
    \x20 write: io=512.0MB, bw={}KB/s, iops=10, runt= 51200msec\n\
    \x20   clat (msec): min=80 , max=700 , avg=99.50, stdev=20.00\n";

const IOZONE: &str = "                                                              random    random     bkwd    record    stride\n              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite    fread  freread\n";

const IOS: &str = "clock:\t\t{} Hz\r\nactual clock:\t{} Hz\r\nvdd:\t\t21 (3.3 ~ 3.4 V)\r\nbus width:\t2 (4 bits)\r\ntiming spec:\t6 (sd uhs SDR104)\r\nsignal voltage:\t1 (1.80 V)\r\n";

const EXT_CSD: &str = "=============================================\n  Extended CSD rev 1.8 (MMC 5.1)\n=============================================\n\nCard Supported Command sets [S_CMD_SET: 0x01]\nSector Count [SEC_COUNT: {}]\n Device is block-addressed\neMMC Life Time Estimation A [EXT_CSD_DEVICE_LIFE_TIME_EST_TYP_A]: 0x02\neMMC Life Time Estimation B [EXT_CSD_DEVICE_LIFE_TIME_EST_TYP_B]: 0x01\neMMC Pre EOL information [EXT_CSD_PRE_EOL_INFO]: 0x01\n";

fn find_format(name: &str) -> &'static LogFormat {
    formats().iter().find(|format| format.name == name).unwrap()
}

fn read_log(name: &str, text: &str) -> CardLog {
    find_format(name).read(&LogText::from_decoded(text)).unwrap().remove(0)
}

fn first_figure(name: &str, text: &str) -> TestFigure {
    read_log(name, text).runs.remove(0).results.remove(0)
}

/// A direction as fio 3 prints it: `bw` is `bw_bytes` in KiB, rounded down.
fn fio_direction(bytes_s: u64, iops: f64) -> String {
    format!(
        r#"{{"io_bytes": {bytes_s}, "io_kbytes": {kib}, "bw_bytes": {bytes_s}, "bw": {kib}, "iops": {iops},
        "clat_ns": {{"min": 900, "max": 7000000, "mean": 250500.5, "percentile": {{"99.000000": 1}}, "bins": {{"1": 2}}}},
        "lat_ns": {{"max": 9000000, "mean": 300000}}}}"#,
        kib = bytes_s / 1024
    )
}

fn fio_json(options: &str, read: &str, write: &str) -> String {
    format!(
        r#"{{"fio version": "fio-3.36", "timestamp": 1700000000, "time": "Tue Nov 14 22:13:20 2023",
        "global options": {{"direct": "1", "ioengine": "libaio", "size": "64M"}}, "jobs": [{{"jobname": "a",
        "groupid": 0, "error": 0, "job options": {{{options}}}, "read": {read}, "write": {write}, "trim": {trim},
        "latency_depth": 4}}], "disk_util": [{{"name": "mmcblk0", "util": 99.0}}]}}"#,
        trim = fio_direction(0, 0.0)
    )
}

#[test]
fn truncated_fio_json_is_reported_as_truncated() {
    let text =
        fio_json(r#""rw": "read", "bs": "1M""#, &fio_direction(20_971_520, 20.0), &fio_direction(0, 0.0));
    for end in (text.find("\"jobname\"").unwrap()..text.len() - 1).step_by(7) {
        let error =
            find_format("fio-json").read(&LogText::from_decoded(&text[..end])).unwrap_err().to_string();
        assert!(error.contains("truncated"), "{error}");
    }
    let both = format!("{text}\n{}", &text[..100]);
    assert!(read_log("fio-json", &both).doubts[0].contains("truncated"));
}

#[test]
fn long_names_are_shortened_in_doubts() {
    let text =
        fio_json(r#""rw": "read", "bs": "1M""#, &fio_direction(20_971_520, 20.0), &fio_direction(0, 0.0));
    let named = text.replace("\"a\"", &format!("{:?}", "qj ".repeat(1000)));
    let doubts = read_log("fio-json", &named.replace("\"error\": 0", "\"error\": 5")).doubts;
    assert!(doubts.iter().any(|doubt| doubt.starts_with("qj") && doubt.contains("error 5")), "{doubts:?}");
    assert!(doubts.iter().all(|doubt| doubt.len() < 300), "{doubts:?}");
}

proptest! {
    #[test]
    fn any_figure_is_read_as_printed(number in 1u32..10_000_000) {
        for (name, decimals, sign, log) in LOGS {
            let printed = format!("{:.decimals$}", f64::from(number) / 10f64.powi(decimals as i32));
            let text = log.replace("{}", &printed.replace('.', sign));
            let value = first_figure(name, &text).printed_or_speed().value;
            prop_assert_eq!(value, printed.parse::<f64>().unwrap(), "{}: {}", name, text);
        }
    }

    #[test]
    fn cdm_fio_figures_are_exact_within_the_scripts_rounding(kib_s in 4_u64..4_000_000, ios in 1_u64..4) {
        let (printed, cut) = (kib_s / 1024, kib_s / 4);
        let figure = first_figure("cdm_fio", &format!("4KB Q{ios}T1 Read: {printed}MB/s IOPS={cut}\n"));
        let truth = kib_s as f64 * 1024.0;
        prop_assert!(figure.mb_s * 1e6 <= truth + 1.0 && truth - figure.mb_s * 1e6 <= 1_048_576.0);
        // Speed and IOPS were cut separately: by up to one MiB, and by up to one I/O.
        let by_iops = figure.iops.unwrap_or(0.0) * 4096.0;
        prop_assert!((by_iops - figure.mb_s * 1e6).abs() <= 1_048_576.0 + 4096.0);
    }

    #[test]
    fn crystaldiskmark_figures_agree_with_their_iops(
        mb_s in 0.001..8000.0_f64, queue in 1_u32..64, threads in 1_u32..16
    ) {
        let iops = mb_s * 1e6 / 4096.0;
        let line = format!("  RND    4KiB (Q={queue:3}, T={threads:2}): {mb_s:9.3} MB/s [{iops:9.1} IOPS]");
        let figure = first_figure("crystaldiskmark", &format!("[Write]\n{line} <{:9.2} us>\n", 1e6 / iops));
        prop_assert_eq!(figure.test.to_string(), format!("RND4K Q{queue}T{threads}"));
        prop_assert!((figure.mb_s - mb_s).abs() <= 0.000_5 + 1e-9);
        if let Some(printed) = figure.iops {
            // Both were rounded: by 0.0005 MB/s, and by 0.05 I/Os of 4096 bytes.
            prop_assert!((figure.mb_s * 1e6 - printed * 4096.0).abs() <= 500.0 + 205.0);
        }
    }

    #[test]
    fn kdiskmark_figures_agree_with_their_iops(kib_s in 100.0..8_000_000.0_f64) {
        let line = format!("Random 4 KiB (Q= 1, T= 1): {:9.3} MB/s [{:8.1} IOPS]", kib_s / 1000.0, kib_s / 4.0);
        let figure = first_figure("kdiskmark", &format!("KDiskMark (3.3.0): x\n[Read]\n{line}\n"));
        // The printed MB/s were rounded by 0.0005, and the IOPS by 0.05 I/Os of 4096 bytes.
        prop_assert!((figure.mb_s * 1e6 - kib_s * 1024.0).abs() <= 512.0 + 1.0);
        let by_iops = figure.iops.unwrap() * 4096.0;
        prop_assert!((figure.mb_s * 1e6 - by_iops).abs() <= 512.0 + 205.0 + 1.0);
    }

    #[test]
    fn fio_text_figures_are_exact(kib_s in 1_u32..1_000_000) {
        let figure = first_figure("fio-text", &FIO.replace("{}", &kib_s.to_string()));
        prop_assert_eq!(figure.mb_s, f64::from(kib_s) * 1024.0 / 1e6);
    }

    #[test]
    fn fio_json_figures_agree_with_their_iops(bytes_s in 4096_u64..4_000_000_000) {
        let write = fio_direction(bytes_s, bytes_s as f64 / 4096.0);
        let figure = first_figure("fio-json", &fio_json(r#""rw": "randwrite", "bs": "4k""#, &fio_direction(0, 0.0), &write));
        prop_assert_eq!(figure.mb_s, bytes_s as f64 / 1e6);
        prop_assert!((figure.mb_s * 1e6 - figure.iops.unwrap() * 4096.0).abs() < 1.0);
    }

    #[test]
    fn dd_figures_follow_from_bytes_and_seconds(blocks in 1u64..100_000, micros in 1_000u64..1_000_000_000) {
        let (bytes, seconds) = (blocks * 4096, micros as f64 / 1e6 + 0.000_000_1);
        let mb_s = bytes as f64 / 1e6 / seconds;
        prop_assume!(mb_s > 0.01);
        let records = format!("{blocks}+0 records in\n{blocks}+0 records out\n");
        let figure = first_figure("dd", &format!("{records}{bytes} bytes (x) copied, {seconds:.7} s, {mb_s:.3} MB/s\n"));
        prop_assert!((figure.mb_s - mb_s).abs() <= mb_s * 1e-3);
        prop_assert_eq!(figure.name().to_string(), "SEQ4K Q1T1 write");
    }

    #[test]
    fn iozone_speeds_are_read_under_their_columns(
        speeds in prop::collection::vec(prop::option::of(1u64..99_999_999), 13)
    ) {
        let cells: String = speeds.iter().map(|s| s.map_or(" ".repeat(9), |s| format!(" {s:>8}"))).collect();
        let log = read_log("iozone", &format!("{IOZONE}{:>16}{:>8}{cells}\n", 102_400, 4));
        let values: Vec<f64> = log.runs.iter().flat_map(|run| &run.results).map(|f| f.printed_or_speed().value).collect();
        let expected: Vec<f64> = speeds[..6].iter().flatten().map(|s| *s as f64).collect();
        prop_assert_eq!(values, expected);
        let others = log.other.get("iozone").and_then(serde_json::Value::as_array).map_or(0, Vec::len);
        prop_assert_eq!(others, speeds[6..].iter().flatten().count());
    }

    #[test]
    fn flashbench_speeds_are_exact_within_three_digits(speeds in prop::collection::vec(1u32..2_000_000, 2..9)) {
        let cell = |kb: &u32| match kb {
            ..1000 => format!("{kb}K/s"),
            1000..10_000 => format!("{:.2}M/s", f64::from(*kb) / 1e3),
            _ => format!("{:.1}M/s", f64::from(*kb) / 1e3),
        };
        let row = format!("4MiB    {}\n", speeds.iter().map(cell).collect::<Vec<_>>().join("  "));
        let log = read_log("flashbench", &row);
        let found = log.other["flashbench"]["fat"][0]["mb_s"].as_array().unwrap();
        for (found, printed) in found.iter().zip(&speeds) {
            prop_assert!((found.as_f64().unwrap() - f64::from(*printed) / 1e3).abs() <= 0.050_001);
        }
    }

    #[test]
    fn f3_sector_counts_are_exact(ok in 1u64..1 << 40, bad in 0u64..1 << 40) {
        let good = format!("  Data OK: 1.00 GB ({ok} sectors)\n");
        let lost = format!("Data LOST: 1.00 GB ({bad} sectors)\n\tCorrupted: 1.00 GB ({bad} sectors)\n");
        let read = &read_log("f3", &(good + &lost)).other["f3read"];
        prop_assert_eq!((read["good_bytes"].as_u64(), read["lost_bytes"].as_u64()), (Some(ok * 512), Some(bad * 512)));
    }

    #[test]
    fn bus_clock_is_exact(mhz in 1u64..300) {
        let text = IOS.replace("{}", &(mhz * 1_000_000).to_string());
        let log = read_log("mmc-ios", LogText::decode(text.as_bytes()).body());
        prop_assert_eq!(log.other["mmc"]["clock_hz"].as_u64(), Some(mhz * 1_000_000));
    }

    #[test]
    fn emmc_size_is_exact(sectors in 1u32..) {
        let text = EXT_CSD.replace("{}", &format!("{sectors:#010x}"));
        prop_assert!((find_format("mmc-utils").recognise)(&LogText::from_decoded(&text)));
        prop_assert_eq!(read_log("mmc-utils", &text).card.capacity_bytes, Some(u64::from(sectors) * 512));
    }

    #[test]
    fn cid_is_exact(cid in "[0-9a-f]{32}") {
        let text = format!("cid: {cid}\n");
        prop_assert!((find_format("sysfs").recognise)(&LogText::from_decoded(&text)));
        prop_assert_eq!(read_log("sysfs", &text).card.cid, Some(cid));
    }

    #[test]
    fn nvme_counters_are_exact(read: u32, written: u32, kelvin in 200u16..400) {
        let text = format!(
            "Smart Log for NVME device:nvme0\ntemperature : 98 °F ({kelvin} K)\n\
             Data Units Read : {read} (5 MB)\nData Units Written : {written} (1 GB)\n"
        );
        let smart = &read_log("nvme", &text).other["nvme"]["smart"];
        prop_assert_eq!(smart["data_read_bytes"].as_u64(), Some(u64::from(read) * 512_000));
        prop_assert_eq!(smart["data_units_written"].as_u64(), Some(u64::from(written)));
        prop_assert_eq!(smart["temperature_kelvin"].as_u64(), Some(u64::from(kelvin)));
    }
}
