use super::*;
use crate::text::Text;
use rstest::rstest;

fn log(text: &str) -> Log {
    read(&Text::decode(text.as_bytes())).unwrap().remove(0)
}

#[rstest]
#[case("741µs", 741.0)]
#[case("1.08ms", 1080.0)]
#[case("-924ns", -0.924)]
#[case("-13790n", -13.79)]
#[case("-123456", -123.456)]
#[case("1e+03µ", 1000.0)]
#[case("1e+03us", 1000.0)]
#[case("2.5s", 2.5e6)]
fn times_are_read_however_they_were_cut(#[case] text: &str, #[case] us: f64) {
    assert!((tables::micros(text).unwrap() - us).abs() < 1e-9, "{text}");
}

#[test]
fn a_time_that_lost_its_unit_is_none() {
    for text in ["741", "", "ms", "1.0.0.x", "-"] {
        assert_eq!(tables::micros(text), None, "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn any_speeds_come_back_within_three_digits(speeds in proptest::collection::vec(1u32..2_000_000, 2..9)) {
        let cell = |kb: &u32| if *kb < 1000 { format!("{kb}K/s") } else if *kb < 10_000 { format!("{:.2}M/s", f64::from(*kb) / 1e3) } else { format!("{:.1}M/s", f64::from(*kb) / 1e3) };
        let row = format!("4MiB    {}\n", speeds.iter().map(cell).collect::<Vec<_>>().join("  "));
        let log = log(&row);
        let found = log.other["flashbench"]["fat"][0]["mb_s"].as_array().unwrap();
        for (found, printed) in found.iter().zip(&speeds) {
            proptest::prop_assert!((found.as_f64().unwrap() - f64::from(*printed) / 1e3).abs() <= 0.050_001);
        }
    }
}
