"""Sessions on simulated cards in virtual time: no peer does that, so the goal is a time of this computer."""
import statistics

from .common import Row, cardscope

TITLE = "Virtual time"
NEEDS = []
GOAL_S = 15
ROUNDS = 3


def measure():
    taken = [cardscope("bench", "sim:lexar-1tb-express", "--recipe", "cdm-fio", "--runs", "10") for _ in range(ROUNDS)]
    document, used = min(taken, key=lambda t: t[1].wall)
    results = [result for run in document["runs"] for result in run["results"]]
    moved = sum(r["bytes"] for r in results)
    small = sum(r["bytes"] / 4096 for r in results if "4K" in r["test"])
    card = sum(r["seconds"] for r in results)
    wall, cpu = (statistics.median(getattr(t[1], key) for t in taken) for key in ("wall", "cpu"))
    what = "ten runs of `cdm-fio` on a simulated card of 1 TB"
    note = (f"{moved / 1e12:.2f} TB, {small / 1e6:.0f} million I/Os of 4 KiB, {card / 60:.0f} minutes of the card: "
            f"{cpu / small * 1e9:.0f} ns of the processor an I/O, {used.mib:.0f} MiB.")
    return [Row(what, "the card itself", f"{card:.0f} s", f"{wall:.1f} s", wall / card, f"≤ {GOAL_S} s", wall <= GOAL_S, what),
            note]
