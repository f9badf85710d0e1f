use super::schema::DEFAULT_SEED;
use super::*;

#[test]
fn built_in_cards_load_by_file_name() {
    for name in CARDS.names() {
        assert_eq!(Archetype::load(name).unwrap().name, name);
    }
    assert_eq!(load_builtin().unwrap().len(), CARDS.files.len());
}

#[test]
fn truth_in_files_matches_parameters() {
    for card in load_builtin().unwrap() {
        assert_eq!(card.truth, CardTruth::from_parameters(&card, DEFAULT_SEED), "{}", card.name);
    }
}

#[test]
fn unknown_keys_and_impossible_values_are_refused() {
    let refused = |name: &str, from: &str, to: &str, parts: &[&str]| {
        let card = CARDS.find_text(name).unwrap();
        assert!(card.contains(from), "{from}");
        let error = Archetype::from_toml("odd", &card.replace(from, to)).unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{to}: {error}");
    };
    refused("constant", "[constant]", "[constant]\nspeed = 3", &["odd", "speed"]);
    refused("lexar-16g-c10", "close_s", "clos_s", &["clos_s"]);
    for (from, to, part) in [
        ("announced_bytes = 1000865792000", "announced_bytes = 1000865792001", "announced_bytes"),
        ("announced_bytes = 1000865792000", "announced_bytes = 16000000000000000", "128 TiB"),
        ("tmt1_c = 81.0 ", "tmt1_c = 99.0 ", "tmt1_c"),
        ("\ndepth = 32", "\ndepth = 0", "queue.depth"),
        ("au_bytes = 33554432", "au_bytes = 33554944", "au_bytes"),
        ("mb_s = 784.3", "mb_s = 0.0", "read.mb_s"),
        ("reopen_bytes = 76100000000", "reopen_bytes = 761000000000", "reopen_bytes"),
        ("base_s = 0.0001848", "base_s = -1.0", "read.base_s"),
    ] {
        refused("lexar-1tb-express", from, to, &[part]);
    }
}

#[test]
fn each_card_has_a_description() {
    for card in load_builtin().unwrap() {
        let text = describe_card(&card).join("\n\n");
        assert!(text.contains("Announces"), "{text}");
    }
    let fake = describe_card(&Archetype::load("sandian-1tb-52g").unwrap()).join("\n\n");
    assert!(fake.contains("Fake: holds 52 GB"), "{fake}");
    let hybrid = describe_card(&Archetype::load("lexar-16g-c10").unwrap()).join("\n\n");
    assert!(hybrid.contains("5 blocks may be open in order"), "{hybrid}");
}
