//! Who comes in. The Host must be one of ours to the letter, so that no name that somebody points at this computer works
//! (DNS rebinding); the Origin, where a browser names one, must be the same; and the API wants the token: in a header, or for
//! reading in the cookie that a header once got. A page of others can send neither header nor, the cookie being of this site
//! alone, the cookie.

use crate::Server;
use crate::problem::Refusal;
use axum::extract::{Request, State};
use axum::http::header::{COOKIE, HOST, HeaderMap, ORIGIN};
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::SocketAddr;
use std::sync::Arc;

/// The header that has the token.
pub(crate) const TOKEN: HeaderName = HeaderName::from_static("cardscope-token");

/// What a page of ours may do: load what we serve, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; \
    img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Hosts by which the server may be called.
#[derive(Debug, Clone)]
pub(crate) struct Hosts(Vec<String>);

impl Hosts {
    /// Those of an address: itself, on the loopback interface each of its names, and what the user added.
    pub(crate) fn of(address: SocketAddr, added: &[String]) -> Self {
        let port = address.port();
        let mut names = vec![address.to_string()];
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            names.extend(["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")));
        }
        for name in added {
            names.push(format!("{name}:{port}"));
            names.push(name.clone());
        }
        names.iter_mut().for_each(|name| name.make_ascii_lowercase());
        Hosts(names)
    }

    fn has(&self, host: &str) -> bool {
        self.0.iter().any(|known| known.eq_ignore_ascii_case(host))
    }
}

/// Lets in, or says why not; and says to the browser what the answer may do.
pub(crate) async fn guard(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let api = request.uri().path().starts_with("/api/");
    let mut response = match admit(&server, &request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if api && !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

fn admit(server: &Server, request: &Request) -> Result<(), Refusal> {
    let headers = request.headers();
    let host = text(headers, &HOST).unwrap_or_default();
    if !server.hosts.has(host) {
        return Err(Refusal::forbidden(
            "this server is not known by that name; open the address that `cardscope serve` printed, or allow the name with \
             --allow-host",
        ));
    }
    let foreign =
        |origin: &str| origin.strip_prefix("http://").is_none_or(|from| !from.eq_ignore_ascii_case(host));
    if text(headers, &ORIGIN).is_some_and(foreign) {
        return Err(Refusal::forbidden("the request comes from a page of another site"));
    }
    if !request.uri().path().starts_with("/api/") {
        return Ok(());
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let given = text(headers, &TOKEN).or_else(|| reads.then(|| cookie(server, headers)).flatten());
    match given {
        Some(token) if server.token.is(token) => Ok(()),
        _ => Err(Refusal::unknown_client()),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    // A header twice is two answers to one question.
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    if all.next().is_some() { Some("") } else { first.to_str().ok().or(Some("")) }
}

/// The cookie's name holds the port: cookies of one host are shared by its ports.
fn cookie_name(server: &Server) -> String {
    format!("cardscope-{}", server.address.port())
}

fn cookie<'a>(server: &Server, headers: &'a HeaderMap) -> Option<&'a str> {
    let name = cookie_name(server);
    let pairs = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// The cookie that reads what cannot have a header: pictures, downloads, the stream of events.
pub(crate) fn cookie_header(server: &Server) -> String {
    format!("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name(server), server.token.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_hosts_to_the_letter() {
        let hosts = Hosts::of("127.0.0.1:7373".parse().unwrap(), &["pi.local".to_owned()]);
        for ours in ["127.0.0.1:7373", "LOCALHOST:7373", "[::1]:7373", "pi.local:7373", "pi.local"] {
            assert!(hosts.has(ours), "{ours}");
        }
        for other in [
            "",
            "localhost",
            "localhost.evil.example:7373",
            "127.0.0.1:80",
            "evil.example",
            "127.0.0.1:73730",
        ] {
            assert!(!hosts.has(other), "{other}");
        }
        let wide = Hosts::of("192.168.1.9:7373".parse().unwrap(), &[]);
        assert!(wide.has("192.168.1.9:7373") && !wide.has("localhost:7373"));
    }
}
