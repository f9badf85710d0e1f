"""flashbench: erase block and open blocks. It prints tables and its reader decides; the rule that a reader follows is
applied here, so that it can be right or wrong as well."""
import re

from .common import MIB, Row, cardscope, digits, run, served, told

TITLE = "Flash geometry, beside flashbench"
NEEDS = ["flashbench"]
GOAL_TIME = 1 / 20
READS_GOAL_S = 30
# Cards with their erase block.
CARDS = {"lexar-16g-c10": 4 * MIB, "wb6-hard3": 4 * MIB, "sdsc-2g": MIB}
# A card with its open blocks: with five, flashbench takes more than half an hour.
OPEN_CARD, OPEN_BLOCKS = "wb6-hard3", 3
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


def speeds(text):
    """Bytes per second by block size."""
    found = re.findall(r"(\d+)([KM])iB\s+([\d.]+)([KMG]?)", text)
    return {int(size) << (20 if big == "M" else 10): float(speed) * SPEEDS[unit] for size, big, speed, unit in found}


def open_blocks(device, most):
    """Tries more and more open blocks with flashbench's own sizes until the smallest are less than half as fast as with
    one, as its reader does; `most` seconds in all. Gives the largest number that went, whether the end was found, seconds."""
    took, went, alone = 0.0, 0, {}
    for number in range(1, 17):
        command = ["flashbench", "-O", "-o", "/dev/null", f"--open-au-nr={number}", device]
        used = run(command, limit=most - took)
        took += used.wall
        if used.code is None:
            return went, False, took
        found = speeds(used.out)
        alone = alone or found
        if found[min(found)] < alone[min(alone)] / 2:
            return went, True, took
        went = number
        told(f"  flashbench -O: {number} open blocks go, {took:.0f} s")
    return went, False, took


def erase_block(card, unit):
    with served(f"{card}?state=filled") as (device, _):
        theirs, took = boundaries(device)
        document, mine = cardscope("map", device, "--read-only", "--only", "boundaries")
    found = document["erase_block_bytes"]["value"]
    row = Row(f"erase block of {card}: {unit // MIB} MiB", "flashbench -a", verdict(theirs, unit), verdict(found, unit))
    time = Row("time of that", "flashbench -a", digits(took.wall, "s"), digits(mine.wall, "s"), mine.wall / took.wall)
    return [row, time], (theirs == unit, found == unit)


def geometry_of_open_blocks():
    with served(OPEN_CARD) as (device, _):
        document, mine = cardscope("map", device, "--erase", "--only", "open-blocks", "--yes-destroy", device)
    found = {order: document["open_blocks"][order]["value"] for order in ("linear", "random")}
    with served(OPEN_CARD) as (device, _):
        # Beyond this the goal is reached whatever comes.
        went, ended, took = open_blocks(device, mine.wall / GOAL_TIME * 1.1)
    ratio = mine.wall / took
    what = f"time to find the open blocks of {OPEN_CARD}"
    rows = [Row(f"open blocks of {OPEN_CARD}: {OPEN_BLOCKS}", "flashbench -O, in order, 1, 2, 3 … of them",
                str(went) if ended else f"at least {went}, stopped", f"{found['linear']} in order, {found['random']} at random"),
            Row("time of that", "the same", digits(took, "s") if ended else f"> {took:.0f} s", digits(mine.wall, "s"), ratio,
                "≤ 1/20", ratio <= GOAL_TIME, what)]
    return rows, (ended and went == OPEN_BLOCKS, found["linear"] == OPEN_BLOCKS)


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
    for measured in [*(lambda card=card, unit=unit: erase_block(card, unit) for card, unit in CARDS.items()),
                     geometry_of_open_blocks]:
        more, judged = measured()
        rows += more
        right.append(judged)
        told(f"  {more[0].what}: {more[0].theirs} · {more[0].ours}")
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
            "most, `-O` the open blocks by the last number before blocks of 16 KiB are less than half as fast as with one, tried from 1 on. "
            "`-O` is stopped once Cardscope's time is a twentieth. Cardscope's time includes the open blocks at random and what "
            "closing one costs.")
    return [note, *rows]
