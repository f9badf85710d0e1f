//! What a plot looks like in a terminal, and that nothing strange in it breaks it.

use super::*;
use cardscope_model::card_map::plot::{Plot, Scale, Series};

fn series(name: &str, points: &[(f64, f64)]) -> Series {
    Series { name: name.to_owned(), points: points.to_vec() }
}

/// Seed 004's table of writes: speed by size.
fn curve() -> Plot {
    let kib = [4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 2048.0, 4096.0];
    let of = |speeds: [f64; 10]| kib.iter().map(|k| k * 1024.0).zip(speeds).collect::<Vec<_>>();
    let in_order = of([2.0, 3.2, 5.8, 7.5, 8.7, 9.4, 10.4, 10.8, 11.2, 11.2]);
    let at_random = of([1.06, 2.63, 4.7, 6.94, 9.06, 10.7, 11.7, 12.2, 12.7, 9.84]);
    Plot {
        title: "Write speed by size".to_owned(),
        x: Axis::new("bytes of a write", "bytes", Scale::Log2),
        y: Axis::new("speed", "MB/s", Scale::Log10),
        series: vec![series("in order", &in_order), series("at random", &at_random)],
        marks: vec![(16384.0, "page".to_owned())],
    }
}

#[test]
fn the_write_curve_of_seed_004() {
    insta::assert_snapshot!(text(&Chart::from(&curve())), @r"
    Write speed by size
         (speed, MB/s)
         │            ┆                    ··o·····o···········o··
      10 ┤            ┆          ·o·····o····*·····*···········*·····o
         │            ┆   ··*·····*···
         │            *·····o·
       5 ┤          ··o···
         │        ····┆
         │     ·*···  ┆
         │  ··· o·    ┆
       2 ┤*·  ··      ┆
         │   ·        ┆
         │ ··         ┆
         │o           ┆
         └┬───────────┬───────────┬──────────┬───────────┬───────────┬
          4 KiB    16 KiB      64 KiB     256 KiB      1 MiB       4 MiB
          bytes of a write
      * in order   o at random
      ┆ at 16 KiB: page
    ");
}

/// Ten minutes, a second a point: 45 MB/s, and 12 from the fifth minute on.
fn cache_end() -> Plot {
    let speed = |s: u32| if s < 300 { 45.0 } else { 12.0 } + f64::from(s % 7);
    Plot {
        title: "Speed over time".to_owned(),
        x: Axis::new("time", "s", Scale::Linear),
        y: Axis::new("speed", "MB/s", Scale::Linear),
        series: vec![series("write", &(0..600).map(|s| (f64::from(s), speed(s))).collect::<Vec<_>>())],
        marks: vec![(300.0, "cache end".to_owned())],
    }
}

#[test]
fn a_cache_that_ends_is_a_step_above_an_axis_that_begins_at_nothing() {
    insta::assert_snapshot!(text(&Chart::from(&cache_end())), @r"
    Speed over time
         (speed, MB/s)
      60 ┤                              ┆
         │                              ┆
         │******************************┆
         │******************************┆
      40 ┤                              ┆
         │                              ┆
         │                              ┆
      20 ┤                              ┆
         │                              ******************************
         │                              ******************************
         │                              ┆
       0 ┤                              ┆
         └┬─────────┬─────────┬─────────┬────────┬─────────┬──────────
          0        100       200       300      400       500
          time, s
      ┆ at 300 s: cache end
    ");
}

#[test]
fn whatever_was_measured_is_drawn_within_the_width_of_a_terminal_or_said_to_be_nothing() {
    let scales = [Scale::Linear, Scale::Log2, Scale::Log10];
    let strange: [&[(f64, f64)]; 8] = [
        &[],
        &[(f64::NAN, 1.0), (1.0, f64::INFINITY)],
        &[(0.0, 0.0)],
        &[(5.0, 7.0)],
        &[(1e18, 1e-9), (1.0, 1e12)],
        &[(-3.0, -2.0), (-1.0, -8.0)],
        &[(1.0, 5.0), (2.0, 5.0), (3.0, 5.0)],
        &[(512.0, 0.001), (4e12, 0.0011)],
    ];
    for (points, pair) in strange.iter().flat_map(|p| (0..9).map(move |pair| (p, pair))) {
        let (x, y) = (&scales[pair / 3], &scales[pair % 3]);
        let plot = Plot {
            x: Axis::new("x", "bytes", *x),
            y: Axis::new("y", "µs", *y),
            series: vec![series("a", points)],
            marks: vec![(2.0, "two".to_owned()), (f64::NAN, "nowhere".to_owned())],
            ..curve()
        };
        let drawn = text(&Chart::from(&plot));
        assert!(drawn.lines().all(|line| line.chars().count() <= 90), "{points:?} {x:?} {y:?}:\n{drawn}");
        assert!(drawn.contains('*') || drawn.contains("nothing to draw"), "{points:?} {x:?} {y:?}:\n{drawn}");
    }
}

#[test]
fn values_that_hardly_differ_are_shown_from_0_on() {
    let rates = |rates: [f64; 4]| {
        let axis = Axis::new("speed", "MB/s", Scale::Linear);
        Ruler::over(&axis, rates.into_iter(), 5).unwrap()
    };
    assert_eq!(rates([20.1, 20.4, 20.2, 20.5]).place(0.0), Some(0.0));
    // A third less is a difference.
    assert_eq!(rates([14.0, 20.4, 20.2, 20.5]).place(0.0), None);
}
