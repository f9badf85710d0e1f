//! Tests of the readers from outside, in one program: the corpus with all accidents, layouts, real logs.

mod corpus;
mod data;
mod docs_table;
mod layouts;
mod real_benchmarks;
mod real_probes;
