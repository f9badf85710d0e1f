//! The house itself: which crate may use which.

mod layers;
