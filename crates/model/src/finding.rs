//! Finding: a conclusion with its evidence.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingWeight {
    #[default]
    Note,
    /// Indication without proof.
    Hint,
    /// Bad: exit status 1.
    Bad,
}

/// Conclusion about a claim, with evidence and advice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable identifier of the claim, e.g. `serial-zero` or `capacity-against-name`.
    pub claim: String,
    pub verdict: String,
    pub weight: FindingWeight,
    /// 0 to 1.
    pub confidence: f64,
    pub evidence: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub advice: Option<String>,
    #[serde(skip)]
    pub advised_verb: Option<AdvisedVerb>,
}

/// Verb that resolves an open finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdvisedVerb {
    Check,
    Verify,
}

impl Finding {
    pub fn new(claim: &str, weight: FindingWeight, confidence: f64, verdict: impl Into<String>) -> Self {
        let verdict = verdict.into();
        debug_assert!(is_sentence(&verdict), "the verdict of {claim} is not a sentence: {verdict}");
        Finding { claim: claim.to_owned(), verdict, weight, confidence, ..Finding::default() }
    }

    pub fn because(mut self, what: &str, value: impl ToString) -> Self {
        self.evidence.push((what.to_owned(), value.to_string()));
        self
    }

    pub fn because_some(self, what: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.because(what, value),
            None => self,
        }
    }

    pub fn because_all(mut self, evidence: &[(String, String)]) -> Self {
        self.evidence.extend_from_slice(evidence);
        self
    }

    /// Returns the evidence of this name. Only the module that writes it may parse it, since elsewhere it is just
    /// text.
    pub(crate) fn evidence_value(&self, what: &str) -> Option<&str> {
        self.evidence.iter().find(|(name, _)| name == what).map(|(_, value)| value.as_str())
    }

    /// Removes the advice if it recommends this verb, which has run since.
    pub fn drop_advice(&mut self, verb: AdvisedVerb) {
        self.advice.take_if(|_| self.advised_verb == Some(verb));
    }

    pub fn with_advice(mut self, advice: impl Into<String>) -> Self {
        let advice = advice.into();
        debug_assert!(is_sentence(&advice), "the advice of {} is not a sentence: {advice}", self.claim);
        (self.advice, self.advised_verb) = (Some(advice), None);
        self
    }

    pub fn with_verb_advice(self, verb: AdvisedVerb, advice: impl Into<String>) -> Self {
        Finding { advised_verb: Some(verb), ..self.with_advice(advice) }
    }
}

/// True if a text begins and ends like a sentence, so that pages can place it anywhere.
fn is_sentence(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_lowercase()) && text.ends_with(['.', '!', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drop_advice_removes_only_advice_for_that_verb() {
        let finding = || Finding::new("x", FindingWeight::Note, 1.0, "It is so.");
        let after = |mut finding: Finding| {
            finding.drop_advice(AdvisedVerb::Verify);
            finding.advice
        };
        assert_eq!(after(finding().with_verb_advice(AdvisedVerb::Verify, "Run it.")), None);
        assert!(after(finding().with_verb_advice(AdvisedVerb::Check, "Run it.")).is_some());
        assert!(after(finding().with_advice("Run `cardscope verify --full` to see.")).is_some());
        let later = finding().with_verb_advice(AdvisedVerb::Verify, "Run it.").with_advice("Copy your data.");
        assert!(after(later).is_some(), "other advice replaced it");
    }
}
