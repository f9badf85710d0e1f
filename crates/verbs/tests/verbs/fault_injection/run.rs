//! Runs one schedule: the command with its fault, possibly a kill, then `restore` until nothing is pending, at first with
//! further faults.

use super::CommandFaultPair;
use super::cards::{self, KINDS, NAME};
use super::case::ScheduleCase;
use super::commands::{self, CommandResult, DataPromise};
use super::fault::{Course, Due, Fault, PutIn};
use super::faulty::FaultyTarget;
use super::judge::{ScheduleRecord, judge};
use super::random::SeededDraw;
use super::scenario::{FaultScenario, FaultTruth};
use super::workspace::FaultWorkspace;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::target::Target as _;
use cardscope_model::condition::Condition;
use cardscope_model::progress::ProgressEvent;
use cardscope_restore::verb as restore;
use cardscope_session::error::{Failure, Result};
use cardscope_session::open_target::OpenTarget;
use cardscope_session::opening::card_replacement;
use cardscope_simulator::SimTarget;
use std::sync::{Arc, Mutex, MutexGuard};

/// Number of kills after which no more faults are injected.
const NO_FAULTS_ANY_MORE: u32 = 3;

struct ScheduleRun<'d> {
    desk: &'d FaultWorkspace,
    shape: ScheduleCase,
    table: Arc<Mutex<FaultScenario>>,
    draw: SeededDraw,
}

/// Runs a schedule to its end, or continues it after a kill; returns the hash of its calls.
pub(super) fn play_schedule(seed: u64, desk: &FaultWorkspace) -> u64 {
    let mut draw = SeededDraw::from_seed(seed);
    let pair = CommandFaultPair::from_seed(seed);
    let shape = match &pair {
        Some(pair) => {
            ScheduleCase::from_numbers(draw.below(KINDS.len() as u64) as usize, pair.command as usize, desk)
        }
        None => ScheduleCase::draw(&mut draw, desk),
    };
    let course = desk.faultless_run(shape.number, || run_without_fault(&shape, desk));
    let fault = match pair {
        Some(pair) => Fault::of_kind(pair.fault, &mut draw),
        None => Fault::drawn(&mut draw),
    };
    // Half of the bad readers are bad from the start.
    let from_the_start = matches!(fault, Fault::Lasting(_)) && draw.once_in(2);
    let due = Due { step: if from_the_start { 0 } else { course.step(&mut draw) }, fault };
    desk.write_note(&format!("{} on {}, {due:?} of {course:?}", shape.words.join(" "), shape.kind.name));
    let deaths = desk.kill_count();
    let mut play = ScheduleRun::set_up(desk, shape, draw, deaths > 0);
    let ended = (deaths == 0).then(|| play.run_command(Some(due), course));
    let restores = play.restore_until_clean(deaths, course, fault);
    let early = ended.as_ref().is_none_or(|ended| ended.failure.is_some());
    let resumed = if early { play.resume_command(course) } else { None };
    let calls = play.table().truth.calls;
    play.judge_result(fault, ended, resumed, restores);
    calls
}

/// Runs the command without faults, which must satisfy all rules as well.
fn run_without_fault(shape: &ScheduleCase, desk: &FaultWorkspace) -> Course {
    desk.write_note(&format!("{} on {}, without any fault", shape.words.join(" "), shape.kind.name));
    let mut play = ScheduleRun::set_up(desk, shape.clone(), SeededDraw::from_seed(0), false);
    let unknown = Course { steps: 3_000_000, restoring_at: None };
    let ended = play.run_command(None, unknown);
    let course = play.last_run();
    assert!(course.steps > 20, "it is refused: {:?}", ended.failure);
    let none = Fault::Stall { seconds: 0 };
    let restores = play.restore_until_clean(NO_FAULTS_ANY_MORE, course, none);
    play.judge_result(none, Some(ended), None, restores);
    desk.reset_disks();
    course
}

impl<'d> ScheduleRun<'d> {
    /// Prepares the cards; after a kill with the card as it was left.
    fn set_up(desk: &'d FaultWorkspace, shape: ScheduleCase, mut draw: SeededDraw, again: bool) -> Self {
        let filled = || cards::filled_card(shape.kind, shape.content_seed());
        // Read from a separate card, since reading changes a card's state.
        let before = desk.original_content(shape.kind.name, || cards::read_content(&mut filled()));
        let (card, truth) = if again {
            (cards::load_saved_card(shape.kind, &desk.card()), desk.saved_truth())
        } else {
            desk.reset_disks();
            let fresh = filled();
            let sectors = vec![0; (fresh.info().bytes / super::scenario::SECTOR) as usize];
            (fresh, FaultTruth { sectors, ..FaultTruth::default() })
        };
        let others_kind = KINDS.iter().find(|kind| kind.name[..8] != shape.kind.name[..8]).unwrap();
        let table = FaultScenario {
            own: cards::inserted_card(Some(card), shape.kind, shape.identifies_itself),
            other: cards::inserted_card(None, *others_kind, shape.identifies_itself),
            slot: PutIn::Same,
            lasting: "",
            due: None,
            steps: 0,
            most_steps: 0,
            restoring_at: None,
            truth,
            before,
            interrupt: InterruptFlag::default(),
            disks: desk.disks.clone(),
            grave: desk.saved_folder(),
        };
        let table = Arc::new(Mutex::new(table));
        let (slot, kind, others_content) =
            (Arc::clone(&table), shape.kind, shape.content_seed() ^ draw.below(u64::MAX));
        card_replacement::replace_card(move || open_slot(&slot, || cards::filled_card(kind, others_content)));
        ScheduleRun { desk, shape, table, draw }
    }

    fn table(&self) -> MutexGuard<'_, FaultScenario> {
        self.table.lock().unwrap()
    }

    /// Runs a command line with a pending fault.
    fn run_words(&self, words: &[String], due: Option<Due>, course: Course) -> CommandResult {
        let interrupt = InterruptFlag::default();
        let mut table = self.table();
        (table.due, table.steps, table.restoring_at) = (due, 0, None);
        // On a fake whose first losses hide behind failed I/Os every block is searched: 38 times as many (seed 7549).
        let times = if self.shape.kind.is_fake { 60 } else { 20 };
        table.most_steps = times * course.steps + 100_000;
        table.interrupt = interrupt.clone();
        drop(table);
        let ended = commands::run(words, &interrupt, &mut RestoreStartListener(Arc::clone(&self.table)));
        let mut table = self.table();
        table.due = None;
        let FaultTruth { stale_reads, misread_stamps, failed_again, .. } = table.truth;
        CommandResult { stale_reads, is_lossy: table.truth.is_lossy(), misread_stamps, failed_again, ..ended }
    }

    fn run_command(&self, due: Option<Due>, course: Course) -> CommandResult {
        self.run_words(&self.shape.words.clone(), due, course)
    }

    /// Course of the last command.
    fn last_run(&self) -> Course {
        let table = self.table();
        Course { steps: table.steps, restoring_at: table.restoring_at }
    }

    /// Restores as a user would: before any other command, and until nothing is pending.
    fn restore_until_clean(&mut self, deaths: u32, course: Course, fault: Fault) -> Vec<CommandResult> {
        let mut draw = SeededDraw::from_seed(self.draw.below(u64::MAX) ^ u64::from(deaths));
        if matches!(fault, Fault::FullDisk { .. }) && draw.once_in(2) {
            self.restore_all(None, course);
        }
        self.desk.disks.free();
        self.assert_other_card_refused(course);
        self.table().slot = PutIn::Same;
        // Some users restore through the bad reader, others through another one at once.
        let stays = matches!(fault, Fault::Lasting(_)) && draw.once_in(2);
        if !stays {
            self.end_lasting_fault();
        }
        self.assert_other_test_refused(course, fault);
        let mut all = Vec::new();
        for round in 0..4 {
            let putting_back = course.steps - course.restoring_at.unwrap_or(course.steps / 2);
            let faulty = round == 0 && deaths < NO_FAULTS_ANY_MORE && draw.once_in(2);
            let due =
                faulty.then(|| Due { step: draw.below(putting_back + 20), fault: Fault::drawn(&mut draw) });
            let ended = self.restore_all(due, course);
            self.desk.disks.free();
            self.table().slot = PutIn::Same;
            self.end_lasting_fault();
            if ended.is_empty() {
                break;
            }
            all.extend(ended);
        }
        all
    }

    /// Ends the lasting fault, as by a good reader.
    fn end_lasting_fault(&self) {
        let mut table = self.table();
        table.lasting = "";
        table.own.card.as_mut().unwrap().change_rig("").unwrap();
    }

    /// Restores every pending journal, and the image if the card differs from it.
    fn restore_all(&self, due: Option<Due>, course: Course) -> Vec<CommandResult> {
        let waiting = restore::pending_journals().unwrap_or_default();
        let journals =
            waiting.into_iter().filter(|journal| journal.state == "waits").map(|journal| journal.file);
        let mut all: Vec<CommandResult> =
            journals.map(|file| self.restore_from(&file, due, course)).collect();
        if self.shape.promise == DataPromise::KeepsByImage
            && self.shape.image.exists()
            && !self.changed_sectors().is_empty()
        {
            all.push(self.restore_from(&self.shape.image.display().to_string(), due, course));
        }
        all
    }

    fn restore_from(&self, file: &str, due: Option<Due>, course: Course) -> CommandResult {
        let is_image = self.shape.image.display().to_string() == file;
        let consent = ["restore", file, NAME, "--yes-destroy", NAME].map(str::to_owned);
        let plain = ["restore", file].map(str::to_owned);
        let words = if is_image { &consent[..] } else { &plain[..] };
        let ended = self.run_words(words, due, course);
        // Without recognition of the card, `restore` demands consent.
        let said = format!("{:?} {}", ended.failure, ended.document);
        if said.contains("--yes-destroy") { self.run_words(&consent, due, course) } else { ended }
    }

    /// A journal must not be restored to another card of any name.
    fn assert_other_card_refused(&mut self, course: Course) {
        self.table().slot = PutIn::Other;
        let waiting = restore::pending_journals().unwrap_or_default();
        for journal in waiting.iter().filter(|journal| journal.state == "waits") {
            self.run_words(&["restore".to_owned(), journal.file.clone()], None, course);
        }
        let writes = self.table().truth.other_writes;
        assert_eq!(writes, 0, "the other card was written to");
    }

    /// No other test may write before the card is restored.
    fn assert_other_test_refused(&self, course: Course, fault: Fault) {
        let waits =
            restore::pending_journals().unwrap_or_default().iter().any(|journal| journal.state == "waits");
        if !waits || self.shape.kind.is_fake || !fault.is_harmless() || self.changed_sectors().is_empty() {
            return;
        }
        let archive = self.desk.archive().display().to_string();
        let before = self.table().truth.written;
        let ended = self.run_words(
            &["verify", NAME, "--seed=1", "--archive", &archive].map(str::to_owned),
            None,
            course,
        );
        let refused = matches!(&ended.failure, Some(Failure::Refused(_)));
        assert!(
            refused && self.table().truth.written == before,
            "a test began before its card was restored: {ended:?}"
        );
    }

    /// Resumes a full pass that ended early, if the command supports it.
    fn resume_command(&self, course: Course) -> Option<CommandResult> {
        let resumes = ["verify", "endure"].contains(&self.shape.words[0].as_str());
        if !resumes
            || self.shape.promise != DataPromise::OverwritesAll
            || self.shape.words.contains(&"--erase".to_owned())
        {
            return None;
        }
        let words = self.shape.words.iter().filter(|word| !word.starts_with("--seed"));
        let words: Vec<String> = words.cloned().chain(["--resume".to_owned()]).collect();
        Some(self.run_words(&words, None, course)).filter(|ended| !ended.document.is_null())
    }

    /// Sectors whose content changed.
    fn changed_sectors(&self) -> Vec<u64> {
        let mut table = self.table();
        let table = &mut *table;
        let (is_fake, sectors) = (self.shape.kind.is_fake, &table.truth.sectors);
        // On a fake one address may share its storage with another.
        let looked_at = |sector: u64| is_fake || sectors[sector as usize] != 0;
        let card = table.own.card.as_mut().unwrap();
        card.change_rig("").unwrap();
        let changed = cards::changed_sectors(card, self.shape.kind, &table.before, looked_at);
        card.change_rig(table.lasting).unwrap();
        changed
    }

    /// Checks all rules.
    fn judge_result(
        self,
        fault: Fault,
        ended: Option<CommandResult>,
        resumed: Option<CommandResult>,
        restores: Vec<CommandResult>,
    ) {
        let changed = self.changed_sectors();
        let record = ScheduleRecord {
            shape: &self.shape,
            fault,
            truth: self.table().truth.clone(),
            changed,
            ended,
            resumed,
            restores,
            archive: self.desk.archive(),
        };
        judge(&record);
    }
}

/// Opens the card in the slot.
fn open_slot(table: &Arc<Mutex<FaultScenario>>, make_other: impl Fn() -> SimTarget) -> Result<OpenTarget> {
    let mut locked = table.lock().unwrap();
    let is_own = locked.slot == PutIn::Same;
    let piece = match locked.slot {
        PutIn::Same => &mut locked.own,
        PutIn::Other => &mut locked.other,
        PutIn::Nothing => return Err(Failure::refused("there is no card in the slot")),
    };
    let there = piece.card.take().or_else(|| (!is_own).then(make_other));
    let mut card = there.ok_or_else(|| Failure::refused("the card is in use"))?;
    card.reopen().map_err(Failure::refused)?;
    let identity = piece.identity.clone();
    let target = FaultyTarget::new(card, is_own, Arc::clone(table));
    Ok(OpenTarget::writable(Box::new(target), identity, Condition::default()))
}

/// Records the call at which restoring begins.
struct RestoreStartListener(Arc<Mutex<FaultScenario>>);

impl Listener for RestoreStartListener {
    fn event(&mut self, event: &ProgressEvent) {
        let (ProgressEvent::Stage(step) | ProgressEvent::Phase { step, .. }) = event else { return };
        if step.restores {
            let mut table = self.0.lock().unwrap();
            table.restoring_at = table.restoring_at.or(Some(table.steps));
        }
    }
}
