//! Commands in the book are valid: every verb, option, simulated card, recipe and job exists. Their output is compared
//! in `end_to_end/pages.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect("a page can be read")
}

fn names(folder: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(root().join(folder)).expect("a folder can be read");
    entries.filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned())).collect()
}

/// Names that a command line may use.
struct Known {
    /// Options of each verb. Subcommands such as `sim serve` count as verbs.
    verbs: BTreeMap<String, BTreeSet<String>>,
    cards: BTreeSet<String>,
    recipes: BTreeSet<String>,
    jobs: BTreeSet<String>,
}

/// Options in a text: words that begin with `--`.
fn options(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.filter(|word| word.len() > 3 && word.starts_with("--") && !word.starts_with("---"))
}

fn known() -> Known {
    let reference = read("docs/cli.md");
    let sections = reference.split("\n## cardscope").skip(1);
    let verb = |section: &str| section.lines().next().unwrap_or_default().trim().to_owned();
    Known {
        verbs: sections.map(|s| (verb(s), options(s).map(str::to_owned).collect())).collect(),
        cards: names("cards"),
        recipes: names("recipes"),
        jobs: names("jobs"),
    }
}

impl Known {
    /// First unknown name in a command line; `None` if it is no command of the program.
    fn fault(&self, line: &str) -> Option<String> {
        let words: Vec<&str> = line.split_whitespace().map(|w| w.trim_matches(['"', '\''])).collect();
        let part = words.get(..2).map(|two| two.join(" ")).unwrap_or_default();
        let (verb, options_of) =
            self.verbs.get_key_value(&part).or_else(|| self.verbs.get_key_value(*words.first()?))?;
        if let Some(option) = options(line).find(|option| !options_of.contains(*option)) {
            return Some(format!("{verb} has no option {option}"));
        }
        let follows = |option: &str| {
            let at = words.iter().position(|word| *word == option)?;
            words
                .get(at + 1)
                .filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'))
        };
        let card = words
            .iter()
            .find_map(|word| word.strip_prefix("sim:"))
            .map(|card| card.split('?').next().unwrap_or(card));
        let own = |card: &str| card.starts_with("random") || card.starts_with('.') || card.contains("NAME");
        let missing = |name: Option<&str>, in_list: &BTreeSet<String>| {
            name.filter(|name| !in_list.contains(*name)).map(str::to_owned)
        };
        missing(card.filter(|card| !own(card)), &self.cards)
            .or_else(|| missing(follows("--recipe").copied(), &self.recipes))
            .or_else(|| {
                missing(
                    follows("--for").copied().filter(|_| ["rank", "report"].contains(&verb.as_str())),
                    &self.jobs,
                )
            })
            .map(|name| format!("there is no {name}"))
    }
}

/// Commands of a page with their lines: lines in code blocks that begin with the program, and code spans that begin
/// with the program or with a verb and an option.
fn commands(page: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (at, line) in page.lines().enumerate() {
        let plain = line.trim_start().trim_start_matches("$ ");
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        if inside {
            let command = plain.split(" # ").next().unwrap_or(plain).split("  ").next().unwrap_or(plain);
            found.extend(command.strip_prefix("cardscope ").map(|c| (at + 1, c.to_owned())));
        } else if !fence {
            let quoted = line.split('`').skip(1).step_by(2);
            found.extend(quoted.filter_map(|text| {
                let command = text.strip_prefix("cardscope ");
                let bare = || text.contains(" --").then_some(text);
                Some((at + 1, command.or_else(bare)?.to_owned()))
            }));
        }
    }
    found
}

#[test]
fn book_commands_are_valid() {
    let known = known();
    let mut pages = vec!["README.md".to_owned()];
    for folder in ["docs", "docs/flash"] {
        let files = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        let named = files.filter_map(|file| file.into_string().ok()).filter(|file| file.ends_with(".md"));
        pages.extend(named.filter(|file| file != "cli.md").map(|file| format!("{folder}/{file}")));
    }
    let (mut seen, mut wrong) = (0, Vec::new());
    for page in pages {
        for (line, command) in commands(&read(&page)) {
            seen += 1;
            wrong.extend(known.fault(&command).map(|fault| format!("{page}:{line}: {fault}: {command}")));
        }
    }
    assert!(seen > 150, "{seen} commands are not all that the book shows");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn invalid_commands_are_reported() {
    let known = known();
    for wrong in
        ["verify /dev/sdb --fuller", "check sim:no-such-card", "bench X --recipe none", "rank --for idleness"]
    {
        assert!(known.fault(wrong).is_some(), "{wrong}");
    }
    for right in [
        "verify /dev/sdb --full",
        "check sim:constant?heat=off",
        "sim serve constant --mount DIR",
        "fio --direct=1",
    ] {
        assert_eq!(known.fault(right), None, "{right}");
    }
}
