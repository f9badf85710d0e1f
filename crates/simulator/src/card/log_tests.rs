use super::*;
use proptest::prelude::*;

fn engine(merge_s: f64) -> Log {
    let p = LogWrite { fixed_s: 0.0005, random_s: 0.001, mb_s: 10.0, log_bytes: 1 << 20, merge_s };
    Log::new(&p, &Flash::default(), 1 << 30, f64::INFINITY)
}

#[test]
fn the_mean_is_the_closed_form_of_the_model() {
    // 256 entries of 4 KiB, 16 units of 4 MiB: 1 ms + 16 × 40 ms / 256.
    let mut log = engine(0.04);
    let mut cost = 0.0;
    for i in 0..20_256u64 {
        let unit = i * 7 % 16;
        let time = log.write(unit * (4 << 20) + (i * 37 % 1024) * 4096, 4096, true);
        cost += if i >= 256 { time } else { 0.0 };
    }
    let mean = cost / 20_000.0 / 1e6;
    assert!((mean - 3.5).abs() < 0.01, "{mean} ms");
}

proptest! {
    #[test]
    fn a_card_put_away_goes_on_as_if_it_had_not_been(places in prop::collection::vec(0u64..262_000, 2..400)) {
        let mut kept = engine(0.03);
        for at in &places {
            kept.write(at * 4096, 4096, true);
        }
        let mut again = engine(0.03);
        again.state = serde_json::from_str(&serde_json::to_string(&kept.state).unwrap()).unwrap();
        for at in places.iter().rev() {
            prop_assert_eq!(kept.write(at * 4096, 8192, true), again.write(at * 4096, 8192, true));
        }
    }
}
