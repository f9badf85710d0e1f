//! Identification of cards by registers and names; editing, merging and finding cards.

use crate::engines::on_both;
use crate::logs::{card, card_of, import, log};
use crate::sessions;
use cardscope_model::card::{CardEvent, CardFacts, CardPrice, EventKind};
use cardscope_model::session_file::AttachedTo;
use cardscope_model::session_file::CardUnit;
use cardscope_store::{Archive, ArchiveError, AttachmentOwner, NewAttachment, unit_id};

/// Made-up CID: maker 0x27, "OWN32", serial 0x00c0ffee.
const CID: &str = "2750484f574e33321000c0ffee015a00";

fn with(facts: &CardFacts, model: &str, bytes: u64) -> CardFacts {
    CardFacts { model: Some(model.into()), capacity_bytes: Some(bytes), ..facts.clone() }
}

fn bought(date: &str, amount: f64) -> CardEvent {
    let price = Some(CardPrice { amount, currency: "EUR".into() });
    CardEvent { date: Some(date.into()), kind: EventKind::Bought, price, note: None, source: None }
}

#[test]
fn equal_names_are_one_card_despite_spelling() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        import(&mut archive, "a", &log(card("SanDisk", "Ultra", "64GB"), &[80.0]));
        import(&mut archive, "b", &log(card("SANDISK", "ultra", "64 GB"), &[81.0]));
        import(&mut archive, "c", &log(card("SanDisk", "Ultra", "128GB"), &[82.0]));
        let cards = archive.cards().unwrap();
        let lines: Vec<_> = cards.iter().map(|c| (c.title.as_str(), c.sessions, c.runs)).collect();
        assert_eq!(lines, [("SanDisk Ultra 128GB", 1, 1), ("SanDisk Ultra 64GB", 2, 2)]);
        assert_eq!(cards[1].measured.as_ref().map(|days| days[0].as_str()), Some("2024-05-17"));
    });
}

#[test]
fn generations_of_one_name_are_separate_cards() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let name = card("SanDisk", "Ultra", "64GB");
        let general = import(&mut archive, "label only", &log(name.clone(), &[80.0]))[0];
        let old = import(&mut archive, "old", &log(with(&name, "SU64G", 63_864_569_856), &[70.0]))[0];
        let new = import(&mut archive, "new", &log(with(&name, "SN64G", 63_864_569_856), &[90.0]))[0];
        let small = import(&mut archive, "small", &log(with(&name, "SN64G", 62_000_000_000), &[91.0]))[0];
        let ids = [general, old, new, small].map(|session| card_of(&mut archive, session));
        assert_eq!(ids[0], ids[1], "what names no generation is the only one known");
        assert!(ids[1] != ids[2] && ids[2] != ids[3] && ids[1] != ids[3], "{ids:?}");
        let again = import(&mut archive, "label again", &log(name.clone(), &[85.0]))[0];
        assert_eq!(card_of(&mut archive, again), ids[0], "the same facts lead where they led before");
    });
}

#[test]
fn log_with_known_cid_belongs_to_measured_card() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let mut start = sessions::start();
        let identity = cardscope_model::identity::HexRegisters { cid: Some(CID), ..Default::default() };
        let piece = cardscope_model::identity::from_hex(identity).unwrap().unit_name().unwrap();
        start.specimen = Some(CardUnit {
            id: unit_id(&piece.unique),
            maker: piece.maker,
            model: piece.model,
            capacity_bytes: Some(31_000_000_512),
            serial: piece.serial,
            ..CardUnit::default()
        });
        let here = archive.begin_session(&start).unwrap();
        let mut log = log(card("Own", "Brand", "32GB"), &[40.0]);
        log.card.cid = Some(CID.into());
        let there = import(&mut archive, "elsewhere.log", &log)[0];
        let id = card_of(&mut archive, here);
        assert_eq!(card_of(&mut archive, there), id);
        let cards = archive.cards().unwrap();
        assert_eq!((cards[0].units, cards[0].sessions, cards[0].title.as_str()), (1, 2, "Own Brand 32GB"));
        assert_eq!(
            (cards[0].facts.serial.as_ref(), cards[0].facts.cid.as_ref()),
            (None, None),
            "a model has none"
        );
        let pieces = archive.units(&id).unwrap();
        assert_eq!((pieces.len(), pieces[0].facts.cid.as_deref()), (1, Some(CID)));
        let measured = archive.measurements(&[id]).unwrap();
        assert_eq!(measured[0].unit.as_ref(), Some(&pieces[0].id));
    });
}

#[test]
fn unidentified_cards_do_not_share_figures() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let start = cardscope_model::session_file::SessionFile { specimen: None, ..sessions::start() };
        let ids = [(); 2].map(|()| archive.begin_session(&start).unwrap()).map(|s| card_of(&mut archive, s));
        assert_ne!(ids[0], ids[1]);
        assert_eq!(archive.cards().unwrap()[0].title, "unnamed card of /dev/mmcblk0");
    });
}

#[test]
fn merged_cards_stay_merged_for_later_logs() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let [a, b] = [("first", card("Lexar", "Play", "1TB")), ("second", card("Lexar", "PLAY PRO", "1TB"))]
            .map(|(name, facts)| import(&mut archive, name, &log(facts, &[500.0]))[0])
            .map(|session| card_of(&mut archive, session));
        archive.add_event(&a, None, &bought("2023", 99.5)).unwrap();
        archive.merge_cards(&a, &b).unwrap();
        let more = import(&mut archive, "third", &log(card("lexar", "play", "1TB"), &[510.0]))[0];
        assert_eq!(card_of(&mut archive, more), b);
        let cards = archive.cards().unwrap();
        assert_eq!((cards.len(), cards[0].sessions, cards[0].title.as_str()), (1, 3, "Lexar PLAY PRO 1TB"));
        assert_eq!(archive.events(&b).unwrap().len(), 1);
        assert_eq!(archive.summaries(|_| true).unwrap().iter().map(|row| row.n).max(), Some(3));
        let missing = archive.merge_cards(&a, &b).unwrap_err();
        assert_eq!(missing, ArchiveError::NoSuchCard(a));
        archive.merge_cards(&b, &b).unwrap();
    });
}

#[test]
fn edited_card_matches_logs_of_its_new_name() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let session = import(&mut archive, "speed.txt", &log(CardFacts::default(), &[20.0]))[0];
        let id = card_of(&mut archive, session);
        let facts = CardFacts {
            marks: vec!["A2".into(), "V30".into()],
            serial: Some("7".into()),
            ..card("Kingston", "Canvas", "32GB")
        };
        archive.edit_card(&id, |known| known.clone_from(&facts), &[], &[]).unwrap();
        let more = import(&mut archive, "more.txt", &log(card("Kingston", "canvas", "32 GB"), &[21.0]))[0];
        assert_eq!(card_of(&mut archive, more), id);
        for (text, found) in [
            ("kingston a2", 1),
            ("CANVAS 32gb v30", 1),
            ("kingston a1", 0),
            (&id[..6], 1),
            (&id[..5], 0),
            ("", 0),
        ] {
            assert_eq!(archive.find_cards(text).unwrap().len(), found, "{text}");
        }
        assert_eq!(archive.find_cards(&id).unwrap()[0].facts.serial, None);
        let missing = archive.edit_card("none", |_| (), &[], &[]);
        assert!(matches!(missing, Err(ArchiveError::NoSuchCard { .. })));
    });
}

#[test]
fn price_is_the_last_one_paid() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let mut log = log(card("SanDisk", "Ultra", "16GB"), &[20.0]);
        log.events = vec![bought("2016-05", 6.81), bought("2014", 11.0)];
        let session = import(&mut archive, "list.txt", &log)[0];
        let id = card_of(&mut archive, session);
        let failed = CardEvent { kind: EventKind::Failed, ..bought("2019-02-03", f64::NAN) };
        archive.add_event(&id, None, &failed).unwrap();
        archive.add_event(&id, None, &failed).unwrap();
        assert_eq!(
            archive.cards().unwrap()[0].price,
            Some(CardPrice { amount: 6.81, currency: "EUR".into() })
        );
        let events = archive.events(&id).unwrap();
        let dates: Vec<_> = events.iter().map(|(_, e)| e.date.clone().unwrap()).collect();
        assert_eq!(dates, ["2014", "2016-05", "2019-02-03"], "noted once each, oldest first");
        assert_eq!(events[2].1.price, None);
        assert!(matches!(archive.add_event("none", None, &failed), Err(ArchiveError::NoSuchCard { .. })));
        assert!(archive.add_event(&id, Some("none"), &failed).is_err());
    });
}

#[test]
fn attachment_is_stored_once_and_round_trips() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let session = archive.begin_session(&sessions::start()).unwrap();
        let id = card_of(&mut archive, session);
        let piece = archive.units(&id).unwrap()[0].id.clone();
        let bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
        let receipt = NewAttachment {
            name: "receipt.jpg",
            media_type: "image/jpeg",
            note: Some("two pages"),
            bytes: &bytes,
        };
        for owner in [
            AttachmentOwner::Card(&id),
            AttachmentOwner::Card(&id),
            AttachmentOwner::Unit(&piece),
            AttachmentOwner::Session(session),
        ] {
            archive.attach(owner, &receipt).unwrap();
        }
        let hanging = archive.attachments(&id).unwrap();
        let on: Vec<_> = hanging.iter().map(|a| a.owner).collect();
        assert_eq!(on, [AttachedTo::Card, AttachedTo::Specimen, AttachedTo::Session]);
        assert_eq!((hanging[0].bytes, hanging[0].file.note.as_deref()), (70_000, Some("two pages")));
        assert_eq!(archive.attachment(&hanging[0].file.hash).unwrap(), bytes);
        assert!(matches!(
            archive.attach(AttachmentOwner::Card("none"), &receipt),
            Err(ArchiveError::NoSuchCard { .. })
        ));
        assert!(matches!(archive.attachment("none"), Err(ArchiveError::NoSuchFile { .. })));
    });
}

#[test]
fn removed_session_can_be_imported_again() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let named = log(card("SanDisk", "Ultra", "16GB"), &[20.0]);
        let first = import(&mut archive, "a.log", &named)[0];
        let nameless = import(&mut archive, "b.log", &log(CardFacts::default(), &[9.0]))[0];
        for session in [first, nameless] {
            archive.remove_session(session).unwrap();
            assert!(matches!(archive.remove_session(session), Err(ArchiveError::NoSuchSession { .. })));
        }
        assert!(archive.sources().unwrap().is_empty() && archive.summaries(|_| true).unwrap().is_empty());
        let cards = archive.cards().unwrap();
        assert_eq!((cards.len(), cards[0].sessions, cards[0].runs), (1, 0, 0), "a card with a name stays");
        import(&mut archive, "a.log", &named);
        assert_eq!(archive.cards().unwrap()[0].runs, 1);
    });
}

#[test]
fn concurrent_card_edits_are_both_kept() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let session = import(&mut archive, "a.log", &log(card("Acme", "Swift", "64GB"), &[20.0]))[0];
        let id = card_of(&mut archive, session);
        let edit = |n: u32| {
            let mut archive = Archive::open(place).unwrap();
            let note = |facts: &mut CardFacts| {
                let before = facts.note.clone().unwrap_or_default();
                std::thread::sleep(std::time::Duration::from_millis(50));
                facts.note = Some(format!("{before}{n}"));
            };
            archive.edit_card(&id, note, &[], &[]).unwrap();
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|n| {
                scope.spawn(move || edit(n));
            });
        });
        let note = archive.find_cards(&id).unwrap()[0].facts.note.clone().unwrap();
        assert!((0..4).all(|n| note.contains(&n.to_string())), "{note}");
    });
}

#[test]
fn card_edit_stores_facts_events_and_files_together() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let session = import(&mut archive, "a.log", &log(card("Acme", "Swift", "64GB"), &[20.0]))[0];
        let id = card_of(&mut archive, session);
        let receipt =
            NewAttachment { name: "receipt", media_type: "text/plain", note: None, bytes: b"12 EUR" };
        archive
            .edit_card(&id, |facts| facts.note = Some("blue".into()), &[bought("2024", 12.0)], &[receipt])
            .unwrap();
        let edited = archive.find_cards(&id).unwrap().remove(0);
        assert_eq!((edited.facts.note.as_deref(), edited.price.is_some()), (Some("blue"), true));
        assert_eq!(archive.attachments(&id).unwrap().len(), 1);
    });
}

#[test]
fn unnamed_card_keeps_title_after_edit_and_merge() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let ids = ["first.txt", "second.txt"].map(|name| {
            let session = import(&mut archive, name, &log(CardFacts::default(), &[20.0]))[0];
            card_of(&mut archive, session)
        });
        archive.edit_card(&ids[0], |facts| facts.note = Some("blue".into()), &[], &[]).unwrap();
        let title = |archive: &mut Archive| archive.find_cards(&ids[0]).unwrap().remove(0).title;
        assert_eq!(title(&mut archive), "unnamed card of first.txt");
        archive.merge_cards(&ids[1], &ids[0]).unwrap();
        assert_eq!(title(&mut archive), "unnamed card of first.txt");
    });
}

#[test]
fn merged_cards_store_equal_events_once() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let ids = ["Swift", "Swft"].map(|name| {
            let session = import(&mut archive, name, &log(card("Acme", name, "64GB"), &[20.0]))[0];
            card_of(&mut archive, session)
        });
        let [into, from] = &ids;
        archive.add_event(into, None, &bought("2024", 12.0)).unwrap();
        for date in ["2024", "2025"] {
            archive.add_event(from, None, &bought(date, 12.0)).unwrap();
        }
        archive.merge_cards(from, into).unwrap();
        assert_eq!(archive.events(into).unwrap().len(), 2);
        archive.add_event(into, None, &bought("2025", 12.0)).unwrap();
        assert_eq!(archive.events(into).unwrap().len(), 2);
    });
}

#[test]
fn name_longer_than_index_row_is_accepted() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        // 5 kB that no compression shortens: digits of hashes.
        let name: String = (0..80).map(|n| unit_id(&n.to_string())).collect();
        let long = CardFacts { model: Some(name.clone()), ..card("Acme", &name, "64GB") };
        let first = import(&mut archive, "a.log", &log(long.clone(), &[20.0]))[0];
        let second = import(&mut archive, "b.log", &log(long, &[21.0]))[0];
        assert_eq!(card_of(&mut archive, first), card_of(&mut archive, second));
        assert_eq!(archive.cards().unwrap()[0].facts.name.as_ref(), Some(&name));
    });
}

#[test]
fn id_prefixes_find_sessions_and_cards_including_records() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let bench = archive.begin_session(&sessions::start()).unwrap();
        let record = archive.begin_session(&sessions::record("verify")).unwrap();
        let other = import(&mut archive, "a", &log(card("SanDisk", "Ultra", "64GB"), &[80.0]))[0];
        for id in [bench, record, other] {
            let whole = id.to_string();
            for beginning in [whole.as_str(), &whole.to_uppercase(), &whole[..35]] {
                let found = archive.sessions_by_id(beginning).unwrap();
                assert!(found.iter().any(|session| session.id == id), "{beginning} of {whole}");
            }
        }
        assert_eq!(
            archive.sessions_by_id(&bench.to_string()[..1]).unwrap().len(),
            3,
            "ids begin with the time"
        );
        for nothing in ["", " ", "%", "_", "0%", "ffffffff"] {
            assert!(archive.sessions_by_id(nothing).unwrap().is_empty(), "{nothing:?}");
        }
        let (measured, imported) = (card_of(&mut archive, bench), card_of(&mut archive, other));
        assert_eq!(archive.cards_by_id(&measured[..2].to_uppercase()).unwrap()[0].id, measured);
        assert!(archive.cards_by_id("").unwrap().is_empty());
        let counts = archive.session_counts().unwrap();
        assert_eq!((counts[&measured], counts[&imported], counts.len()), (2, 1, 2));
    });
}
