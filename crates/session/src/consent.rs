//! Consent to data loss.
//!
//! The user consents by typing the name of the target or giving it with `--yes-destroy`; it must equal the name as given.
//! Consent overrides no guard: a mounted or busy device is refused all the same. If only a region is overwritten, the
//! question names it.

use crate::error::{Failure, Result};
use cardscope_device::contents::DeviceContents;
use cardscope_engine::target::TargetRegion;
use cardscope_model::units::group_digits;

#[derive(Debug, Clone, PartialEq)]
pub struct ConsentQuestion {
    /// Target as the user named it, which is also the expected answer.
    pub target: String,
    /// Data that would be lost: device, model, size, partitions and file systems.
    pub at_stake: String,
}

pub trait ConsentSource {
    /// Asks the user. Returns the answer, or None if the session is not interactive.
    fn ask(&mut self, question: &ConsentQuestion) -> Option<String>;

    /// True if the test may lose data, so that the question must be asked.
    fn loses_data(&self) -> bool {
        true
    }

    /// Announces that the system is about to be asked for the device and may request a password.
    fn announce(&mut self, _text: &str) {}

    /// Data that would be lost if the verb overwrites less than the whole target. `contents` was read from the open target.
    fn narrowed_stake(&self, at_stake: &str, _contents: &DeviceContents) -> String {
        at_stake.to_owned()
    }
}

/// Consent from the command line (`--yes-destroy TARGET`), without any question.
#[derive(Debug, Clone, Default)]
pub struct GivenBeforehand(pub Option<String>);

impl ConsentSource for GivenBeforehand {
    fn ask(&mut self, _question: &ConsentQuestion) -> Option<String> {
        self.0.clone()
    }
}

/// Consent for tests that save and restore what they overwrite. Nothing is asked, but all guards apply.
#[derive(Debug, Clone, Copy, Default)]
pub struct PreservingConsent;

impl ConsentSource for PreservingConsent {
    fn ask(&mut self, question: &ConsentQuestion) -> Option<String> {
        Some(question.target.clone())
    }

    fn loses_data(&self) -> bool {
        false
    }
}

/// Source of consent that announces requests for a password to the user.
pub struct AnnouncingConsent<'a>(pub &'a mut dyn ConsentSource);

impl ConsentSource for AnnouncingConsent<'_> {
    fn ask(&mut self, question: &ConsentQuestion) -> Option<String> {
        PreservingConsent.ask(question)
    }

    fn loses_data(&self) -> bool {
        false
    }

    fn announce(&mut self, text: &str) {
        self.0.announce(text);
    }
}

/// Refuses unless the answer is the name of the target.
pub fn obtain_consent(consent: &mut dyn ConsentSource, question: &ConsentQuestion) -> Result<()> {
    let name = &question.target;
    match consent.ask(question) {
        Some(answer) if answer == *name => Ok(()),
        Some(answer) => Err(Failure::refused(format!("{answer:?} is not {name:?}: nothing was written"))),
        None => {
            let stake = &question.at_stake;
            Err(Failure::refused(format!("this overwrites {stake}; agree with --yes-destroy {name}")))
        }
    }
}

/// Asks about a region if only that is overwritten, else about the whole card.
pub(crate) struct ScopedConsent<'a> {
    pub(crate) region: Option<TargetRegion>,
    pub(crate) user: &'a mut dyn ConsentSource,
}

impl ConsentSource for ScopedConsent<'_> {
    fn ask(&mut self, question: &ConsentQuestion) -> Option<String> {
        self.user.ask(question)
    }

    fn announce(&mut self, text: &str) {
        self.user.announce(text);
    }

    fn narrowed_stake(&self, at_stake: &str, contents: &DeviceContents) -> String {
        match self.region {
            None => at_stake.to_owned(),
            Some(region) => {
                format!("{} of {at_stake}; {}", region_text(region), overlapping_partitions(contents, region))
            }
        }
    }
}

pub fn region_text(region: TargetRegion) -> String {
    let last = region.start.saturating_add(region.len).saturating_sub(1);
    format!("bytes {} to {}", group_digits(region.start), group_digits(last))
}

/// Refuses a region that exceeds a target of `bytes` bytes or is not aligned to sectors.
pub fn check_region(region: TargetRegion, target: &str, bytes: u64, sector: u32) -> Result<()> {
    let (end, named) = (region.start.checked_add(region.len), format!("{}+{}", region.start, region.len));
    let why = if end.is_none_or(|end| end > bytes) {
        format!("reaches beyond the end, at {}", group_digits(bytes))
    } else if [region.start, region.len].iter().any(|place| !place.is_multiple_of(u64::from(sector))) {
        format!("is not aligned to sectors of {sector} bytes")
    } else {
        return Ok(());
    };
    Err(Failure::refused(format!("{target}: --region {named} {why}; nothing was written")))
}

fn overlapping_partitions(contents: &DeviceContents, region: TargetRegion) -> String {
    if contents.unreadable {
        return "the data there could not be read".to_owned();
    }
    let end = region.start.saturating_add(region.len);
    let overlapping = contents.partitions.iter();
    let overlapping = overlapping.filter(|p| p.start < end && region.start < p.start.saturating_add(p.bytes));
    let named = overlapping.map(|p| {
        let what = p.found.as_ref().map_or_else(|| "not recognised".to_owned(), ToString::to_string);
        let range = region_text(TargetRegion { start: p.start, len: p.bytes });
        format!("partition {} ({what}, {range})", p.number)
    });
    let reached: Vec<String> = named.collect();
    // The first sector holds the partition table.
    let table = if region.start < 512 { "the partition table and " } else { "" };
    match reached.len() {
        0 if table.is_empty() => "it contains no partition".to_owned(),
        0 => "it contains the partition table".to_owned(),
        _ => format!("it contains {table}{}", reached.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> ConsentQuestion {
        ConsentQuestion { target: "/dev/sdz".into(), at_stake: "/dev/sdz, a stick of 8 GB".into() }
    }

    #[test]
    fn consent_requires_the_exact_target_name() {
        assert!(obtain_consent(&mut GivenBeforehand(Some("/dev/sdz".into())), &question()).is_ok());
        for other in ["/dev/sdz ", "sdz", "yes", "", "/dev/sdy"] {
            let refusal = obtain_consent(&mut GivenBeforehand(Some(other.into())), &question());
            assert!(matches!(refusal, Err(Failure::Refused(_))), "{other:?}");
        }
        assert!(obtain_consent(&mut GivenBeforehand(None), &question()).is_err());
    }
}
