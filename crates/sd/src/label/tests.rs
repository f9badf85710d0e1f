//! Labels of genuine and fake cards.

use super::*;

const FAKE: &str = "1TB U3 A2 V30 633x 'up to 95 MB/s' 4K SDXC UHS-I C10";

fn read(text: &str) -> CardLabel {
    parse(text).unwrap()
}

fn marks(label: &CardLabel) -> Vec<String> {
    label.marks.iter().map(ToString::to_string).collect()
}

#[test]
fn fake_1tb_label_is_parsed_completely() {
    let label = read(FAKE);
    assert_eq!(label.capacity.as_ref().map(|c| c.bytes), Some(1_000_000_000_000));
    assert_eq!(marks(&label), ["U3", "A2", "V30", "C10"]);
    assert_eq!(label.false_marks, ["4K"]);
    assert_eq!((&label.families[..], &label.buses[..]), (&[CsdFamily::Sdxc][..], &[PrintedBus::UhsI][..]));
    let speeds: Vec<(f64, &str)> = label.speeds.iter().map(|s| (s.mb_s, s.printed.as_str())).collect();
    assert_eq!(speeds.len(), 2);
    assert!((speeds[0].0 - 94.95).abs() < 1e-9 && speeds[0].1 == "633x", "{speeds:?}");
    assert_eq!(speeds[1], (95.0, "95 MB/s"));
    assert!(label.unknown.is_empty(), "{:?}", label.unknown);
}

#[rstest::rstest]
#[case("SanDisk Extreme PRO 64 GB microSDXC I U3 V30 A2 R 170 W 90", &[(170.0, Some(SpeedDirection::Read)), (90.0, Some(SpeedDirection::Write))])]
#[case("170MB/s read 90MB/s write", &[(170.0, Some(SpeedDirection::Read)), (90.0, Some(SpeedDirection::Write))])]
#[case("read up to 170 MB/s, write 90 MB/s", &[(170.0, Some(SpeedDirection::Read)), (90.0, Some(SpeedDirection::Write))])]
#[case("R170/W90", &[(170.0, Some(SpeedDirection::Read)), (90.0, Some(SpeedDirection::Write))])]
#[case("“100MB/s*”", &[(100.0, None)])]
#[case("100 MB/s", &[(100.0, None)])]
#[case("1667x", &[(250.05, None)])]
fn printed_speeds_are_parsed_in_makers_notations(
    #[case] text: &str,
    #[case] expected: &[(f64, Option<SpeedDirection>)],
) {
    let speeds = read(text).speeds;
    assert_eq!(speeds.len(), expected.len(), "{speeds:?}");
    for (speed, (mb_s, direction)) in speeds.iter().zip(expected) {
        assert!((speed.mb_s - mb_s).abs() < 1e-9 && speed.direction == *direction, "{speed:?}");
    }
}

#[rstest::rstest]
#[case("Class 10", &["C10"])]
#[case("UHS Speed Class 3, Video Speed Class 30, Application Performance Class A2", &["U3", "V30", "A2"])]
#[case("C10/U3", &["C10", "U3"])]
#[case("E600 SD Express", &["E600"])]
fn marks_are_parsed_from_letters_and_words(#[case] text: &str, #[case] expected: &[&str]) {
    assert_eq!(marks(&read(text)), expected);
}

#[test]
fn unknown_words_are_preserved_and_invalid_labels_refused() {
    assert_eq!(read("Lexar Professional 64GB").unknown, ["lexar", "professional"]);
    assert_eq!(parse("  ' ' "), Err(LabelError::Empty));
    assert_eq!(parse("64GB 128GB"), Err(LabelError::TwoCapacities("64GB".into(), "128GB".into())));
    assert!(parse("64GB 64 GB").is_ok());
    assert!(matches!(parse(&"a".repeat(2000)), Err(LabelError::TooLong(2000))));
}

proptest::proptest! {
    #[test]
    fn label_parser_never_panics(text: String) {
        let _ = parse(&text);
    }
}
