//! `manual`: writes manual pages generated from the parser's definition.

use crate::help::examples::{EXIT_STATUS, examples_of};
use crate::output::{self, OutputOptions};
use cardscope_page::figure::pluralize;
use cardscope_page::tree::{Page, PageBlock};
use cardscope_session::output_file::{FileMark, OutputFile};
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

/// Mark by which an existing page is recognized as generated.
const PAGE_MARK: FileMark = FileMark::ContainsWord(".TH cardscope");

/// Source line in the footer of the pages.
const PAGE_SOURCE: &str = concat!("cardscope ", env!("CARGO_PKG_VERSION"));

impl Manual {
    pub(crate) fn run(&self, command: Command, options: &OutputOptions) -> Result<u8> {
        let claim = |(name, page)| {
            OutputFile::claim("manual", &self.folder.join::<String>(name), None, PAGE_MARK)
                .map(|file| (file, page))
        };
        // Every file is claimed before the first is written, so that foreign pages stay.
        let claimed = render_pages(command)?.into_iter().map(claim).collect::<Result<Vec<(_, Vec<u8>)>>>()?;
        let mut written = Vec::new();
        for (file, page) in claimed {
            file.write_content(page)?;
            written.push(file.name().display().to_string());
        }
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
    writeln!(page, ".SH EXIT STATUS\n{}", EXIT_STATUS)?;
    write_examples(command.get_name(), &mut page)?;
    pages.push((man.get_filename(), page));
    command.get_subcommands().try_for_each(|verb| add_page(verb, pages))
}

fn write_examples(verb: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    let examples = examples_of(verb);
    if examples.is_empty() {
        return Ok(());
    }
    writeln!(page, ".SH EXAMPLES\n.nf")?;
    for example in examples {
        // An escaped hyphen stays a hyphen when copied.
        writeln!(page, "{}", example.replace('\\', "\\e").replace('-', "\\-"))?;
    }
    writeln!(page, ".fi")
}
