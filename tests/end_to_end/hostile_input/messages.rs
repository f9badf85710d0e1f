//! Endless texts in arguments and files.

use super::{CARD, drawn, ended, published};
use crate::common::binary::{CARDSCOPE, Home, Outcome, Running};
use crate::common::logs::write;
use serde_json::Value;

/// Longest texts of one argument (`MAX_ARG_STRLEN` of Linux is 128 KiB), of letters that are rare in our messages.
fn long_texts() -> [String; 2] {
    ["q".repeat(100_000), "qj ".repeat(30_000)]
}

/// Asserts that a message repeats at most 200 bytes of such a text.
#[track_caller]
fn repeats_little(outcome: &Outcome, arguments: &str) {
    let said = |text: &str| text.matches('q').count();
    let repeated = said(&outcome.stderr);
    assert!(repeated <= 210, "{arguments}: {repeated} letters: {:.3000}", outcome.stderr);
    if let Ok(document) = serde_json::from_str::<Value>(&outcome.stdout)
        && let Some(error) = document.get("error").and_then(Value::as_str)
    {
        assert!(said(error) <= 210, "{arguments}: {error:.3000}");
    }
}

/// Runs a command with a time limit, because it may run forever if it is not refused.
fn for_a_moment(home: &Home, arguments: &[&str]) -> Outcome {
    let mut command = home.command("timeout");
    command.args(["--signal=INT", "--kill-after=30", "4", CARDSCOPE]).args(arguments);
    Running::of(command).finish()
}

#[test]
fn a_message_repeats_at_most_200_bytes_of_any_argument() {
    let home = Home::new();
    let verbs = published();
    let mut is_drawn = drawn(12);
    for long in long_texts() {
        for (verb, (options, positional)) in &verbs {
            let words: Vec<&str> = verb.split(' ').collect();
            let simulated = format!("sim:{long}");
            let key = format!("sim:constant?{long}=1");
            let value = format!("sim:constant?announced_bytes={long}");
            for target in [&long, &simulated, &key, &value].into_iter().filter(|_| is_drawn()) {
                let arguments =
                    [&words[..], &vec![target.as_str(); (*positional).max(1)], &["--json"]].concat();
                repeats_little(&ended(for_a_moment(&home, &arguments)), &format!("{verb} {target:.40}"));
            }
            for option in options.iter().filter(|_| is_drawn()) {
                let both = format!("{option}={long}");
                let arguments =
                    [&words[..], &[both.as_str()], &vec![CARD; *positional], &["--json"]].concat();
                let outcome = for_a_moment(&home, &arguments);
                repeats_little(&outcome, &format!("{verb} {option}"));
                assert!(!outcome.stderr.contains("panicked"), "{verb} {option}");
            }
        }
        repeats_little(&home.run(&[&long]).expect(2), "a verb");
        repeats_little(&home.run(&["list", &format!("--{long}")]).expect(2), "an option");
    }
}

#[test]
fn a_message_repeats_at_most_200_bytes_of_any_file() {
    let home = Home::new();
    let mut is_drawn = drawn(8);
    for long in long_texts().map(|long| long.repeat(9)) {
        let quoted = serde_json::to_string(&long).unwrap();
        let recipe = "name = \"own\"\ntitle = \"t\"\nversion = 1\nsource = \"s\"\n";
        let test = "[[test]]\npasses = 1\ntest = ";
        for content in [
            long.clone(),
            format!("{quoted} = 1\n"),
            format!("name = {long}\n"),
            format!("name = {quoted}\nversion = {quoted}\n"),
            format!("{recipe}[area]\nsize = {quoted}\n"),
            format!("{recipe}[area]\nsize = \"4MiB\"\n{test}{quoted}\n"),
            format!("{recipe}[area]\nsize = \"4MiB\"\n{test}\"RND4K Q1T1 {long}\"\n"),
            format!("{recipe}[area]\n{quoted} = 1\n"),
            format!("{{\"format\": \"cardscope-session\", \"version\": 1, {quoted}: {quoted}}}"),
            format!("{{\"format\": \"cardscope-session\", \"version\": {quoted}}}"),
            format!("{{\"fio version\": {quoted}, \"jobs\": {quoted}}}"),
            format!("Configuration:\n  Size = {long}\n\nResults:\n\n{long} Read: {long}MB/s IOPS=7\n"),
        ] {
            let file = write(&home, "long.toml", &content);
            let card = format!("sim:{file}");
            for arguments in [
                &["bench", CARD, "--recipe", &file, "--json"] as &[&str],
                &["bench", &card, "--json"],
                &["rank", "--for", &file, "--json"],
                &["rank", "--for", "pi-boot", "--on", &file, "--json"],
                &["recipes", &file, "--json"],
                &["jobs", &file, "--json"],
                &["sustain", CARD, "--against", &file, "--json"],
                &["compare", &file, "a", "--json"],
                &["import", &file],
                &["archive", "import", &file],
                &["restore", &file, "--json"],
            ]
            .into_iter()
            .filter(|_| is_drawn())
            {
                let outcome = ended(for_a_moment(&home, arguments));
                repeats_little(&outcome, &format!("{arguments:?} of {content:.80}"));
                if arguments.contains(&"import") {
                    let shown = outcome.stdout.matches('q').count();
                    assert!(shown <= 1000, "{shown} letters on the page: {:.2000}", outcome.stdout);
                }
            }
        }
        for register in ["cid", "csd", "scr", "ssr", "ocr", "health"] {
            let outcome =
                home.run(&["decode", &format!("--{register}={}", &long[..100_000]), "--json"]).expect(2);
            repeats_little(&outcome, register);
        }
    }
}
