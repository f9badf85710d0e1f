use super::*;
use cardscope_session::options::ArchiveAt;
use cardscope_testkit::cards::dd_output;

fn source() -> (tempfile::TempDir, CardLookup) {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("empty.sqlite");
    std::fs::write(&archive, "").unwrap();
    let source = CardLookup::open(Some(&archive), false).unwrap();
    (folder, source)
}

#[test]
fn file_named_twice_is_read_once() {
    let (folder, mut source) = source();
    let file = folder.path().join("Acme.log");
    std::fs::write(&file, dd_output(20, "\n")).unwrap();
    let first = source.read_file(&file).unwrap();
    let again = source.read_file(&folder.path().join(".").join("Acme.log")).unwrap();
    assert_eq!((first.len(), &again), (1, &first));
    let ids: Vec<String> = first.into_iter().map(|card| card.id).collect();
    assert_eq!(source.measurements(&ids).unwrap().len(), 1);
    assert_eq!(source.summaries(|_| true).unwrap()[0].n, 1);
}

#[test]
fn card_of_a_file_is_found_by_its_exact_id() {
    let (folder, mut source) = source();
    let file = folder.path().join("ADATA Swift.log");
    std::fs::write(&file, dd_output(20, "\n")).unwrap();
    let card = source.read_file(&file).unwrap().remove(0);
    assert_eq!(card.title, "ADATA Swift");
    assert_eq!(source.card_by_id(&card.id).unwrap(), card);
    assert_eq!(select_card(source.find_cards(&card.id).unwrap(), &card.id).unwrap(), card);
    assert_eq!(source.find_cards("adata").unwrap(), [card]);
    assert!(source.card_by_id("elsewhere").is_err());
}

#[test]
fn collection_ids_need_no_shell_quotes() {
    for card in collected::collected_cards().unwrap() {
        let id = card.card.id;
        assert_eq!(cardscope_model::shell::shell_quote(&id), id);
    }
}

#[test]
fn cards_of_files_are_summarised_like_archived_ones() {
    let (folder, mut source) = source();
    let table = "card,test,run,mb_s,max_latency_us,date\n\
        Acme Swift 64GB,SEQ1M Q1T1 read,1,80,900,2024-05-01\n\
        Acme Swift 64GB,SEQ1M Q1T1 read,2,90,1200,2024-05-01\n\
        Acme Swift 64GB,SEQ1M Q1T1 read,3,88,1000,2024-05-01\n";
    let file = folder.path().join("typed.csv");
    std::fs::write(&file, table).unwrap();
    source.read_file(&file).unwrap();
    let place = folder.path().join("archive.sqlite");
    let request = import::ImportRequest {
        files: vec![file],
        archive: ArchiveAt { archive: Some(place.clone()) },
        ..import::ImportRequest::default()
    };
    import::run_import(
        &request,
        &cardscope_engine::interrupt::InterruptFlag::default(),
        &mut cardscope_engine::event::Silent,
    )
    .unwrap();
    let stored = CardLookup::open(Some(&place), false).unwrap().summaries(|_| true).unwrap();
    let mut looked_at = source.summaries(|_| true).unwrap();
    looked_at.iter_mut().for_each(|row| row.card_id.clone_from(&stored[0].card_id));
    assert_eq!((looked_at.len(), looked_at[0].n, looked_at[0].max_latency_us), (1, 3, Some(1200.0)));
    assert_eq!(looked_at, stored);
}

#[test]
fn other_database_addresses_are_refused_without_password() {
    for other in ["mysql://me:secret@db/cards", "sqlite://secret"] {
        let refused = CardLookup::open(Some(Path::new(other)), false).err().unwrap().to_string();
        assert!(refused.contains("postgres://") && !refused.contains("secret"), "{refused}");
    }
}
