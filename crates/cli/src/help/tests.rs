use super::*;
use cardscope_model::{job::JOBS, recipe::RECIPES};
use cardscope_session::simulate;
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
    let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
    grouped.sort_unstable();
    let mut all = verbs();
    all.sort_unstable();
    assert_eq!(grouped, all);
}

#[test]
fn the_first_page_begins_with_where_to_begin_and_fits_80_columns() {
    for text in [command().render_help(), command().render_long_help()] {
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
fn every_verb_has_examples_and_the_parser_takes_them_all() {
    assert_eq!(examples::ALL.len(), verbs().len());
    for verb in verbs() {
        assert!(!examples(&verb).is_empty(), "{verb} has no example");
        for example in examples(&verb) {
            let words = words(example);
            assert_eq!(words[..2], ["cardscope", verb.as_str()], "{example}");
            let taken =
                command().try_get_matches_from(&words).and_then(|m| CommandLine::from_arg_matches(&m));
            assert!(taken.is_ok(), "{example}: {}", taken.unwrap_err());
            assert!(example.chars().count() <= 78, "{example}");
        }
    }
}

#[test]
fn what_examples_name_is_there() {
    for example in examples::ALL.iter().flat_map(|(_, examples)| *examples) {
        let words = words(example);
        let behind = |option: &str| words.iter().position(|w| w == option).map(|at| words[at + 1].as_str());
        behind("--recipe").iter().for_each(|name| assert!(RECIPES.find(name).is_ok(), "{example}"));
        let is_job = |name: &&str| JOBS.find(name).is_ok() || words[1] == "observe";
        assert!(behind("--for").iter().all(is_job), "{example}");
        for card in words.iter().filter(|word| word.starts_with("sim:")) {
            assert!(simulate::show(card).is_ok(), "{example}");
        }
    }
}

#[test]
fn a_verb_on_a_card_has_an_example_without_one() {
    for verb in CommandLine::command().get_subcommands() {
        let asks_for_consent = verb.get_arguments().any(|arg| arg.get_id() == "yes_destroy");
        let takes_any = asks_for_consent && verb.get_name() != "restore";
        let simulated = examples(verb.get_name()).iter().any(|example| example.contains(" sim:"));
        assert!(simulated || !takes_any, "{}", verb.get_name());
    }
}

#[test]
fn the_help_of_a_verb_ends_with_its_examples() {
    let mut command = command();
    let check = command.find_subcommand_mut("check").unwrap();
    let help = check.render_help().to_string();
    assert!(help.trim_end().ends_with("Examples:\n  cardscope check /dev/sdb\n  cardscope check /dev/mmcblk0 --budget 10m --html card.html\n  cardscope check sim:sandian-1tb-52g"), "{help}");
}

#[test]
fn without_a_word_the_program_prints_its_help_as_an_error() {
    let asked = command().try_get_matches_from(["cardscope"]).unwrap_err();
    assert_eq!(asked.kind(), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
    assert_eq!(asked.exit_code(), 2);
    assert!(asked.to_string().contains("Start with `cardscope check DEVICE`."));
}
