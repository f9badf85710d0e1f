//! Answer of a page: one line, which may begin with a verdict in capitals.

use serde::Serialize;
use std::fmt;
use std::ops::Deref;

/// Answer line, e.g. `FAKE: holds 52 GB of 1 TB. Return it.`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub struct Answer {
    text: String,
    /// Length of the verdict at the start of the text, in bytes; 0 without a verdict.
    verdict_len: usize,
    advice: Option<String>,
    brief: String,
}

impl Answer {
    /// Joins a verdict and the text after it, e.g. `FAKE` and `: holds 52 GB of 1 TB. Return it.`
    pub fn with_verdict(verdict: &str, rest: &str) -> Self {
        let text = format!("{verdict}{rest}");
        Answer { text, verdict_len: verdict.len(), advice: None, brief: verdict.to_owned() }
    }

    pub fn with_advice(self, advice: &str) -> Self {
        Answer { text: format!("{} {advice}", self.text), advice: Some(advice.to_owned()), ..self }
    }

    /// Replaces the short form for tables.
    pub fn with_brief(self, brief: impl Into<String>) -> Self {
        Answer { brief: brief.into(), ..self }
    }

    pub fn verdict(&self) -> Option<&str> {
        (self.verdict_len > 0).then(|| &self.text[..self.verdict_len])
    }

    pub fn advice(&self) -> Option<&str> {
        self.advice.as_deref()
    }

    pub fn text_after_verdict(&self) -> &str {
        &self.text[self.verdict_len..]
    }

    /// Returns the short form for tables: the verdict, else the sentence without its full stop.
    pub fn brief(&self) -> &str {
        &self.brief
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        let brief = text.trim_end_matches('.').to_owned();
        Answer { text, brief, ..Answer::default() }
    }
}

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Answer> for String {
    fn from(answer: Answer) -> Self {
        answer.text
    }
}

impl Deref for Answer {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq<&str> for Answer {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}
