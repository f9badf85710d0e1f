//! A part of a card that may go: whether a region of the user's lies on it, and what the question for consent says of
//! it instead of the whole card.

use crate::consent::{Consent, Question};
use cardscope_device::contents::Contents;
use cardscope_engine::target::Region;
use cardscope_model::units::grouped;

/// The user, asked about a region instead of the whole card where only that may go.
pub(crate) struct Narrowed<'a> {
    region: Option<Region>,
    user: &'a mut dyn Consent,
}

impl<'a> Narrowed<'a> {
    /// With a region only that is at stake.
    pub(crate) fn to(region: Option<Region>, user: &'a mut dyn Consent) -> Self {
        Narrowed { region, user }
    }
}

impl Consent for Narrowed<'_> {
    fn ask(&mut self, question: &Question) -> Option<String> {
        self.user.ask(question)
    }

    fn narrowed(&self, at_stake: &str, contents: &Contents) -> String {
        match self.region {
            None => at_stake.to_owned(),
            Some(region) => format!("{} of {at_stake}; {}", phrase(region), overlapped(contents, region)),
        }
    }
}

/// A region in words.
pub(crate) fn phrase(region: Region) -> String {
    format!(
        "bytes {} to {}",
        grouped(region.start),
        grouped(region.start.saturating_add(region.len).saturating_sub(1))
    )
}

/// Whether a region of the user's lies on a card, on whole sectors.
///
/// # Errors
/// Why not.
pub(crate) fn within(region: Region, bytes: u64, sector: u32) -> Result<(), String> {
    let sector = u64::from(sector);
    let end = region.start.checked_add(region.len);
    if end.is_none_or(|end| end > bytes) {
        return Err(format!("--region {} reaches beyond the end, at {}", phrase_of(region), grouped(bytes)));
    }
    if !region.start.is_multiple_of(sector) || !region.len.is_multiple_of(sector) {
        return Err(format!(
            "--region {} does not begin and end on sectors of {sector} bytes",
            phrase_of(region)
        ));
    }
    Ok(())
}

fn phrase_of(region: Region) -> String {
    format!("{}+{}", region.start, region.len)
}

/// The partitions that a region reaches into, in words.
fn overlapped(contents: &Contents, region: Region) -> String {
    if contents.unreadable {
        return "what stands there could not be looked at".to_owned();
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
        0 if table.is_empty() => "no partition reaches into it".to_owned(),
        0 => "the partition table lies in it".to_owned(),
        _ => format!("in it lie {table}{}", reached.join(", ")),
    }
}
