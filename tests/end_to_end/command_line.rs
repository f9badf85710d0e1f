//! Entry points for users: help, lists, completions and manual pages.

use crate::common::binary::{CARDSCOPE, Home, Running};
use crate::common::machine::run_tool;
use crate::common::{list, text};
use serde_json::Value;

#[test]
fn no_arguments_print_first_steps() {
    let bare = Home::new().run(&[]).expect(2).says(&["Start with `cardscope check DEVICE`.", "\nCompare:\n"]);
    assert_eq!(bare.stdout, "");
    let asked = Home::new().run(&["--help"]).expect(0);
    assert_eq!(asked.stdout, bare.stderr, "the short help either way");
}

#[test]
fn recipes_and_jobs_are_listed_and_explained() {
    let home = Home::new();
    for (verb, name, inside) in [("recipes", "kdiskmark", "/tests"), ("jobs", "pi-boot", "/work")] {
        let all = home.run(&[verb, "--json"]).expect(0).json();
        let names: Vec<&str> = list(&all, &format!("/{verb}")).iter().map(|one| text(one, "/name")).collect();
        let one = home.run(&[verb, name, "--json"]).expect(0).json();
        assert!(names.contains(&name) && text(&one, "/name") == name, "{names:?}");
        assert!(!list(&one, inside).is_empty(), "{one:#}");
        let shown = home.run(&[verb]).expect(0).stdout;
        assert!(names.iter().all(|name| shown.contains(&format!("  {name} "))), "{shown}");
        assert!(home.run(&[verb, name]).expect(0).stdout.starts_with(&format!("{name}: ")));
        home.run(&[verb, "nonesuch"]).expect(2).says(&["nonesuch", &format!("`cardscope {verb}` lists")]);
    }
    let kdiskmark = home.run(&["recipes", "kdiskmark", "--json"]).expect(0).json();
    let reads = list(&kdiskmark, "/tests").iter().find(|t| t["test"] == "RND4K Q1T1 read").unwrap();
    assert_eq!((&reads["loops"], &reads["size_bytes"]), (&Value::from(5), &Value::from(1u64 << 30)));
}

#[test]
fn help_examples_run() {
    let help = Home::new().run(&["--help"]).expect(0).stdout;
    let verbs = help.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  "));
    let is_verb = |verb: &&str| verb.starts_with(char::is_alphabetic) && !verb.contains(' ');
    let verbs: Vec<&str> = verbs.map(|(verb, _)| verb).filter(is_verb).collect();
    assert!(verbs.contains(&"archive") && verbs.len() > 20, "{verbs:?}");
    let mut run = 0;
    for verb in verbs {
        let help = Home::new().run(&[verb, "--help"]).expect(0).stdout;
        let examples = help.split("Examples:\n").nth(1).unwrap_or_else(|| panic!("{verb} has no example"));
        let needs = ["/", ".log", ".img"];
        // Commands that run until they are stopped: a server and a screen.
        let goes_on = |line: &str| verb == "serve" || verb == "top" && !line.contains("--json");
        let ends = |line: &&str| !needs.iter().any(|needed| line.contains(needed)) && !goes_on(line);
        for example in examples.lines().filter(ends) {
            let home = Home::new();
            let mut shell = home.command("sh");
            shell.args(["-c", &example.replacen("cardscope", CARDSCOPE, 1)]).current_dir(home.path(""));
            let outcome = Running::of(shell).finish();
            // A bad card gives status 1.
            let status = outcome.status.code();
            assert!(matches!(status, Some(0 | 1)) && !outcome.stdout.is_empty(), "{example}\n{outcome}");
            run += 1;
        }
    }
    assert!(run >= 25, "{run} examples");
}

#[test]
fn list_commands_accept_common_options() {
    let home = Home::new();
    let formats = home.run(&["import", "--formats", "--json"]).expect(0).json();
    let formats: Vec<&str> = list(&formats, "/formats").iter().map(|format| text(format, "/name")).collect();
    assert!(formats.contains(&"kdiskmark"), "{formats:?}");
    let shown = home.run(&["import", "--formats", "--quiet"]).expect(0).stdout;
    assert!(formats.iter().all(|name| shown.contains(name)), "{shown}");
    home.run(&["import", "--formats", "a.log"]).expect(2).says(&["cannot be used with"]);
    for arguments in [&["restore", "--list"][..], &["restore"], &["fit"], &["archive", "list"], &["list"]] {
        home.run(&[arguments, &["--json", "--quiet"]].concat()).expect(0).json();
    }
}

/// Completion script of a shell as a file, with the program in the shell's path.
fn script(home: &Home, shell: &str) -> String {
    let script = home.path(shell);
    std::fs::write(&script, home.run(&["completions", shell]).expect(0).stdout).unwrap();
    script.to_str().unwrap().to_owned()
}

/// Completions that bash offers for the last word of a line.
fn completed_by_bash(script: &str, line: &str) -> Vec<String> {
    // readline splits words at colons, too.
    let words: Vec<String> = line.replace(':', " : ").split(' ').map(str::to_owned).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let program = ". \"$1\"; COMP_LINE=$2 COMP_POINT=${#2}; shift 2; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1))\n\
        call=$(complete -p cardscope); call=${call#*-F }; call=${call%% *}\n\
        $call cardscope \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD - 1]}\"\n\
        printf '%s\\n' \"${COMPREPLY[@]}\"";
    let said = run_tool("bash", &[&["-c", program, "bash", script, line], &words[..]].concat());
    said.lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_verbs_and_builtin_names() {
    let home = Home::new();
    let script = script(&home, "bash");
    run_tool("bash", &["-n", &script]);
    for (line, expected) in [
        ("cardscope ver", "verify"),
        ("cardscope bench /dev/sdb --recipe kdi", "kdiskmark"),
        ("cardscope rank --for pi", "pi-boot"),
        ("cardscope jobs pi", "pi-boot"),
        ("cardscope sim show sandian", "sandian-1tb-52g"),
        // After the colon, where readline begins a word.
        ("cardscope check sim:sandian", "sandian-1tb-52g"),
        ("cardscope fit 16G sim:lexar-16g", "lexar-16g-c10"),
    ] {
        assert_eq!(completed_by_bash(&script, line), [expected], "{line}");
    }
    assert_eq!(completed_by_bash(&script, "cardscope check /dev/"), [""; 0], "bash itself offers files then");
}

#[test]
fn zsh_and_fish_load_their_completions() {
    let home = Home::new();
    let zsh = script(&home, "zsh");
    run_tool("zsh", &["-n", &zsh]);
    assert!(std::fs::read_to_string(zsh).unwrap().starts_with("#compdef cardscope\n"));
    let fish = script(&home, "fish");
    run_tool("fish", &["--no-execute", &fish]);
    let complete = |line: &str| {
        let said = run_tool("fish", &["--no-config", "-c", &format!("source {fish}; complete -C '{line}'")]);
        said.lines().map(|l| l.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(complete("cardscope ver"), ["verify"]);
    assert_eq!(complete("cardscope bench /dev/sdb --recipe kdi"), ["kdiskmark"]);
    assert_eq!(complete("cardscope check sim:sandian"), ["sim:sandian-1tb-52g"]);
}

#[test]
fn manual_pages_replace_no_foreign_files() {
    let home = Home::new();
    let folder = home.path("man1");
    let place = folder.to_str().unwrap();
    home.run(&["manual", place]).expect(2).says(&["does not exist"]);
    std::fs::create_dir(&folder).unwrap();
    let written = home.run(&["manual", place, "--json"]).expect(0).json();
    let files: Vec<&str> = list(&written, "/files").iter().map(|file| file.as_str().unwrap()).collect();
    for name in ["cardscope.1", "cardscope-check.1", "cardscope-archive-show.1"] {
        assert!(files.contains(&folder.join(name).to_str().unwrap()), "{name} in {files:?}");
    }
    assert!(!files.iter().any(|file| file.contains("help")), "{files:?}");
    run_tool("mandoc", &[&["-T", "lint", "-W", "error"], &files[..]].concat());
    let check = run_tool("mandoc", &["-T", "ascii", folder.join("cardscope-check.1").to_str().unwrap()]);
    assert!(check.contains("cardscope check sim:sandian-1tb-52g"), "{check}");
    home.run(&["manual", place]).expect(0);
    std::fs::write(folder.join("cardscope.1"), "somebody's own").unwrap();
    home.run(&["manual", place]).expect(2).says(&["cardscope.1"]);
}
