//! Own lists: cards bought, recommended, and dumped.

use super::*;
use cardscope_model::card::Price;

const BOUGHT: &str = "\
My microSD cards

  • 4GB Example MicroSD (found in a drawer)
  • 16GB Example Swift MicroSDHC UHS-I Class U1 (7.89€, 03/2017)
  • “2TB” (50GB real) Exampel MicroSDXC UHS-I Class 3, plus a 4K logo (free after a dispute)
  • MicroSD and MicroSDHC are names for sizes (up to 2GB, 32GB)

Notes:
  • 16GB Example Swift: decent
";

const RECOMMENDED: &str = "\
---
title: \"microSD comparison\"
date: 2018-02-03T04:05:06+00:00
---
  - [Example Pro+](https://example.org/a_b?c=(d)&e) - $11 on a market
  - [Example Max](https://example.org/x) - $9 on a market
  - Something else - for free
";

const DUMPED: &str = "\
About an SD card or two.

Example 32Gb Class 10 SDHC
CID: 1b534d454231515430a1b2c3d4017a00
CSD: 400e00325b590000ee7f7f800a400000

A line about nothing.
CID: 1b534d454231515430a1b2c3d4017a00
";

fn logs(text: &str) -> Vec<Log> {
    assert!(recognise(&Text::of(text)));
    read(&Text::of(text)).unwrap()
}

#[test]
fn cards_that_were_bought_are_listed_with_price_and_month() {
    let logs = logs(BOUGHT);
    let titles: Vec<String> = logs.iter().map(|log| log.card.title()).collect();
    assert_eq!(titles, ["Example 4GB", "Example Swift 16GB", "Exampel 2TB"]);
    assert_eq!(logs[0].card.note.as_deref(), Some("found in a drawer"));
    let event = &logs[1].events[0];
    assert_eq!(event.price, Some(Price { amount: 7.89, currency: "EUR".to_owned() }));
    assert_eq!((event.date.as_deref(), event.kind), (Some("2017-03"), EventKind::Bought));
    assert_eq!(logs[1].card.marks, ["UHS-I", "U1"]);
    assert_eq!(logs[2].card.note.as_deref(), Some("plus a 4K logo; 50GB real"));
    assert_eq!((logs[2].card.marks.join(" ").as_str(), logs[2].events.len()), ("UHS-I U3", 1));
}

#[test]
fn cards_that_are_recommended_have_what_they_cost_then() {
    let logs = logs(RECOMMENDED);
    assert_eq!(logs.len(), 2);
    assert_eq!((logs[0].card.name.as_deref(), logs[0].card.form.as_deref()), (Some("Pro+"), Some("microSD")));
    let event = &logs[1].events[0];
    assert_eq!((event.date.as_deref(), event.kind), (Some("2018-02-03"), EventKind::Note));
    assert_eq!((event.price.as_ref().unwrap().amount, event.note.as_deref()), (9.0, Some("on a market")));
}

#[test]
fn registers_under_a_cards_name_are_its_own() {
    let logs = logs(DUMPED);
    assert_eq!(logs.len(), 1);
    assert_eq!(
        (logs[0].card.model.as_deref(), logs[0].card.capacity_bytes),
        (Some("EB1QT"), Some(32_010_928_128))
    );
    assert_eq!(
        (logs[0].card.capacity_label.as_deref(), logs[0].card.marks.join(" ")),
        (Some("32GB"), "C10".to_owned())
    );
    assert_eq!(logs[0].other["cid"]["pnm"], "EB1QT");
}

#[test]
fn lists_of_other_things_are_no_lists_of_cards() {
    for text in [
        "- Milk - $2 at the market\n- Bread - $3 at the market\n",
        "About a microSD:\n- 16GB of memory (6.81€)\n- 32GB of memory (8€)\n",
        "SD card\nCID: 1b534d454231515430a1b2c3d4017a00\n",
        "",
    ] {
        assert!(!recognise(&Text::of(text)), "{text}");
        assert!(read(&Text::of(text)).is_err() || text.contains("Milk"));
    }
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "(\\PC|\\n|• 16GB |microSD |- |\\$8|CID: ){0,80}") {
        let _ = recognise(&Text::of(&text));
        let _ = read(&Text::of(&text));
    }
}
