//! Details of a card other than speeds, as phrases for every output: controller, link, temperatures, flash.

use cardscope_model::card_details::{CardDetails, CardTemperatures};
use cardscope_page::figure::to_sentence;
use cardscope_page::properties;

/// Details with their names, except temperatures (see [`heat`]); unknown ones are omitted.
pub(crate) fn detail_facts(details: &CardDetails) -> Vec<(String, String)> {
    let limits = &details.limits;
    let celsius = |limit: Option<f64>| limit.map(celsius_text);
    let all = [
        ("controller", details.controller.clone()),
        ("PCIe link", details.pcie_link.clone()),
        ("temperature threshold (TMPTH)", celsius(limits.tmpth_celsius)),
        ("light throttling (TMT1)", celsius(limits.tmt1_celsius)),
        ("heavy throttling (TMT2)", celsius(limits.tmt2_celsius)),
        ("warning temperature", celsius(limits.warning_celsius)),
        ("critical temperature", celsius(limits.critical_celsius)),
    ];
    let all = all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    all.chain(details.geometry.as_ref().map(properties::geometry_facts).unwrap_or_default()).collect()
}

/// A sentence for each cooling: `Idle 45 °C, peak 82 °C (passive cooling).`
pub(crate) fn heat_sentences(details: &CardDetails) -> Vec<String> {
    details.temperatures.iter().map(|heat| to_sentence(&heat_phrase(heat))).collect()
}

/// Temperatures as facts, with a name for each cooling.
pub(crate) fn heat_facts(details: &CardDetails) -> Vec<(String, String)> {
    let fact = |heat: &CardTemperatures| {
        let how = heat.cooling.as_ref().map_or(String::new(), |cooling| format!(", {cooling} cooling"));
        (format!("temperature{how}"), idle_and_peak(heat))
    };
    details.temperatures.iter().map(fact).collect()
}

fn idle_and_peak(heat: &CardTemperatures) -> String {
    match (heat.idle_c, heat.peak_c) {
        (Some(idle), Some(peak)) => format!("idle {}, peak {}", celsius_text(idle), celsius_text(peak)),
        (Some(only), None) => format!("idle {}", celsius_text(only)),
        (None, only) => format!("up to {}", only.map(celsius_text).unwrap_or_default()),
    }
}

fn heat_phrase(heat: &CardTemperatures) -> String {
    let what = idle_and_peak(heat);
    match &heat.cooling {
        Some(cooling) => format!("{what} ({cooling} cooling)"),
        None => what,
    }
}

fn celsius_text(celsius: f64) -> String {
    format!("{celsius:.0} °C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cooling_has_a_temperature_sentence() {
        let heat_of = |cooling: Option<&str>, idle_c, peak_c| {
            let cooling = cooling.map(str::to_owned);
            let temperatures = vec![CardTemperatures { cooling, idle_c, peak_c }];
            heat_sentences(&CardDetails { temperatures, ..CardDetails::default() }).remove(0)
        };
        assert_eq!(heat_of(None, Some(45.0), Some(82.0)), "Idle 45 °C, peak 82 °C.");
        assert_eq!(heat_of(Some("passive"), None, Some(82.0)), "Up to 82 °C (passive cooling).");
    }
}
