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

fn page(method: &str) -> String {
    let runs = chart(&[("Test 2", "11, 90"), ("Test 1", "12, 95")], "MB/s");
    let one = chart(&[("Test 1", "3, 60")], "MB/s");
    let means = chart(&[("Sample", "3, 60"), ("Example", "11, 92")], "MB/s");
    format!(
        "+++\ndate = '2024-05-06T07:08:09+02:00'\ntitle = 'microSD Express Tests'\n+++\n\n# Method\n{method}\n\
         - Size = 512m\n- Loops = 3\n\nAll cards were formatted with the exFAT filesystem. Cooled.\n\n# Results\n\n\
         ## 64GB Example Max (EX64)\n\n- **Firmware revision**: `A1`.\n\
         - **Temperature Threshold (TMPTH)**: 80°C/176°F/353K\n\n\
         With active cooling. 20°C idle, up to 40°C during test.\n\n{runs}\n\
         With passive cooling.\n\n{one}\n## 32GB Sample (SM32)\n\nFirmware revision: `B2`.\n\n{one}\n\
         ## Comparison Of Means\n\n{means}"
    )
}

fn logs(text: &str) -> Vec<Log> {
    read(&Text::of(text)).unwrap()
}

#[test]
fn each_card_and_condition_is_a_log_with_its_runs_in_order() {
    let logs = logs(&page("I used cdm_fio.sh."));
    let told: Vec<_> = logs
        .iter()
        .map(|log| (log.card.title(), log.condition.get("cooling").map(str::to_owned), log.runs.len()))
        .collect();
    assert_eq!(
        told,
        [
            ("Example Max 64GB".to_owned(), Some("active".to_owned()), 2),
            ("Example Max 64GB".to_owned(), Some("passive".to_owned()), 1),
            ("Sample SM32 32GB".to_owned(), None, 1),
        ]
    );
    let first = &logs[0].runs[0];
    assert_eq!((first.run, first.size_bytes, first.loops), (1, Some(512 << 20), Some(3)));
    assert_eq!(
        (first.results[0].name().to_string().as_str(), first.results[0].mb_s),
        ("RND4K Q1T1 write", 12.0 * 1.048_576)
    );
    assert_eq!(logs[0].condition.get("file_system"), Some("exFAT"));
}

#[test]
fn what_nvme_told_of_a_card_stands_with_it() {
    let logs = logs(&page("I used cdm_fio.sh."));
    assert_eq!(logs[0].card.firmware.as_deref(), Some("A1"));
    assert_eq!(
        (logs[0].card.model.as_deref(), logs[0].card.form.as_deref()),
        (Some("EX64"), Some("microSD Express"))
    );
    assert_eq!(
        (logs[0].other["nvme"]["tmpth_kelvin"].as_u64(), logs[0].other["nvme"]["tmpth_celsius"].as_u64()),
        (Some(353), Some(80))
    );
    assert_eq!((logs[2].card.firmware.as_deref(), logs[2].other.get("nvme")), (Some("B2"), None));
}

#[test]
fn means_named_after_cards_are_published_figures_and_no_runs() {
    let logs = logs(&page("I used cdm_fio.sh."));
    let published = &logs[0].other["published"]["Comparison Of Means"];
    assert_eq!(
        (published["values"]["SEQ1G Q1T1 read"].as_f64(), published["unit"].as_str()),
        (Some(92.0), Some("MB/s"))
    );
    assert_eq!(logs[1].other.get("published"), None);
    assert!(logs[2].other.contains_key("published"));
}

#[test]
fn without_the_script_the_printed_unit_is_trusted() {
    let logs = logs(&page("I used a stopwatch."));
    assert_eq!(
        (logs[0].runs[0].results[0].mb_s, logs[0].tool.clone(), logs[0].doubts.len()),
        (12.0, None, 0)
    );
    let unknown = page("").replace("MB/s", "bananas");
    assert!(read(&Text::of(&unknown)).unwrap()[0].doubts[0].contains("bananas"));
}

#[test]
fn a_chart_that_is_cut_off_loses_itself_and_says_so() {
    let page = page("I used cdm_fio.sh.");
    let cut = page.rfind("\"SEQ1G").unwrap();
    let logs = logs(&page[..cut]);
    assert_eq!(logs.len(), 3);
    assert!(logs[0].doubts.iter().any(|doubt| doubt.contains("Comparison Of Means")), "{:?}", logs[0].doubts);
    let error = read(&Text::of("{{< plotly >}}\n{\n")).unwrap_err().to_string();
    assert!(error.contains("could not be read"), "{error}");
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

#[test]
fn runs_of_one_number_are_counted_anew() {
    let page = format!(
        "## 64GB Example\n{}",
        chart(&[("Test 1", "3, 60"), ("Test 1", "4, 61"), ("Test 0", "2, 59")], "MB/s")
    );
    let runs = crate::read(page.as_bytes()).unwrap().remove(0).runs;
    let told: Vec<_> = runs.iter().map(|run| (run.run, run.results[0].as_printed.value)).collect();
    assert_eq!(told, [(1, 2.0), (2, 3.0), (3, 4.0)]);
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
