//! Next steps after a capacity verdict, shared by `verify` and `check`.

use crate::frame::CommonOptions;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::report::NextStep;
use cardscope_model::shell::{shell_quote, shell_quote_path};
use cardscope_model::units::MIB;
use cardscope_model::verify::{CapacityCause, SURE_CONFIDENCE, TestMethod, Verdict, Verification};
use std::fmt;
use std::path::Path;

pub fn next_step(what: impl Into<String>, command: Option<String>) -> NextStep {
    NextStep { what: what.into(), command }
}

/// Description of a step that repeats a test, with the data that the repetition would lose.
pub fn repeat_description(what: &str, loses: Option<&str>) -> String {
    loses.map_or_else(|| what.to_owned(), |lost| format!("{what} ({lost} is lost)"))
}

/// Data that a test without saving would lose: a part of the card, or all of it.
pub const SOME_DATA: &str = "what it overwrites";
pub const ALL_DATA: &str = "all data on it";

/// `--label` with the printed capacity, quoted for a shell and preceded by a space.
pub fn label_option(label: Option<&str>) -> String {
    label.map(|label| format!(" --label {}", shell_quote(label))).unwrap_or_default()
}

/// Test that led to the verdict.
pub struct TestedCard<'a> {
    pub common: &'a CommonOptions,
    pub label: Option<&'a str>,
    pub options: TestOptions<'a>,
}

/// Options of `verify` that repeat a test. Displayed with a space before each: ` --full --resume`.
#[derive(Debug, Clone, Copy, Default)]
pub struct TestOptions<'a> {
    pub full: bool,
    pub files: bool,
    pub thorough: bool,
    pub read_only: bool,
    pub resume: bool,
    pub two_passes: bool,
    pub keep_files: bool,
    pub backup: Option<&'a Path>,
}

impl TestOptions<'_> {
    /// True if a repetition overwrites the card without saving its data.
    fn loses_data(&self) -> bool {
        self.full && !self.read_only && self.backup.is_none()
    }
}

impl fmt::Display for TestOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = [
            (self.full, " --full"),
            (self.files, " --files"),
            (self.thorough, " --thorough"),
            (self.read_only, " --read-only"),
            (self.resume, " --resume"),
            (self.two_passes, " --two-passes"),
            (self.keep_files, " --keep-files"),
        ];
        flags.iter().filter(|(given, _)| *given).try_for_each(|(_, flag)| f.write_str(flag))?;
        self.backup.map_or(Ok(()), |file| write!(f, " --backup {}", shell_quote_path(file)))
    }
}

/// Advice for a card that should go back to its seller.
pub const RETURN_ADVICE: &str = "return it";

/// Smallest remaining capacity of a fake card that is worth formatting, in bytes.
const MIN_FORMATTED_REST: u64 = 64 * MIB;

const DATA_LOSS_WARNING: &str = "(all data on it is lost unless --backup FILE saves it)";

/// Next steps after a verdict, most urgent first. A card whose label overstates its capacity should be returned whatever
/// the verdict.
pub fn steps_after_verdict(card: &TestedCard<'_>, found: &Verification, notes: &[Finding]) -> Vec<NextStep> {
    let target = shell_quote(&card.common.target);
    let options = label_option(card.label) + &card.common.repeat_options(None);
    let verify = |how: &str| Some(format!("cardscope verify {target}{how}{options}"));
    let is_false_label = |f: &Finding| f.claim == "label-capacity" && f.weight == FindingWeight::Bad;
    let false_label = notes.iter().any(is_false_label);
    let danger = if card.options.loses_data() { format!(" {DATA_LOSS_WARNING}") } else { String::new() };
    let (proof, thorough) = match found.method {
        TestMethod::Files => (" --files", "fill its free space and read it back".to_owned()),
        TestMethod::Quick | TestMethod::Full => {
            (" --full", format!("overwrite and read back every block {DATA_LOSS_WARNING}"))
        }
    };
    let seller = || {
        let page = verify(&format!("{} --html evidence.html", card.options));
        next_step(format!("to show the seller, write a page with the evidence{danger}"), page)
    };
    let one = match found.verdict {
        _ if false_label => return vec![next_step(RETURN_ADVICE, None), seller()],
        Verdict::Genuine if found.method == TestMethod::Quick => {
            next_step(format!("before you trust important data to the card, {thorough}"), verify(proof))
        }
        Verdict::Genuine => return Vec::new(),
        // A card is returned on a sure verdict only; a weaker one is confirmed by a full test first.
        fake if fake.lacks_capacity() && found.confidence >= SURE_CONFIDENCE => {
            let worthwhile = |bytes: &u64| found.method != TestMethod::Files && *bytes >= MIN_FORMATTED_REST;
            let rest = found.usable_bytes.filter(worthwhile).map(|bytes| {
                let command = format!("cardscope format {target} --limit-to-real --real {bytes}");
                next_step("or format only what it holds (all data on it is lost)", Some(command))
            });
            return [next_step(RETURN_ADVICE, None), seller()].into_iter().chain(rest).collect();
        }
        // A full test read every block, so repeating it gives no more evidence. Only the reader remains in doubt.
        fake if fake.lacks_capacity() && found.method == TestMethod::Full => {
            next_step("try another reader before you return it", None)
        }
        fake if fake.lacks_capacity() => {
            next_step(format!("to be sure before you return it, {thorough}"), verify(proof))
        }
        Verdict::Damaged if found.moved.data_kept => next_step("copy your data off the card now", None),
        Verdict::Unstable => next_step("try another reader, then discard the card", None),
        Verdict::Dead if matches!(found.cause, Some(CapacityCause::LostFlash { .. })) => {
            next_step("discard it; only a recovery lab may get data from it", None)
        }
        Verdict::Dead => next_step("discard it", None),
        Verdict::ReadOnly => next_step("copy your data off the card now", None),
        Verdict::ReaderSuspect => next_step(
            format!("try {} reader{danger}", found.cause.map_or("another", CapacityCause::reader_to_try)),
            verify(&format!("{} --condition reader=…", card.options)),
        ),
        Verdict::Inconclusive => {
            let again = verify(&card.options.to_string());
            next_step(format!("test the capacity without a limit{danger}"), again)
        }
        _ => next_step("do not keep data on it", None),
    };
    vec![one]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> TestOptions<'static> {
        TestOptions { full: true, ..TestOptions::default() }
    }

    fn after(options: TestOptions<'_>, common: &CommonOptions, found: &Verification) -> Vec<NextStep> {
        super::steps_after_verdict(&TestedCard { common, label: Some("1TB U3"), options }, found, &[])
    }

    #[test]
    fn return_is_advised_on_a_sure_verdict_only() {
        let common =
            CommonOptions { target: "/dev/sdx".to_owned(), seed: Some(7), ..CommonOptions::default() };
        for verdict in [Verdict::Limbo, Verdict::Wraparound, Verdict::Chain, Verdict::Overcommitted] {
            for (method, files) in [(TestMethod::Quick, false), (TestMethod::Files, true)] {
                let found =
                    |confidence| Verification { verdict, method, confidence, ..Verification::default() };
                let options = TestOptions { files, ..TestOptions::default() };
                let after = |confidence| after(options, &common, &found(confidence)).remove(0);
                assert_eq!(after(SURE_CONFIDENCE).what, "return it", "{verdict} {method:?}");
                let unsure = after(0.9);
                assert!(unsure.what.contains("before you return it"), "{unsure:?}");
                assert_eq!(unsure.what.contains("all data on it is lost"), !files, "{unsure:?}");
                let proof = if files {
                    "--files --label '1TB U3' --seed 7"
                } else {
                    "--full --label '1TB U3' --seed 7"
                };
                assert!(unsure.command.unwrap().ends_with(proof));
            }
        }
    }

    #[test]
    fn fake_can_be_formatted_to_its_real_size() {
        let common = CommonOptions { target: "/dev/sdx".to_owned(), ..CommonOptions::default() };
        let last = |usable_bytes, confidence| {
            let found =
                Verification { verdict: Verdict::Limbo, usable_bytes, confidence, ..Verification::default() };
            after(TestOptions::default(), &common, &found).pop().unwrap().command.unwrap()
        };
        let format = "cardscope format /dev/sdx --limit-to-real --real 52000000512";
        assert_eq!(last(Some(52_000_000_512), SURE_CONFIDENCE), format);
        for (usable, confidence) in
            [(Some(52_000_000_512), 0.9), (Some(1 << 20), SURE_CONFIDENCE), (None, SURE_CONFIDENCE)]
        {
            assert!(!last(usable, confidence).contains("format"), "{usable:?} {confidence}");
        }
    }

    #[test]
    fn repeated_tests_keep_their_options_and_warn_of_data_loss() {
        let common = CommonOptions { target: "/media/my card".to_owned(), ..CommonOptions::default() };
        let after = |options, verdict| {
            let found = Verification {
                verdict,
                method: TestMethod::Full,
                confidence: 0.99,
                ..Verification::default()
            };
            after(options, &common, &found)
        };
        assert_eq!(after(full(), Verdict::Genuine), []);
        let backup = Some(Path::new("card.img"));
        for (options, shown, named) in [
            (full(), " --full", true),
            (TestOptions { resume: true, ..full() }, " --full --resume", true),
            (TestOptions { read_only: true, ..full() }, " --full --read-only", false),
            (TestOptions { backup, ..full() }, " --full --backup card.img", false),
        ] {
            for verdict in [Verdict::Inconclusive, Verdict::ReaderSuspect, Verdict::Limbo] {
                let next = after(options, verdict).pop().unwrap();
                assert_eq!(next.what.contains("all data on it is lost"), named, "{next:?}");
                let again = format!("cardscope verify '/media/my card'{shown} ");
                assert!(next.command.is_some_and(|command| command.starts_with(&again)), "{verdict}");
            }
        }
        assert_eq!(after(full(), Verdict::Damaged)[0].what, "do not keep data on it", "its data is gone");
    }
}
