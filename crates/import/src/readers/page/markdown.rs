//! The few parts of Markdown that pages about cards need: headings, list items, front matter, and text without markup.

/// Level and text of a heading: `(2, "1TB card")` for `## 1TB card`.
pub(super) fn parse_heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then(|| (level, text.trim()))
}

/// Text of a list item.
pub(super) fn list_item_text(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ["• ", "- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim)
}

/// Text without emphasis, code marks and addresses: `Evo` for `[Evo](https://…)`.
pub(super) fn strip_markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let link = rest[open + 1..].split_once("](").filter(|(name, _)| !name.contains(']'));
        let link = link.and_then(|(name, after)| Some((name, after_address(after)?)));
        let Some((name, after)) = link else { break };
        out.extend([&rest[..open], name]);
        rest = after;
    }
    out.push_str(rest);
    out.replace("**", "").replace('`', "").trim().to_owned()
}

/// Text after the bracket that closes an address, which may contain brackets.
fn after_address(text: &str) -> Option<&str> {
    let mut open = 1_u32;
    let close = text.find(|c| {
        open = open + u32::from(c == '(') - u32::from(c == ')');
        open == 0
    })?;
    Some(&text[close + 1..])
}

/// Value of a top-level key of the front matter between `---` (YAML) or `+++` (TOML).
pub(super) fn front_matter<'a>(body: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = body.lines();
    let fence = lines.next().filter(|first| matches!(first.trim(), "---" | "+++"))?;
    let found = lines.take_while(|line| line.trim() != fence.trim()).find_map(|line| {
        let value = line.strip_prefix(key)?.trim_start().strip_prefix([':', '='])?;
        Some(value.trim().trim_matches(['"', '\'']))
    });
    found.filter(|value| !value.is_empty())
}

/// Title from the front matter, else the first line.
pub(super) fn page_title(body: &str) -> &str {
    let first = body.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    front_matter(body, "title").unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_items_and_links_are_parsed() {
        assert_eq!(parse_heading("## 64GB Card"), Some((2, "64GB Card")));
        assert_eq!((parse_heading("#tag"), parse_heading("text")), (None, None));
        assert_eq!(list_item_text("  • 64GB Card"), Some("64GB Card"));
        assert_eq!(list_item_text("-----"), None);
        assert_eq!(
            strip_markup("**Firmware** `X1` of [Some Card](http://x/y_z) now"),
            "Firmware X1 of Some Card now"
        );
        assert_eq!(strip_markup("[x86] (no link"), "[x86] (no link");
        assert_eq!(strip_markup("[a](b(c)d) e"), "a e");
    }

    #[test]
    fn front_matter_of_yaml_and_toml_is_read() {
        let toml = "+++\ndate = '2024-05-06T07:08:09+02:00'\ntitle = 'Cards'\n+++\nText";
        let yaml = "---\ntitle: \"Cards\"\ndate: 2024-05-06\n---\nText";
        assert_eq!(
            (page_title(toml), page_title(yaml), page_title("\n Cards \n")),
            ("Cards", "Cards", "Cards")
        );
        assert_eq!(front_matter(yaml, "date"), Some("2024-05-06"));
        assert_eq!(front_matter("Text\ndate: 2024", "date"), None);
    }
}
