//! File that redirects a browser to the app. Only this user can read it, while a link with the token in the browser's
//! arguments would be visible to every user of the computer.
//!
//! It lies in the home folder under a name without a dot, because sandboxed browsers (snap, flatpak) cannot read hidden
//! files, `/tmp` or `XDG_RUNTIME_DIR`.

use cardscope_session::frame::Failure;
use cardscope_session::private_file;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Writes or replaces the page that redirects to `link`. Fails without a home folder that only this user can change.
pub(crate) fn write_page(address: SocketAddr, link: &str) -> Result<PathBuf, Failure> {
    let path = page_path(address).ok_or_else(|| Failure::refused("HOME is not set"))?;
    let page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={link}\">\n<title>Cardscope</title>\n<p><a href=\"{link}\">Open Cardscope</a>\n"
    );
    private_file::replace_secret(&path, &page)?;
    Ok(path)
}

/// Removes the page if it still holds this token: it was used, or its server has ended.
pub(crate) fn remove_page(address: SocketAddr, token: &str) {
    if let Some(path) = page_path(address) {
        private_file::remove_secret(&path, token);
    }
}

fn page_path(address: SocketAddr) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())?;
    Some(home.join(format!("cardscope-{}.html", address.port())))
}
