//! The importers from the outside, in one program: own logs with every accident, own layouts, real logs.

mod corpus;
mod data;
mod docs_table;
mod layouts;
mod real_benchmarks;
mod real_probes;
