//! Citations of specifications for the registers that a card reports, shown as tooltips of their fields.
//!
//! PLS is the SD Association's Physical Layer Simplified Specification, version 9.10 (docs/reference/sd.md); NVMe the
//! NVM Express Base Specification, revision 2.0 (docs/reference/linux.md).

/// Heading, label (empty: any other label of that heading) and citation.
const CITATIONS: &[(&str, &str, &str)] = &[
    ("Card (CID)", "", "PLS 5.2, table 5-2"),
    ("Card-specific data (CSD)", "structure", "PLS 5.3.1"),
    ("Card-specific data (CSD)", "command classes (CCC)", "PLS 4.7.3, CCC in 5.3.2"),
    ("Card-specific data (CSD)", "clock after reset", "PLS 5.3.2, TRAN_SPEED"),
    ("Card-specific data (CSD)", "erase unit", "PLS 5.3.2, SECTOR_SIZE and WRITE_BL_LEN"),
    ("Card-specific data (CSD)", "checksum (CRC7)", "PLS 4.5 and 5.3.2, CRC"),
    ("Card-specific data (CSD)", "", "PLS 5.3.2 to 5.3.4"),
    ("Configuration (SCR)", "", "PLS 5.6"),
    ("SD status (SSR)", "speed class", "PLS 4.10.2, SPEED_CLASS; 4.13.1"),
    ("SD status (SSR)", "UHS speed grade", "PLS 4.10.2, UHS_SPEED_GRADE; 4.13.3"),
    ("SD status (SSR)", "video speed class", "PLS 4.10.2, VIDEO_SPEED_CLASS; 4.13.4"),
    ("SD status (SSR)", "application class", "PLS 4.10.2, APP_PERF_CLASS; 4.16"),
    ("SD status (SSR)", "", "PLS 4.10.2, table 4-44"),
    ("Operating conditions (OCR)", "", "PLS 5.1"),
    ("NVMe", "threshold (TMPTH)", "NVMe 5.27.1.3, Temperature Threshold"),
    ("NVMe", "throttles from (TMT1)", "NVMe 5.27.1.13, Host Controlled Thermal Management"),
    ("NVMe", "throttles hard (TMT2)", "NVMe 5.27.1.13, Host Controlled Thermal Management"),
    ("NVMe", "model", "NVMe 5.17.2.1, Identify Controller"),
    ("NVMe", "serial", "NVMe 5.17.2.1, Identify Controller"),
    ("NVMe", "firmware", "NVMe 5.17.2.1, Identify Controller"),
    ("NVMe", "NVMe version", "NVMe 5.17.2.1, Identify Controller"),
    ("NVMe", "warning temperature", "NVMe 5.17.2.1, WCTEMP"),
    ("NVMe", "critical temperature", "NVMe 5.17.2.1, CCTEMP"),
    ("NVMe", "", "NVMe 5.16.1.3, SMART / Health Information"),
];

/// Section of the specification that defines a field.
pub(crate) fn field_citation(head: &str, label: &str) -> Option<&'static str> {
    let under = || CITATIONS.iter().filter(|(heading, ..)| *heading == head);
    let own = under().find(|(_, of, _)| *of == label);
    own.or_else(|| under().find(|(_, of, _)| of.is_empty())).map(|(.., place)| *place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_labels_have_no_citation() {
        assert_eq!(field_citation("Bus", "mode"), None);
    }
}
