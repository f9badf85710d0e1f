//! What is known of a card's usual speed: the table of spreads, made of all real series there are, and how often what is said
//! by it is right.

mod calibration;
mod drawn;
mod real;
mod spreads;
