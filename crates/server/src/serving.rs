//! From a request to a server that answers, and to its end.

use crate::door;
use crate::hosts::Hosts;
use crate::hub::Hub;
use crate::request::Request;
use crate::shelf::Shelf;
use crate::state::Server;
use crate::tasks::Tasks;
use crate::token::Token;
use crate::uploads::Uploads;
use crate::{app, claim, records, routes, watch};
use axum::Router;
use axum::middleware;
use cardscope_session::archive::{self, AnswerCache};
use cardscope_session::bench::Interrupt;
use cardscope_session::frame::Failure;
use cardscope_session::pending;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// How often is looked whether it is to end.
const LOOK: Duration = Duration::from_millis(100);

/// How long tests are waited for that put their cards' data back.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Threads for what blocks: opening an archive, reading it, drawing pages.
const BLOCKING: usize = 8;

/// Says where the server is, once it answers: the address with the token, and lines worth saying.
pub type Announce<'a> = &'a mut dyn FnMut(&str, &[String]);

/// Serves until `stop` is raised; then tests that run are stopped, and waited for.
///
/// # Errors
/// If the address cannot be listened on, or the token cannot be kept.
pub fn serve(request: &Request, stop: &Interrupt, announce: Announce<'_>) -> Result<(), Failure> {
    let failed = |what: &str, e: std::io::Error| Failure::io_for(format!("{what}: {e}"), e);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(BLOCKING)
        .enable_all()
        .build()
        .map_err(|e| failed("the server cannot be started", e))?;
    archive::ready(request.archive.named())?;
    let token = Token::of_user()?;
    let asked = SocketAddr::new(request.listen, request.port);
    let listener = match runtime.block_on(TcpListener::bind(asked)) {
        Ok(listener) => listener,
        Err(error) if request.open && error.kind() == ErrorKind::AddrInUse && claim::is_at(asked) => {
            announce(&link(asked, &token), &["note: it is served already".to_owned()]);
            return Ok(());
        }
        Err(error) => return Err(unavailable(asked, error)),
    };
    let address = listener.local_addr().map_err(|e| failed("the server has no address", e))?;
    let program = std::env::current_exe().map_err(|e| failed("the program does not find itself", e))?;
    let hub = Arc::new(Hub::new());
    let archive = request.archive.archive.clone();
    let server = Arc::new(Server {
        address,
        hosts: Hosts::of(address, &request.hosts),
        tasks: Tasks::new(Arc::clone(&hub), own(program), archive.clone(), Some(address)),
        archive,
        all_devices: request.all,
        hub,
        shelf: Shelf::default(),
        answers: AnswerCache::new(records::answer),
        uploads: Uploads::new().map_err(|e| failed("no folder for files that are sent", e))?,
        closing: tokio::sync::watch::Sender::new(false),
        token,
    });
    watch::start(&server).map_err(|e| failed("no thread can be started", e))?;
    announce(&link(address, &server.token), &remarks(address));
    let _owing = pending::owing("the tests that run restore their cards' data and end", "");
    runtime.block_on(answer(listener, Arc::clone(&server), stop, request.until_idle));
    server.tasks.close(PATIENCE);
    Ok(())
}

/// The program as it was started: one that was replaced meanwhile is called "(deleted)" and cannot be started by that name.
fn own(program: PathBuf) -> PathBuf {
    let link = PathBuf::from("/proc/self/exe");
    if program.exists() { program } else { link }
}

async fn answer(listener: TcpListener, server: Arc<Server>, stop: &Interrupt, until_idle: Option<Duration>) {
    let router = Router::new()
        .merge(routes::all())
        .fallback(app::file)
        .layer(middleware::from_fn_with_state(Arc::clone(&server), door::guard))
        .with_state(Arc::clone(&server));
    let serving = tokio::spawn(async move {
        let _ = axum::serve(listener, router).await;
    });
    let mut used = Instant::now();
    while !stop.raised() && !serving.is_finished() {
        tokio::time::sleep(LOOK).await;
        if server.hub.listeners() > 0 || server.tasks.any_open() {
            used = Instant::now();
        }
        if until_idle.is_some_and(|most| used.elapsed() >= most) {
            break;
        }
    }
    // Streams of events end first; who asks at this moment is answered no more.
    let _ = server.closing.send(true);
    tokio::time::sleep(LOOK).await;
    serving.abort();
}

/// What a browser is given: the token stands where no server and no log sees it.
fn link(address: SocketAddr, token: &Token) -> String {
    format!("http://{}/#token={}", shown(address), token.text())
}

/// The address as a browser takes it: that of all interfaces is none.
fn shown(address: SocketAddr) -> SocketAddr {
    match address.ip().is_unspecified() {
        true => SocketAddr::from(([127, 0, 0, 1], address.port())),
        false => address,
    }
}

fn remarks(address: SocketAddr) -> Vec<String> {
    let wide = (!address.ip().is_loopback()).then(|| {
        "warning: the token, results and names of cards cross the network unencrypted; use a tunnel (ssh -L 7373:127.0.0.1:7373) \
         where others could listen"
            .to_owned()
    });
    let bare =
        (!app::is_there()).then(|| "note: built without the app for browsers; the API answers".to_owned());
    wide.into_iter().chain(bare).collect()
}

fn unavailable(address: SocketAddr, error: std::io::Error) -> Failure {
    let why = match error.kind() {
        ErrorKind::AddrInUse => {
            "another program listens there, perhaps another `cardscope serve`; give another --port".to_owned()
        }
        ErrorKind::PermissionDenied => format!("{error}; ports below 1024 are for root: give another --port"),
        ErrorKind::AddrNotAvailable => format!("{error}; this computer has no such address: check --listen"),
        _ => error.to_string(),
    };
    Failure::refused_for(format!("{address} cannot be listened on: {why}"), error)
}
