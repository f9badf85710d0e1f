//! A conclusion with its evidence.

use serde::{Deserialize, Serialize};

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingWeight {
    /// Worth knowing.
    Note,
    /// Points somewhere, proves nothing.
    Hint,
    /// Bad: exit status 1.
    Bad,
}

/// A claim, what became of it, and the numbers it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What is claimed or looked at, in a few words that stay the same: `serial-zero`, `capacity-against-name`.
    pub claim: String,
    /// The conclusion: one whole sentence.
    pub verdict: String,
    /// How heavy it is.
    pub weight: FindingWeight,
    /// 0 to 1.
    pub confidence: f64,
    /// The numbers and words it rests on, in reading order.
    pub evidence: Vec<(String, String)>,
    /// What to do about it, if anything, in whole sentences.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub advice: Option<String>,
    /// Verb that the advice asks for; `None` in a finding that was stored.
    #[serde(skip)]
    pub advised_verb: Option<AdvisedVerb>,
}

/// A verb whose run settles what a finding leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdvisedVerb {
    /// `cardscope check DEVICE`
    Check,
    /// `cardscope verify DEVICE`
    Verify,
}

impl Finding {
    /// A finding without evidence or advice yet.
    pub fn new(claim: &str, weight: FindingWeight, confidence: f64, verdict: impl Into<String>) -> Self {
        let verdict = verdict.into();
        debug_assert!(is_sentence(&verdict), "the verdict of {claim} is not a sentence: {verdict}");
        Finding {
            claim: claim.to_owned(),
            verdict,
            weight,
            confidence,
            evidence: Vec::new(),
            advice: None,
            advised_verb: None,
        }
    }

    /// Adds a number or word that the finding rests on.
    pub fn because(mut self, what: &str, value: impl ToString) -> Self {
        self.evidence.push((what.to_owned(), value.to_string()));
        self
    }

    /// Adds a number or word that not every card has.
    pub fn because_known(self, what: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.because(what, value),
            None => self,
        }
    }

    /// Adds what something else rests on.
    pub fn because_all(mut self, evidence: &[(String, String)]) -> Self {
        self.evidence.extend_from_slice(evidence);
        self
    }

    /// The evidence of a name. Only the module that writes it reads it: elsewhere it is text.
    pub(crate) fn value_of(&self, what: &str) -> Option<&str> {
        self.evidence.iter().find(|(name, _)| name == what).map(|(_, value)| value.as_str())
    }

    /// Removes the advice to run a verb that has run since.
    pub fn drop_advice(&mut self, verb: AdvisedVerb) {
        self.advice.take_if(|_| self.advised_verb == Some(verb));
    }

    /// Adds what to do about it.
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        let advice = advice.into();
        debug_assert!(is_sentence(&advice), "the advice of {} is not a sentence: {advice}", self.claim);
        (self.advice, self.advised_verb) = (Some(advice), None);
        self
    }

    /// Adds the advice to run a verb.
    pub fn advise_verb(self, verb: AdvisedVerb, advice: impl Into<String>) -> Self {
        Finding { advised_verb: Some(verb), ..self.advise(advice) }
    }
}

/// Whether a text begins and ends like a sentence, so that pages can put it anywhere.
fn is_sentence(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_lowercase()) && text.ends_with(['.', '!', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_advice_to_run_the_verb_that_ran_is_dropped() {
        let finding = || Finding::new("x", FindingWeight::Note, 1.0, "It is so.");
        let after = |mut finding: Finding| {
            finding.drop_advice(AdvisedVerb::Verify);
            finding.advice
        };
        assert_eq!(after(finding().advise_verb(AdvisedVerb::Verify, "Run it.")), None);
        assert!(after(finding().advise_verb(AdvisedVerb::Check, "Run it.")).is_some());
        assert!(after(finding().advise("Run `cardscope verify --full` to see.")).is_some());
        let later = finding().advise_verb(AdvisedVerb::Verify, "Run it.").advise("Copy your data.");
        assert!(after(later).is_some(), "other advice replaced it");
    }
}
