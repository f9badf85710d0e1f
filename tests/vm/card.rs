//! Card for a reader of the virtual machine: an image, or a simulated card over NBD.

use crate::common::binary::Home;
use crate::common::machine::image;
use crate::common::nbd::Nbd;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Card, inserted or not.
pub(super) enum Card {
    /// Image file.
    Image(PathBuf),
    /// Simulated card, served over NBD by name.
    Simulated { _server: Nbd, socket: PathBuf, export: String },
}

impl Card {
    /// Card of this size full of data, as a file `name`.
    pub(super) fn with_data(home: &Home, name: &str, mib: u64) -> Card {
        let folder = home.path(name);
        std::fs::create_dir(&folder).unwrap();
        Card::Image(image(&folder, mib))
    }

    /// Card of this size filled with one byte.
    pub(super) fn filled_with(home: &Home, name: &str, mib: u64, byte: u8) -> Card {
        let path = home.path(name);
        std::fs::write(&path, vec![byte; (mib << 20) as usize]).unwrap();
        Card::Image(path)
    }

    /// Simulated card without delays.
    pub(super) fn simulated(home: &Home, name: &str) -> Card {
        let number = std::fs::read_dir(home.path("")).unwrap().count();
        let socket = home.path(&format!("card-{number}.sock"));
        let _server = Nbd::start(home, &[name], socket.to_str().unwrap(), &["--no-timing"]);
        let export = name.split('?').next().unwrap().to_owned();
        Card::Simulated { _server, socket, export }
    }

    /// Block node of QEMU for the card.
    pub(super) fn node(&self, name: &str, read_only: bool) -> Value {
        let below = match self {
            Card::Image(path) => json!({ "driver": "file", "filename": path }),
            Card::Simulated { socket, export, .. } => {
                json!({ "driver": "nbd", "server": { "type": "unix", "path": socket }, "export": export })
            }
        };
        json!({ "driver": "raw", "node-name": name, "read-only": read_only, "file": below })
    }

    /// Content of an image.
    #[track_caller]
    pub(super) fn content(&self) -> Vec<u8> {
        match self {
            Card::Image(path) => std::fs::read(path).unwrap(),
            Card::Simulated { export, .. } => panic!("{export} is not a file"),
        }
    }
}
