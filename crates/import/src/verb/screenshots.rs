//! Photographs and screenshots from which figures were typed. A picture that a table names and that lies in the same folder
//! is attached to the sessions, so that a doubtful figure can be checked.

use cardscope_model::log::{CardLog, TYPED_FROM};
use cardscope_session::attachment;
use cardscope_session::error::Result;
use cardscope_store::{Archive, AttachmentOwner, NewAttachment, SessionId};
use std::path::{Component, Path, PathBuf};

/// Note of such an attachment.
const ATTACHMENT_NOTE: &str = "source of its typed results";

/// Attaches the pictures of a table's sessions; returns the reasons for those that cannot be attached.
pub(super) fn attach_sources(archive: &mut Archive, folder: &Path, ids: &[SessionId]) -> Result<Vec<String>> {
    let mut missing = Vec::new();
    for id in ids {
        let stored = archive.session(*id)?;
        let Some(file) = stored.file.log.as_ref().and_then(|log| picture_path(folder, log)) else { continue };
        match attachment::read_attachment(&file) {
            Ok((name, media_type, bytes)) => {
                let (name, media_type, bytes) = (name.as_str(), media_type.as_ref(), bytes.as_slice());
                let new = NewAttachment { name, media_type, note: Some(ATTACHMENT_NOTE), bytes };
                archive.attach(AttachmentOwner::Session(*id), &new)?;
            }
            Err(why) => missing.push(why.to_string()),
        }
    }
    missing.dedup();
    Ok(missing)
}

/// Path of the picture from which a log's figures were typed, if it is a plain file in the log's folder. Any other path
/// is ignored: a table from a stranger must not read other files of this computer.
fn picture_path(folder: &Path, log: &CardLog) -> Option<PathBuf> {
    let name = Path::new(log.other.get(TYPED_FROM)?.as_str()?);
    let mut parts = name.components();
    let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    let file = folder.join(name);
    (plain && std::fs::symlink_metadata(&file).is_ok_and(|about| about.is_file())).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_file_in_the_same_folder_is_attached() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.jpg"), "x").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("link.jpg")).unwrap();
        let typed = |from: &str| {
            let mut log = CardLog::new("figures");
            log.other.insert(TYPED_FROM.to_owned(), from.into());
            picture_path(folder.path(), &log)
        };
        assert_eq!(typed("a.jpg"), Some(folder.path().join("a.jpg")));
        for other in ["../a.jpg", "/etc/hostname", "link.jpg", "https://example.org/a.jpg", "b.jpg", ".", ""]
        {
            assert_eq!(typed(other), None, "{other}");
        }
    }
}
