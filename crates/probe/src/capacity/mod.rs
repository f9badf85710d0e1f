//! Is the capacity real: the quick probe.
