//! What an order looks like on a terminal.

use super::*;
use crate::sample;

#[test]
fn cards_that_cannot_be_told_apart_share_a_place() {
    insta::assert_snapshot!(text(&sample::ranking(3)), @r#"
    Cards for pi-boot on Raspberry Pi 4: system of a small computer

    Best first
    place  card                score of 100  95 % interval  runs  fit       price    per price
    1 =    Alder Swift 64GB            91.5    87.5 … 94.5    10  good   9.90 EUR  9.242 / EUR
    1 =    Birch Endure 128GB          71.5    67.5 … 74.5    10  good  10.90 EUR   6.56 / EUR
    3      Cedar 32GB                  51.5    47.5 … 54.5    10  fair  11.90 EUR  4.328 / EUR
    Cards with = share their place: they cannot be told apart, or differ by less than anybody notices.

    What that means
      1. Alder Swift 64GB: boot: 18.0 s; the host caps sequential read
      1. Birch Endure 128GB: boot: 19.0 s
      3. Cedar 32GB: boot: 20.0 s

    Not placed
      Fir 8GB: random writes were not measured

    By mark, score of 100
    mark  cards  mean  median  worst  best
    A2        2  80.0    81.0   70.0  91.5

    what the mark says about the score for "pi-boot" cannot be told from chance with 3 cards; 12 % of the spread between cards lies between the groups (by chance alone: 0.410)
    "#);
}

#[test]
fn an_order_without_cards_says_so_and_names_who_could_not_be_placed() {
    let page = text(&sample::ranking(0));
    assert!(page.contains("No card could be placed.") && page.contains("Fir 8GB: random writes"), "{page}");
}
