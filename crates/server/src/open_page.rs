//! The page that opens the app in a browser: a file that only this user reads, since the arguments of a program, such as the
//! browser's, are shown to every user of the computer.
//!
//! It lies in the home folder under a name without a dot: browsers in a sandbox (snap, flatpak) read neither hidden files nor
//! `/tmp` nor `XDG_RUNTIME_DIR`.

use cardscope_session::frame::Failure;
use cardscope_session::private_file;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Writes the page for the server at an address, which it leads to with the token; in place of an earlier one.
///
/// # Errors
/// If there is no home folder that only this user changes.
pub(crate) fn write(address: SocketAddr, link: &str) -> Result<PathBuf, Failure> {
    let path = path(address).ok_or_else(|| Failure::refused("HOME is not set"))?;
    let page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={link}\">\n<title>Cardscope</title>\n<p><a href=\"{link}\">Open Cardscope</a>\n"
    );
    private_file::replace(&path, &page)?;
    Ok(path)
}

/// Removes the page that holds this link's token: it has done its work, or leads nowhere any more.
pub(crate) fn remove(address: SocketAddr, token: &str) {
    if let Some(path) = path(address) {
        private_file::remove(&path, token);
    }
}

fn path(address: SocketAddr) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())?;
    Some(home.join(format!("cardscope-{}.html", address.port())))
}
