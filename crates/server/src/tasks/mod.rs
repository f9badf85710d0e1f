//! Task queue: one test at a time on each device, every test in a child process. Its state is kept in memory for queries
//! and broadcast as events.

mod child;
pub(crate) mod request;

use crate::api::{TaskResource, TaskSample, TaskState};
use crate::claim::{ServerClaim, TaskStore};
use crate::event_log::EventLog;
use crate::poison;
use crate::uploads::TemporaryText;
use cardscope_identity::verb as identify;
use cardscope_model::progress::{ProgressEvent, ProgressSample, StagePlan};
use cardscope_model::report::{ExitStatus, NewsTone};
use cardscope_session::frame::Failure;
use cardscope_verbs::list::answer_of_document;
use cardscope_verbs::request::Effect;
use child::{ChildEnd, RunningChild};
use request::TaskRequest;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Limit of ended tasks in the list; their results remain in the archive.
const MAX_ENDED: usize = 200;

/// Limit of queued tasks.
const MAX_WAITING: usize = 200;

/// Limit of notes, of findings and of speeds of one task.
const MAX_MESSAGES: usize = 500;

/// Limit of samples.
const MAX_SAMPLES: usize = 600;

/// Initial interval in seconds.
const INITIAL_INTERVAL_S: f64 = 0.2;

/// Validated task, ready to start.
#[derive(Debug, Clone)]
pub(crate) struct ReadyTask {
    pub(crate) request: TaskRequest,
    /// Name of the target for people.
    pub(crate) title: String,
    /// Arguments after the verb, including the target.
    pub(crate) arguments: Vec<OsString>,
    pub(crate) loses_data: bool,
    /// File of an uploaded recipe, removed with its last user.
    pub(crate) _recipe: Option<Arc<TemporaryText>>,
}

pub(crate) struct TaskQueue {
    inner: Mutex<QueueState>,
    events: Arc<EventLog>,
    program: PathBuf,
    archive: Option<PathBuf>,
    /// Locked while tasks are listed and saved, so that an older list never replaces a newer one.
    store: Mutex<TaskStore>,
    closing: AtomicBool,
    /// Limit of simultaneous tests of simulated cards, each of which occupies a processor.
    simulated_at_once: usize,
}

struct QueueState {
    /// By id. Ids begin with the time, so the order is that of arrival.
    all: BTreeMap<String, QueuedTask>,
    waiting: HashMap<String, ReadyTask>,
}

struct QueuedTask {
    task: TaskResource,
    samples: SampleHistory,
    pid: Option<u32>,
}

impl TaskQueue {
    /// Loads tasks that a killed server has left, if this server holds the claim.
    pub(crate) fn new(
        events: Arc<EventLog>,
        program: PathBuf,
        archive: Option<PathBuf>,
        claim: Option<ServerClaim>,
    ) -> Arc<Self> {
        let store = TaskStore::new(claim);
        let old = store.load_interrupted().into_iter().map(|task| (task.id.clone(), QueuedTask::new(task)));
        Arc::new(TaskQueue {
            inner: Mutex::new(QueueState { all: old.collect(), waiting: HashMap::new() }),
            events,
            program,
            archive,
            store: Mutex::new(store),
            closing: AtomicBool::new(false),
            simulated_at_once: std::thread::available_parallelism().map_or(1, usize::from),
        })
    }

    pub(crate) fn list(&self) -> Vec<TaskResource> {
        poison::lock(&self.inner).all.values().rev().map(|entry| entry.task.clone()).collect()
    }

    pub(crate) fn get(&self, id: &str) -> Option<TaskResource> {
        let inner = poison::lock(&self.inner);
        let entry = inner.all.get(id)?;
        Some(TaskResource { moments: entry.samples.samples.clone(), ..entry.task.clone() })
    }

    /// Id of the task that runs or waits on a target.
    pub(crate) fn task_on_target(&self, target: &str) -> Option<String> {
        let inner = poison::lock(&self.inner);
        let of = |entry: &&QueuedTask| entry.task.target == target && !entry.task.state.has_ended();
        inner.all.values().find(of).map(|entry| entry.task.id.clone())
    }

    /// Queues a task, which starts once its device is free. Refuses if the queue is full or the server is shutting down.
    pub(crate) fn enqueue(self: &Arc<Self>, ready: ReadyTask) -> Result<TaskResource, Failure> {
        let task = TaskResource {
            id: Uuid::now_v7().to_string(),
            verb: ready.request.verb.name.to_owned(),
            target: ready.request.target.clone(),
            title: ready.title.clone(),
            queued_at: now_utc(),
            loses_data: ready.loses_data,
            restores: ready.restores(),
            says: ready.effect_on_data(),
            ..TaskResource::default()
        };
        {
            let mut inner = poison::lock(&self.inner);
            if self.closing.load(Ordering::Relaxed) {
                return Err(Failure::refused("the server is about to end; start the test after that"));
            }
            if inner.waiting.len() >= MAX_WAITING {
                let why = format!("{MAX_WAITING} tests wait already; start this one when some have ended");
                return Err(Failure::refused(why));
            }
            inner.waiting.insert(task.id.clone(), ready);
            inner.all.insert(task.id.clone(), QueuedTask::new(task.clone()));
            inner.trim_ended();
        }
        self.broadcast_state(&task.id);
        self.save_unfinished();
        self.start_ready();
        Ok(self.get(&task.id).unwrap_or(task))
    }

    /// Interrupts a task, or drops a waiting one. [`TaskQueue::save_unfinished`] must follow to update the file.
    pub(crate) fn stop(self: &Arc<Self>, id: &str) -> Option<TaskResource> {
        {
            let mut inner = poison::lock(&self.inner);
            let dropped = inner.waiting.remove(id);
            let entry = inner.all.get_mut(id)?;
            match (dropped, entry.pid) {
                (Some(_), _) => entry.set_end(TaskState::Interrupted, Some("stopped before it began".into())),
                // Sent once: a second signal would end the child before it has restored the card.
                (None, pid) if entry.task.state == TaskState::Running => {
                    entry.task.state = TaskState::Stopping;
                    pid.into_iter().for_each(child::send_interrupt);
                }
                _ => {}
            }
        }
        self.broadcast_state(id);
        self.get(id)
    }

    /// Removes an ended task from the list; false if it is unknown or still running. [`TaskQueue::save_unfinished`] must follow to
    /// update the file.
    pub(crate) fn remove(&self, id: &str) -> bool {
        let gone = {
            let mut inner = poison::lock(&self.inner);
            let ended = inner.all.get(id).is_some_and(|entry| entry.task.state.has_ended());
            ended && inner.all.remove(id).is_some()
        };
        if gone {
            self.events.publish("forgotten", &serde_json::json!({ "task": id }));
        }
        gone
    }

    /// Stops all tasks and waits up to `patience` for their restoring.
    pub(crate) fn shut_down(self: &Arc<Self>, patience: Duration) {
        self.closing.store(true, Ordering::Relaxed);
        let open = |task: &TaskResource| !task.state.has_ended();
        for task in self.list().iter().filter(|task| open(task)) {
            self.stop(&task.id);
        }
        self.save_unfinished();
        let asked = Instant::now();
        while asked.elapsed() < patience && self.list().iter().any(open) {
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn has_unfinished(&self) -> bool {
        poison::lock(&self.inner).all.values().any(|entry| !entry.task.state.has_ended())
    }

    fn start_ready(self: &Arc<Self>) {
        let next = || poison::lock(&self.inner).take_next(self.simulated_at_once);
        while let Some((id, ready)) = next() {
            let (tasks, name) = (Arc::clone(self), id.clone());
            let thread = std::thread::Builder::new().name("task".into());
            if let Err(error) = thread.spawn(move || tasks.run_task(&name, &ready)) {
                self.set_failed(&id, format!("no thread can be started: {error}"));
            }
        }
    }

    /// Runs a task to its end, on its own thread.
    fn run_task(self: &Arc<Self>, id: &str, ready: &ReadyTask) {
        // Last check before the child's own: the task may have waited for hours.
        if let Some(changed) = ready.card_change() {
            self.set_failed(id, changed);
            return self.start_ready();
        }
        let mut arguments: Vec<OsString> = vec![ready.request.verb.name.into()];
        arguments.extend(ready.arguments.iter().cloned());
        arguments.extend(["--json", "--events"].map(OsString::from));
        match RunningChild::start(&self.program, &arguments, self.archive.as_deref()) {
            Err(error) => {
                self.set_failed(id, format!("{} cannot be started: {error}", self.program.display()))
            }
            Ok(running) => {
                self.set_started(id, running.pid());
                let ended = running.read_events(|event| self.handle_event(id, event));
                let (state, error) = end_state(&ended);
                self.set_ended(id, state, error, Some(&ended));
            }
        }
        self.start_ready();
    }

    fn set_started(&self, id: &str, pid: u32) {
        let stopped = self.with(id, |entry| {
            entry.pid = Some(pid);
            entry.task.started_at = Some(now_utc());
            entry.task.state == TaskState::Stopping
        });
        // It was stopped before its process existed.
        if stopped == Some(true) {
            child::send_interrupt(pid);
        }
        self.broadcast_state(id);
        self.save_unfinished();
    }

    fn handle_event(&self, id: &str, event: ProgressEvent) {
        if let ProgressEvent::Sample(moment) = event {
            self.with(id, |entry| {
                entry.samples.push(&moment);
                entry.task.moment = Some(moment.clone());
            });
            return self.events.publish("moment", &TaskSample { task: id.to_owned(), moment });
        }
        let stored = matches!(event, ProgressEvent::Stored { .. });
        self.with(id, |entry| entry.apply_event(event));
        self.broadcast_state(id);
        if stored {
            self.save_unfinished();
            self.events.publish_change("archive");
        }
    }

    fn set_failed(&self, id: &str, error: String) {
        self.set_ended(id, TaskState::Failed, Some(error), None);
    }

    fn set_ended(&self, id: &str, state: TaskState, error: Option<String>, ended: Option<&ChildEnd>) {
        // Rendered before the lock is taken, because a long document takes time.
        let verb = self.with(id, |entry| entry.task.verb.clone()).unwrap_or_default();
        let answered = ended.and_then(|ended| answer_of_document(&verb, &ended.document));
        self.with(id, |entry| {
            if let Some(ended) = ended {
                entry.apply_result(ended, answered.map(|(_, tone)| tone));
            }
            entry.set_end(state, error);
        });
        self.broadcast_state(id);
        self.save_unfinished();
        self.events.publish_change("archive");
        self.events.publish_change("devices");
    }

    fn with<T>(&self, id: &str, change: impl FnOnce(&mut QueuedTask) -> T) -> Option<T> {
        poison::lock(&self.inner).all.get_mut(id).map(change)
    }

    /// Broadcasts the state under the lock, so that an older state is never sent after a newer one.
    fn broadcast_state(&self, id: &str) {
        if let Some(entry) = poison::lock(&self.inner).all.get(id) {
            self.events.publish("task", &entry.task);
        }
    }

    /// Saves unfinished tasks for the next server.
    pub(crate) fn save_unfinished(&self) {
        let store = poison::lock(&self.store);
        let mut open = self.list();
        open.retain(|task| !task.state.has_ended());
        store.save(&open);
    }
}

impl QueueState {
    /// Picks the oldest task whose device is free, and marks it as running.
    fn take_next(&mut self, simulated_at_once: usize) -> Option<(String, ReadyTask)> {
        let tasks = self.all.values().map(|entry| &entry.task);
        let running = tasks.filter(|task| matches!(task.state, TaskState::Running | TaskState::Stopping));
        let running: Vec<&str> = running.map(|task| task.target.as_str()).collect();
        let simulated = |target: &str| target.starts_with("sim:");
        let room = running.iter().filter(|target| simulated(target)).count() < simulated_at_once;
        // Tests of simulated cards share nothing but the processors.
        let free = |task: &TaskResource| match simulated(&task.target) {
            true => room,
            false => !running.contains(&task.target.as_str()),
        };
        let waits = |entry: &&QueuedTask| entry.task.state == TaskState::Queued && free(&entry.task);
        let id = self.all.values().find(waits)?.task.id.clone();
        self.all.get_mut(&id)?.task.state = TaskState::Running;
        Some((id.clone(), self.waiting.remove(&id)?))
    }

    /// Drops the oldest ended tasks beyond the limit.
    fn trim_ended(&mut self) {
        let ended = self.all.iter().filter(|(_, entry)| entry.task.state.has_ended());
        let ended: Vec<String> = ended.map(|(id, _)| id.clone()).collect();
        for id in ended.iter().take(ended.len().saturating_sub(MAX_ENDED)) {
            self.all.remove(id);
        }
    }
}

impl QueuedTask {
    fn new(task: TaskResource) -> Self {
        QueuedTask { task, samples: SampleHistory::default(), pid: None }
    }

    fn apply_event(&mut self, event: ProgressEvent) {
        let task = &mut self.task;
        match event {
            ProgressEvent::Plan(StagePlan { stages, says, .. }) => {
                task.plan = stages;
                if !says.is_empty() {
                    task.says = says;
                }
            }
            ProgressEvent::Stored { session } => task.session = Some(session),
            ProgressEvent::Figure(figure) => push_bounded(&mut task.figures, figure),
            ProgressEvent::Finding(finding) if task.findings.contains(&finding) => {}
            ProgressEvent::Finding(finding) => push_bounded(&mut task.findings, finding),
            ProgressEvent::Note { text } => push_bounded(&mut task.notes, text),
            // Samples never get here, and the child does not send the other events.
            ProgressEvent::Sample(_)
            | ProgressEvent::Stage(_)
            | ProgressEvent::Phase { .. }
            | ProgressEvent::Bytes(_)
            | ProgressEvent::Wait(_) => {}
        }
    }

    /// Applies the child's document and the tone of its page.
    fn apply_result(&mut self, ended: &ChildEnd, tone: Option<NewsTone>) {
        let document = &ended.document;
        let text = |field: &str| document[field].as_str().map(str::to_owned);
        self.task.answer = text("answer");
        self.task.session = text("session").or(self.task.session.take());
        self.task.tone = tone;
    }

    fn set_end(&mut self, state: TaskState, error: Option<String>) {
        self.pid = None;
        self.task.state = state;
        self.task.error = error;
        self.task.ended_at = Some(now_utc());
    }
}

/// Maps the exit status and the document of the child to a task's state and error.
fn end_state(ended: &ChildEnd) -> (TaskState, Option<String>) {
    let error = ended.document["error"].as_str().map(str::to_owned);
    match ended.status {
        // A bad verdict also completes a test.
        Some(status) if ExitStatus::from_code(status).is_some() => (TaskState::Complete, error),
        Some(130) => (TaskState::Interrupted, error),
        Some(status) => (TaskState::Failed, error.or(Some(format!("it ended with exit status {status}")))),
        None => (TaskState::Interrupted, error.or(Some("its process was killed".to_owned()))),
    }
}

fn push_bounded<T>(to: &mut Vec<T>, what: T) {
    if to.len() < MAX_MESSAGES {
        to.push(what);
    }
}

fn now_utc() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

impl ReadyTask {
    /// True if overwritten data is saved and restored. A simulated card has no data to lose.
    fn restores(&self) -> bool {
        self.request.verb.effect == Effect::Preserves && !self.request.is_simulated()
    }

    /// Returns the reason if the device no longer holds the card that the task was ordered for.
    fn card_change(&self) -> Option<String> {
        let object = self.request.object.as_deref().filter(|_| !self.request.is_simulated())?;
        let changed = identify::check_object(&self.request.target, object).err()?;
        Some(format!("not started: {changed}"))
    }

    /// Effect on the card's data, until the verb reports its own.
    fn effect_on_data(&self) -> String {
        if self.restores() { "saves what it overwrites, and restores it".to_owned() } else { String::new() }
    }
}

/// Samples of a task over time, thinned to a bounded number: when full, every second one is dropped.
#[derive(Debug, Clone, Default)]
struct SampleHistory {
    samples: Vec<ProgressSample>,
    interval_s: f64,
}

impl SampleHistory {
    /// Adds a sample unless it follows the last one too closely.
    fn push(&mut self, moment: &ProgressSample) {
        self.interval_s = self.interval_s.max(INITIAL_INTERVAL_S);
        if self.samples.last().is_some_and(|last| moment.at < last.at + self.interval_s) {
            return;
        }
        if self.samples.len() == MAX_SAMPLES {
            let mut keep = false;
            self.samples.retain(|_| {
                keep = !keep;
                keep
            });
            self.interval_s *= 2.0;
        }
        self.samples.push(moment.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_state_is_never_sent_after_newer() {
        let hub = Arc::new(EventLog::new());
        let tasks = TaskQueue::new(Arc::clone(&hub), PathBuf::new(), None, None);
        poison::lock(&tasks.inner).all.insert("one".to_owned(), QueuedTask::new(TaskResource::default()));
        let mut listener = hub.subscribe(None).receiver;
        let change = |entry: &mut QueuedTask| entry.task.notes.push("changed".to_owned());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        tasks.with("one", change);
                        tasks.broadcast_state("one");
                    }
                });
            }
        });
        let told = std::iter::from_fn(|| listener.try_recv().ok());
        let notes = |event: crate::event_log::ServerEvent| {
            serde_json::from_str::<serde_json::Value>(&event.data).unwrap()["notes"].as_array().unwrap().len()
        };
        let told: Vec<usize> = told.map(notes).collect();
        assert_eq!(told.len(), 800);
        assert!(told.is_sorted(), "{told:?}");
    }

    #[test]
    fn day_of_samples_stays_bounded_and_spans_day() {
        let mut track = SampleHistory::default();
        for tick in 0..432_000_u32 {
            track.push(&ProgressSample { at: f64::from(tick) * 0.2, ..ProgressSample::default() });
        }
        let moments = track.samples;
        assert!(moments.len() <= MAX_SAMPLES && moments.len() > MAX_SAMPLES / 3, "{}", moments.len());
        assert!(moments.first().is_some_and(|m| m.at < 600.0));
        assert!(moments.last().is_some_and(|m| m.at > 86_000.0));
        let gaps = moments.windows(2).map(|pair| pair[1].at - pair[0].at);
        assert!(gaps.fold(0.0, f64::max) < 600.0);
    }
}
