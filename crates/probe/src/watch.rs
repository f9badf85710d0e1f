//! Who hears how far a probe is.

/// Listens to a probe.
pub trait Watch {
    /// Something begins: what, in a few words, and what will end it, where that is known.
    fn phase(&mut self, what: &str, bytes: Option<u64>, seconds: Option<f64>);
    /// How far it is since the phase began; seconds of the target's clock.
    fn progress(&mut self, bytes: u64, seconds: f64);
    /// Something worth saying at once.
    fn note(&mut self, text: &str);
}

/// Hears nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Watch for Nobody {
    fn phase(&mut self, _what: &str, _bytes: Option<u64>, _seconds: Option<f64>) {}
    fn progress(&mut self, _bytes: u64, _seconds: f64) {}
    fn note(&mut self, _text: &str) {}
}
