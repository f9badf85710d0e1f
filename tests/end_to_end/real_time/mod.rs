//! Tests that time cards which answer in real time: each has the machine to itself (`common::turns`), since whatever
//! else runs takes the processor that the served card needs. They lie side by side so that they follow one another.

mod peers;
mod same_verdicts;
mod served_time;
