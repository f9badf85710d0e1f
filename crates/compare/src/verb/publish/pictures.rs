//! Pictures attached to a card, its units and its sessions, limited to the size of a page.

use super::metadata::without_metadata;
use super::redaction::Redactor;
use cardscope_model::publication::{CardPicture, CardPictures};
use cardscope_session::attachment::media_type;
use cardscope_session::error::Result;
use cardscope_store::{Archive, StoredAttachment};

/// Most bytes of one picture, and of all pictures of a page, which its cards share. A phone must be able to load the page.
const MOST_BYTES: u64 = 300_000;
const MOST_BYTES_OF_A_PAGE: u64 = 600_000;

/// Bytes of pictures for each of this many cards.
pub(super) fn bytes_per_card(cards: usize) -> u64 {
    MOST_BYTES_OF_A_PAGE / cards.max(1) as u64
}

/// Media types that browsers display and that cannot contain scripts.
const SAFE_MEDIA_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// Pictures of a card, up to `room` bytes; equal files once.
pub(super) fn card_pictures(
    archive: &mut Archive,
    card: &str,
    mut room: u64,
    hidden: &Redactor,
) -> Result<CardPictures> {
    let mut attached = archive.attachments(card)?;
    attached.retain(|file| SAFE_MEDIA_TYPES.contains(&file.file.media_type.as_str()));
    let mut known = std::collections::BTreeSet::new();
    attached.retain(|file| known.insert(file.file.hash.clone()));
    let mut pictures = CardPictures::default();
    for StoredAttachment { file, bytes: size, .. } in attached {
        if size > MOST_BYTES.min(room) {
            pictures.skipped += 1;
            continue;
        }
        let bytes = archive.attachment(&file.hash)?;
        // The stored media type may come from anyone, so the first bytes decide.
        let media_type = SAFE_MEDIA_TYPES.into_iter().find(|safe| *safe == media_type(&bytes));
        let Some(media_type) = media_type else { continue };
        // The place and the author of a picture must not be published.
        let Some(bytes) = without_metadata(media_type, &bytes) else {
            pictures.skipped += 1;
            continue;
        };
        room -= size;
        let mut caption = file.note.unwrap_or(file.name);
        hidden.redact_text(&mut caption);
        pictures.published.push(CardPicture { caption, media_type, bytes });
    }
    Ok(pictures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::card::CardFacts;
    use cardscope_model::condition::Condition;
    use cardscope_model::session_file::CardUnit;
    use cardscope_session::recorder;
    use cardscope_store::{AttachmentOwner, NewAttachment};

    #[test]
    fn real_pictures_are_published_within_the_size_limit() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(folder.path().join("archive")).unwrap();
        let mut start = recorder::session_start("verify", "sim:constant", 1, &Condition::default(), None);
        let facts = CardFacts { name: Some("Swift".into()), ..CardFacts::default() };
        start.specimen = Some(CardUnit { id: "0123456789abcdef".into(), facts, ..CardUnit::default() });
        archive.begin_session(&start).unwrap();
        let card = archive.cards().unwrap().remove(0).id;
        let png = |len: u32| {
            let chunk =
                |name: &[u8], len: u32| [&len.to_be_bytes()[..], name, &vec![7; len as usize + 4]].concat();
            [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IDAT", len), chunk(b"IEND", 0)].concat()
        };
        let files = [
            ("small.png", "image/png", png(1000)),
            ("again.png", "image/png", png(1000)),
            ("large.png", "image/png", png(400_000)),
            ("drawn.svg", "image/svg+xml", b"<svg/>".to_vec()),
            ("lie.png", "image/png", b"<script>".to_vec()),
            ("broken.png", "image/png", png(1000)[..500].to_vec()),
        ];
        for (name, media_type, bytes) in &files {
            let file = NewAttachment { name, media_type, note: None, bytes };
            archive.attach(AttachmentOwner::Card(&card), &file).unwrap();
        }
        let mut found = |cards| {
            let found =
                card_pictures(&mut archive, &card, bytes_per_card(cards), &Redactor::default()).unwrap();
            (found.published.into_iter().map(|picture| picture.caption).collect::<Vec<_>>(), found.skipped)
        };
        assert_eq!(found(1), (vec!["small.png".to_owned()], 2));
        assert_eq!(found(1000), (Vec::new(), 3), "a page of many cards has room for less of each");
    }
}
