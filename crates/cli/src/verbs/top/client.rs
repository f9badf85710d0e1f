//! Client of the HTTP API on background threads: the event stream with reconnection, and requests. Without a server it
//! polls the local devices and the kernel's I/O counters.

use super::address::ServerAddress;
use cardscope_device::device_counters::DeviceCounters;
use cardscope_host::verb::observe;
use cardscope_identity::verb as identify;
use cardscope_identity::verb::ListRequest;
use cardscope_model::progress::ProgressSample;
use cardscope_server::api::{ApiProblem, Device, DeviceList, HostInfo, TaskList, TaskResource, TaskSample};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::convert::Infallible;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};
use ureq::http::Response;
use ureq::typestate::WithoutBody;
use ureq::{Agent, Body, RequestBuilder};

/// Capacity of the channel. If the screen is slow, the server notices and drops events.
const CHANNEL_CAPACITY: usize = 256;

/// Timeout of an answer; listing devices may wait for slow ones.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// Timeout of the stream, on which the server sends a comment every 15 seconds.
const STREAM_TIMEOUT: Duration = Duration::from_secs(40);

/// Interval of reconnecting, and of reading the kernel's counters.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Limit of an answer and of an event in bytes.
const MAX_BYTES: u64 = 64 << 20;

const TOKEN_HEADER: &str = "Cardscope-Token";

/// State of the connection to the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum ConnectionState {
    /// Not tried yet.
    #[default]
    Connecting,
    /// Events arrive.
    Connected,
    /// Unreachable, with the reason.
    Unreachable(String),
}

/// Event for the screen.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ClientEvent {
    Link(ConnectionState),
    /// Complete state of the server.
    Everything {
        computer: String,
        devices: Vec<Device>,
        tasks: Vec<TaskResource>,
    },
    Task(Box<TaskResource>),
    Sample(TaskSample),
    TaskRemoved(String),
    Devices(Vec<Device>),
    /// Samples of a test so far.
    Samples {
        task: String,
        moments: Vec<ProgressSample>,
    },
    /// Local devices, without a server.
    LocalDevices {
        computer: String,
        devices: Vec<Device>,
    },
    /// Kernel counters of a local device, without a server.
    Traffic(DeviceTraffic),
    /// Error of a request.
    RequestError(String),
}

/// Traffic of a device within a second.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct DeviceTraffic {
    /// Kernel name of the device.
    pub(super) device: String,
    /// Seconds since the program started.
    pub(super) at: f64,
    pub(super) read_mb_s: f64,
    pub(super) write_mb_s: f64,
    /// Mean latency in µs of the completed I/Os.
    pub(super) latency_us: Option<f64>,
}

/// Order of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ClientRequest {
    StopTask(String),
    /// Load the samples of a test.
    LoadSamples(String),
}

#[derive(Debug, Clone)]
pub(super) struct ApiClient {
    agent: Agent,
    address: ServerAddress,
}

#[derive(Deserialize)]
struct RemovedTask {
    task: String,
}

impl ApiClient {
    pub(super) fn new(address: ServerAddress) -> Self {
        // The server is near, so no proxy is needed, and without redirects the token reaches no other host.
        let config = Agent::config_builder().proxy(None).max_redirects(0).http_status_as_error(false);
        let config = config.timeout_connect(Some(ANSWER_TIMEOUT)).timeout_recv_response(Some(ANSWER_TIMEOUT));
        ApiClient { agent: config.timeout_per_read(Some(STREAM_TIMEOUT)).build().new_agent(), address }
    }

    fn request(&self, path: &str) -> Result<RequestBuilder<WithoutBody>, String> {
        let request = self.agent.get(format!("{}/api/{path}", self.address.url));
        Ok(request.header(TOKEN_HEADER, self.address.token_to_send()?))
    }

    /// Opens the event stream after the event `last`.
    fn open_stream(&self, last: Option<&str>) -> Result<impl BufRead + use<>, String> {
        let mut request = self.request("events")?;
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last);
        }
        Ok(BufReader::new(successful_body(request.call())?.into_reader()))
    }

    fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, String> {
        parse_answer(self.request(path)?.call())
    }

    fn stop_task(&self, task: &str) -> Result<Box<TaskResource>, String> {
        let url = format!("{}/api/tasks/{task}/stop", self.address.url);
        parse_answer(self.agent.post(url).header(TOKEN_HEADER, self.address.token_to_send()?).send_empty())
    }

    /// Loads the complete state of the server.
    pub(super) fn load_everything(&self) -> Result<(HostInfo, Vec<Device>, Vec<TaskResource>), String> {
        let (host, devices) = (self.get("host")?, self.get::<DeviceList>("devices")?.devices);
        Ok((host, devices, self.get::<TaskList>("tasks")?.tasks))
    }

    fn load_samples(&self, id: String) -> Result<ClientEvent, String> {
        let moments = self.get::<TaskResource>(&format!("tasks/{id}"))?.moments;
        Ok(ClientEvent::Samples { task: id, moments })
    }
}

fn read_body(body: &mut Body) -> Result<Vec<u8>, String> {
    body.with_config().limit(MAX_BYTES).read_to_vec().map_err(|error| describe_error(&error))
}

fn successful_body(answer: Result<Response<Body>, ureq::Error>) -> Result<Body, String> {
    let mut answer = answer.map_err(|error| describe_error(&error))?;
    match answer.status().is_success() {
        true => Ok(answer.into_body()),
        false => Err(error_message(answer.status().as_u16(), answer.body_mut())),
    }
}

fn parse_answer<T: DeserializeOwned>(answer: Result<Response<Body>, ureq::Error>) -> Result<T, String> {
    parse_json(&read_body(&mut successful_body(answer)?)?)
}

fn parse_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    let other = |error| format!("what answers is another program, or another version of Cardscope ({error})");
    serde_json::from_slice(text).map_err(other)
}

/// Error message of an answer.
fn error_message(status: u16, answer: &mut Body) -> String {
    if status == 401 {
        let advice = "give the one that `cardscope serve` printed in CARDSCOPE_TOKEN";
        return format!("the token is missing or wrong; {advice}");
    }
    let said = read_body(answer).ok().and_then(|text| serde_json::from_slice::<ApiProblem>(&text).ok());
    said.map_or_else(|| format!("it answers with HTTP status {status}"), |problem| problem.error)
}

fn describe_error(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(e) if e.kind() == ErrorKind::ConnectionRefused => "no server answers".to_owned(),
        ureq::Error::Timeout(_) => "no answer in time".to_owned(),
        error => error.to_string(),
    }
}

/// Server-sent event.
#[derive(Debug, Default, PartialEq, Eq)]
struct StreamEvent {
    name: String,
    data: String,
    id: Option<String>,
}

/// Reads the next event; `None` at the end of the stream.
fn next_event(stream: &mut impl BufRead) -> std::io::Result<Option<StreamEvent>> {
    let (mut event, mut room) = (StreamEvent::default(), MAX_BYTES);
    loop {
        let mut line = Vec::new();
        let taken = stream.by_ref().take(room).read_until(b'\n', &mut line)? as u64;
        room -= taken;
        if taken == 0 {
            return if room == 0 { Err(ErrorKind::InvalidData.into()) } else { Ok(None) };
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\n', '\r']);
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" if line.is_empty() && event == StreamEvent::default() => room = MAX_BYTES,
            "" if line.is_empty() => return Ok(Some(event)),
            "event" => value.clone_into(&mut event.name),
            "data" => {
                if !event.data.is_empty() {
                    event.data.push('\n');
                }
                event.data += value;
            }
            "id" => event.id = Some(value.to_owned()),
            // Comments and unused fields.
            _ => {}
        }
    }
}

/// Channels between the screen and the threads.
#[derive(Debug)]
pub(super) struct ClientChannels {
    pub(super) news: Receiver<ClientEvent>,
    pub(super) orders: Sender<ClientRequest>,
}

/// Starts the threads; `all` includes fixed disks if there is no server.
pub(super) fn start_threads(address: ServerAddress, all: bool) -> std::io::Result<ClientChannels> {
    let (sender, news) = sync_channel(CHANNEL_CAPACITY);
    let (orders, asked) = channel();
    let served = Arc::new(AtomicBool::new(true));
    let thread = |name: &str| std::thread::Builder::new().name(name.into());
    if !address.is_explicit {
        let (sender, served) = (sender.clone(), Arc::clone(&served));
        thread("here").spawn(move || poll_local_devices(all, &sender, &served))?;
    }
    let client = ApiClient::new(address);
    let (ordering, answers) = (client.clone(), sender.clone());
    thread("orders").spawn(move || serve_requests(&ordering, &asked, &answers))?;
    thread("events").spawn(move || follow_with_retries(&client, &sender, &served))?;
    Ok(ClientChannels { news, orders })
}

/// Reason why the event stream is no longer followed.
enum StreamEnd {
    ScreenClosed,
    Broken(String),
}

impl From<String> for StreamEnd {
    fn from(why: String) -> Self {
        StreamEnd::Broken(why)
    }
}

fn send_event(to: &SyncSender<ClientEvent>, news: ClientEvent) -> Result<(), StreamEnd> {
    to.send(news).map_err(|_| StreamEnd::ScreenClosed)
}

/// Follows the event stream and reconnects, until the screen closes.
fn follow_with_retries(client: &ApiClient, to: &SyncSender<ClientEvent>, served: &AtomicBool) {
    let mut last = None;
    loop {
        let Err(StreamEnd::Broken(why)) = follow_stream(client, &mut last, to, served) else { return };
        if send_event(to, ClientEvent::Link(ConnectionState::Unreachable(why))).is_err() {
            return;
        }
        served.store(false, Ordering::Relaxed);
        std::thread::sleep(RETRY_INTERVAL);
    }
}

/// Follows the event stream until it ends.
fn follow_stream(
    client: &ApiClient,
    last: &mut Option<String>,
    to: &SyncSender<ClientEvent>,
    served: &AtomicBool,
) -> Result<Infallible, StreamEnd> {
    // Subscribes before loading the state, so that no event in between is missed.
    let mut stream = client.open_stream(last.as_deref())?;
    send_everything(client, to)?;
    served.store(true, Ordering::Relaxed);
    send_event(to, ClientEvent::Link(ConnectionState::Connected))?;
    loop {
        let event = match next_event(&mut stream) {
            Ok(Some(event)) => event,
            Ok(None) => return Err(StreamEnd::Broken("the server has ended".to_owned())),
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                return Err(StreamEnd::Broken("no answer in time".to_owned()));
            }
            Err(error) => return Err(StreamEnd::Broken(format!("the connection broke: {error}"))),
        };
        *last = event.id.or(last.take());
        let data = event.data.as_bytes();
        let news = match event.name.as_str() {
            "task" => ClientEvent::Task(parse_json(data)?),
            "moment" => ClientEvent::Sample(parse_json(data)?),
            "forgotten" => ClientEvent::TaskRemoved(parse_json::<RemovedTask>(data)?.task),
            "devices" => ClientEvent::Devices(client.get::<DeviceList>("devices")?.devices),
            "gap" => {
                // The server has dropped events.
                send_everything(client, to)?;
                continue;
            }
            _ => continue,
        };
        send_event(to, news)?;
    }
}

/// Sends the complete state and the samples of all open tests.
fn send_everything(client: &ApiClient, to: &SyncSender<ClientEvent>) -> Result<(), StreamEnd> {
    let (host, devices, tasks) = client.load_everything()?;
    let open = tasks.iter().filter(|task| !task.state.has_ended());
    let open: Vec<String> = open.map(|task| task.id.clone()).collect();
    send_event(to, ClientEvent::Everything { computer: host.hostname, devices, tasks })?;
    // A test that was removed meanwhile has no samples.
    open.into_iter().filter_map(|id| client.load_samples(id).ok()).try_for_each(|news| send_event(to, news))
}

/// Sends the requests of the screen one by one.
fn serve_requests(client: &ApiClient, orders: &Receiver<ClientRequest>, to: &SyncSender<ClientEvent>) {
    for order in orders {
        let news = match order {
            ClientRequest::StopTask(id) => client.stop_task(&id).map(ClientEvent::Task),
            ClientRequest::LoadSamples(id) => client.load_samples(id),
        };
        if send_event(to, news.unwrap_or_else(ClientEvent::RequestError)).is_err() {
            return;
        }
    }
}

/// Host name of this computer.
pub(super) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

pub(super) fn local_devices(all: bool) -> Vec<Device> {
    let asked = ListRequest { all, ..ListRequest::default() };
    identify::list_devices(&asked).unwrap_or_default().into_iter().map(Device::from).collect()
}

/// Polls local devices and their counters while no server answers.
fn poll_local_devices(all: bool, to: &SyncSender<ClientEvent>, served: &AtomicBool) {
    let began = Instant::now();
    let mut present = None;
    let mut before: HashMap<String, (f64, Option<DeviceCounters>)> = HashMap::new();
    loop {
        if served.load(Ordering::Relaxed) {
            (present, before) = (None, HashMap::new());
        } else {
            let now = Some(identify::presence_text());
            if present != now {
                present = now;
                let devices = local_devices(all);
                before = devices.iter().map(|device| (device.info.name.clone(), (0.0, None))).collect();
                if send_event(to, ClientEvent::LocalDevices { computer: host_name(), devices }).is_err() {
                    return;
                }
            }
            for (name, before) in &mut before {
                let now = (began.elapsed().as_secs_f64(), observe::device_counters(name));
                let traffic = device_traffic(name, *before, now);
                *before = now;
                if traffic.is_some_and(|traffic| send_event(to, ClientEvent::Traffic(traffic)).is_err()) {
                    return;
                }
            }
        }
        std::thread::sleep(RETRY_INTERVAL);
    }
}

/// Traffic between two readings of the counters.
fn device_traffic(
    device: &str,
    before: (f64, Option<DeviceCounters>),
    now: (f64, Option<DeviceCounters>),
) -> Option<DeviceTraffic> {
    let (old, new, seconds) = (before.1?, now.1?, now.0 - before.0);
    let mb_s = |new: u64, old: u64| new.saturating_sub(old) as f64 / cardscope_model::units::MB / seconds;
    let ios = (new.reads + new.writes).saturating_sub(old.reads + old.writes);
    let waited_ms = (new.read_ms + new.write_ms).saturating_sub(old.read_ms + old.write_ms);
    (seconds > 0.0).then(|| DeviceTraffic {
        device: device.to_owned(),
        at: now.0,
        read_mb_s: mb_s(new.read_bytes, old.read_bytes),
        write_mb_s: mb_s(new.write_bytes, old.write_bytes),
        latency_us: (ios > 0).then(|| waited_ms as f64 * 1e3 / ios as f64),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_parsed_between_comments() {
        let stream = ": alive\n\nevent: task\ndata: {\"a\":1}\nid: 7\n\nevent:gap\r\ndata:x\r\ndata:y\r\n\r\nevent: cut";
        let mut stream = stream.as_bytes();
        let event = next_event(&mut stream).unwrap().unwrap();
        assert_eq!(
            (event.name.as_str(), event.data.as_str(), event.id.as_deref()),
            ("task", "{\"a\":1}", Some("7"))
        );
        let event = next_event(&mut stream).unwrap().unwrap();
        assert_eq!((event.name.as_str(), event.data.as_str(), event.id), ("gap", "x\ny", None));
        assert_eq!(next_event(&mut stream).unwrap(), None, "one that is cut off says nothing");
    }

    #[test]
    fn kernel_counters_become_speed_and_latency() {
        let old =
            DeviceCounters { reads: 10, read_bytes: 1_000_000, read_ms: 5, ..DeviceCounters::default() };
        let new =
            DeviceCounters { reads: 20, read_bytes: 5_000_000, read_ms: 25, write_bytes: 500_000, ..old };
        let seen = device_traffic("sdb", (1.0, Some(old)), (3.0, Some(new))).unwrap();
        assert_eq!((seen.read_mb_s, seen.write_mb_s, seen.latency_us), (2.0, 0.25, Some(2000.0)));
        assert_eq!(device_traffic("sdb", (1.0, None), (3.0, Some(new))), None);
        let again = device_traffic("sdb", (1.0, Some(new)), (2.0, Some(old))).unwrap();
        assert_eq!(again.read_mb_s, 0.0, "another card has counters of its own");
    }
}
