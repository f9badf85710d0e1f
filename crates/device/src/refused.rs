//! Error text of a refused command, with advice on permissions.

use rustix::io::Errno;
use rustix::process::geteuid;

pub(crate) fn errno_reason(errno: Errno) -> String {
    match errno {
        Errno::ACCESS | Errno::PERM => not_permitted(geteuid().is_root()).to_owned(),
        other => cardscope_files::error_text(&other.into()),
    }
}

fn not_permitted(root: bool) -> &'static str {
    if root { "not permitted here, even to root" } else { "needs root: run with sudo" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_not_advised_to_use_sudo() {
        assert!(not_permitted(false).contains("sudo"));
        assert!(!not_permitted(true).contains("sudo"));
    }
}
