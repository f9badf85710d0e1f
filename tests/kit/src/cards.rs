//! Invented cards and runs for tests.

use cardscope_model::archive_rows::StoredCard;
use cardscope_model::card::CardFacts;
use cardscope_model::condition::Condition;
use cardscope_model::run::{CardRun, Run, TestFigure};
use cardscope_model::setting::Setting;
use cardscope_sd::registers::crc7::crc7;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Output of dd for a speed, which does not name the card.
pub fn dd_output(mb_s: u32, line_end: &str) -> String {
    let seconds = 100.0 / f64::from(mb_s);
    let copied = format!("100000000 bytes (100 MB, 95 MiB) copied, {seconds} s, {mb_s} MB/s");
    ["100+0 records in", "100+0 records out", &copied].map(|line| format!("{line}{line_end}")).concat()
}

/// Names of the entries of a folder, sorted.
pub fn entry_names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Name of a simulated card with these keys and a unique serial number, so that no journal of another test's card
/// matches it.
pub fn unique_sim_card(keys: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let mut cid = *b"\0\0\0CONST\x10\0\0\0\0\x01\x9b";
    cid[9..13].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    let hex: String = cid.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sim:constant?{keys}&cid={hex}{:02x}", crc7(&cid) << 1 | 1)
}

/// Card of this name with one session of one run.
pub fn stored_card(name: &str) -> StoredCard {
    let facts = CardFacts { name: Some(name.to_owned()), ..CardFacts::default() };
    StoredCard { sessions: 1, runs: 1, ..StoredCard::new(name.to_lowercase(), name.to_owned(), facts) }
}

/// Run of one test under one condition.
pub fn one_test_run(condition: &str, mb_s: f64) -> CardRun {
    let mut words = Condition::default();
    words.set_stated(condition).unwrap();
    CardRun {
        session: "01890a5d-ac96-774b-bcce-b302099a8057".into(),
        card_id: "a".into(),
        unit: None,
        setting: Setting { recipe: "cdm_fio".into(), size_bytes: Some(1 << 30), condition: words },
        measured_at: None,
        source: None,
        run: Run {
            run: 1,
            results: vec![TestFigure::from_speed("SEQ1M Q8T1 read".parse().unwrap(), mb_s)],
            ..Run::default()
        },
    }
}

/// CSV file with cards of three brands, three runs of one test each.
pub fn csv_of_cards(cards: u32) -> tempfile::NamedTempFile {
    use std::io::Write;
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    writeln!(file, "brand,name,test,mb_s").unwrap();
    for card in 0..cards {
        for run in 0..3 {
            writeln!(file, "Brand{},Swift{card},SEQ1M Q8T1 read,{}", card % 3, 20 + card * 2 + run).unwrap();
        }
    }
    file
}
