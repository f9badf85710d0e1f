//! Connected clients and their limits of memory. A client that sends nothing, takes no answers or never finishes a
//! request is served until another one needs its place; then it is cut off.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Clients that negotiate at a time; one more cuts off the first of them.
const MAX_NEGOTIATING: usize = 64;

/// Clients with a card at a time.
const MAX_SEATED: usize = 64;

/// A client that moved nothing for this time loses its seat to a waiting one.
const MIN_IDLE: Duration = Duration::from_secs(1);

/// Bytes of data in flight for all clients: incomplete writes, and answers that were not taken.
const TOTAL_BYTES: u64 = 128 << 20;

/// Bytes that a client may have in flight even if others have used up the total, so that none can block it.
const GUARANTEED_BYTES: u64 = 2 << 20;

/// Bytes that a client may have in flight, except for a single longer request.
const CLIENT_BYTES: u64 = 32 << 20;

/// Least bytes that a request counts; limits a client to 8192 requests.
const MIN_REQUEST_BYTES: u64 = 4 << 10;

/// Time in which a transfer must end if others wait for its memory, plus the time at [`MIN_TRANSFER_RATE`].
const TRANSFER_TIMEOUT: Duration = Duration::from_secs(3);

/// Bytes per second.
const MIN_TRANSFER_RATE: u64 = 8 << 20;

/// Interval at which waiting clients check again.
const WAIT_CHECK: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy)]
pub(super) enum SocketDirection {
    In,
    Out,
}

pub(super) struct NbdClient {
    cut: Box<dyn Fn() + Send + Sync>,
    since: Instant,
    gone: AtomicBool,
    /// Milliseconds of its last request or answer.
    last_activity: AtomicU64,
    /// Deadlines of the transfers in and out, in milliseconds; 0 without a transfer.
    deadlines: [AtomicU64; 2],
    /// Bytes that the client holds; changed under the lock of all clients.
    held: AtomicU64,
}

impl NbdClient {
    fn new(since: Instant, cut: impl Fn() + Send + Sync + 'static) -> Arc<NbdClient> {
        let client = NbdClient {
            cut: Box::new(cut),
            since,
            gone: AtomicBool::default(),
            last_activity: AtomicU64::default(),
            deadlines: Default::default(),
            held: AtomicU64::default(),
        };
        client.record_activity();
        Arc::new(client)
    }

    pub(super) fn record_activity(&self) {
        self.last_activity.store(self.now_ms(), Ordering::Relaxed);
    }

    /// Ends the connection; further requests are not executed.
    pub(super) fn disconnect(&self) {
        self.gone.store(true, Ordering::Relaxed);
        (self.cut)();
    }

    pub(super) fn with_deadline<T>(&self, way: SocketDirection, len: u64, act: impl FnOnce() -> T) -> T {
        let time = TRANSFER_TIMEOUT + Duration::from_millis(len * 1000 / MIN_TRANSFER_RATE);
        let due = &self.deadlines[way as usize];
        due.store(self.now_ms() + time.as_millis() as u64, Ordering::Relaxed);
        let done = act();
        due.store(0, Ordering::Relaxed);
        done
    }

    fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    fn held_bytes(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// True if the client holds memory and a transfer missed its deadline.
    fn is_stalled(&self) -> bool {
        let late = |due: &AtomicU64| (1..self.now_ms()).contains(&due.load(Ordering::Relaxed));
        self.held_bytes() > 0 && self.deadlines.iter().any(late)
    }

    fn idle_time(&self) -> Duration {
        Duration::from_millis(self.now_ms() - self.last_activity.load(Ordering::Relaxed).min(self.now_ms()))
    }

    /// Milliseconds; at least 1, since 0 means no deadline.
    fn now_ms(&self) -> u64 {
        self.since.elapsed().as_millis() as u64 + 1
    }
}

pub(super) struct NbdClients {
    since: Instant,
    state: Mutex<ClientsState>,
    freed: Condvar,
}

#[derive(Default)]
struct ClientsState {
    negotiating: VecDeque<Arc<NbdClient>>,
    seated: Vec<Arc<NbdClient>>,
    /// Bytes that all clients hold.
    held: u64,
}

impl NbdClients {
    pub(super) fn new() -> Self {
        NbdClients { since: Instant::now(), state: Mutex::default(), freed: Condvar::new() }
    }

    /// Registers a client that begins to negotiate. `cut` ends its connection.
    pub(super) fn register_client(&self, cut: impl Fn() + Send + Sync + 'static) -> Arc<NbdClient> {
        let client = NbdClient::new(self.since, cut);
        let mut state = self.lock_state();
        state.negotiating.push_back(Arc::clone(&client));
        if state.negotiating.len() > MAX_NEGOTIATING {
            state.negotiating.pop_front().iter().for_each(|first| first.disconnect());
        }
        client
    }

    /// Gives a client a card, in place of the one that has been idle longest if all seats are taken. Returns false if
    /// no seat was free until `until`, or the client was cut off.
    pub(super) fn wait_for_seat(&self, client: &Arc<NbdClient>, until: Instant) -> bool {
        loop {
            if self.lock_state().try_seat(client) {
                client.record_activity();
                return true;
            }
            if client.is_gone() || Instant::now() > until {
                return false;
            }
            std::thread::sleep(WAIT_CHECK);
        }
    }

    pub(super) fn remove_client(&self, client: &Arc<NbdClient>) {
        client.disconnect();
        let mut state = self.lock_state();
        state.negotiating.retain(|other| !Arc::ptr_eq(other, client));
        state.seated.retain(|other| !Arc::ptr_eq(other, client));
    }

    pub(super) fn disconnect_all(&self) {
        let state = self.lock_state();
        state.negotiating.iter().chain(&state.seated).for_each(|client| client.disconnect());
    }

    /// Reserves memory for a request; None if the client is gone.
    pub(super) fn hold_bytes(self: &Arc<Self>, client: &Arc<NbdClient>, len: u64) -> Option<ReservedMemory> {
        let wanted = len.max(MIN_REQUEST_BYTES);
        let mut state = self.lock_state();
        while !client.is_gone() && !state.has_room(client.held_bytes(), wanted) {
            // Only now, when memory is needed, clients that hold it without moving data are cut off.
            state.seated.iter().filter(|other| other.is_stalled()).for_each(|other| other.disconnect());
            let woken = self.freed.wait_timeout(state, WAIT_CHECK);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.held += wanted;
        client.held.fetch_add(wanted, Ordering::Relaxed);
        drop(state);
        let taken = ReservedMemory { clients: Arc::clone(self), client: Arc::clone(client), bytes: wanted };
        (!client.is_gone()).then_some(taken)
    }

    fn lock_state(&self) -> MutexGuard<'_, ClientsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientsState {
    fn try_seat(&mut self, client: &Arc<NbdClient>) -> bool {
        if client.is_gone() {
            return false;
        }
        if self.seated.len() >= MAX_SEATED {
            let longest = (0..self.seated.len()).max_by_key(|place| self.seated[*place].idle_time());
            let Some(place) = longest.filter(|place| self.seated[*place].idle_time() >= MIN_IDLE) else {
                return false;
            };
            self.seated.swap_remove(place).disconnect();
        }
        self.negotiating.retain(|other| !Arc::ptr_eq(other, client));
        self.seated.push(Arc::clone(client));
        true
    }

    /// True if a client that holds `held` bytes may hold `wanted` more.
    fn has_room(&self, held: u64, wanted: u64) -> bool {
        let its_share = held == 0 || held + wanted <= CLIENT_BYTES;
        its_share && (held + wanted <= GUARANTEED_BYTES || self.held + wanted <= TOTAL_BYTES)
    }
}

pub(super) struct ReservedMemory {
    clients: Arc<NbdClients>,
    client: Arc<NbdClient>,
    bytes: u64,
}

impl ReservedMemory {
    /// Releases the memory of the data; the answer remains.
    pub(super) fn release_data(&mut self) {
        let less = self.bytes - MIN_REQUEST_BYTES;
        self.release_bytes(less);
    }

    fn release_bytes(&mut self, bytes: u64) {
        self.bytes -= bytes;
        let mut state = self.clients.lock_state();
        state.held -= bytes;
        self.client.held.fetch_sub(bytes, Ordering::Relaxed);
        drop(state);
        self.clients.freed.notify_all();
    }
}

impl Drop for ReservedMemory {
    fn drop(&mut self) {
        self.release_bytes(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clients() -> Arc<NbdClients> {
        Arc::new(NbdClients::new())
    }

    fn seated(clients: &NbdClients) -> Arc<NbdClient> {
        let client = clients.register_client(|| ());
        assert!(clients.wait_for_seat(&client, Instant::now()));
        client
    }

    #[test]
    fn excess_negotiation_disconnects_the_first() {
        let clients = clients();
        let all: Vec<_> = (0..MAX_NEGOTIATING + 3).map(|_| clients.register_client(|| ())).collect();
        let gone: Vec<bool> = all.iter().map(|client| client.is_gone()).collect();
        assert!(gone[..3].iter().all(|gone| *gone) && !gone[3..].contains(&true), "{gone:?}");
        assert!(
            !clients.wait_for_seat(&all[0], Instant::now()) && clients.wait_for_seat(&all[3], Instant::now())
        );
    }

    #[test]
    fn longest_idle_client_loses_its_seat() {
        let clients = clients();
        let all: Vec<_> = (0..MAX_SEATED).map(|_| seated(&clients)).collect();
        let late = clients.register_client(|| ());
        assert!(!clients.wait_for_seat(&late, Instant::now()), "all have just come");
        let before = |client: &NbdClient, ms| {
            client.last_activity.store(client.now_ms().saturating_sub(ms), Ordering::Relaxed)
        };
        // Idle time is counted from the start of the listener, so that must have run for a while.
        std::thread::sleep(MIN_IDLE + Duration::from_millis(500));
        all.iter().for_each(|client| client.record_activity());
        before(&all[5], 1200);
        before(&all[6], 1100);
        assert!(clients.wait_for_seat(&late, Instant::now()) && all[5].is_gone());
        assert_eq!(all.iter().filter(|client| client.is_gone()).count(), 1);
    }

    #[test]
    fn memory_is_bounded_and_guaranteed_per_client() {
        let clients = clients();
        let hoard = |client: &Arc<NbdClient>| -> Vec<ReservedMemory> {
            let fits = || clients.lock_state().has_room(client.held_bytes(), CLIENT_BYTES / 4);
            std::iter::from_fn(|| fits().then(|| clients.hold_bytes(client, CLIENT_BYTES / 4).unwrap()))
                .collect()
        };
        let greedy: Vec<_> = (0..MAX_SEATED - 1).map(|_| seated(&clients)).collect();
        let hoards: Vec<_> = greedy.iter().map(hoard).collect();
        let held: u64 = greedy.iter().map(|client| client.held_bytes()).sum();
        assert!(
            held <= TOTAL_BYTES && greedy.iter().all(|client| client.held_bytes() <= CLIENT_BYTES),
            "{held}"
        );
        let modest = seated(&clients);
        assert!(clients.hold_bytes(&modest, GUARANTEED_BYTES).is_some(), "its own is left");
        drop(hoards);
        assert_eq!((clients.lock_state().held, greedy[0].held_bytes()), (0, 0));
    }

    #[test]
    fn stalled_holder_of_memory_is_disconnected() {
        let clients = clients();
        let stalled: Vec<_> = (0..4).map(|_| seated(&clients)).collect();
        let mut held: Vec<_> =
            stalled.iter().map(|client| clients.hold_bytes(client, CLIENT_BYTES)).collect();
        stalled[0].deadlines[SocketDirection::Out as usize].store(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(5));
        let waits = seated(&clients);
        std::thread::scope(|scope| {
            let taken = scope.spawn(|| clients.hold_bytes(&waits, CLIENT_BYTES).is_some());
            while !stalled[0].is_gone() {
                std::thread::sleep(Duration::from_millis(1));
            }
            held[0] = None;
            assert!(taken.join().unwrap());
        });
        assert!(!stalled[1].is_gone());
    }

    #[test]
    fn disconnected_client_gets_no_memory() {
        let clients = clients();
        let client = seated(&clients);
        let first = clients.hold_bytes(&client, CLIENT_BYTES);
        clients.remove_client(&client);
        assert!(clients.hold_bytes(&client, CLIENT_BYTES).is_none() && first.is_some());
    }
}
