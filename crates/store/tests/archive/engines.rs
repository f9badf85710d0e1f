//! Runs a test on both databases: a new file, and a new database of a local PostgreSQL server.

use crate::server::Server;
use std::path::Path;

/// Runs a test once for each database, with the address of an archive that does not exist yet.
pub(crate) fn on_both(test: impl Fn(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    test(&folder.path().join("deep/below/archive.sqlite"));
    let server = Server::shared();
    test(Path::new(&server.database()));
}
