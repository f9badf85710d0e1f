//! Lists of cards' identities as kernels printed them: name, maker's number, OEM id, month (those collected from
//! sbc-bench's results, and its list of cards with low serial numbers).
//!
//! Sizes are in GiB with one decimal: too rough for a capacity in bytes. Of an eMMC the maker's number is of another list
//! than a card's.

use crate::identity::facts::{made_by, month};
use crate::numbers::number;
use crate::table::{Row, Table};
use crate::{ImportError, Text};
use cardscope_model::bus::TIMINGS;
use cardscope_model::condition::Origin;
use cardscope_model::log::Log;
use serde_json::{Map, json};

/// True where the headings of such a list stand first.
pub(crate) fn recognise(text: &Text) -> bool {
    let head = text.head().lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Table::of(head).has(&["name", "manfid", "oemid", "made"])
}

/// Reads it: each row is a log.
///
/// # Errors
/// If no row names a card.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    let table = Table::of(text.body());
    let logs: Vec<Log> = table.rows().filter_map(|row| log(&row)).collect();
    match logs.is_empty() {
        true => Err(ImportError::Empty { format: "identities", why: "no row of it names a card".to_owned() }),
        false => Ok(logs),
    }
}

fn log(row: &Row<'_>) -> Option<Log> {
    let mut log = Log::new("identities");
    // Before the name some rows have whom the list's author takes for the maker.
    let name = row.get("name")?;
    let bus = row.get("bus").unwrap_or_default();
    log.part = Some(
        [Some(name), row.get("made"), row.get("serial")].into_iter().flatten().collect::<Vec<_>>().join(", "),
    );
    log.card.model = name.split_whitespace().last().map(str::to_owned).filter(|name| name != "N/A");
    log.card.made = row.get("made").and_then(month);
    log.card.serial = row.owned("serial");
    if bus.contains("eMMC") {
        log.card.form = Some("eMMC".to_owned());
    } else {
        log.card.maker = made_by(row.get("manfid")?, row.get("oemid")?);
    }
    log.card.note = row.owned("remark");
    if let Some(mode) = mode(bus) {
        log.condition.set("bus_mode", mode, Origin::Read);
    }
    if let Some(board) = row.get("device") {
        log.condition.set("board", board, Origin::Read);
    }
    let kept = ["name", "manfid", "oemid", "hwrev", "fwrev", "bus"];
    let mut identity: Map<_, _> =
        kept.iter().filter_map(|key| Some(((*key).to_owned(), json!(row.get(key)?)))).collect();
    let gib = row.get("size_GiB").or_else(|| row.get("capacity")?.strip_suffix(" GiB")).and_then(number);
    identity.extend(gib.map(|gib| ("about_gib".to_owned(), json!(gib))));
    log.other.insert("identity".into(), json!(identity));
    Some(log)
}

/// `UHS SDR104 SDXC`, `HS SD`: the mode as people call it; a plain `SD` says nothing of it.
fn mode(bus: &str) -> Option<&'static str> {
    let words: Vec<&str> = bus.split_whitespace().collect();
    let named = TIMINGS.iter().find(|timing| words.contains(&timing.mode.trim_start_matches("MMC ")));
    let high_speed = words.first() == Some(&"HS");
    named.map(|timing| timing.mode).or_else(|| high_speed.then_some("High Speed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_and_emmcs_of_a_list() {
        let text = "size_GiB,name,bus,made,manfid,oemid,hwrev,fwrev,remark,result_files\r\n29.7,SanDisk SX32G,UHS SDR104 SD,10/2019,0x000003,0x5344,0x8,0x0,,a.txt\r\n14.6,Samsung XJTD4R,HS200 eMMC 5.1,08/2022,0x000015,0x0100,0x0,0x06,,b.txt\r\n7.4,SU0XG,HS SD,06/2013,0x000003,0x5344,0x8,0x0,slow,c\r\n";
        let text = Text::decode(text.as_bytes());
        assert!(recognise(&text));
        let logs = read(&text).unwrap();
        assert_eq!(
            (logs[0].card.model.as_deref(), logs[0].card.made.as_deref(), logs[0].condition.get("bus_mode")),
            (Some("SX32G"), Some("2019-10"), Some("SDR104"))
        );
        assert_eq!(
            (logs[1].card.form.as_deref(), logs[1].card.maker.as_deref(), logs[1].condition.get("bus_mode")),
            (Some("eMMC"), None, Some("MMC HS200"))
        );
        assert_eq!(
            (logs[2].condition.get("bus_mode"), logs[2].card.note.as_deref()),
            (Some("High Speed"), Some("slow"))
        );
        insta::assert_snapshot!(logs[0].other["identity"], @r#"{"name":"SanDisk SX32G","manfid":"0x000003","oemid":"0x5344","hwrev":"0x8","fwrev":"0x0","bus":"UHS SDR104 SD","about_gib":29.7}"#);
    }

    #[test]
    fn a_list_with_serial_numbers() {
        let logs = read(&Text::of("serial,capacity,name,manfid,oemid,made,hwrev,fwrev,device\n0x00000001,14.6 GiB,N/A,0x000000,0x2020,12/2017,0x1,0x0,Example Board 2\n0x00")).unwrap();
        assert_eq!(
            (logs.len(), logs[0].card.serial.as_deref(), logs[0].card.model.as_deref()),
            (1, Some("0x00000001"), None)
        );
        assert_eq!(
            (logs[0].condition.get("board"), logs[0].other["identity"]["about_gib"].as_f64()),
            (Some("Example Board 2"), Some(14.6))
        );
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(rows in "([0-9a-zA-Z ,x/]{0,60}\n){0,5}") {
            let _ = read(&Text::of(&format!("serial,capacity,name,manfid,oemid,made,hwrev,fwrev,device\n{rows}")));
        }
    }
}
