//! `serve`: runs the web server and opens a browser.

use crate::output::{self, OutputOptions};
use crate::signals;
use cardscope_model::shell::shell_quote_path;
use cardscope_server::{ServeRequest, StartedServer};
use cardscope_session::Result;
use std::io::IsTerminal;
use std::path::Path;
use std::process::{Command, Stdio};

pub(super) fn run(asked: &ServeRequest, options: &OutputOptions) -> Result<u8> {
    let mut written = Ok(());
    cardscope_server::serve(asked, &signals::shared_interrupt(), &mut |started| {
        started.remarks.iter().for_each(|remark| output::print_note(remark));
        written = match options.json {
            true => output::print_json(&serde_json::json!({ "address": started.link })),
            false => output::print_bytes(format!("Open {}\n", printed_address(asked, started)).as_bytes()),
        };
        if let Some(page) = &started.redirect_page {
            open_browser(page);
        }
    })?;
    written.map(|()| 0)
}

/// URL with the token, unless the user has the token elsewhere: output of a service goes to a log that others may read.
fn printed_address(asked: &ServeRequest, started: &StartedServer) -> String {
    match (&asked.token_file, &started.redirect_page) {
        (Some(file), _) => format!("{} and enter the token in {}", started.address, shell_quote_path(file)),
        (None, Some(_)) if !std::io::stdout().is_terminal() => started.address.clone(),
        _ => started.link.clone(),
    }
}

/// Opens the page in the desktop's browser. Failure is only reported, since the address was printed.
fn open_browser(page: &Path) {
    let started = Command::new("xdg-open")
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        output::print_note(&format!(
            "warning: no browser can be opened ({error}); open the address yourself"
        ));
    }
}
