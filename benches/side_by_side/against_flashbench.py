"""flashbench: erase block and open blocks. It prints tables and its reader decides; the rule that a reader follows is
applied here, so that it can be right or wrong as well."""
import re

from .common import MIB, Row, cardscope, digits, run, served, told

TITLE = "Flash geometry, beside flashbench"
NEEDS = ["flashbench"]
GOAL_TIME = 1 / 20
READS_GOAL_S = 30
# A 4 KiB-page Class 10 card with five open blocks of 4 MiB, and an older one with three and one with four.
CARDS = ["lexar-16g-c10", "wb6-hard3", "sandisk-su04g"]
TRUTH = {"lexar-16g-c10": (4 * MIB, 5), "wb6-hard3": (4 * MIB, 3), "sandisk-su04g": (4 * MIB, 4)}
# `-o`: without it flashbench writes to its standard input.
UNITS = {"ns": 1e-3, "µs": 1, "us": 1, "ms": 1e3, "s": 1e6}
SPEEDS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}


def boundaries(device):
    """Erase block by `flashbench -a`: where the last column falls most, among sizes that an erase block may have. None where
    it falls nowhere."""
    used = run(["flashbench", "-a", "-o", "/dev/null", "--blocksize=1024", device])
    lines = re.findall(r"align (\d+)\t.*diff (-?[\d.]+)(ns|µs|us|ms|s)", used.out)
    steps = [(int(align), float(value) * UNITS[unit]) for align, value, unit in lines]
    falls = [(steps[i][1] - steps[i + 1][1], steps[i][0]) for i in range(len(steps) - 1)
             if MIB // 16 <= steps[i][0] <= 64 * MIB]
    fall, align = max(falls) if falls else (0, None)
    return align if fall > 0 else None, used


def collapsed(text):
    """Whether blocks of 64 KiB are less than half as fast as whole erase blocks: each write closes a block."""
    rows = {int(size.replace("MiB", "")) * MIB if "MiB" in size else int(size.replace("KiB", "")) * 1024:
            float(speed) * SPEEDS[unit] for size, speed, unit in re.findall(r"(\d+[KM]iB)\s+([\d.]+)([KMG]?)", text)}
    return len(rows) > 1 and rows[min(rows)] < rows[max(rows)] / 2


def open_blocks(device, most):
    """Tries more and more open blocks until their speed collapses, as its reader does; `most` seconds in all. Gives
    the largest number that went, whether the end was found, and the seconds."""
    took, went = 0.0, 0
    for number in range(1, 17):
        command = ["flashbench", "-O", "-o", "/dev/null", "--erasesize=4194304", "--blocksize=65536", f"--open-au-nr={number}", device]
        used = run(command, limit=most - took)
        took += used.wall
        if used.code is None:
            return went, False, took
        if collapsed(used.out):
            return went, True, took
        went = number
        told(f"  flashbench -O: {number} open blocks go, {took:.0f} s")
    return went, False, took


def geometry(card):
    unit, blocks = TRUTH[card]
    with served(f"{card}?state=filled") as (device, _):
        theirs, took = boundaries(device)
        document, mine = cardscope("map", device, "--read-only", "--only", "boundaries")
    found = document["erase_block_bytes"]["value"]
    yield Row(f"erase block of {card}: 4 MiB", "flashbench -a", verdict(theirs, unit), verdict(found, unit)), theirs == unit, found == unit
    yield Row("time of that", "flashbench -a", digits(took.wall, "s"), digits(mine.wall, "s"), mine.wall / took.wall), None, None
    with served(card) as (device, _):
        document, mine = cardscope("map", device, "--erase", "--only", "open-blocks", "--yes-destroy", device)
    found = document["open_blocks"]["linear"]["value"]
    with served(card) as (device, counters):
        # Beyond this the goal is reached whatever comes.
        went, ended, took = open_blocks(device, mine.wall / GOAL_TIME * 1.1)
    theirs = f"{went}" if ended else f"at least {went}, stopped"
    yield Row(f"open blocks of {card}: {blocks}", "flashbench -O, 1, 2, 3 … of them", theirs, str(found)), went == blocks and ended, found == blocks
    ratio = mine.wall / took
    headline = f"time to find the open blocks of {card}" if card == CARDS[0] else ""
    yield (Row("time of that", "the same", digits(took, "s") if ended else f"> {took:.0f} s", digits(mine.wall, "s"), ratio,
               "≤ 1/20", ratio <= GOAL_TIME, headline), None, None)


def verdict(bytes_, unit):
    text = f"{bytes_ // 1024} KiB" if bytes_ and bytes_ < MIB else f"{bytes_ / MIB:.0f} MiB" if bytes_ else "none"
    return text if bytes_ == unit else f"**wrong**: {text}"


def reads_of_maps():
    """Seconds of the card's clock for all parts of a map that only read, on every built-in card."""
    cards = [card["name"] for card in cardscope("sim", "list")[0]["cards"]]
    took = {}
    for card in cards:
        document, _ = cardscope("map", f"sim:{card}", "--read-only")
        took[card] = document["seconds"]
    return took


def measure():
    rows, right = [], []
    for card in CARDS:
        told(f"  {card}")
        for row, theirs, ours in geometry(card):
            rows.append(row)
            if ours is not None:
                right.append((theirs, ours))
    rows.append(Row(f"erase blocks and open blocks found, of {len(right)}", "flashbench", str(sum(t for t, _ in right)),
                    str(sum(o for _, o in right)), None, "all", all(o for _, o in right),
                    f"erase blocks and open blocks found, of {len(right)}"))
    took = reads_of_maps()
    worst = max(took, key=took.get)
    middle = sorted(took.values())[len(took) // 2]
    over = sum(seconds > READS_GOAL_S for seconds in took.values())
    rows.append(Row(f"reads of a whole map, {len(took)} built-in cards, time of the card", "", "",
                    f"median {middle:.0f} s, most {took[worst]:.0f} s ({worst}), {over} above {READS_GOAL_S} s", None,
                    f"≤ {READS_GOAL_S} s", over == 0))
    note = ("flashbench prints figures; the reader's rule is applied to them: `-a` shows the erase block where the difference falls "
            "most, `-O` the open blocks by the last number before blocks of 64 KiB are half as fast as whole ones, tried from 1 on. "
            "`-O` is stopped once Cardscope's time is a twentieth.")
    return [note, *rows]
