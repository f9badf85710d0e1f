//! A result page as one HTML file: no network, no script, readable on a phone, printable, light and dark.

use crate::markup::{HEAD, escaped, facts, findings, grid, prose};
use crate::page::{Block, News, Page, Part};
use crate::svg::{self, Medium};

const STYLE: &str = include_str!("page.css");

pub(crate) fn document(page: &Page) -> String {
    let title = escaped(&page.title);
    let news = match page.news {
        News::Good => "good",
        News::Open => "open",
        News::Bad => "bad",
    };
    let parts: String = page.parts.iter().map(part).collect();
    format!(
        "{HEAD}<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} – Cardscope</title>\n<style>\n{}{STYLE}</style>\n</head>\n<body>\n\
         <header class=\"{news}\">\n<h1>{title}</h1>\n<p>{}</p>\n</header>\n<main>\n{parts}</main>\n\
         <footer>Made by Cardscope {}</footer>\n</body>\n</html>\n",
        svg::palette::page(),
        prose(&page.answer),
        env!("CARGO_PKG_VERSION"),
    )
}

fn part(part: &Part) -> String {
    let body: String = part.body.iter().map(block).collect();
    let head =
        if part.head.is_empty() { String::new() } else { format!("<h2>{}</h2>\n", escaped(&part.head)) };
    format!("<section>\n{head}{body}</section>\n")
}

fn block(block: &Block) -> String {
    match block {
        Block::Facts(all) => facts(all.iter().map(|(name, value)| (name, value))),
        Block::Table(table) | Block::Cards(table) => grid(table),
        Block::Words(words) => format!("<p>{}</p>\n", prose(words)),
        Block::Verbatim(text) => format!("<pre>{}</pre>\n", escaped(text)),
        Block::Lines(lines) | Block::Commands(lines) => {
            format!("<pre>{}</pre>\n", escaped(&lines.join("\n")))
        }
        Block::Findings(all) => findings(all),
        Block::Roomy(block) => self::block(block),
        Block::Chart(chart) => match svg::of(chart, Medium::Page) {
            drawn if drawn.is_empty() => drawn,
            drawn => format!("<figure><figcaption>{}</figcaption>{drawn}</figure>\n", escaped(&chart.title)),
        },
    }
}
