//! Charts as PNG.

use cardscope_compare::page::bar_charts::bars_by_card;
use cardscope_compare::page::comparison::sentences::RunMeasure;
use cardscope_page::chart::ChartKind;
use cardscope_page::png::{PngError, render_png};
use cardscope_testkit::samples as sample;

#[test]
fn png_of_three_cards_is_not_blank() {
    let chart = bars_by_card(&sample::comparison(3, 2, 2), RunMeasure::Average).unwrap();
    let bytes = render_png(&chart).unwrap();
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    assert_eq!(reader.next_frame(&mut pixels).unwrap().width, 1520);
    let dark = pixels.as_chunks::<4>().0.iter().filter(|p| p[0] < 60 && p[1] < 60 && p[2] < 80).count();
    assert!(dark > 2000, "letters are drawn without any font of the system: {dark} dark pixels");
    assert_eq!((pixels[0], pixels[3]), (255, 255));
}

#[test]
fn too_many_bars_are_refused_early() {
    let mut chart = bars_by_card(&sample::comparison(1, 1, 1), RunMeasure::Best).unwrap();
    let ChartKind::Bars(bars) = &mut chart.kind else { panic!("bars") };
    bars.groups = vec![bars.groups[0].clone(); 4_000];
    assert!(matches!(render_png(&chart), Err(PngError::TooLarge { .. })));
}
