//! Details of cards other than speeds, from their identities, logs of other tools, maps and long runs. Shared by `compare`
//! and `report`.

use cardscope_model::card_details::CardDetails;
use cardscope_model::card_map::FlashGeometry;
use cardscope_statistics::flashbench::geometry_in_log;
use cardscope_store::CardStatement;
use serde::Deserialize;
use serde_json::Value;

/// Details from sessions, oldest first; later values win.
pub fn details_from_sessions(words: &[CardStatement]) -> CardDetails {
    let mut details = CardDetails::default();
    for word in words {
        details.add_identity_json(&word.identity);
        details.add_note_temperatures(&word.condition);
        let (idle_c, peak_c) = word.temperatures;
        details.add_temperatures(&word.condition, idle_c, peak_c);
        let Some(document) = &word.document else { continue };
        match word.kind.as_str() {
            "import" => add_log_details(&mut details, &document["other"]),
            "map" => add_map_geometry(&mut details, document),
            "check" => add_map_geometry(&mut details, &document["map"]),
            _ => {}
        }
    }
    details
}

/// Adds the details in a log.
pub(crate) fn add_log_details(details: &mut CardDetails, other: &Value) {
    details.add_identity_json(other);
    geometry_in_log(other).into_iter().for_each(|found| details.add_geometry(found));
}

fn add_map_geometry(details: &mut CardDetails, map: &Value) {
    FlashGeometry::deserialize(map).into_iter().for_each(|found| details.add_geometry(found));
}
