//! The page for a terminal.

use super::page::{Body, Page, Part};
use crate::bench;
use std::fmt::Write;

pub(super) fn text(page: &Page) -> String {
    let mut out = format!("{}: {}\n", page.title, page.headline);
    for Part { head, body } in &page.parts {
        let _ = writeln!(out, "\n{head}");
        body.iter().for_each(|body| add(&mut out, body));
    }
    out
}

fn add(out: &mut String, body: &Body) {
    let _ = match body {
        Body::Facts(facts) => {
            facts.iter().for_each(|(name, value)| {
                let _ = writeln!(out, "  {name:<24}{value}");
            });
            Ok(())
        }
        Body::Table(table) => write!(out, "{}", indented(&table.to_string())),
        Body::Words(words) => write!(out, "{}", wrapped(words)),
        Body::Commands(commands) => commands.iter().try_for_each(|c| writeln!(out, "    {c}")),
        Body::Findings(findings) => write!(out, "{}", indented(&bench::findings(findings))),
        Body::Aside(_) | Body::Picture(_) => Ok(()),
    };
}

fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }).collect()
}

/// Columns of a sentence.
const WIDTH: usize = 100;

fn wrapped(words: &str) -> String {
    let mut out = String::new();
    let mut line = String::new();
    for word in words.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH && !line.is_empty() {
            let _ = writeln!(out, "  {line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(out, "  {line}");
    out
}
