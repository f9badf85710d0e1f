//! `fit`: capacities in docs/reference/reports.md#sd-card-round-up, images with holes and partitions, and invalid
//! images.

use crate::common::binary::Home;
use crate::common::machine::{MIB, run_tool};
use serde_json::Value;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Largest and smallest of the 32 GB cards in docs/reference/reports.md#sd-card-round-up.
const PATRIOT: &str = "32107397120";
const SAMSUNG: &str = "31393316864";

fn card<'a>(document: &'a Value, name: &str) -> &'a Value {
    let cards = document["cards"].as_array().unwrap();
    cards
        .iter()
        .find(|c| c["card"].as_str().unwrap().contains(name))
        .unwrap_or_else(|| panic!("{document:#}"))
}

#[test]
fn patriot_image_does_not_fit_a_samsung_card() {
    let home = Home::new();
    let document = home.run(&["fit", PATRIOT, "--card", "32 GB", "--json"]).expect(1).json();
    assert_eq!(document["asked_bytes"].to_string(), PATRIOT);
    assert_eq!(card(&document, "Patriot")["spare_bytes"], 0);
    let samsung = card(&document, "Samsung class 10");
    assert_eq!((&samsung["fits"], samsung["bytes"].to_string()), (&Value::from(false), SAMSUNG.to_owned()));
    // "a difference of 681 MiB"
    assert_eq!(samsung["spare_bytes"].as_i64().unwrap() / (1 << 20), -681);
}

#[test]
fn safe_partition_fits_all_cards_of_a_capacity() {
    let home = Home::new();
    for name in ["4 GB", "8 GB", "16GB", "32 gb", "64 GB", "128 GB"] {
        let document = home.run(&["fit", "--card", name, "--json"]).expect(0).json();
        let safe = document["nominal"][0]["safe_partition_bytes"].as_u64().unwrap();
        assert_eq!(safe % (4 * MIB), 0);
        let again = home.run(&["fit", &safe.to_string(), "--card", name, "--json"]).expect(0).json();
        assert!(again["cards"].as_array().unwrap().iter().all(|c| c["fits"] == true), "{name}");
    }
    home.run(&["fit", "--card", "33 GB"]).expect(2).says(&["no card has that capacity"]);
}

#[test]
fn single_card_is_compared_with_its_label() {
    let home = Home::new();
    let told = home.run(&["fit", "sim:samsung-32g-c10"]).expect(0);
    assert!(told.stdout.starts_with("sim:samsung-32g-c10 announces 31.4 GB.\n"), "{told}");
    assert!(told.one_line().contains("less than its label (32 GB), which is normal"), "{told}");
}

#[test]
fn used_part_of_an_image_is_exact() {
    let home = Home::new();
    let path = home.path("card.img");
    let image = File::create(&path).unwrap();
    image.set_len(40_000_000_000).unwrap();
    image.write_all_at(b"x", 5_000_000_000).unwrap();
    let document = home.run(&["fit", path.to_str().unwrap(), "--card", "32GB", "--json"]).expect(1).json();
    assert_eq!(document["in_use_bytes"], 5_000_000_001u64);
    assert_eq!(card(&document, "Patriot")["fits_if_cut"], true);
}

#[test]
fn card_is_compared_with_label_and_image() {
    let home = Home::new();
    let path = home.path("card.img");
    // docs/reference/reports.md#sd-card-round-up: Kingston's 128 GB card has 125,342,580,736 bytes.
    File::create(&path).unwrap().set_len(125_342_580_736).unwrap();
    let card = path.to_str().unwrap();
    let document = home.run(&["fit", "--target", card, "--json"]).expect(0).json();
    assert_eq!(
        (&document["print"]["nominal"], &document["print"]["usual"]),
        (&"128 GB".into(), &true.into())
    );
    assert_eq!(document["print"]["lacks_bytes"], 2_657_419_264u64);
    home.run(&["fit", "125342580736", card]).expect(0);
    home.run(&["fit", "125342580737", card]).expect(1);
}

#[test]
fn invalid_images_are_refused_with_advice() {
    let home = Home::new();
    let path = home.path("card.img");
    std::fs::write(&path, vec![7u8; 100_000]).unwrap();
    run_tool("gzip", &[path.to_str().unwrap()]);
    let packed = format!("{}.gz", path.display());
    home.run(&["fit", &packed]).expect(2).says(&["packed", "gzip"]);
    home.run(&["fit", "no-such-file"]).expect(2).says(&["is not a file"]);
    home.run(&["fit", "1G", "/dev/no-such-card"]).expect(2);
}

#[test]
fn simulated_cards_are_not_used_as_capacities() {
    let home = Home::new();
    let recipe = home.recipe("", "[defaults]\npasses = 1\n[[test]]\ntest = \"SEQ1M Q1T1 read\"\n");
    home.run(&["bench", "sim:lexar-16g-c10", "--recipe", &recipe, "-q"]).expect(0);
    let document = home.run(&["fit", "1G", "--json"]).expect(0).json();
    assert!(document["cards"].as_array().unwrap().iter().all(|c| c["source"] != "the archive"));
}
