//! ioping's statistics, as text and as JSON (`-J`), learned from version 1.3 and held against 1.1's layout.
//!
//! KiB and MiB are powers of 1024. `requests completed` counts the time of the requests alone, `generated` the pauses
//! too: the first is the card's speed. The program does not print whether it went in sequence (`-L`): requests of
//! 256 KiB, its default with `-L`, are taken for sequential. The first request is warm-up and not counted.

mod statistics;

use crate::amount::{random, sequential};
use crate::error::ImportError;
use crate::runs::Runs;
use crate::text::Text;
use cardscope_model::condition::Origin;
use cardscope_model::log::{Log, LogFigure, Tool};
use cardscope_model::result::ToolPrints;
use cardscope_model::test_name::Op;
use cardscope_model::units::{KIB, MIB};
use statistics::Statistics;

/// Requests of this size are `-L`'s.
const LINEAR: u64 = 256 * KIB;

/// True where its statistics stand in it.
pub(crate) fn recognise(text: &Text) -> bool {
    text.lines().any(statistics::is_title) || statistics::is_json(text.body())
}

/// Reads it: each block of statistics is a figure.
///
/// # Errors
/// If the JSON is none, or ends in the middle.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    let all = if statistics::is_json(text.body()) {
        statistics::of_json(text.body()).map_err(|why| ImportError::Empty { format: "ioping", why })?
    } else {
        statistics::of_text(text)
    };
    let mut log = Log::new("ioping");
    log.tool = Some(Tool { name: "ioping".into(), version: None });
    log.date = all.iter().find_map(|one| one.date.clone());
    if let Some(file_system) = all.iter().find_map(|one| one.file_system.clone()) {
        log.condition.set("file_system", file_system, Origin::Read);
    }
    if all.iter().any(|one| one.op.is_none()) {
        log.doubts.push("ioping did not say whether it read or wrote; it was taken for reading".to_owned());
    }
    let mut runs = Runs::default();
    all.iter().filter_map(figure).for_each(|figure| runs.add(figure));
    log.runs = runs.finish();
    Ok(vec![log])
}

fn figure(one: &Statistics) -> Option<LogFigure> {
    let block = one.block().filter(|block| (1..=64 * MIB).contains(block))?;
    let op = one.op.unwrap_or(Op::Read);
    let test = if block == LINEAR { sequential(block, op) } else { random(block, 1, op) };
    Some(LogFigure {
        test: test.pattern,
        op,
        step: Some("ioping".to_owned()),
        mb_s: one.mb_s?,
        iops: one.iops,
        latency_us: one.mean_us,
        max_latency_us: one.max_us,
        as_printed: ToolPrints { value: one.printed.0, unit: one.printed.1.clone() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> Log {
        read(&Text::decode(text.as_bytes())).unwrap().remove(0)
    }

    const PINGS: &str = "4 KiB >>> /mnt (vfat /dev/sdb1 29.7 GiB): request=1 time=2.11 ms (warmup)\r\n4 KiB >>> /mnt (vfat /dev/sdb1 29.7 GiB): request=2 time=1.50 ms\r\n\r\n--- /mnt (vfat /dev/sdb1 29.7 GiB) ioping statistics ---\r\n10 requests completed in 20.0 ms, 40 KiB written, 500 iops, 1.95 MiB/s\r\ngenerated 11 requests in 10.0 s, 44 KiB, 1 iops, 4.40 KiB/s\r\nmin/avg/max/mdev = 890.1 us / 2.00 ms / 5.25 ms / 500.1 us\r\n";

    #[test]
    fn a_card_pinged_once_a_second_has_its_latency() {
        let log = log(PINGS);
        let figure = &log.runs[0].results[0];
        assert_eq!(figure.name().to_string(), "RND4K Q1T1 write");
        assert_eq!(
            (figure.iops, figure.latency_us, figure.max_latency_us),
            (Some(500.0), Some(2000.0), Some(5250.0))
        );
        assert!((figure.mb_s - 1.95 * 1.048_576).abs() < 1e-9);
        assert_eq!(log.condition.get("file_system"), Some("vfat"));
        assert!(log.doubts.is_empty());
    }

    #[test]
    fn thousands_of_requests_and_large_ones_are_read() {
        let log = log(
            "--- /dev/sdb (block device 14.8 GiB) ioping statistics ---\n3.25 k requests completed in 2.98 s, 812.5 MiB read, 1.09 k iops, 272.7 MiB/s\ngenerated 3.25 k requests\nmin/avg/max/mdev = 0.5 ms / 917.1 us / 10.0 ms / 1 us\n",
        );
        let figure = &log.runs[0].results[0];
        assert_eq!((figure.name().to_string().as_str(), figure.iops), ("SEQ256K Q1T1 read", Some(1090.0)));
    }

    #[test]
    fn statistics_in_json_are_exact() {
        let json = r#"[{"timestamp": 1.5,"localtime": "2025-03-04T05:06:07+0000","target": {"path": ".","fstype": "exfat","device": "/dev/sdb1","device_size": 7},"io": {"request": 1,"operation": "write","size": 4096,"time": 133920,"ignored": true}},{"localtime": "2025-03-04T05:06:09+0000","target": {"fstype": "exfat"},"stat": {"count": 3,"size": 12288,"time": 6000000,"iops": 500.0,"bps": 2048000,"min": 1000000,"avg": 2000000,"max": 3000000,"mdev": 1},"load": {"count": 4}}]"#;
        let log = log(json);
        let figure = &log.runs[0].results[0];
        assert_eq!((figure.mb_s, figure.iops, figure.latency_us), (2.048, Some(500.0), Some(2000.0)));
        assert_eq!(
            (figure.name().to_string().as_str(), log.date.as_deref()),
            ("RND4K Q1T1 write", Some("2025-03-04T05:06:07"))
        );
        let error = read(&Text::of(&json[..json.len() - 20])).unwrap_err().to_string();
        assert!(error.contains("JSON"), "{error}");
    }

    #[test]
    fn statistics_cut_off_before_their_speed_are_none() {
        assert!(log(&PINGS[..PINGS.find(" iops").unwrap()]).runs.is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_speed_comes_back_as_printed(hundredths in 1u32..100_000) {
            let value = f64::from(hundredths) / 100.0;
            let log = log(&format!("--- x (ext4) ioping statistics ---\n5 requests completed in 1.00 s, 20 KiB read, 5 iops, {value} MiB/s\n"));
            proptest::prop_assert_eq!(log.runs[0].results[0].as_printed.value, value);
        }
    }
}
