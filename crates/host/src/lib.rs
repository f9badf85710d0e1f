//! Checks whether this computer is fit to measure (`doctor`), and whether it waits for its card (`observe`).
#![forbid(unsafe_code)]

pub mod judge;
pub mod page {
    pub mod doctor;
    pub mod observe;
}
pub mod verb {
    pub mod doctor;
    pub mod observe;
}
