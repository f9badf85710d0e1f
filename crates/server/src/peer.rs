//! User id of the program at the other end of a local connection, asked from the kernel through `sock_diag(7)`.

use rustix::fd::OwnedFd;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};
use std::net::{IpAddr, SocketAddr};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const IPPROTO_TCP: u8 = 6;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;

/// Bytes of `struct nlmsghdr`, alone and followed by `struct inet_diag_req_v2` (linux/inet_diag.h).
const HEADER_BYTES: usize = 16;
const REQUEST_BYTES: usize = HEADER_BYTES + 56;
/// Offset of `idiag_uid` in an answer with `struct inet_diag_msg`.
const UID_OFFSET: usize = HEADER_BYTES + 64;

/// Netlink socket; `None` if the kernel lacks `CONFIG_INET_TCP_DIAG`.
#[derive(Debug)]
pub(crate) struct SocketOwners(Option<OwnedFd>);

impl SocketOwners {
    pub(crate) fn new() -> Self {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let kind = Some(netlink::SOCK_DIAG);
        SocketOwners(socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, kind).ok())
    }

    /// User id of the owner of the socket at `peer` connected to `local`; `None` if it is remote or closed.
    pub(crate) fn owner_uid(&self, peer: SocketAddr, local: SocketAddr) -> Option<u32> {
        let socket = self.0.as_ref()?;
        let request = diag_request(peer, local);
        send(socket, &request, SendFlags::empty()).ok()?;
        let mut answer = [0; 1024];
        let (bytes, _) = recv(socket, &mut answer[..], RecvFlags::empty()).ok()?;
        parse_uid(&answer[..bytes])
    }
}

fn diag_request(peer: SocketAddr, local: SocketAddr) -> [u8; REQUEST_BYTES] {
    let mut bytes = [0; REQUEST_BYTES];
    let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
    put(0, &(REQUEST_BYTES as u32).to_ne_bytes());
    put(4, &SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    put(6, &NLM_F_REQUEST.to_ne_bytes());
    let family = if peer.is_ipv4() { AF_INET } else { AF_INET6 };
    put(HEADER_BYTES, &[family, IPPROTO_TCP]);
    // In any TCP state.
    put(HEADER_BYTES + 4, &u32::MAX.to_ne_bytes());
    put(HEADER_BYTES + 8, &peer.port().to_be_bytes());
    put(HEADER_BYTES + 10, &local.port().to_be_bytes());
    put(HEADER_BYTES + 12, &octets(peer.ip()));
    put(HEADER_BYTES + 28, &octets(local.ip()));
    // Without a cookie of the socket (INET_DIAG_NOCOOKIE).
    put(HEADER_BYTES + 48, &[0xff; 8]);
    bytes
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

fn parse_uid(answer: &[u8]) -> Option<u32> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let uid = answer.get(UID_OFFSET..UID_OFFSET + 4)?;
    (kind == SOCK_DIAG_BY_FAMILY).then_some(u32::from_ne_bytes(uid.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn own_connection_belongs_to_this_user() {
        let owners = SocketOwners::new();
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let local = listener.local_addr().unwrap();
            let client = TcpStream::connect(local).unwrap();
            let peer = client.local_addr().unwrap();
            assert_eq!(owners.owner_uid(peer, local), Some(rustix::process::geteuid().as_raw()), "{address}");
            assert_eq!(owners.owner_uid("127.0.0.1:1".parse().unwrap(), local), None);
        }
    }
}
