//! Figures in a session file: the test as one word, unknown fields omitted.

use crate::result::ToolPrints;
use crate::run::{LatencyPercentiles, TestFigure};
use crate::test_name::TestName;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize)]
struct InFile<'a> {
    test: TestName,
    step: Option<Cow<'a, str>>,
    mb_s: f64,
    iops: Option<f64>,
    latency_us: Option<f64>,
    max_latency_us: Option<f64>,
    #[serde(skip_serializing_if = "LatencyPercentiles::is_unknown", default)]
    percentiles_us: LatencyPercentiles,
    printed: Option<Cow<'a, ToolPrints>>,
}

fn to_record(f: &TestFigure) -> InFile<'_> {
    InFile {
        test: f.name(),
        step: f.step.as_deref().map(Cow::from),
        mb_s: f.mb_s,
        iops: f.iops,
        latency_us: f.latency_us,
        max_latency_us: f.max_latency_us,
        percentiles_us: f.percentiles_us,
        printed: f.as_printed.as_ref().map(Cow::Borrowed),
    }
}

pub(super) fn serialize<S: Serializer>(figures: &Option<Vec<TestFigure>>, to: S) -> Result<S::Ok, S::Error> {
    figures.as_ref().map(|all| all.iter().map(to_record).collect::<Vec<_>>()).serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<TestFigure>>, D::Error> {
    let figure = |f: InFile<'_>| TestFigure {
        step: f.step.map(Cow::into_owned),
        iops: f.iops,
        latency_us: f.latency_us,
        max_latency_us: f.max_latency_us,
        percentiles_us: f.percentiles_us,
        as_printed: f.printed.map(Cow::into_owned),
        ..TestFigure::from_speed(f.test, f.mb_s)
    };
    let all: Option<Vec<InFile<'_>>> = Option::deserialize(from)?;
    Ok(all.map(|all| all.into_iter().map(figure).collect()))
}
