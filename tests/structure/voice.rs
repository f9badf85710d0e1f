//! Texts for users are plain English: no banned phrase appears in output, shipped files or documents.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens;
use std::path::{Path, PathBuf};

/// Phrases that say nothing, or say a plain thing in a roundabout way.
const BANNED: [&str; 17] = [
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
    "earlier sittings",
    "wants a folder",
];

/// Value of an option. A literal of just this text is a name; in a sentence it must not appear.
const NAME: &str = "cooling_of";

/// Words that are usual after "is no". "There is no card" is usual, too.
const USUAL_AFTER_NO: [&str; 4] = ["longer", "more", "less", "such"];

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).expect("a folder can be read");
    all.map(|entry| entry.expect("a folder can be read").path()).collect()
}

pub(super) fn files(folder: &Path, ending: &str, into: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        match path.is_dir() {
            true => files(&path, ending, into),
            false => into.extend(path.extension().is_some_and(|e| e == ending).then_some(path)),
        }
    }
}

/// True if `text` says that something "is no X" instead of "is not an X".
fn denies(text: &str) -> bool {
    text.match_indices("is no ").any(|(at, found)| {
        let before = text[..at].trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let after = text[at + found.len()..].split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let begins = at == 0 || text[..at].ends_with(|c: char| !c.is_alphanumeric());
        let comparative = USUAL_AFTER_NO.contains(&after) || after.ends_with("er");
        begins && before != "there" && !comparative && !after.is_empty()
    })
}

/// First banned phrase of a text with line breaks anywhere.
fn banned(text: &str) -> Option<&'static str> {
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let phrase = BANNED.into_iter().find(|phrase| plain.contains(phrase));
    let name = || (plain.contains(NAME) && plain.contains(' ')).then_some(NAME);
    phrase.or_else(name).or_else(|| denies(&plain).then_some("is no"))
}

/// True for files with nothing but tests and their helpers. The documents in `sample.rs` appear in output and are
/// checked.
pub(super) fn is_for_tests(path: &Path) -> bool {
    let is_named_so = |name: &str| ["tests", "testing"].contains(&name) || name.ends_with("_tests");
    let parts = path.components().filter_map(|part| part.as_os_str().to_str());
    parts.skip_while(|part| *part != "src").any(|part| is_named_so(part.trim_end_matches(".rs")))
}

pub(super) fn is_test(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg") && attribute.to_token_stream().to_string().contains("test")
}

/// Texts in a source: literals, and docs that clap shows as help, without those of tests.
pub(super) fn shown(source: &str) -> Vec<String> {
    let mut file = syn::parse_file(source).expect("a source that is built can be read");
    file.items.retain(|item| !matches!(item, syn::Item::Mod(module) if module.attrs.iter().any(is_test)));
    let mut found = Vec::new();
    literals(file.to_token_stream(), source.contains("clap::"), &mut found);
    found
}

/// Adds the literals of a token stream. Docs appear in it as `#[doc = "…"]`, one a line.
pub(super) fn literals(stream: TokenStream, with_docs: bool, into: &mut Vec<String>) {
    let mut doc = String::new();
    for token in stream {
        match token {
            TokenTree::Group(group) => match documentation(&group) {
                Some(line) if with_docs => doc += &format!("{line}\n"),
                Some(_) => {}
                None => literals(group.stream(), with_docs, into),
            },
            TokenTree::Literal(literal) => {
                into.extend(syn::parse_str::<syn::LitStr>(&literal.to_string()).map(|text| text.value()));
            }
            TokenTree::Punct(sign) if sign.as_char() == '#' => {}
            _ => into.extend(Some(std::mem::take(&mut doc)).filter(|doc| !doc.is_empty())),
        }
    }
}

/// Text of a doc attribute.
fn documentation(group: &Group) -> Option<String> {
    let mut tokens = group.stream().into_iter();
    let is_doc = matches!(tokens.next(), Some(TokenTree::Ident(word)) if word == "doc");
    let line = tokens.nth(1).filter(|_| is_doc)?;
    Some(syn::parse_str::<syn::LitStr>(&line.to_string()).ok()?.value())
}

#[test]
fn output_has_no_banned_phrase() {
    let mut sources = Vec::new();
    for krate in entries(&root().join("crates")) {
        files(&krate.join("src"), "rs", &mut sources);
    }
    sources.retain(|path| !is_for_tests(path));
    let mut seen = 0;
    let mut wrong = Vec::new();
    for path in &sources {
        let source = std::fs::read_to_string(path).expect("a source can be read");
        for text in shown(&source) {
            seen += 1;
            wrong.extend(banned(&text).map(|phrase| format!("{}: {phrase:?} in {text:?}", path.display())));
        }
    }
    assert!(seen > 4000, "{seen} texts are not all that there are");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn shipped_files_and_documents_have_no_banned_phrase() {
    let mut shipped: Vec<PathBuf> =
        ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "try", "check", "crates/page/src/tree/html/page.js"]
            .map(|file| root().join(file))
            .into();
    for folder in ["cards", "jobs", "hosts", "recipes", "capacities"] {
        files(&root().join(folder), "toml", &mut shipped);
    }
    files(&root().join("collection"), "json", &mut shipped);
    files(&root().join("docs"), "md", &mut shipped);
    assert!(shipped.len() > 100, "{} files are not all that there are", shipped.len());
    let mut wrong = Vec::new();
    for path in shipped {
        let text = std::fs::read_to_string(&path).expect("a file that is shipped can be read");
        let paragraphs = text.split("\n\n").flat_map(|part| part.split("\n|"));
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
fn banned_phrases_are_found_and_usual_ones_are_not() {
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
    let source = "use clap::Args;\n/// Erase: all of it\n/// may go\nfn f() { g!(\"x\\\"y\"); } // is no comment\n\
        #[cfg(test)]\nmod tests { const A: &str = \"may go\"; }\n";
    let texts = shown(source);
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(banned(&texts[0]).is_some() && texts[1] == "x\"y", "{texts:?}");
}
