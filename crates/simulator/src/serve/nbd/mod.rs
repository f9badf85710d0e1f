//! Cards over the network: an NBD server (Network Block Device, the protocol's own document `proto.md`: fixed newstyle
//! negotiation, simple replies). What a client sends is parsed by pure code that is handed bytes and never sees a
//! socket; a client that sends rubbish is answered with an error or cut off, and the others notice nothing.

mod guests;
mod handshake;
mod listen;
mod session;
mod transmit;

#[cfg(test)]
mod rubbish;

pub use listen::NbdAddress;
pub(super) use listen::NbdListener;
