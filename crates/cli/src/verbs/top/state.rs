//! State of `top`: applies events and keys, and provides the rows to draw. Performs no I/O and reads no clock.

use super::client::{ClientEvent, ClientRequest, ConnectionState, DeviceTraffic};
use super::keys::{KeyAction, ScreenMode};
use super::series::SpeedSeries;
use cardscope_model::progress::ProgressSample;
use cardscope_model::report::NewsTone;
use cardscope_model::units::{DecimalSize, three_digits};
use cardscope_server::api::{Device, TaskResource, TaskState as Progress};
use std::collections::{BTreeMap, HashMap};

/// Limit of displayed ended tests.
const MAX_ENDED: usize = 50;

/// Limit of stored tests; the newest are kept.
const MAX_TASKS: usize = 1000;

/// Row of the list: a device, or a test whose target is not in the list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TopRow<'a> {
    /// Identity of the row across updates: path of the device, or id of the test.
    pub(super) key: &'a str,
    pub(super) device: Option<&'a Device>,
    pub(super) task: Option<&'a TaskResource>,
    pub(super) traffic: Option<&'a DeviceTraffic>,
    pub(super) series: Option<&'a SpeedSeries>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct TopState {
    /// URL of the server.
    pub(super) url: String,
    pub(super) link: ConnectionState,
    /// True if the server has ever answered.
    pub(super) was_connected: bool,
    /// Host name of the computer with these devices.
    pub(super) computer: String,
    /// Includes empty readers.
    pub(super) devices: Vec<Device>,
    /// By id. Ids begin with the time, so the order is that of arrival.
    pub(super) tasks: BTreeMap<String, TaskResource>,
    /// Last ended test of each device, by path, until its card is removed.
    last_task: HashMap<String, String>,
    series_by_task: HashMap<String, SpeedSeries>,
    traffic: HashMap<String, (DeviceTraffic, SpeedSeries)>,
    /// Clock time of the newest event.
    pub(super) newest_event: Option<String>,
    selected: Option<String>,
    pub(super) mode: ScreenMode,
    /// Message in the footer until the next key.
    pub(super) message: Option<String>,
}

impl TopState {
    pub(super) fn new(url: &str) -> Self {
        TopState { url: url.to_owned(), ..TopState::default() }
    }

    /// Applies an event; `clock` returns the time of day.
    pub(super) fn apply_event(&mut self, news: ClientEvent, clock: impl FnOnce() -> String) {
        use ClientEvent::{Devices, Sample, Task, TaskRemoved, Traffic};
        if matches!(news, Task(_) | Sample(_) | TaskRemoved(_) | Devices(_) | Traffic(_)) {
            self.newest_event = Some(clock());
        }
        match news {
            ClientEvent::Link(link) => {
                if link == ConnectionState::Connected {
                    self.was_connected = true;
                    // The kernel's counters are replaced by the server's figures.
                    self.traffic.clear();
                }
                self.link = link;
            }
            ClientEvent::Everything { computer, devices, tasks } => {
                self.computer = computer;
                self.tasks = tasks.into_iter().map(|task| (task.id.clone(), task)).collect();
                self.series_by_task.retain(|id, _| self.tasks.contains_key(id));
                self.set_devices(devices);
                // A test that ended while the server was unreachable may have used another card of that model. So ended tests are
                // assigned to devices only at the first connection.
                for task in self.tasks.values().filter(|task| task.state.has_ended() && !self.was_connected) {
                    let same = |d: &Device| d.info.path == task.target && device_title(d) == task.title;
                    // Later tests overwrite earlier ones.
                    if self.devices.iter().any(same) {
                        self.last_task.insert(task.target.clone(), task.id.clone());
                    }
                }
            }
            ClientEvent::Task(task) => self.set_task(*task),
            ClientEvent::Sample(moment) => {
                let (id, moment) = (moment.task, moment.moment);
                if let Some(task) = self.tasks.get_mut(&id) {
                    self.series_by_task.entry(id).or_default().push(moment.at, moment.mb_s, moment.celsius);
                    task.moment = Some(moment);
                }
            }
            ClientEvent::TaskRemoved(id) => self.remove_task(&id),
            ClientEvent::Devices(devices) => self.set_devices(devices),
            ClientEvent::Samples { task, moments } => {
                let mut series = SpeedSeries::default();
                moments.iter().for_each(|moment| series.push(moment.at, moment.mb_s, moment.celsius));
                if self.tasks.contains_key(&task) {
                    self.series_by_task.insert(task, series);
                }
            }
            // Late events of the local thread are ignored while the server answers.
            ClientEvent::LocalDevices { .. } | ClientEvent::Traffic(_)
                if !matches!(self.link, ConnectionState::Unreachable(_)) => {}
            ClientEvent::LocalDevices { computer, devices } => {
                self.computer = computer;
                self.set_devices(devices);
            }
            ClientEvent::Traffic(traffic) => {
                let (last, series) = self.traffic.entry(traffic.device.clone()).or_default();
                series.push(traffic.at, Some(traffic.read_mb_s + traffic.write_mb_s), None);
                *last = traffic;
            }
            ClientEvent::RequestError(text) => self.message = Some(text),
        }
        self.trim_tasks();
    }

    fn set_task(&mut self, task: TaskResource) {
        let moment = task.moment.clone().or_else(|| self.tasks.get(&task.id)?.moment.clone());
        let task = TaskResource { moment, ..task };
        if task.state.has_ended() && self.devices.iter().any(|device| device.info.path == task.target) {
            self.last_task.insert(task.target.clone(), task.id.clone());
        }
        self.tasks.insert(task.id.clone(), task);
    }

    /// Replaces the devices; a removed card loses its last result.
    fn set_devices(&mut self, devices: Vec<Device>) {
        let of = |path: &str| devices.iter().find(|device| device.info.path == path);
        let before = std::mem::take(&mut self.devices);
        self.last_task.retain(|path, _| {
            let old = before.iter().find(|device| device.info.path == *path);
            old.zip(of(path))
                .is_some_and(|(old, new)| !new.info.empty && device_title(old) == device_title(new))
        });
        self.traffic.retain(|name, _| devices.iter().any(|device| device.info.name == *name));
        self.devices = devices;
    }

    /// Drops the oldest tests beyond the limit.
    fn trim_tasks(&mut self) {
        while self.tasks.len() > MAX_TASKS {
            let Some((id, _)) = self.tasks.pop_first() else { return };
            self.remove_task(&id);
        }
    }

    fn remove_task(&mut self, id: &str) {
        self.tasks.remove(id);
        self.series_by_task.remove(id);
        self.last_task.retain(|_, last| last != id);
    }

    /// Rows: devices first, then tests on other targets, running before ended, newest first.
    pub(super) fn rows(&self) -> Vec<TopRow<'_>> {
        let newest = || self.tasks.values().rev();
        let on = |device: &Device, wanted: fn(Progress) -> bool| {
            self.tasks.values().find(|task| task.target == device.info.path && wanted(task.state))
        };
        let runs = |state| matches!(state, Progress::Running | Progress::Stopping);
        let waits = |state| state == Progress::Queued;
        let mut rows: Vec<TopRow<'_>> = Vec::new();
        for device in &self.devices {
            let last = || self.last_task.get(&device.info.path).and_then(|id| self.tasks.get(id));
            let task = on(device, runs).or_else(|| on(device, waits)).or_else(last);
            rows.push(self.row(&device.info.path, Some(device), task));
        }
        let shown: Vec<&str> = rows.iter().filter_map(|row| Some(row.task?.id.as_str())).collect();
        let more = |ended: bool| {
            let shown = &shown;
            newest().filter(move |task| task.state.has_ended() == ended && !shown.contains(&task.id.as_str()))
        };
        let others: Vec<&TaskResource> = more(false).chain(more(true).take(MAX_ENDED)).collect();
        rows.extend(others.into_iter().map(|task| self.row(&task.id, None, Some(task))));
        rows
    }

    fn row<'a>(&'a self, key: &'a str, on: Option<&'a Device>, task: Option<&'a TaskResource>) -> TopRow<'a> {
        let traffic = on.filter(|_| task.is_none()).and_then(|device| self.traffic.get(&device.info.name));
        let of_task = task.and_then(|task| self.series_by_task.get(&task.id));
        let series = of_task.or(traffic.map(|(_, series)| series));
        TopRow { key, device: on, task, traffic: traffic.map(|(traffic, _)| traffic), series }
    }

    /// Index of the selected row.
    pub(super) fn selected_index(&self, rows: &[TopRow<'_>]) -> usize {
        let find = |wanted: &dyn Fn(&TopRow<'_>) -> bool| rows.iter().position(wanted);
        let chosen = self.selected.as_ref().and_then(|key| {
            // A row of an ended test without a device becomes the device's row when its next test starts.
            let by_task = || find(&|row| row.task.is_some_and(|task| task.id == *key));
            find(&|row| row.key == key).or_else(by_task)
        });
        let running = || find(&|row| row.task.is_some_and(|task| !task.state.has_ended()));
        chosen.or_else(running).unwrap_or_default()
    }

    /// Applies a key; returns the request to send, if any.
    pub(super) fn apply_action(&mut self, action: KeyAction) -> Option<ClientRequest> {
        self.message = None;
        let (at, task, stoppable) = {
            let rows = self.rows();
            let at = self.selected_index(&rows);
            let task = rows.get(at).and_then(|row| row.task);
            let stoppable = task.filter(|task| matches!(task.state, Progress::Queued | Progress::Running));
            (at, task.map(|task| task.id.clone()), stoppable.map(|task| task.id.clone()))
        };
        match (&mut self.mode, action) {
            (ScreenMode::Details(line), KeyAction::Up(by)) => *line = line.saturating_sub(by),
            (ScreenMode::Details(line), KeyAction::Down(by)) => *line = line.saturating_add(by),
            (ScreenMode::List, KeyAction::Up(by)) => self.select(at.saturating_sub(by)),
            (ScreenMode::List, KeyAction::Down(by)) => self.select(at.saturating_add(by)),
            (ScreenMode::List, KeyAction::Enter) => {
                // Fixes the selection, so that the details stay on this row while others appear.
                self.select(at);
                self.mode = ScreenMode::Details(0);
            }
            (ScreenMode::List | ScreenMode::Details(_), KeyAction::Stop) => {
                match (stoppable, self.link == ConnectionState::Connected) {
                    (_, false) => self.message = Some("no test can be stopped without the server".to_owned()),
                    (Some(id), true) => self.mode = ScreenMode::Confirm(id),
                    (None, true) => self.message = Some("no test that runs or waits is selected".to_owned()),
                }
            }
            (ScreenMode::List | ScreenMode::Details(_), KeyAction::Help) => self.mode = ScreenMode::Help,
            (ScreenMode::Confirm(id), KeyAction::Yes) => {
                let id = std::mem::take(id);
                self.mode = ScreenMode::List;
                return Some(ClientRequest::StopTask(id));
            }
            (ScreenMode::List, _) => {}
            (ScreenMode::Help, _) | (_, KeyAction::Enter | KeyAction::Back | KeyAction::No) => {
                self.mode = ScreenMode::List
            }
            _ => {}
        }
        self.samples_request(task)
    }

    /// Selects a row, at most the last one.
    fn select(&mut self, at: usize) {
        let rows = self.rows();
        self.selected = rows.get(at.min(rows.len().saturating_sub(1))).map(|row| row.key.to_owned());
    }

    /// Request for the samples of the selected test if they are not loaded yet.
    fn samples_request(&self, before: Option<String>) -> Option<ClientRequest> {
        let rows = self.rows();
        let task = rows.get(self.selected_index(&rows))?.task?;
        let new = before.as_deref() != Some(task.id.as_str()) || matches!(self.mode, ScreenMode::Details(_));
        let unknown = !self.series_by_task.contains_key(&task.id) && task.started_at.is_some();
        (new && unknown && self.link == ConnectionState::Connected)
            .then(|| ClientRequest::LoadSamples(task.id.clone()))
    }

    /// Limits scrolling to `last`, which only the drawing code knows.
    pub(super) fn limit_scroll(&mut self, last: usize) {
        if let ScreenMode::Details(line) = &mut self.mode {
            *line = (*line).min(last);
        }
    }
}

/// `2 cards` without empty readers, or `2 devices` if a fixed disk is among them.
pub(super) fn count_text(devices: &[Device]) -> String {
    let there: Vec<&Device> = devices.iter().filter(|device| !device.info.empty).collect();
    let what = if there.iter().all(|device| device.info.removable) { "card" } else { "device" };
    format!("{} {what}{}", there.len(), if there.len() == 1 { "" } else { "s" })
}

/// Title of a device as the server writes it in a task.
fn device_title(device: &Device) -> String {
    let size = device.info.bytes.map(|bytes| DecimalSize(bytes).to_string());
    [device.info.model.clone(), size].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

impl TopRow<'_> {
    /// Short name of the card.
    pub(super) fn short_name(&self) -> &str {
        match (self.device, self.task) {
            (Some(device), _) => &device.info.name,
            (None, Some(task)) => {
                let name = task.target.strip_prefix("sim:").or(task.target.strip_prefix("/dev/"));
                name.unwrap_or(&task.target)
            }
            (None, None) => "",
        }
    }

    pub(super) fn size_text(&self) -> String {
        match self.device {
            Some(device) if device.info.empty => String::new(),
            Some(device) => device.info.bytes.map(|bytes| DecimalSize(bytes).to_string()).unwrap_or_default(),
            // The server's title ends with the size.
            None => self.task.and_then(|task| size_in_title(&task.title)).unwrap_or_default().to_owned(),
        }
    }

    pub(super) fn model_text(&self) -> &str {
        match (self.device, self.task) {
            (Some(device), _) => device.info.model.as_deref().unwrap_or_default(),
            (None, Some(task)) => &task.title,
            (None, None) => "",
        }
    }

    /// State of the test, or safety of the device, with its tone.
    pub(super) fn state_text(&self) -> (String, NewsTone) {
        match (self.task, self.device) {
            (Some(task), _) => (progress_text(task), task_tone(task)),
            (None, Some(device)) => match (device.info.empty, device.info.safe, &device.info.reason) {
                (true, _, _) => ("empty slot".to_owned(), NewsTone::Plain),
                (_, true, _) => ("safe to test".to_owned(), NewsTone::Plain),
                (_, _, Some(reason)) => (format!("no test: {reason}"), NewsTone::Plain),
                (_, _, None) => ("no test: reason unknown".to_owned(), NewsTone::Plain),
            },
            (None, None) => (String::new(), NewsTone::Plain),
        }
    }

    /// Newest sample of a test that has not ended.
    fn sample(&self) -> Option<&ProgressSample> {
        self.task.filter(|task| !task.state.has_ended())?.moment.as_ref()
    }

    /// Cells of the table: card, size, model, state, share done, MB/s, latency, °C and time left.
    pub(super) fn cells(&self, state: String) -> [String; 9] {
        let (sample, traffic) = (self.sample(), self.traffic);
        let moved = traffic.map(|traffic| traffic.read_mb_s + traffic.write_mb_s).filter(|mb_s| *mb_s > 0.0);
        let speed = sample.and_then(|sample| sample.mb_s).or(moved);
        let latency = sample.and_then(|sample| sample.latency_us).or(traffic.and_then(|t| t.latency_us));
        let figures = [
            sample.and_then(|sample| sample.done).map(|done| format!("{:.0} %", (done * 100.0).floor())),
            speed.map(short_number),
            latency.map(format_latency),
            sample.and_then(|sample| sample.celsius).map(|celsius| format!("{celsius:.0}")),
            sample.and_then(|sample| sample.left_s).map(format_countdown),
        ];
        let [done, speed, latency, celsius, left] = figures.map(Option::unwrap_or_default);
        let (name, model) = (self.short_name().to_owned(), self.model_text().to_owned());
        [name, self.size_text(), model, state, done, speed, latency, celsius, left]
    }
}

/// Size at the end of a title: `32 GB` of `SanDisk Extreme, 32 GB`.
fn size_in_title(title: &str) -> Option<&str> {
    let (_, end) = title.rsplit_once(", ")?;
    ["TB", "GB", "MB", "kB", "bytes"].iter().any(|unit| end.ends_with(unit)).then_some(end)
}

/// Stage of a running test, or result of an ended one.
pub(super) fn progress_text(task: &TaskResource) -> String {
    let verb = &task.verb;
    let stage = || match &task.moment {
        Some(ProgressSample { stage, stage_number: number @ 1.., stages: all @ 2.., .. }) => {
            format!("{verb} {number}/{all} {stage}")
        }
        Some(moment) if !moment.stage.is_empty() => format!("{verb}: {}", moment.stage),
        _ => format!("{verb} begins"),
    };
    let result = || task.answer.as_deref().or(task.error.as_deref()).unwrap_or("no result");
    match task.state {
        Progress::Queued => format!("{verb} waits"),
        Progress::Running => stage(),
        Progress::Stopping => format!("stopping {}", stage()),
        Progress::Complete => result().to_owned(),
        Progress::Failed => format!("{verb} failed: {}", task.error.as_deref().unwrap_or("reason unknown")),
        Progress::Interrupted => format!("stopped: {}", result()),
    }
}

/// Tone of a test; a failed one is always bad.
pub(super) fn task_tone(task: &TaskResource) -> NewsTone {
    match task.state {
        Progress::Failed => NewsTone::Bad,
        Progress::Complete | Progress::Interrupted => task.tone.unwrap_or_default(),
        _ => NewsTone::Plain,
    }
}

/// Number in at most five characters.
fn short_number(value: f64) -> String {
    match value {
        small if small < 0.01 => "0.00".to_owned(),
        usual if usual < 99_999.0 => three_digits(usual),
        _ => "many".to_owned(),
    }
}

/// Latency in at most seven characters: `350 µs`, `1.20 ms`, `2.00 s`.
pub(super) fn format_latency(us: f64) -> String {
    match us {
        us if us < 999.5 => format!("{us:.0} µs"),
        us if us < 999_500.0 => format!("{} ms", three_digits(us / 1e3)),
        us => format!("{} s", three_digits(us / 1e6)),
    }
}

/// Remaining time in at most six characters: `48 s`, `1:40`, `2h05`, `4 d`.
fn format_countdown(seconds: f64) -> String {
    let whole = seconds.clamp(0.0, 1e9).ceil() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{}:{:02}", whole / 60, whole % 60),
        3600..86_400 => format!("{}h{:02}", whole / 3600, whole % 3600 / 60),
        _ => format!("{} d", (whole / 86_400).min(9999)),
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
