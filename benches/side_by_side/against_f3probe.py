"""f3probe: is the capacity real? On genuine and fake cards whose truth is known, through FUSE and a loop device."""
import re

from .common import GIB, Row, cardscope, digits, run, served, table

TITLE = "Capacity, beside f3probe"
NEEDS = ["f3probe"]
GOAL_BYTES = 0.1
# 0.2 ms a command, 100 MB/s.
SPEED = "command_s=0.0002&mb_s=100"
# What, the card, its kind, its usable bytes, and the kinds under f3probe's names that are right.
CARDS = [
    ("genuine, 8 GiB", "announced_bytes=8GiB", "genuine", 8 * GIB, ["good"]),
    ("limbo, 7.1 of 62.5 GiB", "announced_bytes=67108864000&fake=limbo&fake_bytes=7600799744", "limbo", 7600799744, ["limbo"]),
    ("the same, cache of 64 MiB", "announced_bytes=67108864000&fake=limbo&fake_bytes=7600799744&cache_bytes=64MiB", "limbo",
     7600799744, ["limbo"]),
    ("wraparound, 2 of 16 GiB", "announced_bytes=16GiB&fake=wraparound&wrap_bytes=2GiB", "wraparound", 2 * GIB, ["wraparound"]),
    ("wraparound, 320 GB of 2 TB", "announced_bytes=2000398934016&fake=wraparound&wrap_bytes=320000229376", "wraparound",
     320000229376, ["wraparound"]),
    ("chain, 2 of 16 GiB, period 4 GiB", "announced_bytes=16GiB&fake=chain&fake_bytes=2GiB&wrap_bytes=4GiB", "chain", 2 * GIB,
     ["chain"]),
    ("last 0.5 % missing, 62.5 GB", "announced_bytes=62534712320&fake=limbo&fake_bytes=62223319040", "limbo", 62223319040,
     ["limbo"]),
    ("32 GiB + 16 KiB announced, 7.6 GB, cache of 64 MiB",
     "announced_bytes=34359754752&fake=limbo&fake_bytes=7600799744&cache_bytes=64MiB", "limbo", 7600799744, ["limbo"]),
    ("a quarter missing, scattered, 16 GiB", "announced_bytes=16GiB&fake=damaged&damaged_share=0.25&damaged_unit_bytes=2GiB&seed=2",
     "damaged", None, ["damaged"]),
    ("keeps nothing, 4 GiB, cache of 4 MiB", "announced_bytes=4GiB&fake=limbo&fake_bytes=0&cache_bytes=4MiB", "dead", 0, ["damaged"]),
]


def near(bytes_, wanted):
    return wanted is None or bytes_ is not None and abs(bytes_ - wanted) <= 1 << 20


def f3probe(device, announced):
    """Its kind and usable bytes, and what it used."""
    used = run(["f3probe", "--destructive", "--time-ops", device], right=tuple(range(0, 105)))
    if "the real thing" in used.out:
        return "good", announced, used
    kind = re.search(r"is a counterfeit of type (\w+)", used.out)
    blocks = re.search(r"\*Usable\* size: .*\((\d+) blocks\)", used.out)
    if kind:
        return kind[1], int(blocks[1]) * 512 if blocks else None, used
    return "damaged" if "is damaged" in used.out else "?", 0, used


def sized(device):
    with open(device, "rb") as file:
        return file.seek(0, 2)


def one(what, card, kind, usable, kinds):
    name = f"constant?{SPEED}&{card}"
    with served(name) as (device, counters):
        theirs, bytes_, used = f3probe(device, sized(device))
        wrote = counters()["written_bytes"]
    with served(name) as (device, counters):
        document, mine = cardscope("verify", device, "--erase", "--yes-destroy", device)
        own = counters()["written_bytes"]
    return {"what": what, "kind": kind, "usable": usable,
            "theirs": (theirs, bytes_, theirs in kinds and near(bytes_, usable), wrote, used),
            "ours": (document["verdict"], document["usable_bytes"],
                     document["verdict"] == kind and near(document["usable_bytes"], usable), own, mine)}


def said(answer):
    kind, bytes_, right, _, _ = answer
    size = f", {digits(bytes_ / 1e9)} GB" if bytes_ else ""
    return f"{kind}{size}" if right else f"**wrong**: {kind}{size}"


def measure():
    found = [one(*card) for card in CARDS]
    cells = []
    for card in found:
        theirs, ours = card["theirs"], card["ours"]
        cells.append([card["what"], said(theirs), f"{theirs[4].wall:.1f} s", f"{theirs[3] / 1e6:.0f} MB",
                      f"{theirs[4].cpu:.2f} s", f"{theirs[4].mib:.0f} MiB", said(ours), f"{ours[4].wall:.1f} s",
                      f"{ours[3] / 1e6:.0f} MB", f"{ours[4].cpu:.2f} s", f"{ours[4].mib:.0f} MiB"])
    head = ["card", "f3probe", "time", "written", "CPU", "memory", "Cardscope", "time", "written", "CPU", "memory"]
    right = {who: sum(card[who][2] for card in found) for who in ("theirs", "ours")}
    rows = [Row(f"cards of {len(found)} whose kind and size are right", "f3probe", str(right["theirs"]), str(right["ours"]),
                None, "all", right["ours"] == len(found), "genuine and fake cards: kind and size right, of "
                f"{len(found)}")]
    for card in found:
        if card["kind"] in ("genuine", "damaged", "dead") or "cache" in card["what"]:
            continue
        theirs, ours = card["theirs"], card["ours"]
        ratio = ours[3] / theirs[3]
        headline = f"bytes written to find a fake: {card['what']}" if card["what"].startswith(("wraparound, 2", "limbo")) else ""
        rows.append(Row(f"bytes written to a fake without cache: {card['what']}", "f3probe", f"{theirs[3] / 1e6:.1f} MB",
                        f"{ours[3] / 1e6:.1f} MB", ratio, f"≤ {GOAL_BYTES}", ratio <= GOAL_BYTES, headline))
    times = {who: sum(card[who][4].wall for card in found) for who in ("theirs", "ours")}
    rows.append(Row("time for all of them", "f3probe", f"{times['theirs']:.0f} s", f"{times['ours']:.0f} s",
                    times["ours"] / times["theirs"]))
    note = ("Each card takes 0.2 ms a command and moves 100 MB/s; both overwrite it (`f3probe --destructive`, `verify --erase`). "
            "Wrong is a wrong kind, or usable bytes more than 1 MiB beside the truth. f3probe has no kind for a card that keeps "
            "nothing and calls it damaged, which counts as right. f3probe needs 1 MB for a fake that loses data at once, as "
            "it writes single blocks and halves. Cardscope writes a run of 16 to 64 MiB at the start of such a card, too, and "
            "looks for copies of it, so that no period need be a power of two, and some MiB around the place where the loss "
            "begins, which tells its sector.")
    return [note, table(head, cells), *rows]
