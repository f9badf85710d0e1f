//! NBD server (Network Block Device; the protocol's `proto.md`: fixed newstyle negotiation, simple replies). Pure code
//! without sockets parses the bytes of a client; a client that sends garbage gets an error or is cut off, without
//! effect on others.

mod clients;
mod handshake;
mod listener;
mod request;
mod session;

#[cfg(test)]
mod hostile_tests;

pub use listener::NbdAddress;
pub(super) use listener::NbdListener;
