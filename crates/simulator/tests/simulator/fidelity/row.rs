//! Published figure and the model's result. A row that misses must have a reason, and a row that does not miss must
//! have none, so that a reason which is no longer needed fails as well.

/// Range that a source allows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FigureBound {
    /// Figure, and allowed deviation in percent.
    Near(f64, f64),
    Between(f64, f64),
    AtMost(f64),
    AtLeast(f64),
}

/// Published figure and the model's result for it.
#[derive(Debug, Clone)]
pub(crate) struct FidelityRow {
    /// Archetype, with overrides if there are any.
    pub(crate) card: String,
    what: String,
    source: &'static str,
    unit: &'static str,
    bound: FigureBound,
    /// Figure as printed by the source, if that says more than the bound.
    printed: Option<String>,
    ours: f64,
    why: Option<String>,
}

impl FidelityRow {
    /// `what` describes the measurement, with span, count and state of the card; `source` is one of those in the page's
    /// head.
    pub(crate) fn new(
        card: impl Into<String>,
        what: impl Into<String>,
        source: &'static str,
        unit: &'static str,
    ) -> FidelityRow {
        let (card, what) = (card.into().replace("sim:", ""), what.into());
        FidelityRow {
            card,
            what,
            source,
            unit,
            bound: FigureBound::AtLeast(0.0),
            printed: None,
            ours: f64::NAN,
            why: None,
        }
    }

    pub(crate) fn within_percent(self, published: f64, percent: f64) -> FidelityRow {
        FidelityRow { bound: FigureBound::Near(published, percent), ..self }
    }

    pub(crate) fn between(self, low: f64, high: f64) -> FidelityRow {
        FidelityRow { bound: FigureBound::Between(low, high), ..self }
    }

    pub(crate) fn at_most(self, high: f64) -> FidelityRow {
        FidelityRow { bound: FigureBound::AtMost(high), ..self }
    }

    pub(crate) fn at_least(self, low: f64) -> FidelityRow {
        FidelityRow { bound: FigureBound::AtLeast(low), ..self }
    }

    /// Sets the words or digits of the source.
    pub(crate) fn with_printed(self, text: impl Into<String>) -> FidelityRow {
        FidelityRow { printed: Some(text.into()), ..self }
    }

    /// Sets the model's result.
    pub(crate) fn with_result(self, value: f64) -> FidelityRow {
        FidelityRow { ours: value, ..self }
    }

    /// Sets the reason why this row misses.
    pub(crate) fn with_reason(self, sentence: impl Into<String>) -> FidelityRow {
        FidelityRow { why: Some(sentence.into()), ..self }
    }

    /// Deviation from the figure, or beyond the bound, in percent; 0 inside a bound.
    pub(crate) fn deviation(&self) -> f64 {
        let (low, high) = match self.bound {
            FigureBound::Near(value, _) => (value, value),
            FigureBound::Between(low, high) => (low, high),
            FigureBound::AtMost(high) => (f64::NEG_INFINITY, high),
            FigureBound::AtLeast(low) => (low, f64::INFINITY),
        };
        let nearest = self.ours.clamp(low, high);
        if self.ours == nearest { 0.0 } else { (self.ours / nearest - 1.0) * 100.0 }
    }

    pub(crate) fn is_within(&self) -> bool {
        let allowed = if let FigureBound::Near(_, percent) = self.bound { percent } else { 0.0 };
        // The margin allows for binary fractions: 11 instead of 10 is 10 %.
        self.deviation().abs() <= allowed + 1e-9
    }

    /// Error of the row, if it misses without a reason or has one without missing.
    pub(crate) fn row_error(&self) -> Option<String> {
        let FidelityRow { card, what, ours, .. } = self;
        let figure =
            format!("{card}, {what}: {ours:.4} against {} ({})", self.published_text(), self.allowed_text());
        match (self.is_within(), &self.why) {
            (false, None) => Some(format!("misses without a reason: {figure}")),
            (true, Some(_)) => Some(format!("no longer misses, so its reason must go: {figure}")),
            _ => None,
        }
    }

    /// Reason of a miss, as a line of the page.
    pub(crate) fn reason_line(&self) -> Option<String> {
        self.why.as_ref().map(|why| format!("- `{}`, {}: {why}", self.card, self.what))
    }

    pub(crate) fn table_line(&self) -> String {
        let off = match self.bound {
            FigureBound::Near(..) => format!("{:+.1} %", self.deviation()),
            _ if self.is_within() => "inside".to_owned(),
            _ => format!("{:+.1} %", self.deviation()),
        };
        let off = if self.is_within() { off } else { format!("**{off}**") };
        format!(
            "| `{}` | {} | {} | {} | {} | {off} | {} |",
            self.card,
            self.what,
            self.published_text(),
            self.source,
            self.with_unit(&three_digits(self.ours)),
            self.allowed_text()
        )
    }

    fn published_text(&self) -> String {
        self.printed.clone().unwrap_or_else(|| match self.bound {
            FigureBound::Near(value, _) => self.with_unit(&value.to_string()),
            FigureBound::Between(low, high) => self.with_unit(&format!("{low} to {high}")),
            FigureBound::AtMost(high) => self.with_unit(&format!("at most {high}")),
            FigureBound::AtLeast(low) => self.with_unit(&format!("at least {low}")),
        })
    }

    fn allowed_text(&self) -> String {
        match self.bound {
            FigureBound::Near(_, percent) => format!("± {percent} %"),
            FigureBound::Between(low, high) => format!("{} to {}", three_digits(low), three_digits(high)),
            FigureBound::AtMost(high) => format!("≤ {}", three_digits(high)),
            FigureBound::AtLeast(low) => format!("≥ {}", three_digits(low)),
        }
    }

    fn with_unit(&self, figure: &str) -> String {
        format!("{figure} {}", self.unit).trim_end().to_owned()
    }
}

/// Three significant digits, as the sources print them.
fn three_digits(value: f64) -> String {
    let before = value.abs().max(1e-9).log10().floor() as i32 + 1;
    format!("{value:.*}", (3 - before).clamp(0, 5) as usize)
}
