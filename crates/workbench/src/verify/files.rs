//! `verify --files`.

use super::{Outcome, Request};
use crate::error::Failure;
use crate::event::Listener;
use cardscope_engine::interrupt::Interrupt;

pub(super) fn run(
    request: &Request,
    _interrupt: &Interrupt,
    _listener: &mut dyn Listener,
) -> Result<Outcome, Failure> {
    Err(Failure::Refused(format!("{}: not built yet", request.target)))
}
