//! Consent to lose data: who asks, and what counts as an answer.
//!
//! The answer is the target's name, typed back or given by `--yes-destroy`, equal to the name as it was typed. It
//! lifts no guard: a mounted or used device stays refused whatever is typed.

use crate::error::Failure;
use cardscope_device::contents::Contents;

/// What a destroying verb says before it asks.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The target as the user named it; also the answer that counts.
    pub target: String,
    /// What stands to be lost: device, model, size, partitions and file systems.
    pub at_stake: String,
}

/// Where consent comes from.
pub trait Consent {
    /// Asks; gives what was typed back, or `None` where nobody can be asked.
    fn ask(&mut self, question: &Question) -> Option<String>;

    /// What stands to be lost, where a verb touches less than all of it; `contents` is what was found on the open target.
    fn narrowed(&self, at_stake: &str, _contents: &Contents) -> String {
        at_stake.to_owned()
    }
}

/// Consent given beforehand (`--yes-destroy TARGET`), and nobody to ask.
#[derive(Debug, Clone, Default)]
pub struct Beforehand(pub Option<String>);

impl Consent for Beforehand {
    fn ask(&mut self, _question: &Question) -> Option<String> {
        self.0.clone()
    }
}

/// Nothing is lost, so nobody needs to be asked: what is overwritten is saved first and put back. The guards hold all
/// the same.
#[derive(Debug, Clone, Copy, Default)]
pub struct DataKept;

impl Consent for DataKept {
    fn ask(&mut self, question: &Question) -> Option<String> {
        Some(question.target.clone())
    }
}

/// Gets consent or refuses.
///
/// # Errors
/// If nobody answered, or the answer is not the target's name.
pub fn obtain(consent: &mut dyn Consent, question: &Question) -> Result<(), Failure> {
    let name = &question.target;
    match consent.ask(question) {
        Some(answer) if answer == *name => Ok(()),
        Some(answer) => Err(Failure::refused(format!(
            "{answer:?} is not {name:?}: nothing was written. Everything on {} would have been at stake",
            question.at_stake
        ))),
        None => Err(Failure::refused(format!(
            "this writes to {}, and nobody is there to agree; in scripts give --yes-destroy {name}",
            question.at_stake
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        Question { target: "/dev/sdz".into(), at_stake: "/dev/sdz, a stick of 8 GB".into() }
    }

    #[test]
    fn only_the_name_as_typed_is_consent() {
        assert!(obtain(&mut Beforehand(Some("/dev/sdz".into())), &question()).is_ok());
        for other in ["/dev/sdz ", "sdz", "yes", "", "/dev/sdy"] {
            let refusal = obtain(&mut Beforehand(Some(other.into())), &question());
            assert!(matches!(refusal, Err(Failure::Refused(_))), "{other:?}");
        }
        assert!(obtain(&mut Beforehand(None), &question()).is_err());
    }
}
