"""f3write and f3read: `verify --files` writes and checks the same files, here in memory and on ext4 over a loop device."""
import contextlib
import os
import subprocess
import tempfile

from .common import GIB, MIB, ROUNDS, Row, cardscope, digits, paired, run

TITLE = "Files, beside f3write, f3read and dd"
NEEDS = ["f3write", "f3read", "mkfs.ext4"]
BYTES = GIB
GOAL, LIMIT_MIB = 2, 64


def dd(where):
    """Both ways with direct I/O and blocks of 1 MiB, as our own I/Os are."""
    file, count = os.path.join(where, "dd"), f"count={BYTES // MIB}"
    write = run(["dd", "if=/dev/zero", f"of={file}", "bs=1M", count, "oflag=direct", "conv=fdatasync"])
    read = run(["dd", f"if={file}", "of=/dev/null", "bs=1M", count, "iflag=direct"])
    os.remove(file)
    return write.wall, read.wall


def f3(where):
    write = run(["f3write", "--end-at=1", where])
    read = run(["f3read", "--end-at=1", where])
    os.remove(os.path.join(where, "1.h2w"))
    if "Data LOST: 0.00 Byte" not in read.out:
        raise SystemExit(f"f3read found losses in memory:\n{read.out}")
    return write, read


def ours(where):
    document, used = cardscope("verify", where, "--files", "--max-write", "1G")
    files = document["files"]
    if files["sectors"]["ok"] * 512 != BYTES:
        raise SystemExit(f"not all of the files is sound: {used.out}")
    # What neither way counts (start, archive, looking at the folder) is shared out evenly.
    rest = (used.wall - files["write"]["seconds"] - files["read"]["seconds"]) / 2
    return files["write"]["seconds"] + rest, files["read"]["seconds"] + rest, used


def one_round(where):
    plain, (wrote, read), mine = dd(where), f3(where), ours(where)
    return {"dd write": plain[0], "dd read": plain[1], "f3 write": wrote.wall, "f3 read": read.wall,
            "f3 all": wrote.wall + read.wall, "f3 cpu": wrote.cpu + read.cpu, "f3 mib": max(wrote.mib, read.mib),
            "our write": mine[0], "our read": mine[1], "our all": mine[2].wall, "our cpu": mine[2].cpu, "our mib": mine[2].mib}


@contextlib.contextmanager
def memory():
    where = tempfile.mkdtemp(prefix="cardscope-peers-")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1200M", "tmpfs", where], check=True)
    try:
        yield where
    finally:
        subprocess.run(["umount", where], check=False)
        os.rmdir(where)


@contextlib.contextmanager
def ext4(folder):
    """ext4 on a loop device, the way a card's file system lies on its device."""
    image = os.path.join(folder, f"cardscope-peers-{os.getpid()}.img")
    with open(image, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 1400 * MIB)
    shown = subprocess.run(["losetup", "--find", "--show", image], check=True, capture_output=True, text=True)
    device = shown.stdout.strip()
    where = tempfile.mkdtemp(prefix="cardscope-peers-")
    try:
        subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0", device], check=True)
        subprocess.run(["mount", device, where], check=True)
        yield where
    finally:
        subprocess.run(["umount", where], check=False)
        subprocess.run(["losetup", "--detach", device], check=False)
        os.rmdir(where)
        os.remove(image)


def speed(seconds):
    return f"{BYTES / seconds / 1e6:.0f} MB/s"


def rows(label, where):
    taken = [one_round(where) for _ in range(ROUNDS)]
    for way in ("write", "read"):
        mine, theirs, ratio = paired(taken, f"our {way}", f"f3 {way}")
        yield Row(f"{way} 1 GiB of files, {label}", f"f3{way}", speed(theirs), speed(mine), 1 / ratio)
        mine, theirs, ratio = paired(taken, f"our {way}", f"dd {way}")
        yield Row("the same", "dd, 1 MiB, direct I/O", speed(theirs), speed(mine), 1 / ratio, "≥ 0.8", ratio <= 1 / 0.8)
    mine, theirs, ratio = paired(taken, "our all", "f3 all")
    what = f"write, read and check 1 GiB of files, {label}, times as fast"
    yield Row(what, "f3write and f3read", digits(theirs, "s"), digits(mine, "s"), 1 / ratio, f"≥ {GOAL}", ratio <= 1 / GOAL, what)
    mine, theirs, ratio = paired(taken, "our cpu", "f3 cpu")
    yield Row("processor time of that", "f3write and f3read", digits(theirs, "s"), digits(mine, "s"), ratio)
    mine, theirs = (max(r[key] for r in taken) for key in ("our mib", "f3 mib"))
    yield Row("peak memory of that", "f3write and f3read", digits(theirs, "MiB"), digits(mine, "MiB"), mine / theirs,
              f"< {LIMIT_MIB} MiB", mine < LIMIT_MIB)


def measure():
    note = "Ratios of speeds are times as fast: more is better."
    with memory() as where:
        found = list(rows("tmpfs", where))
    with ext4("/dev/shm") as where:
        found += rows("ext4 on a loop device in memory", where)
    return [note, *found]
