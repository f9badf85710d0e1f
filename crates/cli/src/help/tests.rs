use super::*;
use crate::manual::EXAMPLES;
use cardscope_model::{job::JOBS, recipe::RECIPES};
use cardscope_session::simulated_cards;
use clap::FromArgMatches;
use clap::error::ErrorKind;

/// Words of an example as the shell splits them, without redirection.
fn words(example: &str) -> Vec<String> {
    let example = example.split(" > ").next().unwrap();
    let script = format!("set -- {example}\nprintf '%s\\n' \"$@\"");
    let said = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(said.status.success(), "{example}");
    String::from_utf8(said.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn verbs() -> Vec<String> {
    let command = CommandLine::command();
    command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect()
}

#[test]
fn every_verb_is_in_exactly_one_group() {
    let groups = Verb::GROUPS.iter().chain([&SET_UP]);
    let mut grouped: Vec<String> =
        groups.flat_map(|(_, verbs)| *verbs).map(|verb| verb.to_lowercase()).collect();
    grouped.sort_unstable();
    let mut all = verbs();
    all.sort_unstable();
    assert_eq!(grouped, all);
}

#[test]
fn help_starts_with_first_steps_and_fits_80_columns() {
    for text in [full_command().render_help(), full_command().render_long_help()] {
        let text = text.to_string();
        assert_eq!(text.lines().nth(1), Some("Start with `cardscope check DEVICE`."), "{text}");
        let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert_eq!(wide, [""; 0]);
        for verb in verbs() {
            assert_eq!(text.lines().filter(|l| l.starts_with(&format!("  {verb} "))).count(), 1, "{verb}");
        }
    }
}

#[test]
fn every_verb_has_examples_that_parse() {
    let known = |line: &str| verbs().iter().any(|verb| line.split(' ').nth(1) == Some(verb));
    assert!(EXAMPLES.lines().all(known));
    for verb in verbs() {
        assert!(examples_of(&verb).next().is_some(), "{verb} has no example");
        for example in examples_of(&verb) {
            let words = words(example);
            assert_eq!(words[..2], ["cardscope", verb.as_str()], "{example}");
            let taken =
                full_command().try_get_matches_from(&words).and_then(|m| CommandLine::from_arg_matches(&m));
            assert!(taken.is_ok(), "{example}: {}", taken.unwrap_err());
            assert!(example.chars().count() <= 78, "{example}");
        }
    }
}

#[test]
fn names_in_examples_exist() {
    for example in EXAMPLES.lines() {
        let words = words(example);
        let behind = |option: &str| words.iter().position(|w| w == option).map(|at| words[at + 1].as_str());
        behind("--recipe").iter().for_each(|name| assert!(RECIPES.find_text(name).is_ok(), "{example}"));
        let is_job = |name: &&str| JOBS.find_text(name).is_ok() || words[1] == "observe";
        assert!(behind("--for").iter().all(is_job), "{example}");
        for card in words.iter().filter(|word| word.starts_with("sim:")) {
            assert!(simulated_cards::explain_card(card).is_ok(), "{example}");
        }
    }
}

#[test]
fn verbs_on_cards_have_simulated_example() {
    for verb in CommandLine::command().get_subcommands() {
        let asks_for_consent = verb.get_arguments().any(|arg| arg.get_id() == "yes_destroy");
        let takes_any = asks_for_consent && verb.get_name() != "restore";
        let simulated = examples_of(verb.get_name()).any(|example| example.contains(" sim:"));
        assert!(simulated || !takes_any, "{}", verb.get_name());
    }
}

#[test]
fn verb_help_ends_with_examples() {
    let mut command = full_command();
    let check = command.find_subcommand_mut("check").unwrap();
    let help = check.render_help().to_string();
    assert!(help.trim_end().ends_with("Examples:\n  cardscope check /dev/sdb\n  cardscope check /dev/mmcblk0 --budget 10m --html card.html\n  cardscope check sim:sandian-1tb-52g"), "{help}");
}

#[test]
fn no_arguments_print_help_as_error() {
    let asked = full_command().try_get_matches_from(["cardscope"]).unwrap_err();
    assert_eq!(asked.kind(), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
    assert_eq!(asked.exit_code(), 2);
    assert!(asked.to_string().contains("Start with `cardscope check DEVICE`."));
}
