//! How long good sectors are looked for where nothing speaks for any.
//!
//! A command that hits one bad place fails as a whole, and only more tries can tell what is good around it; but each of
//! them may take a card seconds, and beyond the end of a fake there is nothing to be found.

/// Seconds of a pass that may go into tries that find nothing.
const PATIENCE_S: f64 = 60.0;

/// Of a budget, so much of it at most.
const PATIENCE_SHARE: f64 = 0.02;

/// What is left of the time for tries that find nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Patience {
    seconds: f64,
}

impl Patience {
    /// For places of which no more is asked than whether they can be read.
    pub(crate) const NONE: Patience = Patience { seconds: 0.0 };

    /// For a pass, with its budget in seconds where it has one.
    pub(crate) fn of_a_pass(budget_s: Option<f64>) -> Self {
        Patience { seconds: budget_s.map_or(PATIENCE_S, |budget| PATIENCE_S.min(budget * PATIENCE_SHARE)) }
    }

    pub(crate) fn lasts(self) -> bool {
        self.seconds > 0.0
    }

    /// A try took so many seconds; one that found something costs nothing.
    pub(crate) fn spend(&mut self, seconds: f64, found_any: bool) {
        if !found_any {
            self.seconds -= seconds;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_finds_nothing_costs_patience() {
        let mut patience = Patience::of_a_pass(None);
        patience.spend(1000.0, true);
        assert!(patience.lasts());
        patience.spend(PATIENCE_S, false);
        assert!(!patience.lasts());
        assert!(!Patience::NONE.lasts());
    }
}
