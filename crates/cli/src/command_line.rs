//! Top level of the command line: a verb and the options of all verbs.

use crate::completions::Shell;
use crate::manual::Manual;
use crate::output::OutputOptions;
use crate::verbs::Verb;
use clap::{Args, Parser, Subcommand};

/// Tests memory cards: real or fake, how fast, what is inside, what they suit
#[derive(Debug, Parser)]
#[command(
    name = "cardscope",
    bin_name = "cardscope",
    version,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) asked: CommandKind,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// Arguments of the program.
#[derive(Debug, Subcommand)]
pub(crate) enum CommandKind {
    #[command(flatten)]
    Verb(Box<Verb>),
    /// Print the completions for a shell
    Completions(Completions),
    Manual(Manual),
}

/// For which shell.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell that they are for
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}
