//! What is wrong with a TOML file that a user wrote, in one line.

/// The reader's message with the line it is about: `line 3: unknown field …`.
pub fn located(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    match before {
        Some(before) => format!("line {}: {}", before.matches('\n').count() + 1, error.message()),
        None => error.message().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_told_with_its_line_and_in_one() {
        for (text, line) in
            [("a = 1\nb = \n", "line 2: "), ("a = 1\nb = 2\nc = \"x", "line 3: "), ("a = 'x'", "line 1: ")]
        {
            let error = toml::from_str::<std::collections::BTreeMap<String, u8>>(text).unwrap_err();
            let told = located(text, &error);
            assert!(told.starts_with(line) && !told.contains('\n'), "{told}");
        }
    }
}
