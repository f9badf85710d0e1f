//! NBD server (Network Block Device; the protocol's `proto.md`: fixed newstyle negotiation, simple replies). Pure code
//! without sockets parses the bytes of a client; a client that sends garbage gets an error or is cut off, without
//! effect on others.

mod guests;
mod handshake;
mod listen;
mod session;
mod transmit;

#[cfg(test)]
mod rubbish;

pub use listen::NbdAddress;
pub(super) use listen::NbdListener;
