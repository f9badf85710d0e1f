//! SIGXFSZ: a write beyond the size limit of files (`ulimit -f`, RLIMIT_FSIZE).

use signal_hook::consts::SIGXFSZ;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static LIMIT_REACHED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Makes such writes fail with EFBIG instead of ending the program. Child processes get the default action again. If no
/// handler can be installed, the first such write kills the program.
pub(crate) fn ignore_size_limit_signal() {
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::clone(&LIMIT_REACHED));
}

/// True after such a write.
pub(crate) fn is_limit_reached() -> bool {
    LIMIT_REACHED.load(Ordering::Relaxed)
}
