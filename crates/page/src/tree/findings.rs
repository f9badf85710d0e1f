//! Findings and caveats as lines. Those of one kind are merged into one line with a count.

use crate::figure::{pluralize, test_with_step};
use cardscope_model::caveat::Caveat;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::result::TestResult;
use serde::Serialize;

/// Line for the findings or caveats of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FindingRemark {
    /// Weight of a finding, None for a caveat.
    pub weight: Option<FindingWeight>,
    pub text: String,
    /// Names and values of the evidence.
    pub evidence: Vec<(String, String)>,
    pub advice: Option<String>,
}

impl FindingRemark {
    pub fn caveat_line(text: String) -> Self {
        FindingRemark { weight: None, text, evidence: Vec::new(), advice: None }
    }

    /// Weight as a word of compiler messages, None for a caveat.
    pub(crate) fn weight_word(&self) -> Option<&'static str> {
        self.weight.map(|weight| match weight {
            FindingWeight::Note => "note",
            FindingWeight::Hint => "hint",
            FindingWeight::Bad => "bad",
        })
    }

    /// Text, evidence and advice in a few sentences.
    pub(crate) fn full_text(&self) -> String {
        let evidence = self.evidence.iter().map(|(what, value)| format!("{what} {value}"));
        let evidence: Vec<String> = evidence.collect();
        let evidence = (!evidence.is_empty()).then(|| format!("({})", evidence.join(", ")));
        let parts = [Some(self.text.clone()), evidence, self.advice.clone()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

impl From<&Finding> for FindingRemark {
    fn from(finding: &Finding) -> Self {
        FindingRemark {
            weight: Some(finding.weight),
            text: finding.verdict.clone(),
            evidence: finding.evidence.clone(),
            advice: finding.advice.clone(),
        }
    }
}

/// Merges findings of the same claim and weight, heaviest first. The first of them supplies the text, and an advice that
/// several share is printed once.
pub fn merge_findings(findings: &[Finding]) -> Vec<FindingRemark> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| std::cmp::Reverse(finding.weight));
    let kind = |finding: &Finding| (finding.claim.clone(), finding.weight);
    let mut remarks: Vec<FindingRemark> = Vec::new();
    for (number, finding) in sorted.iter().enumerate() {
        if sorted[..number].iter().any(|before| kind(before) == kind(finding)) {
            continue;
        }
        let mut remark = FindingRemark::from(*finding);
        let alike = sorted.iter().filter(|other| kind(other) == kind(finding)).count();
        if alike > 1 {
            remark.text += &format!(" ({} of this kind)", pluralize(alike as u64, "finding"));
        }
        let given = remarks.iter().any(|before| before.advice == remark.advice);
        remark.advice = remark.advice.filter(|_| !given);
        remarks.push(remark);
    }
    remarks
}

/// Caveats of the document, then those of single tests. A caveat of several tests is one line.
pub(crate) fn merge_caveats<'a>(
    of_all: &[Caveat],
    tests: impl Iterator<Item = &'a TestResult>,
) -> Vec<FindingRemark> {
    let mut shared: Vec<(SharedCaveat, Vec<String>)> = Vec::new();
    for result in tests {
        let name = test_with_step(result.name(), result.step.as_deref());
        for caveat in &result.caveats {
            let doubt = SharedCaveat::from(caveat);
            match shared.iter_mut().find_map(|(known, names)| known.absorb(&doubt).then_some(names)) {
                Some(names) if names.contains(&name) => {}
                Some(names) => names.push(name.clone()),
                None => shared.push((doubt, vec![name.clone()])),
            }
        }
    }
    let all = of_all.iter().map(ToString::to_string);
    let of_tests = shared.into_iter().map(|(doubt, names)| match &names[..] {
        [one] => format!("{one}: {}", doubt.caveat_text()),
        several => {
            let (count, names) = (pluralize(several.len() as u64, "test"), several.join(", "));
            format!("{count}: {} ({names})", doubt.caveat_text())
        }
    });
    all.chain(of_tests).map(|text| FindingRemark::caveat_line(text + ".")).collect()
}

/// Caveat of one or more tests.
enum SharedCaveat {
    /// Precision missed: the interval that was requested, the limit that ended the test, and the smallest and largest
    /// interval reached, in percent.
    NotPrecise {
        wanted: f64,
        limit: String,
        reached: [f64; 2],
    },
    Verbatim(String),
}

impl From<&Caveat> for SharedCaveat {
    fn from(caveat: &Caveat) -> Self {
        match caveat {
            Caveat::NotPrecise { wanted_percent, reached_percent, limit } => SharedCaveat::NotPrecise {
                wanted: *wanted_percent,
                limit: limit.clone(),
                reached: [*reached_percent; 2],
            },
            other => SharedCaveat::Verbatim(other.to_string()),
        }
    }
}

impl SharedCaveat {
    /// Merges another caveat that is equal except for the interval reached. Returns false if it differs.
    fn absorb(&mut self, other: &SharedCaveat) -> bool {
        match (self, other) {
            (
                SharedCaveat::NotPrecise { wanted, limit, reached: [low, high] },
                SharedCaveat::NotPrecise { wanted: also, limit: too, reached: [lower, higher] },
            ) if wanted == also && limit == too => {
                (*low, *high) = (low.min(*lower), high.max(*higher));
                true
            }
            (SharedCaveat::Verbatim(one), SharedCaveat::Verbatim(other)) => one == other,
            _ => false,
        }
    }

    fn caveat_text(&self) -> String {
        match self {
            SharedCaveat::Verbatim(text) => text.clone(),
            SharedCaveat::NotPrecise { wanted, limit, reached: [low, high] } => {
                let most = if low == high { String::new() } else { format!(" to ±{high:.1}") };
                format!("the 95 % interval is ±{low:.1}{most} %, not ±{wanted:.1} %: {limit} came first")
            }
        }
    }
}
