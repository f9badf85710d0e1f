//! SIGXFSZ: a write went beyond the size that files of this process may have (`ulimit -f`, RLIMIT_FSIZE).

use signal_hook::consts::SIGXFSZ;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static REACHED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// From now on such a write fails (EFBIG) instead of ending the program. Children get the default again, as of every signal
/// with a handler. Without a handler, where none can be set, the program dies of the first such write.
pub(crate) fn survive() {
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::clone(&REACHED));
}

/// True where such a write failed.
pub(crate) fn is_reached() -> bool {
    REACHED.load(Ordering::Relaxed)
}
