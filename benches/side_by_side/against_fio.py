"""fio: processor time an I/O, highest rate, memory, start; and, for docs/accuracy.md, speed on a card of fixed time."""
import json
import os

from .common import (CARDSCOPE, ROUNDS, Row, bench, cardscope, digits, folder, loop, median, memory_image, paired,
                     recipe, run, served, table)

TITLE = "Processor time, memory and start, beside fio"
NEEDS = ["fio"]
SECONDS = 4
GOAL_LOOP, GOAL_TMPFS = 0.6, 0.85


def fio(target, rw, block, depth, jobs, registered=False, direct=1):
    """One side of fio's JSON, and what it used."""
    command = ["fio", "--name=x", f"--filename={target}", f"--rw={rw}", f"--bs={block}", f"--iodepth={depth}",
               f"--numjobs={jobs}", "--ioengine=io_uring", f"--direct={direct}", "--size=256m", "--group_reporting",
               "--thread", "--time_based", f"--runtime={SECONDS}", "--output-format=json"]
    used = run(command + (["--registerfiles", "--fixedbufs"] if registered else []))
    job = json.loads(used.out[used.out.index("{"):])["jobs"][0]
    return job["read" if "read" in rw else "write"], used


def speeds(rounds):
    """Both on a card of fixed time: the table of docs/accuracy.md."""
    rows = []
    with folder() as here, served("constant?command_s=0.002&mb_s=200&depth=32") as (device, _):
        for kib, queue, threads, op in [(4, 1, 1, "read"), (4, 1, 1, "write"), (4, 32, 1, "read"), (4, 32, 1, "write"),
                                        (4, 4, 8, "read"), (4, 4, 8, "write"), (64, 1, 1, "read"), (64, 8, 1, "write")]:
            name = f"RND{kib}K Q{queue}T{threads} {op}"
            path = recipe(here, "accuracy", (name, {"seconds": SECONDS, "sharing": "same", "random": "uniform"}))
            pairs = [{"ours": bench(device, path)[0][0]["mb_s"],
                      "theirs": fio(device, f"rand{op}", f"{kib}k", queue, threads)[0]["bw_bytes"] / 1e6}
                     for _ in range(rounds)]
            mine, theirs, ratio = paired(pairs, "ours", "theirs")
            rows.append([name, f"{mine:.3f}", f"{theirs:.3f}", f"{(ratio - 1) * 100:+.2f} %"])
    return table(["test", "Cardscope MB/s", "fio MB/s", "difference"], rows)


def processor(rounds):
    """User and system time of each 4 KiB random read at Q32, start included, and the rate, of both."""
    rows = []
    with folder() as here, memory_image(256, "random") as image, loop(image, "--direct-io=on") as device:
        path = recipe(here, "processor", ("RND4K Q32T1 read", {"seconds": SECONDS}))
        for label, target, direct, goal in [("loop device in memory", device, 1, GOAL_LOOP),
                                            ("file on tmpfs", image, 0, GOAL_TMPFS)]:
            taken = [one_round(target, path, direct) for _ in range(rounds)]
            what = f"processor time of a 4 KiB read at Q32, {label}"
            mine, theirs, ratio = paired(taken, "ours", "fio")
            rows.append(Row(what, "fio", f"{theirs:.2f} µs", f"{mine:.2f} µs", ratio, f"≤ {goal}", ratio <= goal, what))
            mine, theirs, ratio = paired(taken, "ours", "fixed")
            rows.append(Row("the same", "fio, registered files and buffers", f"{theirs:.2f} µs", f"{mine:.2f} µs", ratio))
            mine, theirs, ratio = paired(taken, "our user", "fio user")
            rows.append(Row("of that, user time", "fio", f"{theirs:.2f} µs", f"{mine:.2f} µs", ratio))
            mine, theirs, ratio = paired(taken, "our rate", "fio rate")
            rows.append(Row(f"4 KiB reads a second at Q32, {label} (more is better)", "fio", f"{theirs:.0f}", f"{mine:.0f}", ratio))
            mine, theirs, ratio = paired(taken, "our rate", "fixed rate")
            rows.append(Row("the same", "fio, registered files and buffers", f"{theirs:.0f}", f"{mine:.0f}", ratio))
    return rows


def one_round(target, path, direct):
    results, used = bench(target, path)
    ios = results[0]["bytes"] / 4096
    plain, theirs = fio(target, "randread", "4k", 32, 1, direct=direct)
    fixed, registered = fio(target, "randread", "4k", 32, 1, registered=True, direct=direct)
    return {"ours": used.cpu / ios * 1e6, "our user": used.user / ios * 1e6, "our rate": results[0]["iops"],
            "fio": theirs.cpu / plain["total_ios"] * 1e6, "fio user": theirs.user / plain["total_ios"] * 1e6,
            "fio rate": plain["iops"], "fixed": registered.cpu / fixed["total_ios"] * 1e6, "fixed rate": fixed["iops"]}


def small_things(rounds):
    """Start and memory."""
    with folder("/dev/shm") as here:
        one = recipe(here, "one", ("RND4K Q1T1 read", {"bytes": "4KiB", "flush": "none"}), size="1MiB")
        file = os.path.join(here, "f")
        plain = ["fio", "--name=x", f"--filename={file}", "--bs=4k", "--ioengine=io_uring", "--output-format=json"]
        bench(here, one)
        starts = [{"ours": bench(here, one)[1].wall * 1e3,
                   "theirs": run([*plain, "--rw=randread", "--size=1m", "--io_size=4k"]).wall * 1e3}
                  for _ in range(2 * rounds + 1)]
        mine, theirs, ratio = paired(starts, "ours", "theirs")
        rows = [Row("one I/O, from the start of the process to JSON", "fio", f"{theirs:.0f} ms", f"{mine:.1f} ms", ratio,
                    headline="one I/O, from the start of the program to JSON")]
        big = recipe(here, "big", ("SEQ1M Q8T1 read", {"seconds": 1}), ("RND4K Q32T1 read", {"seconds": 1}), size="64MiB")
        mine = cardscope("bench", here, "--recipe", big)[1].mib
        theirs = max(run(["fio", "--name=x", f"--filename={file}", "--size=64m", f"--rw={rw}", f"--bs={block}",
                          f"--iodepth={depth}", "--ioengine=io_uring", "--time_based", "--runtime=1"]).mib
                     for rw, block, depth in [("read", "1m", 8), ("randread", "4k", 32)])
    rows.append(Row("peak memory of SEQ1M Q8 and RND4K Q32", "fio", digits(theirs, "MiB"), digits(mine, "MiB"), mine / theirs))
    version = median(run([CARDSCOPE, "--version"]).wall * 1e3 for _ in range(21))
    size, theirs = os.path.getsize(CARDSCOPE), os.path.getsize("/usr/bin/fio")
    rows.append(Row("`--version`", "fio", f"{median(run(['fio', '--version']).wall * 1e3 for _ in range(21)):.1f} ms",
                    f"{version:.1f} ms"))
    rows.append(Row("size of the program, without libraries", "fio", f"{theirs / 1e6:.1f} MB", f"{size / 1e6:.1f} MB", size / theirs))
    return rows


def measure():
    note = ("Direct I/O on the loop device, fio with `--ioengine=io_uring`. Cardscope records a latency histogram of every I/O in "
            "all of these; start and end of both programs count. How far both are apart on a card of fixed time is in "
            "[Accuracy](accuracy.md#speed-against-fio).")
    return [note, *processor(ROUNDS), *small_things(ROUNDS)]
