//! `map`: measures the geometry of a card and advises settings for partitions and file systems.
//!
//! Overwritten data is saved to a journal and restored, as in quick `verify`, unless the user names a region whose
//! data may be lost.

mod file_systems;
mod map_run;
mod map_scope;

pub use map_scope::MapRequest;

use cardscope_model::card_map::{CardMap, MapReport};
use cardscope_probing::context;
use cardscope_session::after_verdict::{SOME_DATA, next_step, repeat_description};
use cardscope_session::error::Result;
use cardscope_session::frame::{CardNeeds, CommonOptions, Procedure, VerbSession};
use cardscope_session::open_target::TargetType;
use map_scope::MapScope;

pub use crate::probe::MapPart;
pub use cardscope_engine::target::TargetRegion;
pub use map_scope::READ_ONLY_DIRECTORY;

impl Procedure for MapRequest {
    const VERB: &'static str = "map";
    type Body = CardMap;

    fn common(&self) -> &CommonOptions {
        &self.common
    }

    fn needs(&self) -> CardNeeds {
        match (self.read_only, self.region) {
            (true, _) => CardNeeds::Read,
            (_, Some(region)) => CardNeeds::Overwrite(Some(region)),
            _ if self.erase => CardNeeds::Overwrite(None),
            _ => CardNeeds::WriteAndRestore,
        }
    }

    fn check(&self, target: TargetType) -> Result<()> {
        map_scope::check_options(self, target)
    }

    fn run(&self, session: &mut VerbSession<'_>, report: &mut MapReport) -> Result<()> {
        let scope = MapScope::from_request(self, session)?;
        let options = scope.probe_options(self, session.opened, report.header.seed);
        if matches!(scope, MapScope::Preserved(_)) {
            map_scope::begin_journal(self, session, context::stamp_salt(options.limits.seed))?;
        }
        let line = scope.plan_line(&options, session);
        session.events.announce_plan(map_run::stage_plan(self, &scope, &options).with_summary(line));
        report.body.announced_bytes = session.bytes();
        // True until the first byte is written.
        report.body.moved.data_kept = true;
        session.begin_row(report)?;
        let mut facts = map_run::target_facts(self, session.opened);
        let mut ended = map_run::measure_and_restore(&scope, &options, session, report, &mut facts);
        map_run::add_findings(report, session, &facts);
        if self.limits.budget.is_some() && report.body.measured.count_out_of_time() > 0 {
            let loses = self.erase || self.region.is_some();
            let lost = loses.then_some(SOME_DATA);
            let what = repeat_description("measure the rest without the time limit", lost);
            report.header.next.push(next_step(what, Some(self.without_time_limit())));
        }
        if self.try_file_systems && ended.is_ok() {
            session.store_report(report)?;
            ended = file_systems::try_file_systems(self, session, report, &mut facts);
            map_run::set_advice(report, &facts);
        }
        ended
    }
}
