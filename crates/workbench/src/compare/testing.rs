//! Cards and runs made up for tests.

use cardscope_model::card::CardFacts;
use cardscope_model::comparison::Setting;
use cardscope_model::condition::Condition;
use cardscope_store::{Figure, MeasuredRun, StoredCard};

/// A card of this name.
pub(crate) fn card(name: &str) -> StoredCard {
    StoredCard {
        id: name.to_lowercase(),
        title: name.to_owned(),
        facts: CardFacts { name: Some(name.to_owned()), ..CardFacts::default() },
        specimens: 1,
        sessions: 1,
        runs: 1,
        first: None,
        last: None,
        price: None,
    }
}

/// A run of one test under one condition.
pub(crate) fn run(condition: &str, mb_s: f64) -> MeasuredRun {
    let mut words = Condition::default();
    words.state(condition).unwrap();
    MeasuredRun {
        session: "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap(),
        card_id: "a".into(),
        specimen: None,
        setting: Setting { recipe: "cdm_fio".into(), size_bytes: Some(1 << 30), condition: words },
        at: None,
        run: 1,
        counted: true,
        source: None,
        figures: vec![Figure {
            test: "SEQ1M Q8T1 read".parse().unwrap(),
            step: None,
            mb_s,
            iops: None,
            latency_us: None,
            max_latency_us: None,
            printed: None,
        }],
    }
}

/// A table of figures of so many cards of three brands, three runs each of one test.
pub(crate) fn file_of_cards(cards: u32) -> tempfile::NamedTempFile {
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
