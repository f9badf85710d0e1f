//! Messages about errors in users' TOML files, in one line each.

use crate::untrusted_text;

const MAX_LINE_CHARS: usize = 60;

/// Formats the parser's message with its line: `line 3 (page_bytes = -1): invalid value …`.
pub fn message_with_line(text: &str, error: &toml::de::Error) -> String {
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else {
        return untrusted_text::shorten_message(error.message(), &[]).into_owned();
    };
    let number = before.matches('\n').count();
    let line: String =
        text.lines().nth(number).unwrap_or_default().trim().chars().take(MAX_LINE_CHARS).collect();
    format!("line {} ({line}): {}", number + 1, untrusted_text::shorten_message(error.message(), &[]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_error_message_has_the_line() {
        for (text, line) in [
            ("a = 1\nb = \n", "line 2 (b =): "),
            ("a = 1\nb = 2\nc = -1", "line 3 (c = -1): "),
            ("a = 'x'", "line 1 (a = 'x'): "),
        ] {
            let error = toml::from_str::<std::collections::BTreeMap<String, u8>>(text).unwrap_err();
            let told = message_with_line(text, &error);
            assert!(told.starts_with(line) && !told.contains('\n'), "{told}");
        }
    }
}
