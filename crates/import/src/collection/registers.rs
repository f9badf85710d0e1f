//! A table of cards' registers: one card a row, its CID, CSD, OCR and SCR in hex.
//!
//! Only the registers count; decoded columns beside them are the table's own reckoning. What stands on a card is in
//! `label`; `reported_classes` is what it said in its SD status, and the two differ on some.

use super::name::card_named;
use crate::identity::facts::{facts, registers};
use crate::table::{Row, Table};
use crate::{ImportError, Text};
use cardscope_model::identity::{HexRegisters, from_hex};
use cardscope_model::label;
use cardscope_model::log::Log;
use serde_json::json;

/// True where a heading has both registers.
pub(crate) fn recognise(text: &Text) -> bool {
    let heading = text.head().lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    heading.contains(',') && Table::of(heading).has(&["cid", "csd"])
}

/// Reads it: each row is a log.
///
/// # Errors
/// If no row holds a register.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    let table = Table::of(text.body());
    let logs: Vec<Log> = table.rows().filter_map(|row| log(&row)).collect();
    if logs.is_empty() {
        return Err(ImportError::Empty {
            format: "registers",
            why: "no row of it holds a CID or CSD".to_owned(),
        });
    }
    Ok(logs)
}

fn log(row: &Row<'_>) -> Option<Log> {
    let mut log = Log::new("registers");
    log.part = row.owned("label");
    let hex = HexRegisters {
        cid: row.get("cid"),
        csd: row.get("csd"),
        scr: row.get("scr"),
        ssr: row.get("ssr"),
        ocr: row.get("ocr"),
        kind: row.get("type"),
    };
    if hex.cid.is_none() && hex.csd.is_none() {
        return None;
    }
    match from_hex(hex) {
        Ok(identity) => {
            log.card = facts(&identity);
            log.other = registers(&identity);
        }
        Err(error) => log.doubts.push(error.to_string()),
    }
    let printed = card_named(row.get("label").unwrap_or_default());
    log.card.complete_from(&printed);
    if let Some(classes) = row.get("reported_classes") {
        log.other.insert("reported_marks".into(), json!(marks(classes)));
    }
    Some(log)
}

/// `Class 10, U3, A2, V30` as the marks are written on cards.
fn marks(text: &str) -> Vec<String> {
    let short = text.replace("Class ", "C");
    label::parse(&short)
        .map_or_else(|_| Vec::new(), |label| label.marks.iter().map(ToString::to_string).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "label,cid,csd,ocr,scr,manfid,reported_classes\n";

    #[test]
    fn each_row_is_a_card() {
        let text = format!(
            "{HEAD}\"Sample Fast U3, 32GB\",1b534d454231515430a1b2c3d4017a00,400e00325b590000ee7f7f800a400000,c0ff8000,0235800300000000,0x1b,\"Class 10, U1\"\nbroken,12,,,,0x1b,\n"
        );
        let logs = read(&Text::decode(text.as_bytes())).unwrap();
        assert_eq!(
            (logs.len(), logs[0].card.title().as_str(), logs[0].card.model.as_deref()),
            (2, "Sample Fast 32GB", Some("EB1QT"))
        );
        // Printed is not reported.
        assert_eq!(
            (logs[0].card.marks.join(" "), logs[0].other["reported_marks"][1].as_str()),
            ("U3".to_owned(), Some("U1"))
        );
        assert!(logs[0].other.contains_key("scr") && logs[0].other.contains_key("ocr"));
        assert!(logs[1].doubts[0].contains("CID"), "{:?}", logs[1].doubts);
    }

    #[test]
    fn a_heading_alone_holds_no_card() {
        assert!(recognise(&Text::of(HEAD)) && read(&Text::of(HEAD)).is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_registers_come_back(cid in "[0-9a-f]{32}", csd in "4[0-9a-f]{31}") {
            let logs = read(&Text::of(&format!("{HEAD}x,{cid},{csd},,,,\n"))).unwrap();
            proptest::prop_assert_eq!((logs[0].card.cid.as_deref(), logs[0].card.csd.as_deref()), (Some(cid.as_str()), Some(csd.as_str())));
        }
        #[test]
        fn no_text_panics(rows in "([0-9a-f,\"x ]{0,80}\n){0,5}") {
            let _ = read(&Text::of(&format!("{HEAD}{rows}")));
        }
    }
}
