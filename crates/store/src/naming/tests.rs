use super::*;

fn card(brand: &str, name: &str, size: &str) -> CardFacts {
    CardFacts {
        brand: Some(brand.into()),
        name: Some(name.into()),
        capacity_label: Some(size.into()),
        ..CardFacts::default()
    }
}

fn label_of(facts: &CardFacts) -> String {
    CardNames::from_facts(facts).unwrap().label.unwrap()
}

#[test]
fn label_matches_despite_case_and_blanks() {
    let printed = label_of(&card("SanDisk", "Ultra", "64GB"));
    assert_eq!(label_of(&card("SANDISK", " ultra", "64 GB")), printed);
    assert_eq!(label_of(&card("SanDisk", "SanDisk Ultra 64GB", "64GB")), printed);
    assert_ne!(label_of(&card("SanDisk", "Ultra", "128GB")), printed);
    assert_ne!(label_of(&card("SanDisk", "Ultra+", "64GB")), printed);
}

#[test]
fn card_with_size_only_has_no_name() {
    let facts = CardFacts { capacity_bytes: Some(64_000_000_000), ..CardFacts::default() };
    assert_eq!(CardNames::from_facts(&facts), None);
    assert!(!is_named(&facts));
    assert_eq!(sighting_of_unit(None, "", "speed.txt").title, "unnamed card of speed.txt");
}

#[test]
fn contradicting_facts_separate_generations() {
    let old = CardFacts { model: Some("SU64G".into()), ..card("SanDisk", "Ultra", "64GB") };
    let new = CardFacts { model: Some("SN64G".into()), ..old.clone() };
    assert!(labels_conflict(&old, &new) && !labels_conflict(&old, &old));
    assert!(!labels_conflict(&old, &card("SanDisk", "Ultra", "64GB")), "it says nothing else");
    let [early, late] =
        ["RO157S2P", "RO160"].map(|firmware| CardFacts { firmware: Some(firmware.into()), ..old.clone() });
    assert!(labels_conflict(&early, &late) && registers_conflict(&early, &late));
}

#[test]
fn same_registers_under_two_brands_are_two_cards() {
    let registers = CardFacts { model: Some("USD".into()), ..CardFacts::default() };
    let [ours, theirs] =
        ["Gigastone", "Lexar"].map(|b| CardFacts { brand: Some(b.into()), ..registers.clone() });
    assert!(registers_conflict(&ours, &theirs));
    assert!(!registers_conflict(&ours, &registers));
}

#[test]
fn cid_in_log_gives_same_unit_as_slot() {
    // A CID of our own: maker 0x27, "OWN32", serial 0x00c0ffee.
    let cid = "2750484f574e333210 00c0ffee 015a00".replace(' ', "");
    let mut log = CardLog::new("sysfs");
    log.card.cid = Some(cid.clone());
    log.card.capacity_bytes = Some(31_000_000_512);
    let met = sighting_of_log(&log, "", "");
    let here =
        from_hex(HexRegisters { cid: Some(&cid), ..HexRegisters::default() }).unwrap().unit_name().unwrap();
    let unit = met.unit.unwrap();
    assert_eq!(unit.id, unit_id(&here.unique));
    assert_eq!((unit.model.as_str(), unit.capacity_bytes), ("OWN32", Some(31_000_000_512)));
    assert_eq!(met.facts.model.as_deref(), Some("OWN32"));
}

#[test]
fn unreadable_registers_give_no_unit() {
    let mut log = CardLog::new("sysfs");
    log.card.cid = Some("not hex".into());
    assert!(sighting_of_log(&log, "", "").unit.is_none());
    log.card.cid = None;
    log.other.insert("nvme".into(), serde_json::json!([1, 2]));
    assert!(sighting_of_log(&log, "", "").unit.is_none());
}

#[test]
fn simulated_cards_differ_from_real_and_from_each_other() {
    let real = CardFacts { model: Some("00000".into()), ..CardFacts::default() };
    let simulated = |name: &str| CardFacts { name: Some(name.into()), ..real.clone() };
    let (evo, pro) = (simulated("sim:evo-16g"), simulated("sim:pro-16g"));
    assert!(registers_conflict(&real, &evo) && registers_conflict(&evo, &pro));
    assert!(!registers_conflict(&evo, &evo.clone()));
    // Two names that people typed may well mean one card.
    assert!(!registers_conflict(&simulated("Ultra"), &simulated("Ultra A1")));
}

#[test]
fn marks_and_date_from_registers_become_facts() {
    let facts = CardFacts { marks: vec!["U3".into()], made: Some("2019-03".into()), ..CardFacts::default() };
    let unit = CardUnit { id: "a".into(), model: "GC2QT".into(), facts, ..CardUnit::default() };
    let found = sighting_of_unit(Some(&unit), "", "/dev/sdb");
    assert_eq!((found.facts.marks, found.facts.made), (vec!["U3".to_owned()], Some("2019-03".to_owned())));
}
