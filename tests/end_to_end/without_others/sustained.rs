//! A long write to a card in real time finds its cache.

use crate::common::binary::Home;
use crate::common::machine::LoopDevice;
use crate::common::served::Served;
use crate::common::turns;

#[test]
fn sustain_finds_the_cache_in_real_time() {
    let _quiet = turns::quiet();
    let home = Home::new();
    let served = Served::start(
        &home,
        "sim:pro-64g-u3?announced_bytes=2GiB&cache.clean_bytes=300000000&write.mb_s=20",
        &[],
    );
    let device = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    let name = device.path.as_str();
    let arguments = ["sustain", name, "--erase", "--yes-destroy", name, "--duration", "15s", "--json"];
    let run = home.run(&arguments).expect(0);
    let document = run.json();
    let cache = document["cache_bytes"]["value"].as_f64().unwrap_or_else(|| panic!("{run}"));
    assert!((cache / 300e6 - 1.0).abs() < 0.15, "{cache}\n{run}");
    let after = document["after_cache_mb_s"]["value"].as_f64().unwrap();
    // A level is the median of quarters of a second, each with two or three I/Os at 10 MB/s.
    assert!((16.0..24.0).contains(&after), "20 MB/s after it\n{run}");
}
