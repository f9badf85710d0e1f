//! The same tests on both databases: on a fresh file, and on a fresh database of a PostgreSQL server of our own.

use crate::server::Server;
use std::path::Path;

/// Runs a test on a place for an archive that is not there yet, once for each database.
pub(crate) fn on_both(test: impl Fn(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    test(&folder.path().join("deep/below/archive.sqlite"));
    let server = Server::shared();
    test(Path::new(&server.database()));
}
