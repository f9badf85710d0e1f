"""dd and hdparm: what they call the speed of a card, and a whole pass over a device."""
import os
import re

from .common import MIB, ROUNDS, Row, bench, cardscope, digits, folder, loop, memory_image, paired, recipe, run, served

TITLE = "Speed and whole passes, beside dd and hdparm"
NEEDS = ["dd", "hdparm"]
SIZE = int(os.environ.get("MIB", "1024"))
GOAL_SHARE, GOAL_MIB = 0.8, 64
# A card that takes 0.3 ms a command and moves 90 MB/s.
PLAIN = "constant?command_s=0.0003&mb_s=90"
SEQ = "SEQ1M Q1T1 read"


def dd(*arguments):
    """Bytes, seconds by its own clock, and what it used."""
    used = run(["dd", "bs=1M", *arguments])
    moved, seconds = re.search(r"(\d+) bytes .* copied, ([\d.e-]+) s", used.err).groups()
    return int(moved) / 1e6 / float(seconds), used


def hdparm(device):
    used = run(["hdparm", "-t", "--direct", device])
    mib, seconds = re.search(r"(\d+) MB in +([\d.]+) seconds", used.out).groups()
    return int(mib) * MIB / 1e6 / float(seconds)


def reading():
    """The same read of blocks of 1 MiB: the card's own figure is that of virtual time."""
    with folder() as here, served(PLAIN) as (device, _):
        path = recipe(here, "seq", (SEQ, {"seconds": 4}))
        true = bench(f"sim:{PLAIN}", path)[0][0]["mb_s"]
        mine, used = bench(device, path)
        plain, theirs = dd(f"if={device}", "of=/dev/null", "iflag=direct", "count=256")
        timed = hdparm(device)
    off = lambda figure: f"{figure:.1f} MB/s ({(figure / true - 1) * 100:+.1f} %)"
    what = f"read in order, blocks of 1 MiB; the card's own figure: {true:.1f} MB/s"
    return [Row(what, "dd, direct I/O", off(plain), off(mine[0]["mb_s"])),
            Row("the same", "hdparm -t --direct, blocks of 2 MiB", off(timed), off(mine[0]["mb_s"]))]


def whole(rounds):
    """dd of all of a device that costs nothing, and `verify --full`, which stamps and compares every sector."""
    taken = []
    with memory_image(SIZE, "constant") as image, loop(image, "--direct-io=on") as device:
        for _ in range(rounds):
            plain = [dd("if=/dev/zero", f"of={device}", "oflag=direct", f"count={SIZE}"),
                     dd(f"if={device}", "of=/dev/null", "iflag=direct", f"count={SIZE}")]
            document, used = cardscope("verify", device, "--full", "--yes-destroy", device)
            speeds = document["map"]
            taken.append({"dd write": plain[0][0], "dd read": plain[1][0], "write": speeds["write"]["mean_mb_s"],
                          "read": speeds["read"]["mean_mb_s"], "mib": used.mib})
    for way in ("write", "read"):
        mine, theirs, ratio = paired(taken, way, f"dd {way}")
        yield Row(f"{way} every sector of a loop device in memory, times as fast", "dd, direct I/O", f"{theirs:.0f} MB/s",
                  f"{mine:.0f} MB/s, stamped and compared", ratio, f"≥ {GOAL_SHARE}", ratio >= GOAL_SHARE)
    peak = max(r["mib"] for r in taken)
    yield Row("peak memory of that", "", "", digits(peak, "MiB"), None, f"< {GOAL_MIB} MiB", peak < GOAL_MIB)


def measure():
    return [*reading(), *whole(ROUNDS)]
