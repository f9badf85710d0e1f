//! The cards of the archive, with the capacity that each announced. Simulated ones are left out: they are made up.

use crate::archive::open_existing;
use crate::error::Failure;
use cardscope_model::capacity::fit::CardSize;
use cardscope_model::session_file::CardUnit;
use cardscope_simulator::target_spec;
use std::collections::BTreeMap;
use std::path::Path;

/// Each card once.
pub(super) fn cards(path: Option<&Path>) -> Result<Vec<CardSize>, Failure> {
    let Some(mut archive) = open_existing(path)? else { return Ok(Vec::new()) };
    let mut found = BTreeMap::new();
    for summary in archive.sessions()?.into_iter().chain(archive.records()?) {
        let session = archive.session(summary.id)?.file;
        take(&mut found, &session.target, session.specimen);
    }
    Ok(found.into_values().collect())
}

fn take(found: &mut BTreeMap<String, CardSize>, target: &str, unit: Option<CardUnit>) {
    let Some(CardUnit { id, maker, model, capacity_bytes: Some(bytes), .. }) = unit else { return };
    if target.starts_with(target_spec::PREFIX) {
        return;
    }
    let card = [maker, Some(model)].into_iter().flatten().collect::<Vec<_>>().join(" ");
    found.entry(id).or_insert(CardSize { card, bytes, source: "the archive".to_owned() });
}
