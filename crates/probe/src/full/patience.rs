//! How long good sectors are looked for where nothing speaks for any.
//!
//! A command that hits one bad place fails as a whole, and only more tries can tell what is good around it; but each of
//! them may take a card seconds, and beyond the end of a fake there is nothing to be found.

/// Seconds of a pass that may go into tries that find nothing.
const PATIENCE_S: f64 = 60.0;

/// Of that, the share that may go into closer looks at what fails at both ends and in the middle.
const CLOSER_SHARE: f64 = 0.125;

/// Of a budget, so much of it at most.
const PATIENCE_SHARE: f64 = 0.02;

/// What is left of the time for tries that find nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Patience {
    seconds: f64,
    /// For closer looks.
    closer: f64,
}

/// How close a look is that needs patience.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Down to parts that are as long as what fails as one in flash.
    Usual,
    /// At parts of these.
    Closer,
}

impl Patience {
    /// For places of which no more is asked than whether they can be read.
    pub(crate) const NONE: Patience = Patience { seconds: 0.0, closer: 0.0 };

    /// For a pass, with its budget in seconds where it has one.
    pub(crate) fn of_a_pass(budget_s: Option<f64>) -> Self {
        let seconds = budget_s.map_or(PATIENCE_S, |budget| PATIENCE_S.min(budget * PATIENCE_SHARE));
        let closer = seconds * CLOSER_SHARE;
        Patience { seconds: seconds - closer, closer }
    }

    pub(crate) fn lasts(self, look: Look) -> bool {
        match look {
            Look::Usual => self.seconds > 0.0,
            Look::Closer => self.closer > 0.0,
        }
    }

    /// A try took so many seconds; one that found something costs nothing.
    pub(crate) fn spend(&mut self, look: Look, seconds: f64, found_any: bool) {
        let left = match look {
            Look::Usual => &mut self.seconds,
            Look::Closer => &mut self.closer,
        };
        *left -= if found_any { 0.0 } else { seconds };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_finds_nothing_costs_patience() {
        for look in [Look::Usual, Look::Closer] {
            let mut patience = Patience::of_a_pass(None);
            patience.spend(look, 1000.0, true);
            assert!(patience.lasts(look));
            patience.spend(look, PATIENCE_S, false);
            assert!(!patience.lasts(look));
            assert!(!Patience::NONE.lasts(look));
        }
    }
}
