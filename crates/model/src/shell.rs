//! Shell quoting of names, so that printed commands can be pasted.

use std::path::Path;

/// Quotes a name for a shell. A name that begins like an option gets the prefix `./`.
pub fn shell_quote(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:+=,@%".contains(c);
    let file = if name.starts_with('-') { "./" } else { "" };
    match !name.is_empty() && name.chars().all(plain) {
        true => format!("{file}{name}"),
        false => format!("'{file}{}'", name.replace('\'', "'\\''")),
    }
}

pub fn shell_quote_path(path: &Path) -> String {
    shell_quote(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_quote_quotes_only_special_names() {
        assert_eq!(shell_quote_path(Path::new("/state/journal-1")), "/state/journal-1");
        assert_eq!(shell_quote_path(Path::new("/my state/journal")), "'/my state/journal'");
        assert_eq!(shell_quote("it's"), "'it'\\''s'");
        assert_eq!([shell_quote(""), shell_quote("-x"), shell_quote("-a b")], ["''", "./-x", "'./-a b'"]);
    }
}
