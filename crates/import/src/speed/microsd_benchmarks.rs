//! Geerling's `microsd-benchmarks.sh`: hdparm, dd and iozone in one file are one run; and any log that holds at least two
//! of the three.
//!
//! The steps carry the names that the recipe `geerling-2020` gives them, so that its runs and these compare.

use super::{dd, hdparm, iozone};
use crate::error::ImportError;
use crate::text::Text;
use cardscope_model::log::{Log, LogFigure, LogRun, Tool};
use cardscope_model::test_name::{Op, Order};

/// True where two of the three tools stand in it.
pub(crate) fn recognise(text: &Text) -> bool {
    let tools = [hdparm::recognise, dd::recognise, iozone::recognise];
    tools.iter().filter(|recognise| recognise(text)).count() >= 2
}

/// Reads it: the k-th results of the tools are run k.
///
/// # Errors
/// If iozone's table is in a unit that is not understood.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    let table = iozone::read(text)?.swap_remove(0);
    let mut log = Log { format: "microsd-benchmarks".to_owned(), ..table };
    log.tool = Some(Tool { name: "hdparm, dd, iozone".into(), version: None });
    let copies = dd::finished(text.lines());
    let mut runs: Vec<LogRun> = Vec::new();
    collect(&mut runs, hdparm::figures(text).into_iter().map(|figure| vec![figure]));
    collect(&mut runs, copies.iter().filter_map(|copy| copy.figure(None, "dd")).map(|figure| vec![figure]));
    collect(&mut runs, log.runs.into_iter().map(|run| run.results.into_iter().map(named).collect()));
    log.runs = runs;
    hdparm::other(text, &mut log);
    // The script's dd writes; its command is not in its output. In another log of two of them nobody knows.
    let script = hdparm::recognise(text) && iozone::recognise(text);
    let known = dd::doubts(&copies).into_iter().filter(|doubt| !script || !doubt.contains("read or wrote"));
    log.doubts.extend(known);
    Ok(vec![log])
}

fn collect(runs: &mut Vec<LogRun>, parts: impl Iterator<Item = Vec<LogFigure>>) {
    for (at, results) in parts.enumerate() {
        match runs.get_mut(at) {
            Some(run) => run.results.extend(results),
            None => runs.push(LogRun { run: at as u32 + 1, results, ..LogRun::default() }),
        }
    }
}

/// iozone's figure under the recipe's name for it.
fn named(figure: LogFigure) -> LogFigure {
    let way = if figure.op == Op::Read { "read" } else { "write" };
    let step = match (&figure.step, figure.test.order) {
        (Some(step), _) => format!("iozone {step}"),
        (None, Order::Random) => format!("iozone random {way}"),
        (None, Order::Sequential) => format!("iozone {way}"),
    };
    LogFigure { step: Some(step), ..figure }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "        Run began: Sat Apr  5 10:11:12 2025\n        Command line used: ./iozone -e -I -a -s 100M -r 4k -i 0 -i 1 -i 2\n              kB  reclen    write  rewrite    read    reread    read     write\n          102400       4     2511     2622     9033     9044     8555     1866\n";

    fn log(text: &str) -> Log {
        read(&Text::decode(text.as_bytes())).unwrap().remove(0)
    }

    fn once() -> String {
        format!(
            "Running hdparm test...\n\n/dev/mmcblk0:\n Timing buffered disk reads: 132 MB in  3.02 seconds =  43.71 MB/sec\n\nRunning dd test...\n\n51200+0 records in\n51200+0 records out\n419430400 bytes (419 MB, 400 MiB) copied, 20 s, 21.0 MB/s\n\nRunning iozone test...\n{TABLE}\nmicroSD card benchmark complete!\n"
        )
    }

    #[test]
    fn a_card_has_one_run_with_the_recipes_steps() {
        let log = log(&once());
        let steps: Vec<String> = log.runs[0]
            .results
            .iter()
            .map(|f| format!("{} {} = {:.3} MB/s", f.step.clone().unwrap_or_default(), f.name(), f.mb_s))
            .collect();
        insta::assert_snapshot!(steps.join("\n"), @r"
        hdparm -t SEQ2M Q1T1 read = 45.833 MB/s
        dd SEQ8K Q1T1 write = 20.972 MB/s
        iozone write SEQ4K Q1T1 write = 2.571 MB/s
        iozone rewrite SEQ4K Q1T1 write = 2.685 MB/s
        iozone read SEQ4K Q1T1 read = 9.250 MB/s
        iozone reread SEQ4K Q1T1 read = 9.261 MB/s
        iozone random read RND4K Q1T1 read = 8.760 MB/s
        iozone random write RND4K Q1T1 write = 1.911 MB/s
        ");
        assert_eq!((log.runs.len(), log.date.as_deref()), (1, Some("2025-04-05T10:11:12")));
        assert!(log.doubts.is_empty(), "{:?}", log.doubts);
    }

    #[test]
    fn a_card_tested_twice_has_two_runs() {
        let log = log(&format!("{}{}", once(), once()));
        assert_eq!(log.runs.iter().map(|run| run.results.len()).collect::<Vec<_>>(), [8, 8]);
    }

    #[test]
    fn a_script_stopped_on_the_way_keeps_what_it_has() {
        let text = once();
        let cut = &text[..text.find("Running iozone").unwrap()];
        assert!(recognise(&Text::of(cut)));
        assert_eq!(log(cut).runs[0].results.len(), 2);
        assert!(!recognise(&Text::of(TABLE)));
    }
}
