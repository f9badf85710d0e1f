//! Link checker of the book: every page, anchor and picture that a chapter links to exists, and a chapter leads to
//! every file. Links to other sites are checked for their form only, because tests have no network.

#![forbid(unsafe_code)]

use pulldown_cmark::{BrokenLink, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Pages outside of the book with links into it.
const OUTSIDE: [&str; 4] = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "tests/README.md"];

/// Files of the book that no chapter links to.
const OWN: [&str; 3] = ["docs/SUMMARY.md", "docs/book.toml", "docs/book.css"];

/// Link in a page.
#[derive(Debug, PartialEq)]
struct Link {
    line: usize,
    target: String,
}

/// Links and headings of a page, and its errors.
#[derive(Debug, Default)]
struct Page {
    links: Vec<Link>,
    anchors: BTreeSet<String>,
    wrong: Vec<(usize, String)>,
}

fn line(text: &str, at: usize) -> usize {
    1 + text[..at].matches('\n').count()
}

/// Reads a page with the extensions that mdBook reads it with.
fn read(text: &str) -> Page {
    let mut undefined = Vec::new();
    let mut page = Page::default();
    let callback = |link: BrokenLink<'_>| -> Option<(CowStr<'_>, CowStr<'_>)> {
        // `[lo, hi]` is text, but `[text][name]` is meant as a link.
        if matches!(link.link_type, LinkType::Reference | LinkType::Collapsed) {
            undefined.push((line(text, link.span.start), format!("[{}] is not defined", link.reference)));
        }
        None
    };
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES;
    let mut heading: Option<String> = None;
    for (event, range) in
        Parser::new_with_broken_link_callback(text, options, Some(callback)).into_offset_iter()
    {
        let at = line(text, range.start);
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                page.links.push(Link { line: at, target: dest_url.into_string() });
            }
            Event::Html(html) | Event::InlineHtml(html)
                if html.contains("href=") || html.contains("src=") =>
            {
                page.wrong.push((at, "a link in HTML is not checked: write it in Markdown".into()));
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let name = anchor(&heading.take().unwrap_or_default());
                let later = (1..).map(|n| format!("{name}-{n}"));
                let free = std::iter::once(name.clone()).chain(later).find(|n| !page.anchors.contains(n));
                page.anchors.extend(free);
            }
            _ => {}
        }
    }
    page.wrong.append(&mut undefined);
    page
}

/// Anchor that mdBook gives to a heading. Repeated headings get a number.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let letter = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c),
        c => c.is_whitespace().then_some('-'),
    };
    kept.chars().filter_map(letter).collect()
}

/// Path without `.` and `..`; `None` if it leads out of the project.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            Component::ParentDir if plain.pop() => {}
            _ => return None,
        }
    }
    Some(plain)
}

/// All files below a folder, as paths from the root.
fn files(root: &Path, folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
        let path = folder.join(entry.file_name());
        match entry.path().is_dir() {
            true => files(root, &path, into),
            false => into.push(path),
        }
    }
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "md")
}

/// True for files in a folder `source`, from which pages are generated.
fn is_source(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "source")
}

/// Texts between `before` and the next quote.
fn quoted<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).filter_map(|rest| rest.split('"').next())
}

/// True if a link to another site has a valid form.
fn is_well_formed(url: &str) -> bool {
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let host = host.and_then(|rest| rest.split(['/', '#', '?']).next()).unwrap_or_default();
    host.contains('.') && !host.starts_with('.') && !url.contains(char::is_whitespace)
}

/// Source and pages of the book, with the links of its chapters.
struct Check<'a> {
    root: &'a Path,
    chapters: BTreeSet<PathBuf>,
    reached: BTreeSet<PathBuf>,
}

impl Check<'_> {
    /// Reason why a link is dead.
    fn fault(&mut self, page: &Path, target: &str) -> Option<&'static str> {
        if target.contains("://") {
            return (!is_well_formed(target)).then_some("is not a well-formed address");
        }
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let folder = page.parent().unwrap_or(Path::new(""));
        let Some(file) = (if path.is_empty() { Some(page.to_owned()) } else { plain(&folder.join(path)) })
        else {
            return Some("leads out of the project");
        };
        if !self.root.join(&file).exists() {
            return Some("does not exist");
        }
        let from_book = self.chapters.contains(page);
        if from_book && !file.starts_with("docs") {
            return Some("is not in the book: name the file between backticks instead");
        }
        if from_book && is_markdown(&file) && !self.chapters.contains(&file) {
            return Some("is not a chapter of docs/SUMMARY.md");
        }
        self.reached.insert(file.clone());
        if anchor.is_empty() {
            return None;
        }
        let text = std::fs::read_to_string(self.root.join(&file)).unwrap_or_default();
        (!read(&text).anchors.contains(anchor)).then_some("has no such heading")
    }

    fn page(&mut self, path: &Path, into: &mut Vec<String>) {
        let text = std::fs::read_to_string(self.root.join(path)).unwrap_or_default();
        let page = read(&text);
        let mut say = |line: usize, what: String| into.push(format!("{}:{line}: {what}", path.display()));
        for (line, wrong) in page.wrong {
            say(line, wrong);
        }
        for link in page.links {
            if let Some(fault) = self.fault(path, &link.target) {
                say(link.line, format!("{} {fault}", link.target));
            }
        }
    }
}

/// Chapters in the summary.
fn chapters(root: &Path) -> BTreeSet<PathBuf> {
    let text = std::fs::read_to_string(root.join("docs/SUMMARY.md")).unwrap_or_default();
    read(&text).links.iter().filter_map(|link| plain(&Path::new("docs").join(&link.target))).collect()
}

/// Dead links in the built pages.
pub fn dead_in(book: &Path) -> Vec<String> {
    let mut pages = Vec::new();
    files(book, Path::new(""), &mut pages);
    pages.retain(|page| page.extension().is_some_and(|ending| ending == "html"));
    let mut dead = Vec::new();
    for page in pages {
        let text = std::fs::read_to_string(book.join(&page)).unwrap_or_default();
        let named = quoted(&text, " href=\"").chain(quoted(&text, " src=\""));
        for target in named.filter(|target| !target.contains(':') && !target.starts_with('#')) {
            let path = target.split(['#', '?']).next().unwrap_or_default();
            let folder = page.parent().unwrap_or(Path::new(""));
            // The page for missing addresses is shown at any depth, so its links begin at the book's root.
            let there = path.starts_with('/')
                || plain(&folder.join(path)).is_some_and(|file| book.join(file).exists());
            if !there {
                dead.push(format!("target/book/{}: {target} does not exist", page.display()));
            }
        }
    }
    dead
}

/// Errors in the links of the book's source, each with file, line, target and reason.
pub fn wrong_in(root: &Path) -> Vec<String> {
    let mut check = Check { root, chapters: chapters(root), reached: BTreeSet::new() };
    let mut wrong = Vec::new();
    let listed: Vec<PathBuf> = check.chapters.iter().cloned().collect();
    for page in listed.iter().map(PathBuf::as_path).chain(OUTSIDE.iter().map(Path::new)) {
        check.page(page, &mut wrong);
    }
    let mut all = Vec::new();
    files(root, Path::new("docs"), &mut all);
    for file in all.iter().filter(|file| !is_source(file) && !OWN.iter().any(|own| Path::new(own) == *file)) {
        let listed = if is_markdown(file) { &check.chapters } else { &check.reached };
        if !listed.contains(file) {
            wrong.push(format!("{}: no chapter reaches it", file.display()));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small book with each kind of error.
    fn made() -> (tempfile::TempDir, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let pages: [(&str, &str); 8] = [
            ("docs/SUMMARY.md", "- [A](a.md)\n- [B](more/b.md)\n"),
            (
                "docs/a.md",
                "# A\n\n[b](more/b.md#b) [c](c.md)\n\n![p](p.svg) [x][y] [0, 1]\n\n`[not](a-link.md)`\n",
            ),
            (
                "docs/more/b.md",
                "# B\n\n[a](../a.md#none)\n[code](../../code.rs) [e](https://nowhere)\n<a href=\"a.md\">a</a>\n",
            ),
            ("docs/lonely.md", "# Alone\n"),
            ("docs/lonely.png", ""),
            ("code.rs", ""),
            ("book/a.html", "<h1 id=\"a\">A</h1><a href=\"gone.html\"><a href=\"more/b.html\">"),
            ("book/more/b.html", "<h1 id=\"b\">B</h1>"),
        ];
        for (name, text) in pages {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            std::fs::write(root.join(name), text).unwrap();
        }
        let mut found = [wrong_in(root), dead_in(&root.join("book"))].concat();
        found.sort();
        (folder, found)
    }

    #[test]
    fn checker_reports_file_line_and_target() {
        let (_folder, found) = made();
        let expected = [
            "docs/a.md:3: c.md does not exist",
            "docs/a.md:5: [y] is not defined",
            "docs/a.md:5: p.svg does not exist",
            "docs/lonely.md: no chapter reaches it",
            "docs/lonely.png: no chapter reaches it",
            "docs/more/b.md:3: ../a.md#none has no such heading",
            "docs/more/b.md:4: ../../code.rs is not in the book: name the file between backticks instead",
            "docs/more/b.md:4: https://nowhere is not a well-formed address",
            "docs/more/b.md:5: a link in HTML is not checked: write it in Markdown",
            "target/book/a.html: gone.html does not exist",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn book_has_no_dead_links() {
        let wrong = wrong_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn anchors_match_mdbook() {
        let page = read("# How `fast`?\n\n## A, b & c\n\n## A, b & c\n\n### 4 KiB_x–y\n");
        let names: Vec<&str> = page.anchors.iter().map(String::as_str).collect();
        assert_eq!(names, ["4-kib_xy", "a-b--c", "a-b--c-1", "how-fast"]);
    }
}
