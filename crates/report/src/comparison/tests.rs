//! What a comparison looks like on a terminal, and what it never does.

use super::*;
use crate::sample;

#[test]
fn three_cards_stand_beside_each_other_with_what_is_sure_and_what_is_not() {
    insta::assert_snapshot!(text(&sample::comparison(3, 3, 2), How::default()), @r"
    3 beside each other

       card                measured
    1  Alder Swift 64GB    3 runs in 2 sessions of 1 piece, 2026-05-01 to 2026-05-17
    2  Birch Endure 128GB  3 runs in 2 sessions of 1 piece, 2026-05-01 to 2026-05-17
    3  Cedar 32GB          3 runs in 2 sessions of 1 piece, 2026-05-01 to 2026-05-17
       measured by: cdm8-default · 1 GiB · reader reader slot; more differs

    What differs besides the card
             1 Alder Swift 64GB  2 Birch Endure 128GB  3 Cedar 32GB
    cooling             passive                active        active

    Average, MB/s: the mean of all runs, with its 95 % interval
    test                 1 Alder Swift 64GB   2 Birch Endure 128GB           3 Cedar 32GB
    SEQ1M Q8T1 read   57.80 (56.50 … 59.10)  63.37 (60.23 … 66.51)  66.21 (64.40 … 68.02)
    SEQ1M Q8T1 write  31.89 (15.98 … 47.80)  41.51 (41.01 … 42.01)                      –

    Worst, MB/s: the slowest run
    test              1 Alder Swift 64GB  2 Birch Endure 128GB  3 Cedar 32GB
    SEQ1M Q8T1 read                56.82                 60.88         65.28
    SEQ1M Q8T1 write               17.85                 41.08             –

    Best, MB/s: the fastest run
    test              1 Alder Swift 64GB  2 Birch Endure 128GB  3 Cedar 32GB
    SEQ1M Q8T1 read                58.81                 65.68         67.81
    SEQ1M Q8T1 write               39.82                 41.81             –

    Median, MB/s: the run in the middle
    test              1 Alder Swift 64GB  2 Birch Endure 128GB  3 Cedar 32GB
    SEQ1M Q8T1 read                57.78                 63.55         65.55
    SEQ1M Q8T1 write               38.00                 41.65             –

    Fastest first (> faster for sure, = alike, ? not to be told)
    test              order
    SEQ1M Q8T1 read   3 ? 2 ? 1
    SEQ1M Q8T1 write  2 > 1

    Which differences are real
    Of 4 pairs in single tests 2 differ for sure, 0 are alike, 2 cannot be told apart.

    test              pair     second against first      95 % interval  chance alone  what can be said
    SEQ1M Q8T1 read   1 and 2                +9.6 %   +5.2 % … +14.0 %         0.104  these two cannot be told apart; about 8 further runs of each may settle it
    SEQ1M Q8T1 read   1 and 3               +14.5 %  +10.0 % … +19.1 %         0.055  3 is faster
    SEQ1M Q8T1 read   2 and 3                +4.5 %    +0.3 % … +8.7 %         0.155  these two cannot be told apart; about 8 further runs of each may settle it
    SEQ1M Q8T1 write  1 and 2               +30.2 %  +25.0 % … +35.4 %   below 0.001  2 is faster; not by the card alone: cooling

    Runs that jump between two levels
      SEQ1M Q8T1 write of Alder Swift 64GB: jumps between 17.66 MB/s (30 % of the runs) and 39.24 MB/s.

    What was noticed
    Hint: Not all cards were cooled alike. (cooling active and passive) Measure them once more under one fan.

    Where the figures are from
      1  logs/card-0.txt
      2  logs/card-1.txt
      3  logs/card-2.txt
    ");
}

#[test]
fn a_card_s_own_tool_s_figures_are_shown_in_its_units_where_asked_for() {
    let mut comparison = sample::comparison(2, 3, 1);
    if let Some(spread) = &mut comparison.tests[0].spreads[0] {
        spread.as_printed = None;
    }
    let page = text(&comparison, How { as_printed: true, every_run: true });
    assert!(page.contains("Average as the tools print it"), "{page}");
    assert!(page.contains("MB/s ¹") && page.contains("no figure of the tool's own is known"), "{page}");
    assert!(page.contains("Every run, MB/s"), "{page}");
}

#[test]
fn twenty_cards_fit_a_terminal_and_none_is_missing() {
    let comparison = sample::comparison(20, 10, 12);
    let page = text(&comparison, How::default());
    let tables = page.split("Which differences").next().unwrap();
    let widest = tables.lines().filter(|l| l.starts_with("SEQ") || l.starts_with("RND"));
    assert!(widest.clone().all(|line| line.chars().count() <= COLUMNS), "{page}");
    for number in 1..=20 {
        assert!(page.contains(&format!("  {number} ")), "{number}\n{page}");
    }
    assert!(page.contains("Of 2261 pairs"), "{page}");
}

#[test]
fn nothing_to_compare_and_a_card_alone_say_so() {
    assert_eq!(text(&sample::comparison(0, 0, 0), How::default()), "There is nothing to compare.\n");
    let alone = text(&sample::comparison(1, 1, 2), How::default());
    assert!(alone.starts_with("One card") && !alone.contains("Which differences"), "{alone}");
}
