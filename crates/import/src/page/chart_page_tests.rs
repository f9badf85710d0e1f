//! An own page with two cards, two coolings and a comparison.

use super::*;

fn chart(series: &[(&str, &str)], unit: &str) -> String {
    let data: Vec<String> = series
        .iter()
        .map(|(name, x)| format!(r#"{{"x": [{x}], "name": "{name}", "type": "bar"}}"#))
        .collect();
    format!(
        "{{{{< plotly >}}}}\n{{\"common_data\": {{\"y\": [\"RND4K Q1T1 Write\", \"SEQ1G Q1T1 Read\"]}},\n\"data\": [{}],\n\
         \"layout\": {{\"xaxis\": {{\"ticksuffix\": \" {unit}\"}}}}}}\n{{{{< /plotly  >}}}}\n",
        data.join(",\n")
    )
}

fn logs(text: &str) -> Vec<Log> {
    read(&Text::of(text)).unwrap()
}

#[test]
fn what_a_page_says_once_is_short_in_every_log() {
    let heading = format!("64GB Example {}", "x".repeat(10_000));
    let one = chart(&[("Test 1", "3, 60")], "MB/s");
    let logs = logs(&format!("## {heading}\n{one}{one}"));
    assert!(logs.iter().all(|log| log.part.as_ref().unwrap().len() == 300), "{:?}", logs[1].part);
}

#[test]
fn series_without_end_are_left_out_and_counted() {
    let names: Vec<String> = (0..1200).map(|n| format!("Card {n}")).collect();
    let series: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1, 2")).collect();
    let logs = logs(&chart(&series, "MB/s"));
    assert_eq!(logs[0].doubts, ["200 series of its charts were left out: there are too many"]);
}

proptest::proptest! {
    #[test]
    fn printed_figures_come_back(write in 0_u32..100_000, read_ in 0.0..9000.0_f64) {
        let text = format!("## 64GB Example\n{}", chart(&[("Test 1", &format!("{write}, {read_:.1}"))], "MB/s"));
        let log = logs(&text).remove(0);
        let results = &log.runs[0].results;
        proptest::prop_assert_eq!(results[0].mb_s, f64::from(write));
        proptest::prop_assert!((results[1].mb_s - read_).abs() <= 0.05 + 1e-9);
    }
}
