//! What a schedule is about, beside its fault: a card and a command.

use super::cards::{KINDS, NAME, TestCardKind};
use super::commands::{COMMANDS, DataPromise};
use super::desk::FaultWorkspace;
use super::draw::SeededDraw;
use cardscope_model::random::mix;
use std::path::PathBuf;

/// A card and what is done with it.
#[derive(Debug, Clone)]
pub(super) struct ScheduleCase {
    pub(super) kind: TestCardKind,
    /// Whether the card says which piece it is.
    pub(super) speaks: bool,
    pub(super) words: Vec<String>,
    pub(super) says: DataPromise,
    pub(super) image: PathBuf,
    /// Its name among all.
    pub(super) number: usize,
}

impl ScheduleCase {
    pub(super) fn drawn(draw: &mut SeededDraw, desk: &FaultWorkspace) -> ScheduleCase {
        let (kind, command) = (draw.below(KINDS.len() as u64), draw.below(COMMANDS.len() as u64));
        ScheduleCase::of(kind as usize, command as usize, desk)
    }

    pub(super) fn of(kind: usize, command: usize, desk: &FaultWorkspace) -> ScheduleCase {
        let (line, says) = COMMANDS[command];
        let number = command * KINDS.len() + kind;
        let (image, archive) = (desk.disks.archive.join("image"), desk.archive());
        let word = |word: &str| match word {
            "IMAGE" => image.display().to_string(),
            "RECIPE" => desk.recipe().display().to_string(),
            word => word.replace('_', " "),
        };
        let mut words: Vec<String> = line.split(' ').map(word).collect();
        let common =
            [NAME.to_owned(), format!("--seed={}", mix(number as u64) >> 11), "--archive".to_owned()];
        words.splice(1..1, common.into_iter().chain([archive.display().to_string()]));
        ScheduleCase { kind: KINDS[kind], speaks: number.is_multiple_of(2), words, says, image, number }
    }

    /// The seed of what stands on the card.
    pub(super) fn content(&self) -> u64 {
        mix(self.kind.name.len() as u64)
    }
}
