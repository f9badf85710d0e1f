//! What is written, on small documents and on strange ones.

use super::*;
use crate::sample;
use serde_json::json;

/// Two cards, two runs, one test: small enough to be read whole.
pub(super) fn small() -> Publication {
    let mut publication = sample::publication(2, 2, 1);
    publication
        .cards
        .iter_mut()
        .for_each(|part| (part.courses, part.map, part.verify, part.sustain) = (vec![], None, None, None));
    if let Some(second) = publication.cards.get_mut(1) {
        second.latencies.clear();
    }
    publication
}

#[test]
fn a_card_as_crystaldiskmark_writes_it() {
    let text = crystaldiskmark(&small());
    assert_eq!(text.matches("[Read]").count(), 2, "a report a card");
    insta::assert_snapshot!(text.split("\n\n---").next().unwrap(), @r"
    ------------------------------------------------------------------------------
    Cardscope 0.1.0, in the layout of CrystalDiskMark 8
                        MB/s are true: 10^6 bytes a second; the fastest run counts
    ------------------------------------------------------------------------------
    * MB/s = 1,000,000 bytes/s [SATA/600 = 600,000,000 bytes/s]
    * KB = 1000 bytes, KiB = 1024 bytes

    [Read]
      SEQ    1MiB (Q=  8, T= 1):    58.810 MB/s [     56.1 IOPS] <   524.34 us>

    Profile: cdm8-default
       Test: 1 GiB (x2) [Alder Swift 64GB]
       Mode:
       Date: 2026/05/17
         OS: unknown
    ");
}

#[test]
fn a_card_as_kdiskmark_writes_it_in_its_units() {
    let text = kdiskmark(&small());
    let second = text.match_indices("Cardscope (").nth(1).unwrap().0;
    insta::assert_snapshot!(text[..second].trim_end(), @r"
                       Cardscope (0.1.0), in the layout and units of KDiskMark 3.3.0
                                                         The mean of all runs counts
    --------------------------------------------------------------------------------
    * MB/s = 1,024,000 bytes/s, as KDiskMark counts them
    * KB = 1000 bytes, KiB = 1024 bytes

    [Read]
    Sequential   1 MiB (Q=  8, T= 1):    56.458 MB/s [     55.1 IOPS] <   524.34 us>

    Profile: cdm8-default
       Test: 1 GiB (x2)
       Date: 2026-05-17
         OS: unknown
     Target: Alder Swift 64GB
    ");
}

#[test]
fn each_figure_of_a_card_is_a_row() {
    insta::assert_snapshot!(String::from_utf8(csv(&small()).unwrap()).unwrap().replace('\r', ""), @r"
    card,card_id,brand,name,model,generation,capacity,capacity_bytes,recipe,test_size_bytes,test,op,step,block_bytes,figure,run,mb_s,iops,printed_value,printed_unit,condition_state,condition_full_percent,condition_written_before,condition_firmware,condition_reader,condition_usb_host,condition_board,condition_board_clock,condition_cpu_governor,condition_kernel,condition_supply,condition_bus_mode,condition_cooling,condition_cooling_of,condition_file_system,condition_room_c,condition_host_source_mb_s,condition_tool,condition_note,sources,ordered_by,ordered_on,place,cards,order_value,order_low,order_high,order_unit,group
    Alder Swift 64GB,card-0,Alder Swift 64GB,,,,64GB,63864569856,cdm8-default,1073741824,SEQ1M Q8T1,read,,1048576,run,1,56.817,54.184913635253906,,,,,,,reader slot,,,,,,,,passive,,,,,,,logs/card-0.txt,,,,,,,,,
    Alder Swift 64GB,card-0,Alder Swift 64GB,,,,64GB,63864569856,cdm8-default,1073741824,SEQ1M Q8T1,read,,1048576,run,2,58.81,56.08558654785156,,,,,,,reader slot,,,,,,,,passive,,,,,,,logs/card-0.txt,,,,,,,,,
    Alder Swift 64GB,card-0,Alder Swift 64GB,,,,64GB,63864569856,cdm8-default,1073741824,SEQ1M Q8T1,read,,1048576,average,,57.813500000000005,55.13525009155274,57.81,MB/s,,,,,reader slot,,,,,,,,passive,,,,,,,logs/card-0.txt,,,,,,,,,
    Alder Swift 64GB,card-0,Alder Swift 64GB,,,,64GB,63864569856,cdm8-default,1073741824,SEQ1M Q8T1,read,,1048576,worst,,56.817,54.184913635253906,56.82,MB/s,,,,,reader slot,,,,,,,,passive,,,,,,,logs/card-0.txt,,,,,,,,,
    Alder Swift 64GB,card-0,Alder Swift 64GB,,,,64GB,63864569856,cdm8-default,1073741824,SEQ1M Q8T1,read,,1048576,best,,58.81,56.08558654785156,58.81,MB/s,,,,,reader slot,,,,,,,,passive,,,,,,,logs/card-0.txt,,,,,,,,,
    Alder Swift 64GB,card-0,Alder Swift 64GB,,,,64GB,63864569856,cdm8-default,1073741824,SEQ1M Q8T1,read,,1048576,median,,58.81,56.08558654785156,58.81,MB/s,,,,,reader slot,,,,,,,,passive,,,,,,,logs/card-0.txt,,,,,,,,,
    Alder Swift 64GB,card-0,Alder Swift 64GB,,,,64GB,63864569856,cdm8-default,1073741824,SEQ1M Q8T1,read,,1048576,ci95_low,,55.56141,52.98748970031738,,,,,,,reader slot,,,,,,,,passive,,,,,,,logs/card-0.txt,,,,,,,,,
    Alder Swift 64GB,card-0,Alder Swift 64GB,,,,64GB,63864569856,cdm8-default,1073741824,SEQ1M Q8T1,read,,1048576,ci95_high,,60.06559000000001,57.28301048278809,,,,,,,reader slot,,,,,,,,passive,,,,,,,logs/card-0.txt,,,,,,,,,
    Birch Endure 128GB,card-1,Birch Endure 128GB,,,,64GB,63864569856,cdm8-default,1073741824,SEQ1M Q8T1,read,,1048576,run,1,60.875,58.05492401123047,,,,,,,reader slot,,,,,,,,active,,,,,,,logs/card-1.txt,,,,,,,,,
    Birch Endure 128GB,card-1,Birch Endure 128GB,,,,64GB,63864569856,cdm8-default,1073741824,SEQ1M Q8T1,read,,1048576,run,2,63.55,60.60600280761719,,,,,,,reader slot,,,,,,,,active,,,,,,,logs/card-1.txt,,,,,,,,,
    Birch Endure 128GB,card-1,Birch Endure 128GB,,,,64GB,63864569856,cdm8-default,1073741824,SEQ1M Q8T1,read,,1048576,average,,62.2125,59.33046340942383,62.21,MB/s,,,,,reader slot,,,,,,,,active,,,,,,,logs/card-1.txt,,,,,,,,,
    Birch Endure 128GB,card-1,Birch Endure 128GB,,,,64GB,63864569856,cdm8-default,1073741824,SEQ1M Q8T1,read,,1048576,worst,,60.875,58.05492401123047,60.88,MB/s,,,,,reader slot,,,,,,,,active,,,,,,,logs/card-1.txt,,,,,,,,,
    Birch Endure 128GB,card-1,Birch Endure 128GB,,,,64GB,63864569856,cdm8-default,1073741824,SEQ1M Q8T1,read,,1048576,best,,63.55,60.60600280761719,63.55,MB/s,,,,,reader slot,,,,,,,,active,,,,,,,logs/card-1.txt,,,,,,,,,
    Birch Endure 128GB,card-1,Birch Endure 128GB,,,,64GB,63864569856,cdm8-default,1073741824,SEQ1M Q8T1,read,,1048576,median,,63.55,60.60600280761719,63.55,MB/s,,,,,reader slot,,,,,,,,active,,,,,,,logs/card-1.txt,,,,,,,,,
    Birch Endure 128GB,card-1,Birch Endure 128GB,,,,64GB,63864569856,cdm8-default,1073741824,SEQ1M Q8T1,read,,1048576,ci95_low,,59.189750000000004,56.447744369506836,,,,,,,reader slot,,,,,,,,active,,,,,,,logs/card-1.txt,,,,,,,,,
    Birch Endure 128GB,card-1,Birch Endure 128GB,,,,64GB,63864569856,cdm8-default,1073741824,SEQ1M Q8T1,read,,1048576,ci95_high,,65.23525,62.21318244934081,,,,,,,reader slot,,,,,,,,active,,,,,,,logs/card-1.txt,,,,,,,,,
    Alder Swift 64GB,card-0,Alder Swift 64GB,,,,64GB,63864569856,cdm8-default,1073741824,,,,,place,,,,,,,,,,reader slot,,,,,,,,passive,,,,,,,logs/card-0.txt,pi-boot,Raspberry Pi 4,1,2,91.5,87.5,94.5,points,
    Birch Endure 128GB,card-1,Birch Endure 128GB,,,,64GB,63864569856,cdm8-default,1073741824,,,,,place,,,,,,,,,,reader slot,,,,,,,,active,,,,,,,logs/card-1.txt,pi-boot,Raspberry Pi 4,1,2,61.5,57.5,64.5,points,
    ,,,,,,,,,,,,,,group_mean,,,,,,,,,,,,,,,,,,,,,,,,,,pi-boot,Raspberry Pi 4,,2,80,,,points,A2
    ,,,,,,,,,,,,,,group_median,,,,,,,,,,,,,,,,,,,,,,,,,,pi-boot,Raspberry Pi 4,,2,81,,,points,A2
    ,,,,,,,,,,,,,,group_worst,,,,,,,,,,,,,,,,,,,,,,,,,,pi-boot,Raspberry Pi 4,,2,70,,,points,A2
    ,,,,,,,,,,,,,,group_best,,,,,,,,,,,,,,,,,,,,,,,,,,pi-boot,Raspberry Pi 4,,2,91.5,,,points,A2
    ");
}

#[test]
fn cards_as_a_page_of_markdown() {
    insta::assert_snapshot!(markdown(&small()), @r#"
    # Cards of the drawer

    ## What was compared

    |  | card | measured |
    | --- | --- | --- |
    | 1 | Alder Swift 64GB | 2 runs in 2 sessions of 1 piece, 2026-05-01 to 2026-05-17 |
    | 2 | Birch Endure 128GB | 2 runs in 2 sessions of 1 piece, 2026-05-01 to 2026-05-17 |

    Measured by: cdm8-default · 1 GiB · reader reader slot; more differs.

    ## What differs besides the card

    |  | 1 Alder Swift 64GB | 2 Birch Endure 128GB |
    | --- | ---: | ---: |
    | cooling | passive | active |

    ## Findings

    - **Hint:** Not all cards were cooled alike. (cooling active and passive) Measure them once more under one fan.

    ## Average, MB/s

    Each figure is the mean of all runs, with its 95 % interval.

    | test | 1 Alder Swift 64GB | 2 Birch Endure 128GB |
    | --- | ---: | ---: |
    | SEQ1M Q8T1 read | 57.81 (55.56 … 60.07) | 62.21 (59.19 … 65.24) |

    ## Worst, MB/s

    Each figure is the slowest run.

    | test | 1 Alder Swift 64GB | 2 Birch Endure 128GB |
    | --- | ---: | ---: |
    | SEQ1M Q8T1 read | 56.82 | 60.88 |

    ## Best, MB/s

    Each figure is the fastest run.

    | test | 1 Alder Swift 64GB | 2 Birch Endure 128GB |
    | --- | ---: | ---: |
    | SEQ1M Q8T1 read | 58.81 | 63.55 |

    ## Median, MB/s

    Each figure is the run in the middle.

    | test | 1 Alder Swift 64GB | 2 Birch Endure 128GB |
    | --- | ---: | ---: |
    | SEQ1M Q8T1 read | 58.81 | 63.55 |

    ## Fastest first (&gt; faster for sure, = alike, ? open)

    | test | fastest first |
    | --- | --- |
    | SEQ1M Q8T1 read | 2 ? 1 |

    ## Which differences are real

    Of 1 pair in single tests 0 differ for sure, 0 are alike, 1 cannot be told apart.

    | test | pair | second against first | 95 % interval | chance alone | what can be said |
    | --- | --- | ---: | ---: | ---: | --- |
    | SEQ1M Q8T1 read | 1 and 2 | +7.6 % | +3.3 % … +11.9 % | 0.124 | these two cannot be told apart; about 8 further runs of each may settle it |

    ## Cards for pi-boot on Raspberry Pi 4: system of a small computer

    | place | card | score of 100 | 95 % interval | runs | fit | price | per price |
    | --- | --- | ---: | ---: | ---: | --- | ---: | ---: |
    | 1 = | Alder Swift 64GB | 91.5 | 87.5 … 94.5 | 10 | good | 9.90 EUR | 9.242 / EUR |
    | 1 = | Birch Endure 128GB | 61.5 | 57.5 … 64.5 | 10 | good | 10.90 EUR | 5.642 / EUR |

    Cards with = share their place: they cannot be told apart, or differ by less than anybody notices.

    ## What that means

    - Alder Swift 64GB: boot: 18.0 s; the host caps sequential read
    - Birch Endure 128GB: boot: 19.0 s

    ## Not placed

    - Fir 8GB: random writes were not measured

    ## By mark, score of 100

    | mark | cards | mean | median | worst | best |
    | --- | ---: | ---: | ---: | ---: | ---: |
    | A2 | 2 | 80.0 | 81.0 | 70.0 | 91.5 |

    what the mark says about the score for "pi-boot" cannot be told from chance with 2 cards; 12 % of the spread between cards lies between the groups (by chance alone: 0.410)

    ## Card by card

    ### Alder Swift 64GB

    - **Made**: 2024-03
    - **Form**: microSDXC
    - **Marks**: U3 V30 A2
    - **Capacity**: 63 864 569 856 bytes (63.86 GB, 59.48 GiB)

    - It does what V30 promises.

    ### Birch Endure 128GB

    - **Made**: 2024-03
    - **Form**: microSDXC
    - **Marks**: U3 V30 A2
    - **Capacity**: 63 864 569 856 bytes (63.86 GB, 59.48 GiB)

    - It does what V30 promises.

    ## Where the figures are from

    - Alder Swift 64GB: logs/card-0.txt
    - Birch Endure 128GB: logs/card-1.txt

    MB/s are 10^6 bytes a second. Made on 2026-05-18 by Cardscope 0.1.0.
    "#);
}

#[test]
fn a_plotly_block_has_the_form_of_seed_000() {
    let page = plotly(&small());
    let block = page.split("{{< plotly >}}").nth(1).and_then(|rest| rest.split("{{< /plotly >}}").next());
    let chart: serde_json::Value = serde_json::from_str(block.unwrap()).unwrap();
    let run = |name: &str, x: f64| json!({ "x": [x], "name": name, "type": "bar", "orientation": "h" });
    assert_eq!(
        chart,
        json!({
            "common_data": { "y": ["SEQ1M Q8T1 read"] },
            "data": [run("Run 2", 58.81), run("Run 1", 56.817)],
            "layout": {
                "margin": { "t": 0, "l": 140, "b": 60 },
                "xaxis": { "ticksuffix": " MB/s", "range": [0, 63.515] },
                "legend": { "traceorder": "reversed" },
                "autosize": true,
                "height": 300
            },
            "config": { "responsive": true }
        })
    );
    let blocks: Vec<&str> = page.split("{{< plotly >}}").skip(1).collect();
    assert_eq!(blocks.len(), 2 + 3, "every run of two cards; averages, worsts, bests");
}

#[test]
fn the_whole_document_survives_json() {
    let publication = sample::publication(3, 3, 3);
    let written = super::json(&publication).unwrap();
    let back: Publication = serde_json::from_slice(&written).unwrap();
    assert_eq!((&back.title, back.comparison.entries.len(), back.cards.len()), (&publication.title, 3, 3));
    let page = |of: &Publication| of.cards[0].map.as_ref().and_then(|map| map.body.measured.page_bytes.value);
    assert_eq!((page(&back), &back.cards[1].events), (page(&publication), &publication.cards[1].events));
}

#[test]
fn a_format_is_known_by_its_name_and_by_the_end_of_a_file_s() {
    assert_eq!(by_file("cards.PNG").map(|f| f.name), Some("png"));
    assert_eq!(by_file("post.plotly.md").map(|f| f.name), Some("plotly"));
    assert_eq!(by_file("post.md").map(|f| f.name), Some("markdown"));
    assert_eq!((by_file("cards.doc").is_some(), by_name("csv").is_some()), (false, true));
}

#[test]
fn a_publication_without_figures_has_no_picture_and_says_what_has() {
    let error = svg(&sample::publication(0, 0, 0)).unwrap_err().to_string();
    assert!(error.contains("no card in it has a speed") && error.contains(".html"), "{error}");
}

#[test]
fn a_name_that_is_a_formula_is_a_text_to_a_spreadsheet() {
    let mut publication = small();
    publication.comparison.entries[0].name = "=HYPERLINK(\"x\")".into();
    publication.comparison.entries[1].sources = vec!["@SUM(A1)".into()];
    let text = String::from_utf8(csv(&publication).unwrap()).unwrap();
    assert!(text.contains("\"'=HYPERLINK(\"\"x\"\")\"") && text.contains("'@SUM(A1)"), "{text}");
}

#[test]
fn a_name_ends_no_block_no_table_and_no_front_matter() {
    let mut publication = small();
    let name = "a | b {{< /plotly >}} +++\n# <script>";
    publication.title = name.into();
    publication.comparison.entries[0].name = name.into();
    for page in [plotly(&publication), markdown(&publication)] {
        assert!(!page.contains("<script") && !page.contains("a | b {{<"), "{page}");
        assert_eq!(page.matches("{{< /plotly >}}").count(), page.matches("{{< plotly >}}").count());
        assert!(!page.lines().any(|line| line.starts_with("# <")), "{page}");
    }
}

/// The numbers of a line of either tool: MB/s and IOPS.
fn figures(line: &str) -> Option<(f64, f64)> {
    let (_, rest) = line.split_once("): ")?;
    let (mb_s, rest) = rest.split_once(" MB/s [")?;
    let (iops, _) = rest.split_once(" IOPS]")?;
    Some((mb_s.trim().parse().ok()?, iops.trim().parse().ok()?))
}

#[test]
fn in_both_layouts_and_in_csv_the_bytes_are_those_of_the_ios() {
    let publication = sample::publication(4, 5, 12);
    let blocks = publication.comparison.tests.iter().map(|t| (t.test.pattern.block as f64, t.test.op));
    let reads_first: Vec<f64> = blocks
        .clone()
        .filter(|b| !b.1.writes())
        .chain(blocks.filter(|b| b.1.writes()))
        .map(|b| b.0)
        .collect();
    for (text, unit) in [(crystaldiskmark(&publication), 1e6), (kdiskmark(&publication), 1_024_000.0)] {
        let lines: Vec<(f64, f64)> = text.lines().filter_map(figures).collect();
        assert_eq!(lines.len(), 4 * 12 - 1);
        for ((mb_s, iops), block) in lines.iter().zip(reads_first.iter().cycle()) {
            // Three decimals of the speed and one of the rate are printed.
            let rounding = 0.0005 * unit + 0.05 * block;
            assert!((mb_s * unit - iops * block).abs() <= rounding * 1.01, "{mb_s} {iops} {block}");
        }
    }
    let mut rows = ::csv::Reader::from_reader(csv(&publication).map(std::io::Cursor::new).unwrap());
    let heads = rows.headers().unwrap().clone();
    let at = |name: &str| heads.iter().position(|head| head == name).unwrap();
    for row in rows.records().map(Result::unwrap) {
        let cell = |name: &str| row[at(name)].parse::<f64>().unwrap();
        if row[at("mb_s")].is_empty() {
            continue;
        }
        let (bytes, by_ios) = (cell("mb_s") * 1e6, cell("iops") * cell("block_bytes"));
        assert!((bytes - by_ios).abs() <= bytes.abs() * 1e-12, "{bytes} {by_ios}");
    }
}
