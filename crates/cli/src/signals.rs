//! Ctrl-C, SIGTERM and SIGHUP raise one flag that every wait looks at. A second Ctrl-C ends at once.

use cardscope_workbench::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Registers the flag.
///
/// # Errors
/// If the kernel refuses the handlers.
pub(crate) fn raise_on_signals(interrupt: &Arc<AtomicBool>) -> Result<(), Failure> {
    let refused = |e: std::io::Error| Failure::io(format!("signal handlers cannot be set: {e}"));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Registered first so that it runs first: on the second signal the flag is already up.
        flag::register_conditional_shutdown(signal, 130, Arc::clone(interrupt)).map_err(refused)?;
        flag::register(signal, Arc::clone(interrupt)).map_err(refused)?;
    }
    Ok(())
}
