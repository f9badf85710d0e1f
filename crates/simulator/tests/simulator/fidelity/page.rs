//! The page of all rows, `docs/fidelity.md`, written from the rows.

use super::row::FidelityRow;
use std::path::{Path, PathBuf};

/// Extent of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunForm {
    /// Smaller sessions, for ordinary test runs; not compared with the page.
    Short,
    /// Whole sessions, as on the page.
    Full,
}

/// Function that computes the rows of a group.
#[derive(Clone, Copy)]
pub(crate) enum RowSource {
    /// Fast enough for every test run.
    Quick(fn() -> Vec<FidelityRow>),
    /// Long sessions, which have a short form.
    Long(fn(RunForm) -> Vec<FidelityRow>),
}

#[derive(Clone, Copy)]
pub(crate) struct RowGroup {
    pub(crate) title: &'static str,
    /// Method of the measurements, for readers of the page.
    pub(crate) note: &'static str,
    pub(crate) rows: RowSource,
}

impl RowGroup {
    pub(crate) fn run(&self, form: RunForm) -> Vec<FidelityRow> {
        match self.rows {
            RowSource::Quick(rows) => rows(),
            RowSource::Long(rows) => rows(form),
        }
    }

    /// True if this form gives the rows of the page.
    pub(crate) fn is_shown(&self, form: RunForm) -> bool {
        form == RunForm::Full || !matches!(self.rows, RowSource::Long(_))
    }

    fn heading(&self) -> String {
        format!("## {}\n", self.title)
    }

    /// Section of the page; empty for a group without rows.
    pub(crate) fn section(&self, rows: &[FidelityRow]) -> String {
        if rows.is_empty() {
            return String::new();
        }
        let missed = rows.iter().filter(|r| !r.is_within()).count();
        let mut lines = vec![
            self.heading(),
            format!("{}\n", self.note),
            format!("{} figures, {} within their tolerance.\n", rows.len(), rows.len() - missed),
            "| card | measured | published | source | ours | off | allowed |".to_owned(),
            "| --- | --- | --- | --- | --- | --- | --- |".to_owned(),
        ];
        lines.extend(rows.iter().map(FidelityRow::table_line));
        let reasons: Vec<String> = rows.iter().filter_map(FidelityRow::reason_line).collect();
        if !reasons.is_empty() {
            lines.push("\nWhat misses, and why:\n".to_owned());
            lines.extend(reasons);
        }
        lines.join("\n") + "\n\n"
    }
}

pub(crate) fn page_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fidelity.md")
}

const HEAD: &str = include_str!("head.md");

/// Page with the given sections; a section that is None is copied from the old page.
pub(crate) fn assemble_page(old: &str, groups: &[RowGroup], sections: &[Option<String>]) -> String {
    let mut page = HEAD.to_owned() + "\n";
    for (group, section) in groups.iter().zip(sections) {
        match section {
            Some(text) => page += text,
            None => page += &old_section(old, &group.heading()),
        }
    }
    page.trim_end().to_owned() + "\n"
}

/// Section of the old page, from its heading to the next one.
fn old_section(old: &str, heading: &str) -> String {
    let Some(start) = old.find(heading) else { return String::new() };
    let body = &old[start..];
    let end = body[heading.len()..].find("\n## ").map_or(body.len(), |at| heading.len() + at + 1);
    body[..end].trim_end().to_owned() + "\n\n"
}
