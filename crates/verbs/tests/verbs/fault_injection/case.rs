//! Card and command of a schedule.

use super::cards::{KINDS, NAME, TestCardKind};
use super::commands::{COMMANDS, DataPromise};
use super::random::SeededDraw;
use super::workspace::FaultWorkspace;
use cardscope_model::random::mix_bits;
use std::path::PathBuf;

/// Card with the command to run on it.
#[derive(Debug, Clone)]
pub(super) struct ScheduleCase {
    pub(super) kind: TestCardKind,
    /// True if the card has an identity.
    pub(super) identifies_itself: bool,
    pub(super) words: Vec<String>,
    pub(super) promise: DataPromise,
    pub(super) image: PathBuf,
    /// Index among all combinations.
    pub(super) number: usize,
}

impl ScheduleCase {
    pub(super) fn draw(draw: &mut SeededDraw, desk: &FaultWorkspace) -> ScheduleCase {
        let (kind, command) = (draw.below(KINDS.len() as u64), draw.below(COMMANDS.len() as u64));
        ScheduleCase::from_numbers(kind as usize, command as usize, desk)
    }

    pub(super) fn from_numbers(kind: usize, command: usize, desk: &FaultWorkspace) -> ScheduleCase {
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
            [NAME.to_owned(), format!("--seed={}", mix_bits(number as u64) >> 11), "--archive".to_owned()];
        words.splice(1..1, common.into_iter().chain([archive.display().to_string()]));
        ScheduleCase {
            kind: KINDS[kind],
            identifies_itself: number.is_multiple_of(2),
            words,
            promise: says,
            image,
            number,
        }
    }

    /// Seed of the card's content.
    pub(super) fn content_seed(&self) -> u64 {
        mix_bits(self.kind.name.len() as u64)
    }
}
