use super::*;
use crate::naming::sighting_of_log;
use cardscope_model::log::CardLog;

fn met(resolver: &mut CardResolver, facts: &CardFacts) -> String {
    let log = CardLog { card: facts.clone(), ..CardLog::new("test") };
    resolver.resolve(&sighting_of_log(&log, "file", "file")).card
}

fn ultra() -> CardFacts {
    CardFacts { brand: Some("SanDisk".into()), name: Some("Ultra 64GB".into()), ..CardFacts::default() }
}

fn model(facts: CardFacts, model: &str) -> CardFacts {
    CardFacts { model: Some(model.into()), ..facts }
}

#[test]
fn ambiguous_label_matches_no_generation() {
    let resolver = &mut CardResolver::default();
    let [old, new] = ["SU64G", "SN64G"].map(|name| met(resolver, &model(ultra(), name)));
    let label = met(resolver, &ultra());
    assert!(old != new && label != old && label != new);
    // And what else says as little goes there, too.
    assert_eq!(met(resolver, &CardFacts { brand: Some("SANDISK".into()), ..ultra() }), label);
    assert_eq!(met(resolver, &model(ultra(), "SU64G")), old);
}

#[test]
fn registers_match_without_label() {
    let resolver = &mut CardResolver::default();
    let labelled = met(resolver, &model(ultra(), "SU64G"));
    let bare = model(CardFacts::default(), "SU64G");
    assert_eq!(met(resolver, &bare), labelled);
    let other_brand = CardFacts { brand: Some("Other".into()), ..bare.clone() };
    let other = met(resolver, &other_brand);
    assert_ne!(other, labelled);
    assert_eq!(met(resolver, &bare), labelled, "the same facts lead where they led before");
}

#[test]
fn sightings_complete_facts_without_overwriting() {
    let resolver = &mut CardResolver::default();
    let card = met(resolver, &ultra());
    met(resolver, &CardFacts { form: Some("microSDXC".into()), brand: Some("sandisk".into()), ..ultra() });
    let facts = &resolver.cards[&card].facts;
    assert_eq!((facts.brand.as_deref(), facts.form.as_deref()), (Some("SanDisk"), Some("microSDXC")));
}

#[test]
fn unnamed_card_is_separate_for_each_place() {
    let resolver = &mut CardResolver::default();
    let nameless = |resolver: &mut CardResolver, place: &str| {
        resolver.resolve(&sighting_of_log(&CardLog::new("test"), place, place)).card
    };
    let first = nameless(resolver, "a.txt");
    assert_eq!(nameless(resolver, "a.txt"), first);
    assert_ne!(nameless(resolver, "b.txt"), first);
}
