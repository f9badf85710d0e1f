//! Tables and lists in which somebody has collected what others measured: a log for each card.

pub(crate) mod card_list;
pub(crate) mod f3_facts;
pub(crate) mod figures;
pub(crate) mod geerling;
pub(crate) mod geerling_2015;
pub(crate) mod identities;
mod name;
pub(crate) mod registers;
mod values;
