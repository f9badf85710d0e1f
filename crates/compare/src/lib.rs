//! Comparison of cards (`compare`), ranking for a job (`rank`), and publication (`report`).
#![forbid(unsafe_code)]

pub mod card_lookup;
pub mod card_overview;
pub mod judge {
    pub mod comparison;
    pub mod ranking;
}
pub mod page {
    pub mod bar_charts;
    pub mod comparison;
    pub mod details;
    pub mod jobs;
    pub mod latency_chart;
    pub mod publication;
    pub mod ranking;
    pub mod time_chart;
}
pub mod verb {
    pub mod compare;
    pub mod jobs;
    pub mod publish;
    pub mod rank;
}
