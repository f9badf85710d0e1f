//! What a user reads is plain English: no phrase that readers have stumbled over stands in a text that is shown, in a
//! file that is shipped or in a document.

use std::path::{Path, PathBuf};

/// Phrases that say nothing to a reader, or say a plain thing in a roundabout way.
const BANNED: [&str; 15] = [
    "as far as was looked",
    "in all, about",
    "is as it was",
    "may go",
    "may be given again",
    "cannot be told",
    "not to be told",
    "none that any",
    "what speaks against",
    "seed 00",
    "another machine than",
    "pieces differ",
    "what became of",
    "what it is good for",
    "told apart",
];

/// An option's value, not a word: as the whole of a literal it is a name, in a sentence it is not shown to people.
const NAME: &str = "cooling_of";

/// Behind "is no" these are usual; "there is no card" is, too.
const USUAL_AFTER_NO: [&str; 4] = ["longer", "more", "less", "such"];

/// Crates whose texts are not held to this yet.
const NOT_YET: [&str; 2] = ["report", "cli"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path, ending: &str, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, ending, into),
            false => into.extend(path.extension().is_some_and(|e| e == ending).then_some(path)),
        }
    }
}

/// Whether `text` says that something "is no X" where it means that it is not an X.
fn denies(text: &str) -> bool {
    text.match_indices("is no ").any(|(at, found)| {
        let before = text[..at].trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let after = text[at + found.len()..].split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let begins = at == 0 || text[..at].ends_with(|c: char| !c.is_alphanumeric());
        let comparative = USUAL_AFTER_NO.contains(&after) || after.ends_with("er");
        begins && before != "there" && !comparative && !after.is_empty()
    })
}

/// The first banned phrase of a text, whose lines may be broken anywhere.
fn banned(text: &str) -> Option<&'static str> {
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let phrase = BANNED.into_iter().find(|phrase| plain.contains(phrase));
    let name = || (plain.contains(NAME) && plain.contains(' ')).then_some(NAME);
    phrase.or_else(name).or_else(|| denies(&plain).then_some("is no"))
}

/// The literals of a source, and the documentation that the command line shows as help, each with its line.
fn shown(source: &str) -> Vec<(usize, String)> {
    let is_help = source.contains("clap::");
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut rest = source;
    let mut line = 1;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        line += rest[..at].matches('\n').count();
        let raw = rest[..at].ends_with('#') || rest[..at].ends_with('r');
        let from = &rest[at..];
        let len = if let Some(comment) = from.strip_prefix("//") {
            let end = comment.find('\n').unwrap_or(comment.len());
            if let Some(help) = comment[..end].strip_prefix('/').filter(|_| is_help) {
                match found.last_mut().filter(|(above, text)| above + 1 == line && text.starts_with('\u{b6}'))
                {
                    Some((above, text)) => (*above, *text) = (line, format!("{text} {help}")),
                    None => found.push((line, format!("\u{b6} {help}"))),
                }
            }
            2 + end
        } else if from.starts_with('"') {
            let end = literal_end(&from[1..], raw);
            found.push((line, from[1..=end].replace("\\\n", "\n")));
            end + 2
        } else if from.starts_with("'\\") {
            3
        } else if from.starts_with("'\"'") {
            3
        } else {
            1
        };
        line += from[..len].matches('\n').count();
        rest = &from[len..];
    }
    found
}

/// Bytes of a literal up to its closing quote.
fn literal_end(text: &str, raw: bool) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if !raw => escaped = true,
            '"' if !raw || text[at..].starts_with("\"#") || !text[at..].contains("\"#") => return at,
            _ => {}
        }
    }
    text.len()
}

#[test]
fn no_text_that_is_shown_has_a_banned_phrase() {
    let mut sources = Vec::new();
    for krate in std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()) {
        if !NOT_YET.iter().any(|name| krate.ends_with(name)) {
            files(&krate.join("src"), "rs", &mut sources);
        }
    }
    let mut seen = 0;
    let mut wrong = Vec::new();
    for path in &sources {
        let source = std::fs::read_to_string(path).unwrap();
        // What a unit test is called or expects is not shown.
        let program = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        if path.to_string_lossy().contains("test") {
            continue;
        }
        for (line, text) in shown(program) {
            seen += 1;
            wrong.extend(
                banned(&text).map(|phrase| format!("{}:{line}: {phrase:?} in {text:?}", path.display())),
            );
        }
    }
    assert!(seen > 4000, "{seen} texts are not all that there are");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_file_that_is_shipped_and_no_document_has_a_banned_phrase() {
    let mut shipped = vec![root().join("README.md")];
    for folder in ["cards", "jobs", "hosts", "recipes", "capacities"] {
        files(&root().join(folder), "toml", &mut shipped);
    }
    files(&root().join("collection"), "json", &mut shipped);
    files(&root().join("docs"), "md", &mut shipped);
    assert!(shipped.len() > 100, "{} files are not all that there are", shipped.len());
    let mut wrong = Vec::new();
    for path in shipped {
        // Written by the binary from texts that the other test reads.
        let generated = path.ends_with("docs/cli.md") && !NOT_YET.is_empty();
        let text = std::fs::read_to_string(&path).unwrap();
        let paragraphs = text.split("\n\n").flat_map(|part| part.split("\n|")).filter(|_| !generated);
        for part in paragraphs {
            // In JSON and TOML `cooling_of` is the name of a field.
            let told = part.replace(NAME, "");
            let names = banned(if path.extension().is_some_and(|e| e == "md") { part } else { &told });
            wrong.extend(names.map(|phrase| format!("{}: {phrase:?} in {part}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_meant_is_found_and_what_is_usual_is_not() {
    for wrong in
        ["The block size IS NO size", "it\n  may go", "the condition cooling_of differs", "this is no card"]
    {
        assert!(banned(wrong).is_some(), "{wrong}");
    }
    for right in
        ["There is no card in it", "it is no longer there", "a read is no faster", "cooling_of", "this no"]
    {
        assert_eq!(banned(right), None, "{right}");
    }
    let source = "use clap::Args;\n/// Erase: all of it\n/// may go\nlet a = \"x\\\"y\"; // is no comment\n";
    let texts = shown(source);
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(banned(&texts[0].1).is_some() && texts[1] == (4, "x\\\"y".to_owned()), "{texts:?}");
}
