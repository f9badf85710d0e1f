use super::*;
use crate::naming::of_log;
use cardscope_model::log::Log;

fn met(shelf: &mut Shelf, facts: &CardFacts) -> String {
    let log = Log { card: facts.clone(), ..Log::new("test") };
    shelf.place(&of_log(&log, "file", "file")).card
}

fn ultra() -> CardFacts {
    CardFacts { brand: Some("SanDisk".into()), name: Some("Ultra 64GB".into()), ..CardFacts::default() }
}

fn model(facts: CardFacts, model: &str) -> CardFacts {
    CardFacts { model: Some(model.into()), ..facts }
}

#[test]
fn a_label_that_two_generations_share_is_neither_of_them() {
    let shelf = &mut Shelf::default();
    let [old, new] = ["SU64G", "SN64G"].map(|name| met(shelf, &model(ultra(), name)));
    let label = met(shelf, &ultra());
    assert!(old != new && label != old && label != new);
    // And what else says as little goes there, too.
    assert_eq!(met(shelf, &CardFacts { brand: Some("SANDISK".into()), ..ultra() }), label);
    assert_eq!(met(shelf, &model(ultra(), "SU64G")), old);
}

#[test]
fn registers_find_the_card_also_where_the_label_is_missing() {
    let shelf = &mut Shelf::default();
    let labelled = met(shelf, &model(ultra(), "SU64G"));
    let bare = model(CardFacts::default(), "SU64G");
    assert_eq!(met(shelf, &bare), labelled);
    let other_brand = CardFacts { brand: Some("Other".into()), ..bare.clone() };
    let other = met(shelf, &other_brand);
    assert_ne!(other, labelled);
    assert_eq!(met(shelf, &bare), labelled, "the same facts lead where they led before");
}

#[test]
fn what_one_sighting_lacks_another_completes_and_nothing_is_overwritten() {
    let shelf = &mut Shelf::default();
    let card = met(shelf, &ultra());
    met(shelf, &CardFacts { form: Some("microSDXC".into()), brand: Some("sandisk".into()), ..ultra() });
    let facts = &shelf.cards[&card].facts;
    assert_eq!((facts.brand.as_deref(), facts.form.as_deref()), (Some("SanDisk"), Some("microSDXC")));
}

#[test]
fn a_card_without_a_name_is_one_for_each_place_it_was_met_in() {
    let shelf = &mut Shelf::default();
    let nameless =
        |shelf: &mut Shelf, place: &str| shelf.place(&of_log(&Log::new("test"), place, place)).card;
    let first = nameless(shelf, "a.txt");
    assert_eq!(nameless(shelf, "a.txt"), first);
    assert_ne!(nameless(shelf, "b.txt"), first);
}
