//! Endurance tests: speed and temperature over hours (`sustain`), and wear until failure (`endure`).
#![forbid(unsafe_code)]

pub mod judge {
    pub mod long_run;
    pub mod series;
}
pub mod page {
    pub mod endure;
    pub mod sustain;
}
pub mod probe {
    pub mod endure;
    pub mod sustain;
}
pub mod verb {
    pub mod endure;
    pub mod sustain;
}
