//! Conformance of the server to its OpenAPI document: Schemathesis generates valid and invalid requests and checks the
//! answers.

use super::Server;
use crate::common::binary::{Home, Running};
use crate::common::logs::taken_in;
use crate::common::python;
use crate::common::{list, text};
use std::path::Path;
use std::time::Duration;

#[test]
fn server_conforms_to_its_openapi_document() {
    let home = Home::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/api");
    let programs = python::programs(&[&folder.join("schemathesis.txt")]);
    taken_in(&home, "a.log", &[700, 690, 710], &["--brand", "Acme", "--card", "Swift", "--capacity", "64GB"]);
    // Without fixed disks and loop devices, so that no device of this computer is tested or unmounted.
    let server = Server::start(&home, &[]);
    let document = format!("http://{}/api/openapi.json", server.address);
    let (token, config) = (format!("Cardscope-Token: {}", server.token), folder.join("schemathesis.toml"));
    let long = std::env::var("CARDSCOPE_LONG").is_ok_and(|value| !value.is_empty() && value != "0");
    let mut command = home.command(programs.join("st").to_str().unwrap());
    command.arg("--config-file").arg(config).args(["run", &document, "--header", &token, "--no-color"]);
    // One worker, because two parsers at once trigger a bug of CPython 3.11 (github.com/python/cpython/issues/106905).
    command.args(["--max-examples", if long { "300" } else { "8" }, "--workers", "1"]);
    // The same requests each time; more in the long tests.
    command.args(if long { ["--max-time", "900"] } else { ["--seed", "1"] });
    command.current_dir(home.path(""));
    let outcome = Running::of(command).finish_within(Duration::from_secs(2000));
    assert!(outcome.status.success(), "{outcome}");
    // All orders were for simulated cards.
    for task in list(&server.document("/api/tasks"), "/tasks") {
        assert!(text(task, "/target").starts_with("sim:"), "{task:#}");
    }
}
