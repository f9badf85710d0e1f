//! Size of sessions in the archive: an hour stays below 5 MB, the size grows with time and not with I/Os, and the
//! worst value is kept.

use crate::common::binary::Home;
use crate::common::{list, number, text};
use serde_json::Value;

/// Most bytes of an hour in the archive.
const MOST: u64 = 5_000_000;

/// Runs tests on a simulated card; returns the document and the bytes of the closed archive.
fn session(target: &str, tests: &str) -> (Value, u64) {
    let home = Home::new();
    let recipe = home.recipe("prepare = false", tests);
    let document = home.run(&["bench", target, "--recipe", &recipe, "--json", "-q"]).expect(0).json();
    assert_eq!(home.sessions().len(), 1);
    (document, std::fs::metadata(home.archive()).unwrap().len())
}

#[test]
fn session_size_grows_with_time_not_with_ios() {
    let hour = |test: &str| format!("[defaults]\nseconds = 600\nloops = 6\n[[test]]\ntest = \"{test}\"\n");
    let card = "sim:constant?command_s=0.0002&mb_s=400&depth=1";
    let (few, of_few) = session(card, &hour("SEQ1M Q1T1 write"));
    let (many, of_many) = session(card, &hour("RND4K Q8T1 read"));
    let ios = |document: &Value| number(document, "/runs/0/results/0/ios");
    assert!(ios(&many) > 8.0 * ios(&few), "{} and {} I/Os", ios(&many), ios(&few));
    assert!(of_few < MOST && of_many < MOST, "{of_few} and {of_many} bytes");
    assert!(of_many < of_few * 3 / 2, "{of_few} bytes for few I/Os, {of_many} for many");
}

#[test]
fn noisy_short_loops_stay_below_the_size_limit() {
    let tests = "[defaults]\nseconds = 5\nloops = 90\n[[test]]\ntest = \"SEQ1M Q1T1 read\"\n[[test]]\ntest = \"SEQ1M Q1T1 write\"\n\
        [[test]]\ntest = \"RND4K Q1T1 read\"\n[[test]]\ntest = \"RND4K Q1T1 write\"\n[[test]]\ntest = \"RND4K Q32T1 read\"\n\
        [[test]]\ntest = \"RND4K Q32T1 write\"\n[[test]]\ntest = \"SEQ128K Q32T1 read\"\n[[test]]\ntest = \"RND4K Q8T8 write\"\n";
    let (document, bytes) = session("sim:evo-64g-u3", tests);
    let seconds: f64 = crate::common::results(&document).iter().map(|r| number(r, "/seconds")).sum();
    assert!(seconds > 3500.0, "{seconds} s");
    assert!(bytes < MOST, "{bytes} bytes");
}

#[test]
fn long_session_keeps_its_worst_value() {
    let (document, bytes) = session(
        "sim:usb-stick-tlc",
        "[[test]]\ntest = \"RND4K Q1T1 write\"\nseconds = 40000\n[[test]]\ntest = \"SEQ1M Q1T1 read\"\nseconds = 30\n",
    );
    let result = &crate::common::results(&document)[0];
    let course = list(result, "/series");
    assert!((1000..=4096).contains(&course.len()), "{} buckets", course.len());
    let sum = |what: &str| course.iter().map(|bucket| number(bucket, what)).sum::<f64>();
    assert_eq!(sum("/ios"), number(result, "/ios"));
    assert_eq!(sum("/bytes"), number(result, "/bytes"));
    let longest = course.iter().map(|bucket| number(bucket, "/max_us")).fold(0.0, f64::max);
    assert_eq!(longest, number(result, "/latency_us/max"));
    assert!(bytes < MOST, "{bytes} bytes");
}

#[test]
fn sustain_stays_below_the_size_limit() {
    let home = Home::new();
    let long = ["sustain", "sim:constant", "--read", "--duration", "8h", "--json", "-q"];
    let document = home.run(&long).expect(0).json();
    let rows = list(&document, "/series");
    assert!((10_000..=21_600).contains(&rows.len()), "{} rows", rows.len());
    let ends: Vec<f64> = rows.iter().map(|row| number(row, "/at_s")).collect();
    assert!(ends.is_sorted() && ends[ends.len() - 1] > 28_700.0, "{} s", ends[ends.len() - 1]);
    assert!(ends.windows(2).all(|two| two[1] - two[0] < 10.0));
    let kept = home.run(&["archive", "show", text(&document, "/session"), "--json"]).expect(0).json();
    assert_eq!(kept["series"], document["series"]);
    let bytes = std::fs::metadata(home.archive()).unwrap().len();
    assert!(bytes < MOST, "{bytes} bytes");
}
