//! Tables of Geerling's results: a host and a card a row, or what a card cost.
//!
//! hdparm's MB/s is hdparm's MiB/s. dd's is dd's, 10^6. iozone's is KiB/s divided by 1024, so MiB/s: his I/Os per dollar of
//! 2019 count 256 of them to a MB/s. Steps carry the names of the recipe `geerling-2020`.

use super::name::card_named;
use crate::amount::{Amount, random, sequential, step};
use crate::notes::add_note;
use crate::numbers::{MIB_S, speed};
use crate::table::{Row, Table};
use crate::{ImportError, Text};
use cardscope_model::card::{Event, EventKind, Price};
use cardscope_model::condition::Origin;
use cardscope_model::log::{Log, LogRun, Tool};
use cardscope_model::test_name::{Op, TestName};
use cardscope_model::units::{KIB, MIB};

/// A column: its heading, the recipe's step, the test, MB/s in one of it.
fn columns() -> [(&'static str, &'static str, TestName, f64); 4] {
    [
        ("hdparm_t_MBps", "hdparm -t", sequential(2 * MIB, Op::Read), MIB_S),
        ("dd_write_8k_MBps", "dd", sequential(8 * KIB, Op::Write), 1.0),
        ("iozone_4k_rand_read_MBps", "iozone random read", random(4 * KIB, 1, Op::Read), MIB_S),
        ("iozone_4k_rand_write_MBps", "iozone random write", random(4 * KIB, 1, Op::Write), MIB_S),
    ]
}

/// True where the heading is of one of the two tables.
pub(crate) fn recognise(text: &Text) -> bool {
    let head = Table::of(text.head());
    head.has(&["host", "card", "iozone_4k_rand_write_MBps"]) || head.has(&["card", "price_usd_mid_2019"])
}

/// Reads it: each row is a log.
///
/// # Errors
/// If no row is whole.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    let table = Table::of(text.body());
    let logs: Vec<Log> = table.rows().filter_map(|row| log(&row)).collect();
    match logs.is_empty() {
        true => Err(ImportError::Empty { format: "geerling", why: "no row of it names a card".to_owned() }),
        false => Ok(logs),
    }
}

fn log(row: &Row<'_>) -> Option<Log> {
    let card = row.get("card")?;
    let mut log = Log::new("geerling");
    log.card = card_named(card);
    log.tool = Some(Tool { name: "hdparm, dd, iozone".into(), version: None });
    log.part = Some(row.get("host").map_or_else(|| card.to_owned(), |host| format!("{card}, {host}")));
    measured(row, &mut log);
    under(row, &mut log);
    log.events.extend(price(row));
    Some(log)
}

fn measured(row: &Row<'_>, log: &mut Log) {
    let mut run = LogRun { run: 1, ..LogRun::default() };
    for (heading, name, test, mb_s) in columns() {
        let Some(cell) = row.get(heading) else { continue };
        match speed(cell) {
            Some(value) => run.results.push(step(name, test, Amount { value, unit: "MB/s" }, mb_s)),
            // "TODO" and "< 1" are in the source.
            None => log.doubts.push(format!("{name} is given as {cell:?}, which is no figure")),
        }
    }
    log.runs.extend(Some(run).filter(|run| !run.results.is_empty()));
}

fn under(row: &Row<'_>, log: &mut Log) {
    if let Some(host) = row.get("host") {
        let (board, clock) = host.split_once(", ").unwrap_or((host, ""));
        log.condition.set("board", board, Origin::Stated);
        if !clock.is_empty() {
            log.condition.set("board_clock", clock, Origin::Stated);
        }
    }
    for note in [row.get("note").map(str::to_owned), row.get("source").map(|source| format!("from {source}"))]
    {
        add_note(&mut log.condition, note.as_deref().unwrap_or_default(), Origin::Stated);
    }
    log.date = row.get("date").and_then(crate::dates::date);
    if let Some(month) = row.get("date").filter(|_| log.date.is_none()) {
        add_note(&mut log.condition, &format!("measured {month}"), Origin::Stated);
    }
}

fn price(row: &Row<'_>) -> Option<Event> {
    let amount = speed(row.get("price_usd_mid_2019")?)?;
    Some(Event {
        date: Some("2019".to_owned()),
        kind: EventKind::Note,
        price: Some(Price { amount, currency: "USD".to_owned() }),
        note: Some("price in a shop, mid-2019".to_owned()),
        source: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "source,date,host,card,hdparm_t_MBps,dd_write_8k_MBps,iozone_4k_rand_read_MBps,iozone_4k_rand_write_MBps,note\n";

    #[test]
    fn each_card_on_each_host_is_a_log() {
        let text = format!(
            "{HEAD}post 1,2016-03,Raspberry Pi 9 B,Example EVO 16GB,12.34,10.0,5.00,1.00,\r\npost 1,2016-03,\"Raspberry Pi 9 B, reader overclocked to 100 MHz\",Example (C4) 4GB,TODO,< 1,2.00,< 0.1,hot\r\n"
        );
        let text = Text::decode(text.as_bytes());
        assert!(recognise(&text));
        let logs = read(&text).unwrap();
        let found: Vec<String> = logs[0].runs[0]
            .results
            .iter()
            .map(|f| format!("{} {} {:.4}", f.step.as_deref().unwrap(), f.name(), f.mb_s))
            .collect();
        assert_eq!(
            found,
            [
                "hdparm -t SEQ2M Q1T1 read 12.9394",
                "dd SEQ8K Q1T1 write 10.0000",
                "iozone random read RND4K Q1T1 read 5.2429",
                "iozone random write RND4K Q1T1 write 1.0486"
            ]
        );
        assert_eq!(
            (logs[0].card.title().as_str(), logs[0].condition.get("board")),
            ("Example EVO 16GB", Some("Raspberry Pi 9 B"))
        );
        assert_eq!((logs[1].runs[0].results.len(), logs[1].doubts.len()), (1, 3));
        assert_eq!(logs[1].condition.get("board_clock"), Some("reader overclocked to 100 MHz"));
        assert_eq!(logs[1].condition.get("note"), Some("hot; from post 1; measured 2016-03"));
    }

    #[test]
    fn a_price_is_an_event() {
        let logs = read(&Text::of(
            "card,price_usd_mid_2019,iops_per_usd_read,note\nExample Ultra A1 32GB,7.5,100,\n",
        ))
        .unwrap();
        assert_eq!(logs[0].events[0].price, Some(Price { amount: 7.5, currency: "USD".into() }));
        assert!(logs[0].runs.is_empty() && logs[0].card.marks == ["A1"]);
    }

    proptest::proptest! {
        #[test]
        fn any_speed_comes_back(hundredths in 0u32..100_000) {
            let value = f64::from(hundredths) / 100.0;
            let logs = read(&Text::of(&format!("{HEAD},,,X 1GB,{value},,,,\n"))).unwrap();
            proptest::prop_assert_eq!(logs[0].runs[0].results[0].as_printed.value, value);
        }
        #[test]
        fn no_text_panics(rows in "([ -~]{0,50}\n){0,4}") {
            let _ = read(&Text::of(&format!("{HEAD}{rows}")));
        }
    }
}
