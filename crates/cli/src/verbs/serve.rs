//! `serve`: the archive and the test bench in a browser.

use crate::output::{self, Options};
use crate::signals;
use cardscope_server::Request;
use cardscope_session::Result;
use std::process::{Command, Stdio};

pub(super) fn run(asked: &Request, options: &Options) -> Result<u8> {
    let mut written = Ok(());
    cardscope_server::serve(asked, &signals::interrupt(), &mut |address, remarks| {
        remarks.iter().for_each(|remark| output::note(remark));
        written = match options.json {
            true => output::json(&serde_json::json!({ "address": address })),
            false => output::bytes(format!("Open {address}\n").as_bytes()),
        };
        if asked.open {
            open(address);
        }
    })?;
    written.map(|()| 0)
}

/// Opens the desktop's browser; where there is none, the address was printed.
fn open(address: &str) {
    let started = Command::new("xdg-open")
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        output::note(&format!("warning: no browser can be opened ({error}); open the address yourself"));
    }
}
