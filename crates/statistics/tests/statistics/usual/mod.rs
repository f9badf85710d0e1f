//! Usual speed: the spread table of all real series, and the calibration of what it predicts.

mod calibration;
mod drawn;
mod real;
mod spreads;
