//! Starts the server, runs it, and shuts it down.

use crate::card_index::CardIndex;
use crate::claim::ServerClaim;
use crate::event_log::EventLog;
use crate::hosts::AllowedHosts;
use crate::request::ServeRequest;
use crate::state::ServerState;
use crate::tasks::TaskQueue;
use crate::token::AccessToken;
use crate::uploads::UploadFolder;
use crate::{app, auth, change_watchers, claim, connections, redirect_page, rendering, routes};
use axum::Router;
use axum::middleware;
use cardscope_archive as archive;
use cardscope_archive::AnswerCache;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::pending;
use cardscope_session::frame::Failure;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// Interval between two checks for a reason to end.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Longest wait at the end for tests that restore their cards' data.
const RESTORE_TIMEOUT: Duration = Duration::from_secs(3600);

/// Threads for blocking work: opening and reading the archive, rendering pages.
const BLOCKING_THREADS: usize = 8;

#[derive(Debug, Clone)]
pub struct StartedServer {
    /// URL with the token.
    pub link: String,
    /// URL without the token.
    pub address: String,
    /// File that redirects a browser to the link, if one was requested and could be written.
    pub redirect_page: Option<PathBuf>,
    pub remarks: Vec<String>,
}

/// Called once the server answers.
pub type OnServerStart<'a> = &'a mut dyn FnMut(&StartedServer);

/// Serves until `stop` is raised, then stops the running tests and waits for their restoring. Fails if the address or the
/// token file cannot be used.
pub fn serve(
    request: &ServeRequest,
    stop: &InterruptFlag,
    announce: OnServerStart<'_>,
) -> Result<(), Failure> {
    let failed = |what: &str, e: std::io::Error| Failure::io_for(format!("{what}: {e}"), e);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()
        .map_err(|e| failed("the server cannot be started", e))?;
    archive::create_if_missing(request.archive.named_path())?;
    let token = AccessToken::for_start(request.token_file.as_deref())?;
    let asked = SocketAddr::new(request.listen, request.port);
    let listener = match runtime.block_on(async { connections::bind_listener(asked) }) {
        Ok(listener) => listener,
        // This user's server already runs there, so its page is opened instead.
        Err(error) if request.open && error.kind() == ErrorKind::AddrInUse && claim::is_served_at(asked) => {
            let running =
                AccessToken::of_running_server()?.ok_or_else(|| address_unavailable(asked, error))?;
            announce(&started_server(
                request,
                asked,
                &running,
                vec!["note: it is served already".to_owned()],
            ));
            return Ok(());
        }
        Err(error) => return Err(address_unavailable(asked, error)),
    };
    let address = listener.local_addr().map_err(|e| failed("the server has no address", e))?;
    let program = std::env::current_exe().map_err(|e| failed("the program does not find itself", e))?;
    let hub = Arc::new(EventLog::new());
    let archive = request.archive.archive.clone();
    let (claim, unclaimed) = match ServerClaim::try_claim(address, &token) {
        Ok(claim) => (claim, None),
        Err(why) => (None, Some(why)),
    };
    let server = Arc::new(ServerState {
        address,
        hosts: AllowedHosts::from_address(address, &request.hosts),
        tasks: TaskQueue::new(Arc::clone(&hub), own_program(program), archive.clone(), claim),
        archive,
        all_devices: request.all,
        events: hub,
        card_index: CardIndex::default(),
        answers: AnswerCache::new(rendering::answer_of_document),
        uploads: UploadFolder::new().map_err(|e| failed("no folder for files that are sent", e))?,
        closing: tokio::sync::watch::Sender::new(false),
        token,
        read_token: AccessToken::random()?,
    });
    change_watchers::start_watchers(&server).map_err(|e| failed("no thread can be started", e))?;
    announce(&started_server(request, address, &server.token, startup_remarks(address, unclaimed.as_ref())));
    let _owing = pending::register_cleanup("the tests that run restore their cards' data and end", "");
    runtime.block_on(run_until_stopped(listener, Arc::clone(&server), stop, request.until_idle));
    redirect_page::remove_page(address, server.token.text());
    server.tasks.shut_down(RESTORE_TIMEOUT);
    Ok(())
}

/// Path to start this program by. If the file was replaced, the kernel reports a path that ends in "(deleted)".
fn own_program(program: PathBuf) -> PathBuf {
    let link = PathBuf::from("/proc/self/exe");
    if program.exists() { program } else { link }
}

async fn run_until_stopped(
    listener: TcpListener,
    server: Arc<ServerState>,
    stop: &InterruptFlag,
    until_idle: Option<Duration>,
) {
    let router = Router::new()
        .merge(routes::all())
        .fallback(app::serve_app)
        .layer(middleware::from_fn_with_state(Arc::clone(&server), auth::authenticate))
        .with_state(Arc::clone(&server));
    let serving = tokio::spawn(async move {
        connections::accept_connections(listener, router).await;
    });
    let mut used = Instant::now();
    while !stop.is_raised() && !serving.is_finished() {
        tokio::time::sleep(POLL_INTERVAL).await;
        if server.events.listener_count() > 0 || server.tasks.has_unfinished() {
            used = Instant::now();
        }
        if until_idle.is_some_and(|most| used.elapsed() >= most) {
            break;
        }
    }
    // Event streams end first; requests in flight are dropped.
    let _ = server.closing.send(true);
    tokio::time::sleep(POLL_INTERVAL).await;
    serving.abort();
}

fn started_server(
    request: &ServeRequest,
    address: SocketAddr,
    token: &AccessToken,
    mut remarks: Vec<String>,
) -> StartedServer {
    let link = token_link(address, token);
    let page =
        request.open.then(|| redirect_page::write_page(browser_address(address), &link)).and_then(|page| {
            let cannot = |why| {
                remarks.push(format!("warning: the browser is not opened: {why}; open the address yourself"));
            };
            page.map_err(cannot).ok()
        });
    StartedServer {
        link,
        address: format!("http://{}/", browser_address(address)),
        redirect_page: page,
        remarks,
    }
}

/// The token is in the fragment, which browsers never send, so that no server or log sees it.
fn token_link(address: SocketAddr, token: &AccessToken) -> String {
    format!("http://{}/#token={}", browser_address(address), token.text())
}

/// Address as a browser can open it: 0.0.0.0 becomes 127.0.0.1.
fn browser_address(address: SocketAddr) -> SocketAddr {
    match address.ip().is_unspecified() {
        true => SocketAddr::from(([127, 0, 0, 1], address.port())),
        false => address,
    }
}

fn startup_remarks(address: SocketAddr, unclaimed: Option<&Failure>) -> Vec<String> {
    let wide = (!address.ip().is_loopback()).then(|| {
        "warning: the token, results and names of cards cross the network unencrypted; use a tunnel (ssh -L 7373:127.0.0.1:7373) \
         where others could listen"
            .to_owned()
    });
    let bare =
        (!app::is_built_in()).then(|| "note: built without the app for browsers; the API answers".to_owned());
    let alone = unclaimed.map(|why| {
        format!(
            "warning: {why}; until then scripts and `cardscope top` find no token, and tests that a killed server leaves are not \
             shown by the next one"
        )
    });
    wide.into_iter().chain(bare).chain(alone).collect()
}

fn address_unavailable(address: SocketAddr, error: std::io::Error) -> Failure {
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
