"""What all measurements share: running a command and counting what it used, loop devices, served cards, rows."""
import contextlib
import dataclasses
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
CARDSCOPE = os.environ.get("CARDSCOPE", os.path.join(TARGET, "release", "cardscope"))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
MIB, GIB = 1 << 20, 1 << 30


@dataclasses.dataclass
class Used:
    """What a command said and used: seconds of the wall, of the processor in user and system mode, peak MiB."""
    out: str
    err: str
    code: int
    wall: float
    user: float
    system: float
    mib: float

    @property
    def cpu(self):
        return self.user + self.system


def run(command, right=(0,), env=None, limit=None):
    """Runs a command to its end, or for `limit` seconds: its code is None then."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        before = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=err, env=dict(os.environ, LC_ALL="C", **(env or {})))
        try:
            code, used = ended(process, before + limit if limit else None)
        except BaseException:
            process.kill()
            process.wait()
            raise
        wall = time.monotonic() - before
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    if code is not None and code not in right:
        sys.exit(f"{' '.join(command)} ended with {code}:\n{texts[0]}\n{texts[1]}")
    return Used(*texts, code, wall, used.ru_utime, used.ru_stime, used.ru_maxrss / 1024)


def ended(process, deadline):
    """The code of a process, None where it was stopped at its deadline, and what it used."""
    flags = os.WNOHANG if deadline else 0
    while True:
        pid, status, used = os.wait4(process.pid, flags)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, used
        if time.monotonic() > deadline:
            process.send_signal(signal.SIGINT)
            grace, deadline = time.monotonic() + 20, float("inf")
            while not pid:
                pid, status, used = os.wait4(process.pid, os.WNOHANG)
                if time.monotonic() > grace:
                    process.kill()
                time.sleep(0.05)
            process.returncode = os.waitstatus_to_exitcode(status)
            return None, used
        time.sleep(0.02)


def cardscope(*arguments, right=(0, 1), limit=None):
    """A verb of ours: its document, and what it used. Its archive and its journal are its own."""
    with tempfile.TemporaryDirectory(prefix="cardscope-peers-") as folder:
        env = {"CARDSCOPE_ARCHIVE": os.path.join(folder, "archive.sqlite"), "XDG_STATE_HOME": folder}
        used = run([CARDSCOPE, *arguments, "--json", "--quiet"], right, env, limit)
    return json.loads(used.out) if used.code is not None else None, used


def recipe(folder, name, *tests, size="256MiB"):
    """A recipe of our own in a file: (test, its settings) each."""
    path = os.path.join(folder, f"{name}.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'name="{name}"\ntitle="{name}"\nversion=1\nsource="bench"\n[area]\nsize="{size}"\nprepare=false\n')
        for test, settings in tests:
            file.write(f'[[test]]\ntest="{test}"\n')
            file.writelines(f"{key}={json.dumps(value)}\n" for key, value in settings.items())
    return path


def bench(target, path, *more):
    """The results of one run of a recipe, and what the program used."""
    document, used = cardscope("bench", target, "--recipe", path, "--yes-destroy", target, *more)
    return document["runs"][0]["results"], used


@contextlib.contextmanager
def folder(where=None):
    """A folder for a while."""
    path = tempfile.mkdtemp(prefix="cardscope-peers-", dir=where)
    try:
        yield path
    finally:
        shutil.rmtree(path)


@contextlib.contextmanager
def loop(file, *options):
    """A loop device over a file."""
    found = subprocess.run(["losetup", "--find", "--show", *options, file], check=True, capture_output=True, text=True)
    device = found.stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=False)


@contextlib.contextmanager
def served(name, *options):
    """A simulated card as a block device of the kernel: FUSE, and a loop device on it. Gives the device and a function
    that says what the card has counted."""
    with folder() as mount:
        server = subprocess.Popen([CARDSCOPE, "sim", "serve", name, "--mount", mount, "--quiet", *options],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        file = os.path.join(mount, "card")
        try:
            for _ in range(200):
                if os.path.exists(file):
                    break
                time.sleep(0.05)
            else:
                sys.exit(f"the simulated card {name} could not be mounted")
            with loop(file, "--direct-io=on") as device:
                yield device, lambda: counters(mount)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)


def counters(mount):
    with open(os.path.join(mount, "counters.json"), encoding="utf-8") as file:
        return json.load(file)


@contextlib.contextmanager
def memory_image(mib, kind):
    """A file in memory, with every block of it there: of random bytes or of one byte."""
    with folder("/dev/shm") as where:
        path = os.path.join(where, "image")
        with open(path, "wb") as file:
            for _ in range(mib):
                file.write(os.urandom(MIB) if kind == "random" else b"\x5a" * MIB)
        yield path


def median(values):
    return statistics.median(values)


def paired(rounds, mine, theirs):
    """Medians of both, and of the ratio taken round by round, since a computer drifts."""
    return (median(r[mine] for r in rounds), median(r[theirs] for r in rounds),
            median(r[mine] / r[theirs] for r in rounds))


def digits(value, unit=""):
    """A figure with three significant digits."""
    if value is None:
        return "–"
    if value == 0:
        text = "0"
    elif abs(value) >= 100:
        text = f"{value:.0f}"
    else:
        text = f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.1e}"
    return f"{text} {unit}".strip()


@dataclasses.dataclass
class Row:
    """One comparison. `goal` is the text of the goal where there is one, `reached` whether it holds."""
    what: str
    peer: str
    theirs: str
    ours: str
    ratio: float | None = None
    goal: str = ""
    reached: bool | None = None
    # For the table of the README: what it is called there.
    headline: str = ""

    def cells(self):
        verdict = {None: "", True: "yes", False: "NO"}[self.reached]
        return [self.what, self.peer, self.theirs, self.ours, digits(self.ratio), self.goal, verdict]


HEAD = ["what", "peer", "its figure", "Cardscope", "ratio", "goal", "reached"]


def table(head, rows):
    lines = ["| " + " | ".join(str(cell) for cell in cells) + " |" for cells in [head, ["---"] * len(head), *rows]]
    return "\n".join(lines)


def told(text):
    """Progress, on stderr: stdout is the document's."""
    print(text, file=sys.stderr, flush=True)
