//! `map`: measures the geometry of a card and advises settings for partitions and file systems.
//!
//! Overwritten data is saved to a journal and restored, as in quick `verify`, unless the user names a region whose
//! data may be lost.

mod file_systems;
mod run;
mod scope;

pub use scope::MapRequest;

use cardscope_model::card_map::{CardMap, MapReport};
use cardscope_probing::context;
use cardscope_session::after_verdict::{OVERWRITTEN, again, step};
use cardscope_session::error::Result;
use cardscope_session::frame::{CardNeeds, CommonOptions, Procedure, VerbSession};
use cardscope_session::opened::TargetType;
use scope::MapScope;

pub use crate::probe::MapPart;
pub use cardscope_engine::target::TargetRegion;
pub use scope::NOTHING_TO_READ;

impl Procedure for MapRequest {
    const VERB: &'static str = "map";
    type Body = CardMap;

    fn common(&self) -> &CommonOptions {
        &self.common
    }

    fn needs(&self) -> CardNeeds {
        match (self.read_only, self.region) {
            (true, _) => CardNeeds::Read,
            (_, Some(region)) => CardNeeds::WriteAndLose(Some(region)),
            _ if self.erase => CardNeeds::WriteAndLose(None),
            _ => CardNeeds::WriteAndKeep,
        }
    }

    fn check(&self, target: TargetType) -> Result<()> {
        scope::check(self, target)
    }

    fn run(&self, session: &mut VerbSession<'_>, report: &mut MapReport) -> Result<()> {
        let scope = MapScope::find(self, session)?;
        let options = scope.options(self, session.opened, report.header.seed);
        if matches!(scope, MapScope::Saved(_)) {
            scope::begin_journal(self, session, context::salt(options.limits.seed))?;
        }
        let line = scope.plan_line(&options, session);
        session.events.plan(run::plan(self, &scope, &options).with_summary(line));
        report.body.announced_bytes = session.bytes();
        // True until the first byte is written.
        report.body.moved.data_kept = true;
        session.begin_row(report)?;
        let mut facts = run::facts(self, session.opened);
        let mut ended = run::measure(&scope, &options, session, report, &mut facts);
        run::conclude(report, session, &facts);
        if self.limits.budget.is_some() && report.body.measured.out_of_time() > 0 {
            let loses = self.erase || self.region.is_some();
            let what = again("measure the rest without the time limit", loses.then_some(OVERWRITTEN));
            report.header.next.push(step(what, Some(self.without_time_limit())));
        }
        if self.try_file_systems && ended.is_ok() {
            session.store(report)?;
            ended = file_systems::try_all(self, session, report, &mut facts);
            run::advise(report, &facts);
        }
        ended
    }
}
