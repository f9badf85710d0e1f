//! Examples at the end of each verb's help, ready to copy. Text after `#` is a comment in the shell as well.

/// Meaning of the exit statuses.
pub(crate) const EXIT_STATUS: &str = "0 nothing bad found, 1 a finding is bad, 2 wrong usage or refused,\n\
    3 I/O error, 4 not proven, 130 interrupted.";

/// Returns the examples of a verb.
pub(crate) fn examples_of(verb: &str) -> &'static [&'static str] {
    ALL.iter().find(|(name, _)| *name == verb).map_or(&[], |(_, examples)| examples)
}

/// Examples by verb, on a device and, where possible, on a simulated card.
pub(super) const ALL: &[(&str, &[&str])] = &[
    ("list", &["cardscope list", "cardscope list --all --json"]),
    ("info", &["cardscope info /dev/mmcblk0", "cardscope info sim:lexar-16g-c10"]),
    ("decode", &["cardscope decode --cid 035344535530344780811ea6ab00b37f"]),
    (
        "fit",
        &[
            "cardscope fit /dev/sdb          # what fits this card",
            "cardscope fit raspios.img /dev/mmcblk0",
            "cardscope fit 16G sim:lexar-16g-c10",
        ],
    ),
    ("recipes", &["cardscope recipes", "cardscope recipes kdiskmark"]),
    ("jobs", &["cardscope jobs", "cardscope jobs pi-boot"]),
    (
        "check",
        &[
            "cardscope check /dev/sdb",
            "cardscope check /dev/mmcblk0 --budget 10m --html card.html",
            "cardscope check sim:sandian-1tb-52g",
        ],
    ),
    (
        "verify",
        &[
            "cardscope verify /dev/sdb                 # quick, preserves the data",
            "cardscope verify /dev/sdb --full          # every byte, erases the card",
            "cardscope verify sim:sandian-1tb-52g --label \"1TB U3 A2 4K\"",
        ],
    ),
    (
        "bench",
        &[
            "cardscope bench /dev/sdb --recipe kdiskmark --runs 5",
            "cardscope bench /media/card --recipe cdm8-default",
            "cardscope bench sim:lexar-1tb-express",
        ],
    ),
    ("map", &["cardscope map /dev/sdb", "cardscope map sim:proplus-128g-a2 --budget 5m"]),
    (
        "sustain",
        &[
            "cardscope sustain /dev/sdb --read --duration 10m",
            "cardscope sustain /dev/sdb --write --erase    # erases the card",
            "cardscope sustain sim:usb-stick-tlc --write --erase",
        ],
    ),
    (
        "endure",
        &[
            "cardscope endure /dev/sdb --rounds 10         # erases and wears the card",
            "cardscope endure sim:sdnand-0.5g --rounds 10",
        ],
    ),
    (
        "format",
        &[
            "cardscope format /dev/sdb --label CAMERA      # erases the card",
            "cardscope format sim:ultra-64g-tlc24",
        ],
    ),
    (
        "restore",
        &[
            "cardscope restore                             # what waits to be put back",
            "cardscope restore card-backup.img /dev/sdb",
        ],
    ),
    ("observe", &["cardscope observe /dev/mmcblk0 --for 60s", "cardscope observe /dev/mmcblk0 --from-boot"]),
    ("top", &["cardscope top", "cardscope top --port 8080", "cardscope top --json"]),
    ("doctor", &["cardscope doctor", "cardscope doctor /dev/sdb"]),
    (
        "compare",
        &["cardscope compare SDSQXFN \"PLAY PRO\"", "cardscope compare SDSQXFN Premier@cooling=active"],
    ),
    (
        "rank",
        &[
            "cardscope rank --for pi-boot --on pi-4",
            "cardscope rank --test \"RND4K Q1T1 write\" --group-by maker",
        ],
    ),
    (
        "report",
        &[
            "cardscope report SDSQXFN ADATA -o comparison.html",
            "cardscope report --for camera-4k -o cameras.md",
        ],
    ),
    (
        "sim",
        &[
            "cardscope sim list",
            "cardscope sim show sandian-1tb-52g",
            "cardscope sim serve sandian-1tb-52g --mount /mnt/fake",
        ],
    ),
    (
        "serve",
        &[
            "cardscope serve --open",
            "cardscope serve --listen 192.168.1.9 --allow-host pi.local",
            "cardscope serve --port 8080 --until-idle 1h",
        ],
    ),
    (
        "archive",
        &[
            "cardscope archive list",
            "cardscope archive cards --builtin",
            "cardscope archive export -o my-sessions",
        ],
    ),
    (
        "import",
        &[
            "cardscope import results/ --dry-run",
            "cardscope import card.log --brand SanDisk --condition reader=internal",
        ],
    ),
    (
        "completions",
        &[
            "cardscope completions bash > /etc/bash_completion.d/cardscope",
            "cardscope completions zsh > /usr/local/share/zsh/site-functions/_cardscope",
            "cardscope completions fish > ~/.config/fish/completions/cardscope.fish",
        ],
    ),
    ("manual", &["cardscope manual /usr/local/share/man/man1"]),
];
