//! Stores samples during a run. A separate thread writes the document, so that a slow disk does not disturb the
//! measurement. A crash loses the last second or two.

use cardscope_model::sustain::{SustainReport, SustainSample};
use cardscope_session::error::{Failure, Result};
use cardscope_session::recorder::SessionRecorder;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Least time between two writes of the document.
const MIN_INTERVAL: Duration = Duration::from_millis(900);

/// Least time between two writes as a multiple of the last one's duration, since the document of a whole day is long.
const INTERVAL_FACTOR: u32 = 10;

/// Reason why samples can no longer be stored.
type SharedFailure = Arc<Mutex<Option<Failure>>>;

pub(super) struct SampleWriter {
    samples: Sender<SustainSample>,
    worker: JoinHandle<Option<SessionRecorder>>,
    failure: SharedFailure,
}

impl SampleWriter {
    /// Starts with a document without samples.
    pub(super) fn start(recorder: Option<SessionRecorder>, report: &SustainReport) -> Result<SampleWriter> {
        let report = report.clone();
        let (samples, arriving) = channel();
        let failure = SharedFailure::default();
        let noted = Arc::clone(&failure);
        let named = std::thread::Builder::new().name("writer".into());
        let spawned = named.spawn(move || write_samples(recorder, report, &arriving, &noted));
        let failed = |e| Failure::io_for(format!("cannot start a thread to store samples: {e}"), e);
        Ok(SampleWriter { samples, worker: spawned.map_err(failed)?, failure })
    }

    pub(super) fn record(&mut self, sample: &SustainSample) -> Result<()> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(reason) = failure {
            return Err(reason);
        }
        self.samples.send(sample.clone()).map_err(|_| Failure::io("samples can no longer be stored"))
    }

    /// Stops the thread, and returns the recorder for the final document.
    pub(super) fn finish(self) -> Result<Option<SessionRecorder>> {
        let SampleWriter { samples, worker, .. } = self;
        drop(samples);
        worker.join().map_err(|_| Failure::io("the thread that stores samples failed"))
    }
}

fn write_samples(
    mut recorder: Option<SessionRecorder>,
    mut report: SustainReport,
    arriving: &Receiver<SustainSample>,
    failure: &Mutex<Option<Failure>>,
) -> Option<SessionRecorder> {
    let (mut due, mut unsaved) = (Instant::now(), false);
    loop {
        let until_due = due.saturating_duration_since(Instant::now());
        match arriving.recv_timeout(if unsaved { until_due } else { Duration::from_secs(3600) }) {
            Ok(sample) => {
                report.body.measured.series.push(sample);
                unsaved = true;
            }
            Err(RecvTimeoutError::Timeout) => {}
            // The caller writes the final document.
            Err(RecvTimeoutError::Disconnected) => return recorder,
        }
        if !unsaved || Instant::now() < due {
            continue;
        }
        let began = Instant::now();
        if let Some(Err(reason)) = recorder.as_mut().map(|recorder| recorder.update(&report)) {
            *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
        }
        unsaved = false;
        due = began + MIN_INTERVAL.max(began.elapsed() * INTERVAL_FACTOR);
    }
}
