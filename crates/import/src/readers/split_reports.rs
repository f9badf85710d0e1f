//! Splits a file with several logs of one tool, of different cards or times, where each begins.

use crate::readers::error::ReaderOutcome;
use crate::readers::text::LogText;

/// Most parts of a file; a file of garbage can look like many more.
const MOST_PARTS: usize = 1000;

/// Reads each part of a text separately. `begins` is true for the first line of a part. Several logs are named by number
/// unless they have names. Fails with the error of the first part if no part can be read.
pub(crate) fn read_each(
    text: &LogText,
    begins: impl FnMut(&str) -> bool,
    read: impl Fn(&LogText) -> ReaderOutcome,
) -> ReaderOutcome {
    let mut logs = Vec::new();
    let mut refused = None;
    let parts = split_parts(text.body(), begins);
    if parts.len() == 1 {
        return read(text);
    }
    for part in parts {
        match read(&LogText::from_decoded(part)) {
            Ok(read) => logs.extend(read.into_iter().filter(|log| !log.is_empty())),
            Err(error) => {
                refused.get_or_insert(error);
            }
        }
    }
    match refused {
        Some(why) if logs.is_empty() => return Err(why),
        _ if logs.len() > 1 => (1..).zip(&mut logs).for_each(|(number, log)| {
            log.part.get_or_insert_with(|| format!("report {number}"));
        }),
        _ => {}
    }
    Ok(logs)
}

/// Reads parts that begin where a line names another device than the last line with a name.
pub(crate) fn read_by_device(
    text: &LogText,
    name: impl Fn(&str) -> Option<&str>,
    read: impl Fn(&LogText) -> ReaderOutcome,
) -> ReaderOutcome {
    let mut last: Option<String> = None;
    let another = |line: &str| {
        name(line).is_some_and(|name| last.replace(name.to_owned()).is_some_and(|last| last != name))
    };
    read_each(text, another, read)
}

/// Reads parts that begin with a heading.
pub(crate) fn read_by_heading(
    text: &LogText,
    heads: impl Fn(&str) -> bool,
    read: impl Fn(&LogText) -> ReaderOutcome,
) -> ReaderOutcome {
    let mut headed = false;
    read_each(text, |line| heads(line) && std::mem::replace(&mut headed, true), read)
}

fn split_parts(body: &str, mut begins: impl FnMut(&str) -> bool) -> Vec<&str> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        if begins(line.trim()) && at > 0 && starts.len() < MOST_PARTS {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([body.len()]);
    starts.iter().zip(ends).map(|(from, to)| &body[*from..to]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_at_beginnings_but_not_before_its_first_line() {
        let begins = |line: &str| line.starts_with('#');
        assert_eq!(split_parts("# a\n1\n# b\n2", begins), ["# a\n1\n", "# b\n2"]);
        assert_eq!(split_parts("0\n# a\n", begins), ["0\n", "# a\n"]);
        assert_eq!(split_parts("", begins), [""]);
        assert_eq!(split_parts(&"# a\n".repeat(2 * MOST_PARTS), begins).len(), MOST_PARTS);
    }
}
