//! Starts the server, runs it, and shuts it down.

use crate::card_index::CardIndex;
use crate::claim::ServerClaim;
use crate::event_log::EventLog;
use crate::state::{AllowedHosts, ServerState};
use crate::tasks::TaskQueue;
use crate::token::AccessToken;
use crate::uploads::UploadFolder;
use crate::{app, auth, change_watchers, claim, connections, routes, token};
use axum::{Router, middleware};
use cardscope_archive::{self as archive, AnswerCache};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::pending;
use cardscope_session::arguments::parse_duration;
use cardscope_session::error::{Failure, Result};
use cardscope_session::options::ArchiveAt;
use cardscope_verbs::list::answer_of_document;
use clap::Args;
use std::io::{Error, ErrorKind};
use std::net::{IpAddr, SocketAddr};
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

/// Serve the archive and the test bench to a browser
///
/// Listens on this computer only, at http://127.0.0.1:7373/, and prints the address with the token that a browser needs, a new one
/// for each start. Tests that are started there run in processes of their own; Ctrl-C stops them, has the cards' data restored,
/// and ends.
#[derive(Debug, Clone, Args)]
pub struct ServeRequest {
    /// Port to listen on; 0 takes any that is free
    #[arg(long, default_value_t = 7373)]
    pub port: u16,
    /// Listen on another address of this computer, e.g. 192.168.1.9 or 0.0.0.0: the token, results and names of cards then
    /// cross the network unencrypted
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", hide_default_value = true)]
    pub listen: IpAddr,
    /// Also answer to this name of the computer, e.g. pi.local, with a port if a proxy has another one (repeatable)
    #[arg(long = "allow-host", value_name = "NAME")]
    pub hosts: Vec<String>,
    /// Open the address in this desktop's browser
    #[arg(long)]
    pub open: bool,
    /// Take the token from this file of yours (mode 0600), made if missing, e.g. where the server starts at boot
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// End by itself once no browser has been open and no test has run for so long, e.g. 1h
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub until_idle: Option<Duration>,
    /// Offer fixed disks and loop devices, too
    #[arg(long)]
    pub all: bool,
    /// The archive that is shown and filled.
    #[command(flatten)]
    pub archive: ArchiveAt,
}

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
pub fn serve(request: &ServeRequest, stop: &InterruptFlag, announce: OnServerStart<'_>) -> Result<()> {
    let failed = |what: &str, e: Error| Failure::io_for(format!("{what}: {e}"), e);
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
            let token = AccessToken::of_running_server()?.ok_or_else(|| address_unavailable(asked, error))?;
            announce(&started_server(request, asked, &token, vec!["note: it is served already".to_owned()]));
            return Ok(());
        }
        Err(error) => return Err(address_unavailable(asked, error)),
    };
    let address = listener.local_addr().map_err(|e| failed("the server has no address", e))?;
    // If the file was replaced, the kernel reports a path that ends in "(deleted)".
    let program = std::env::current_exe().map_err(|e| failed("the program does not find itself", e))?;
    let program = if program.exists() { program } else { PathBuf::from("/proc/self/exe") };
    let events = Arc::new(EventLog::new());
    let archive = request.archive.archive.clone();
    let (claim, unclaimed) = match ServerClaim::try_claim(address, &token) {
        Ok(claim) => (claim, None),
        Err(why) => (None, Some(why)),
    };
    let server = Arc::new(ServerState {
        address,
        hosts: AllowedHosts::from_address(address, &request.hosts),
        tasks: TaskQueue::new(Arc::clone(&events), program, archive.clone(), claim),
        archive,
        all_devices: request.all,
        events,
        card_index: CardIndex::default(),
        answers: AnswerCache::new(answer_of_document),
        uploads: UploadFolder::new().map_err(|e| failed("no folder for files that are sent", e))?,
        closing: tokio::sync::watch::Sender::new(false),
        token,
        read_token: AccessToken::random()?,
    });
    change_watchers::start_watchers(&server).map_err(|e| failed("no thread can be started", e))?;
    announce(&started_server(request, address, &server.token, startup_remarks(address, unclaimed.as_ref())));
    let _owing = pending::register_cleanup("the tests that run restore their cards' data and end", "");
    runtime.block_on(run_until_stopped(listener, Arc::clone(&server), stop, request.until_idle));
    token::remove_redirect_page(address, &server.token);
    server.tasks.shut_down(RESTORE_TIMEOUT);
    Ok(())
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
    let serving = tokio::spawn(connections::accept_connections(listener, router));
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
    let open_at = browser_address(address);
    let address = format!("http://{open_at}/");
    // The token is in the fragment, which browsers never send, so that no server or log sees it.
    let link = format!("{address}#token={}", token.text());
    let mut redirect_page = None;
    if request.open {
        match token::write_redirect_page(open_at, &link) {
            Ok(page) => redirect_page = Some(page),
            Err(why) => {
                remarks.push(format!("warning: the browser is not opened: {why}; open the address yourself"))
            }
        }
    }
    StartedServer { link, address, redirect_page, remarks }
}

/// Address as a browser can open it: 0.0.0.0 becomes 127.0.0.1.
fn browser_address(address: SocketAddr) -> SocketAddr {
    match address.ip().is_unspecified() {
        true => SocketAddr::from(([127, 0, 0, 1], address.port())),
        false => address,
    }
}

fn startup_remarks(address: SocketAddr, unclaimed: Option<&Failure>) -> Vec<String> {
    let mut remarks = Vec::new();
    if !address.ip().is_loopback() {
        let why = "warning: the token, results and names of cards cross the network unencrypted; use a tunnel \
            (ssh -L 7373:127.0.0.1:7373) where others could listen";
        remarks.push(why.to_owned());
    }
    if !app::is_built_in() {
        remarks.push("note: built without the app for browsers; the API answers".to_owned());
    }
    remarks.extend(unclaimed.map(|why| {
        format!(
            "warning: {why}; until then scripts and `cardscope top` find no token, and tests that a killed server leaves are not \
             shown by the next one"
        )
    }));
    remarks
}

fn address_unavailable(address: SocketAddr, error: Error) -> Failure {
    let why = match error.kind() {
        ErrorKind::AddrInUse => {
            "another program listens there, perhaps another `cardscope serve`; give another --port".into()
        }
        ErrorKind::PermissionDenied => format!("{error}; ports below 1024 are for root: give another --port"),
        ErrorKind::AddrNotAvailable => format!("{error}; this computer has no such address: check --listen"),
        _ => error.to_string(),
    };
    Failure::refused_for(format!("{address} cannot be listened on: {why}"), error)
}
