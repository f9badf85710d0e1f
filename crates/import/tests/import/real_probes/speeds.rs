//! Speed tools, and scripts that run several of them.

use super::{data, figures, log, printed};

#[test]
fn hdparm_dd_and_iozone_logs_are_read() {
    let Some(data) = data() else { return };
    let six = log(&data, "hdparm/rpi4-sd-ddr50-six-runs.txt");
    let speeds: Vec<f64> = figures(&six).map(|f| f.printed_or_speed().value).collect();
    assert_eq!(speeds, [44.46, 44.43, 44.42, 46.19, 44.46, 44.46]);
    assert_eq!(printed(&log(&data, "hdparm/sandisk-ultra-64gb-jetson.txt"), "SEQ2M Q1T1 read", None), 82.90);
    let dd = log(&data, "dd/rpi01-slow-sd-write.txt");
    let figure = figures(&dd).next().unwrap();
    assert!((figure.mb_s - 419.430_400 / 43.8039).abs() < 1e-9);
    assert_eq!(
        (figure.printed_or_speed().value, figure.name().to_string().as_str()),
        (9.6, "SEQ8K Q1T1 write")
    );
    let jetson = log(&data, "iozone/sandisk-ultra-64gb-sdsquns-jetson.txt");
    assert_eq!(figures(&jetson).count(), 30);
    assert_eq!(
        (
            printed(&jetson, "SEQ4K Q1T1 write", None),
            printed(&jetson, "RND4K Q1T1 read", None),
            printed(&jetson, "RND4K Q1T1 write", None)
        ),
        (2689.0, 8995.0, 2452.0)
    );
    let blank = log(&data, "iozone/toshiba-bg3-1024k-no-read-columns.txt");
    assert_eq!(
        (
            figures(&blank).count(),
            printed(&blank, "RND1M Q1T1 read", None),
            printed(&blank, "RND1M Q1T1 write", None)
        ),
        (4, 374_715.0, 325_762.0)
    );
}

#[test]
fn script_logs_of_several_tools_are_read() {
    let Some(data) = data() else { return };
    for (file, hdparm, dd, read, write) in [
        ("sandisk-extreme-plus-32gb-orangepi-zero2w.txt", 67.51, 54.1, 9761.0, 5744.0),
        ("siliconpower-elite-32gb-orangepi-zero2w.txt", 64.76, 16.6, 4727.0, 643.0),
    ] {
        let log = log(&data.join("microsd-benchmarks-sh"), file);
        let found = ["hdparm -t", "dd", "iozone random read", "iozone random write"].map(|step| {
            figures(&log).find(|f| f.step.as_deref() == Some(step)).unwrap().printed_or_speed().value
        });
        assert_eq!((log.runs.len(), found), (1, [hdparm, dd, read, write]), "{file}");
    }
    for (file, score) in [
        ("sandisk-ultra-16gb-sd.txt", 923.0),
        ("pny-128-usb3.txt", 860.0),
        ("sandisk-ultra-8gb-sd.txt", 742.0),
        ("orangepi5-sd.txt", 1409.0),
        ("sandisk-ultra-sdsquar-064g.txt", 1132.0),
    ] {
        let log = log(&data.join("pibenchmarks"), file);
        assert_eq!(
            (log.other["pibenchmarks"]["scores"][0].as_f64(), figures(&log).count()),
            (Some(score), 9),
            "{file}"
        );
    }
    let ultra = log(&data, "pibenchmarks/sandisk-ultra-16gb-sd.txt");
    assert_eq!(printed(&ultra, "SEQ2M Q1T1 read", Some("HDParm Disk Read")), 40.22);
    let random = figures(&ultra).find(|f| f.step.as_deref() == Some("FIO 4k random write")).unwrap();
    assert_eq!((random.iops, (random.mb_s * 1e3).round()), (Some(296.0), 1214.0));
}

#[test]
fn bonnie_lines_are_read() {
    let Some(data) = data() else { return };
    let eight = log(&data, "bonnie/bonnie_8.txt");
    assert_eq!(
        (printed(&eight, "SEQ8K Q1T1 write", None), eight.runs[0].size_bytes),
        (5275.0, Some(512 << 20))
    );
    assert_eq!((eight.other["bonnie"][0]["seeks_per_s"].as_f64(), figures(&eight).count()), (Some(48.1), 1));
    let files = log(&data, "bonnie/bonnie_wb_20_2.txt");
    assert_eq!(
        (files.runs.len(), files.other["bonnie"][0]["sequential_create_per_s"].as_f64()),
        (0, Some(62.0))
    );
}
