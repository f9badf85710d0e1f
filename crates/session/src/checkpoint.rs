//! Checkpoint of a long run: its progress, stored in a state file by card and verb.
//! Only cards with a key have one. Without a checkpoint the progress is recovered from the stamps on the card.

use crate::error::{Failure, Result};
use crate::state_file::StateFile;
use serde::Serialize;
use serde::de::DeserializeOwned;

#[derive(Debug, Clone)]
pub struct CardCheckpoint(StateFile);

impl CardCheckpoint {
    pub fn for_card(verb: &str, key: &str) -> Result<Self> {
        let name: String = key.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
        Ok(CardCheckpoint(StateFile::with_name(format!("{verb}-{name}.json"))?))
    }

    /// Returns the stored value, or None if there is none, another user wrote it, or it has another format.
    pub fn load<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.0.load()?).ok()
    }

    /// Stores a value. It is on disk when this returns; after an error the previous value is kept.
    pub fn save(&self, what: &impl Serialize) -> Result<()> {
        let text = serde_json::to_vec(what);
        self.0.store(&text.map_err(|e| Failure::io_for(format!("the checkpoint cannot be written: {e}"), e))?)
    }

    pub fn remove(&self) {
        self.0.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::process::Command;

    #[test]
    fn checkpoint_is_private_and_ignores_foreign_files() {
        let folder = tempfile::tempdir().unwrap();
        let at =
            |name: &str| CardCheckpoint(StateFile { folder: folder.path().join("state"), name: name.into() });
        let (full, path) = (at("full.json"), folder.path().join("state/full.json"));
        full.save(&1).unwrap();
        full.save(&2).unwrap();
        assert_eq!(full.load(), Some(2));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        chown(&path, Some(65_534), None).expect("this test needs root");
        assert_eq!(full.load::<u32>(), None);
        let refused = full.save(&3).unwrap_err().to_string();
        assert!(refused.contains("it is owned by user 65534"), "{refused}");
        full.remove();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "2");
        symlink(&path, folder.path().join("state/link.json")).unwrap();
        assert!(
            Command::new("mkfifo").arg(folder.path().join("state/pipe.json")).status().unwrap().success()
        );
        for other in ["link.json", "pipe.json"] {
            assert_eq!(at(other).load::<u32>(), None, "{other}");
            assert!(at(other).save(&4).is_err(), "{other}");
        }
        assert_eq!(
            std::fs::read_dir(folder.path().join("state")).unwrap().count(),
            3,
            "nothing half written"
        );
    }
}
