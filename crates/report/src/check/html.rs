//! The page as one HTML file: no network, no script, readable on a phone, printable, light and dark.

use super::page::{Body, News, Page, Part};
use crate::markup::{escaped, findings, grid, prose};
use crate::svg;

/// How every page begins: by this a page of ours is known again, and may be replaced by a newer one.
pub const HEAD: &str = "<!DOCTYPE html>\n<!-- Cardscope page -->\n";

const STYLE: &str = include_str!("page.css");

pub(super) fn document(page: &Page) -> String {
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
        prose(&page.headline),
        env!("CARGO_PKG_VERSION"),
    )
}

fn part(part: &Part) -> String {
    let body: String = part.body.iter().map(body).collect();
    format!("<section>\n<h2>{}</h2>\n{body}</section>\n", escaped(&part.head))
}

fn body(body: &Body) -> String {
    match body {
        Body::Facts(facts) => {
            let rows: String = facts
                .iter()
                .map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), prose(value)))
                .collect();
            format!("<dl>\n{rows}</dl>\n")
        }
        Body::Table(table) => grid(table),
        Body::Words(words) | Body::Aside(words) => format!("<p>{}</p>\n", prose(words)),
        Body::Commands(commands) => format!("<pre>{}</pre>\n", escaped(&commands.join("\n"))),
        Body::Findings(all) => findings(all),
        Body::Picture(picture) => match svg::svg(picture) {
            drawn if drawn.is_empty() => drawn,
            drawn => {
                format!("<figure><figcaption>{}</figcaption>{drawn}</figure>\n", escaped(&picture.title))
            }
        },
    }
}
