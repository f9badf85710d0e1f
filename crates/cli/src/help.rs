//! Top level of the command line: a verb, the options of all verbs, and the help with groups of verbs and examples.

use crate::completions::Completions;
use crate::output::OutputOptions;
use crate::verbs::Verb;
use clap::builder::StyledStr;
use clap::{Command, CommandFactory, Parser, Subcommand};
use std::fmt::Write;

use crate::manual::{EXIT_STATUS, Manual, examples_of};

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
    Completions(Completions),
    Manual(Manual),
}

/// Verbs that are about the program itself.
const SET_UP: (&str, &[&str]) = ("Set up", &["Completions", "Manual"]);

/// Returns the command line with its complete help.
pub(crate) fn full_command() -> Command {
    let bare = CommandLine::command();
    let template = grouped_template(&bare);
    bare.help_template(template).mut_subcommands(|verb| {
        let text = examples_text(&verb);
        verb.after_help(text)
    })
}

/// Help template of the program with grouped verbs, which clap does not support.
fn grouped_template(command: &Command) -> StyledStr {
    let (header, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let width = command.get_subcommands().map(|verb| verb.get_name().len()).max().unwrap_or(0);
    let mut text = StyledStr::new();
    let _ = write!(
        text,
        "{{about}}\n\
         Start with `{literal}cardscope check DEVICE{literal:#}`.\n\
         No card at hand? `{literal}cardscope sim list{literal:#}` lists simulated ones to test.\n\n\
         {{usage-heading}} {{usage}}\n\n"
    );
    for (group, verbs) in Verb::GROUPS.iter().chain([&SET_UP]) {
        let _ = writeln!(text, "{header}{group}:{header:#}");
        for name in verbs.iter().map(|verb| verb.to_lowercase()) {
            let verb = command.find_subcommand(&name);
            let about = verb.and_then(Command::get_about).cloned().unwrap_or_default();
            let _ = writeln!(text, "  {literal}{name:<width$}{literal:#}  {about}");
        }
        text.push_str("\n");
    }
    let _ = write!(
        text,
        "{header}Options:{header:#}\n{{options}}\n\n\
         {header}Exit status:{header:#} {EXIT_STATUS}\n\n\
         `{literal}cardscope VERB --help{literal:#}` explains a verb and shows examples."
    );
    text
}

fn examples_text(command: &Command) -> StyledStr {
    let (header, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let mut text = StyledStr::new();
    let _ = write!(text, "{header}Examples:{header:#}");
    for example in examples_of(command.get_name()) {
        let _ = write!(text, "\n  {literal}{example}{literal:#}");
    }
    text
}

#[cfg(test)]
mod tests;
