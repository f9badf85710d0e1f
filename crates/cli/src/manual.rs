//! `manual`: writes manual pages generated from the parser's definition.

use crate::output::{self, OutputOptions};
use cardscope_page::figure::pluralize;
use cardscope_page::tree::{Page, PageBlock};
use cardscope_session::output_file::FileMark;
use cardscope_session::{Failure, Result};
use clap::{Args, Command};
use clap_mangen::Man;
use std::io::Write;
use std::path::PathBuf;

/// Write the manual pages into a folder
///
/// One page for the program and one for each verb: cardscope.1, cardscope-check.1 and so on.
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// Folder to write them into
    folder: PathBuf,
}

/// Meaning of the exit statuses.
pub(crate) const EXIT_STATUS: &str = "0 nothing bad found, 1 a finding is bad, 2 wrong usage or refused,\n\
    3 I/O error, 4 not proven, 130 interrupted.";

/// Examples at the end of each verb's help, ready to copy. Text after `#` is a comment in the shell as well.
pub(crate) const EXAMPLES: &str = include_str!("help/examples.txt");

/// Mark by which an existing page is recognized as generated.
const PAGE_MARK: FileMark = FileMark::ContainsWord(".TH cardscope");

/// Source line in the footer of the pages.
const PAGE_SOURCE: &str = concat!("cardscope ", env!("CARGO_PKG_VERSION"));

impl Manual {
    pub(crate) fn run(&self, command: Command, options: &OutputOptions) -> Result<u8> {
        let written = output::write_files("manual", &self.folder, PAGE_MARK, render_pages(command)?)?;
        let written: Vec<String> = written.into_iter().map(|(name, _)| name).collect();
        output::print_list(options, "files", &written, |files| {
            let pages = pluralize(files.len() as u64, "manual page");
            let mut page = Page::from_answer(format!("Wrote {pages} to {}.", self.folder.display()));
            page.add_detail("Files", [PageBlock::Lines(files.to_vec())]);
            page
        })
    }
}

/// File name and text of each page.
fn render_pages(command: Command) -> Result<Vec<(String, Vec<u8>)>> {
    let mut command = without_help_verbs(command);
    command.build();
    let mut pages = Vec::new();
    add_page(&command, &mut pages).map_err(Failure::io)?;
    Ok(pages)
}

/// Removes the `help` subcommands, whose pages would be useless.
fn without_help_verbs(command: Command) -> Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help_verbs)
}

fn add_page(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    let man = Man::new(command.clone()).source(PAGE_SOURCE);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    writeln!(page, ".SH EXIT STATUS\n{EXIT_STATUS}")?;
    write_examples(command.get_name(), &mut page)?;
    pages.push((man.get_filename(), page));
    command.get_subcommands().try_for_each(|verb| add_page(verb, pages))
}

/// Returns the examples of a verb.
pub(crate) fn examples_of(verb: &str) -> impl Iterator<Item = &'static str> {
    EXAMPLES.lines().filter(move |line| line.split(' ').nth(1) == Some(verb))
}

fn write_examples(verb: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    let mut examples = examples_of(verb).peekable();
    if examples.peek().is_none() {
        return Ok(());
    }
    writeln!(page, ".SH EXAMPLES\n.nf")?;
    for example in examples {
        // An escaped hyphen stays a hyphen when copied.
        writeln!(page, "{}", example.replace('\\', "\\e").replace('-', "\\-"))?;
    }
    writeln!(page, ".fi")
}
