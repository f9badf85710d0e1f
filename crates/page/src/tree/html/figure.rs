//! HTML figures: charts with caption and numbers, and photographs of a card.

use super::bars;
use crate::chart::{Chart, ChartKind};
use crate::markup::{escape_html, prose_html};
use crate::svg::{self, SvgMedium};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cardscope_model::publication::CardPicture;

pub(super) fn is_bar_chart(chart: &Chart) -> bool {
    matches!(chart.kind, ChartKind::Bars(_))
}

/// A chart in its frame, or an empty text. It is drawn twice, for wide windows and for phones, because scaled text would
/// be too small; folded sections use the narrow one. A title that repeats the heading is for screen readers only.
pub(super) fn chart_html(chart: &Chart, small: bool, head: &str) -> String {
    let drawn = match &chart.kind {
        ChartKind::Bars(bars) => bars::bars_html(bars),
        _ if small => svg::render_svg(chart, SvgMedium::Narrow),
        _ => {
            let narrow = svg::render_svg(chart, SvgMedium::Narrow).replacen(
                "class=\"chart\"",
                "class=\"chart narrow\"",
                1,
            );
            svg::render_svg(chart, SvgMedium::Wide).replacen("class=\"chart\"", "class=\"chart wide-one\"", 1)
                + &narrow
        }
    };
    if drawn.is_empty() {
        return drawn;
    }
    let caption = chart.caption.joined_parts();
    let caption = if caption.is_empty() {
        caption
    } else {
        format!("<p class=\"caption\">{}</p>\n", prose_html(&caption))
    };
    let numbers = chart.csv().map(|csv| format!(" data-csv=\"{}\"", escape_html(&csv))).unwrap_or_default();
    let kind = if is_bar_chart(chart) { "" } else { " picture" };
    let title = escape_html(&chart.title);
    let title = if chart.title == head { format!("<span class=\"unseen\">{title}</span>") } else { title };
    format!(
        "<figure class=\"drawn{kind}\"{numbers}>\n<figcaption>{title}</figcaption>\n{drawn}{caption}</figure>\n"
    )
}

/// Photograph or screenshot, embedded as base64.
pub(super) fn picture_html(picture: &CardPicture) -> String {
    let caption = escape_html(&picture.caption);
    format!(
        "<figure class=\"photograph\"><img src=\"data:{};base64,{}\" alt=\"{caption}\"><figcaption>{caption}</figcaption></figure>\n",
        picture.media_type,
        STANDARD.encode(&picture.bytes)
    )
}
