//! Consent to lose data: who asks, about what, and what counts as an answer.
//!
//! The answer is the target's name, typed back or given by `--yes-destroy`, equal to the name as it was typed. It
//! lifts no guard: a mounted or used device stays refused whatever is typed. Where only a region of the card may go, the
//! question says so.

use crate::error::{Failure, Result};
use cardscope_device::contents::DeviceContents;
use cardscope_engine::target::TargetRegion;
use cardscope_model::units::grouped;

/// What a destroying verb says before it asks.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsentQuestion {
    /// The target as the user named it; also the answer that counts.
    pub target: String,
    /// What stands to be lost: device, model, size, partitions and file systems.
    pub at_stake: String,
}

/// Where consent comes from.
pub trait ConsentSource {
    /// Asks; gives what was typed back, or `None` where nobody can be asked.
    fn ask(&mut self, question: &ConsentQuestion) -> Option<String>;

    /// True where something can be lost, so that the user is asked.
    fn loses_data(&self) -> bool {
        true
    }

    /// Says that the system is now asked for the device, and may in turn ask for a password.
    fn announce(&mut self, _text: &str) {}

    /// What stands to be lost, where a verb touches less than all of it; `contents` is what was found on the open target.
    fn narrowed(&self, at_stake: &str, _contents: &DeviceContents) -> String {
        at_stake.to_owned()
    }
}

/// Consent given beforehand (`--yes-destroy TARGET`), and nobody to ask.
#[derive(Debug, Clone, Default)]
pub struct GivenBeforehand(pub Option<String>);

impl ConsentSource for GivenBeforehand {
    fn ask(&mut self, _question: &ConsentQuestion) -> Option<String> {
        self.0.clone()
    }
}

/// Nothing is lost, so nobody needs to be asked: what is overwritten is saved first and put back. The guards hold all
/// the same.
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

/// The same, with the user told what the system is asked for.
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

/// Gets consent or refuses.
///
/// # Errors
/// If nobody answered, or the answer is not the target's name.
pub fn obtain(consent: &mut dyn ConsentSource, question: &ConsentQuestion) -> Result<()> {
    let name = &question.target;
    match consent.ask(question) {
        Some(answer) if answer == *name => Ok(()),
        Some(answer) => Err(Failure::refused(format!("{answer:?} is not {name:?}: nothing was written"))),
        None => Err(Failure::refused(format!(
            "this overwrites {}; agree with --yes-destroy {name}",
            question.at_stake
        ))),
    }
}

/// The user, asked about a region instead of the whole card where only that may go.
pub(crate) struct ScopedConsent<'a> {
    region: Option<TargetRegion>,
    user: &'a mut dyn ConsentSource,
}

impl<'a> ScopedConsent<'a> {
    /// With a region only that is at stake.
    pub(crate) fn to(region: Option<TargetRegion>, user: &'a mut dyn ConsentSource) -> Self {
        ScopedConsent { region, user }
    }
}

impl ConsentSource for ScopedConsent<'_> {
    fn ask(&mut self, question: &ConsentQuestion) -> Option<String> {
        self.user.ask(question)
    }

    fn announce(&mut self, text: &str) {
        self.user.announce(text);
    }

    fn narrowed(&self, at_stake: &str, contents: &DeviceContents) -> String {
        match self.region {
            None => at_stake.to_owned(),
            Some(region) => format!("{} of {at_stake}; {}", phrase(region), overlapped(contents, region)),
        }
    }
}

/// A region in words.
pub fn phrase(region: TargetRegion) -> String {
    format!(
        "bytes {} to {}",
        grouped(region.start),
        grouped(region.start.saturating_add(region.len).saturating_sub(1))
    )
}

/// Refuses a region of the user's that does not lie on a target of so many bytes, on whole sectors.
pub fn within(region: TargetRegion, target: &str, bytes: u64, sector: u32) -> Result<()> {
    let (end, named) = (region.start.checked_add(region.len), format!("{}+{}", region.start, region.len));
    let why = if end.is_none_or(|end| end > bytes) {
        format!("reaches beyond the end, at {}", grouped(bytes))
    } else if [region.start, region.len].iter().any(|place| !place.is_multiple_of(u64::from(sector))) {
        format!("is not aligned to sectors of {sector} bytes")
    } else {
        return Ok(());
    };
    Err(Failure::refused(format!("{target}: --region {named} {why}; nothing was written")))
}

/// The partitions that a region reaches into, in words.
fn overlapped(contents: &DeviceContents, region: TargetRegion) -> String {
    if contents.unreadable {
        return "the data there could not be read".to_owned();
    }
    let end = region.start.saturating_add(region.len);
    let reached: Vec<String> = contents
        .partitions
        .iter()
        .filter(|p| p.start < end && region.start < p.start.saturating_add(p.bytes))
        .map(|p| {
            let what = p.found.as_ref().map_or_else(|| "not recognised".to_owned(), ToString::to_string);
            format!(
                "partition {} ({what}, bytes {} to {})",
                p.number,
                grouped(p.start),
                grouped(p.start.saturating_add(p.bytes).saturating_sub(1))
            )
        })
        .collect();
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
    fn only_the_name_as_typed_is_consent() {
        assert!(obtain(&mut GivenBeforehand(Some("/dev/sdz".into())), &question()).is_ok());
        for other in ["/dev/sdz ", "sdz", "yes", "", "/dev/sdy"] {
            let refusal = obtain(&mut GivenBeforehand(Some(other.into())), &question());
            assert!(matches!(refusal, Err(Failure::Refused(_))), "{other:?}");
        }
        assert!(obtain(&mut GivenBeforehand(None), &question()).is_err());
    }
}
