"""Parts as JSON, between runs, and as Markdown: docs/peers.md, and the README's table."""
import dataclasses
import datetime
import json
import os
import platform
import subprocess

from .common import HEAD, ROOT, Row, table

PACKAGES = {"fio": "fio", "f3probe": "f3", "f3write": "f3", "f3read": "f3", "flashbench": "flashbench", "hdparm": "hdparm",
            "dd": "coreutils", "mkfs.ext4": "e2fsprogs"}
PAGE = os.path.join(ROOT, "docs", "peers.md")
README = os.path.join(ROOT, "README.md")
ACCURACY = os.path.join(ROOT, "docs", "accuracy.md")
INTRODUCTION = """# Beside other tools

fio, f3, flashbench, hdparm and dd from Debian's packages, and Cardscope, in the same run on the same simulated cards: served
through the kernel, as FUSE and a loop device on it, or in virtual time where that is said. The cards' truth is known, so
an answer is right or wrong. Everything below is printed by one command:

```
apt-get install fio f3 flashbench hdparm fuse3
cargo build --release
benches/peers --write          # half an hour, as root; --only fio for one part
```

A ratio is Cardscope's figure divided by the other tool's, taken round by round with both in turn; the median is shown.
Where less is better (time, bytes, memory), below 1 is in favour of Cardscope; rows in which more is better say so. Where a goal
is missed, or the other tool is better, the row stays. How often each of Cardscope's methods is wrong is a chapter of its own:
[Accuracy](accuracy.md).
"""


def load(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def save(path, results):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1, ensure_ascii=False)


def part(module):
    """Measures a part, with when, on what, and under which load."""
    before = os.getloadavg()[0]
    items = module.measure()
    rows = [{"row": dataclasses.asdict(item)} if isinstance(item, Row) else {"text": item} for item in items]
    return {"title": module.TITLE, "items": rows, "needs": module.NEEDS, "date": datetime.date.today().isoformat(),
            "commit": commit(), "machine": machine(), "versions": versions(module.NEEDS), "load": [before, os.getloadavg()[0]]}


def commit():
    git = ["git", "-C", ROOT]
    name = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    changed = subprocess.run([*git, "status", "--porcelain", "--", "crates"], capture_output=True, text=True, check=False).stdout
    return name + (" with changes" if changed.strip() else "")


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    with open("/proc/meminfo", encoding="utf-8") as file:
        kib = int(file.readline().split()[1])
    return f"{os.cpu_count()} processors ({model}), {kib / (1 << 20):.0f} GiB, Linux {platform.release().split('-')[0]}"


def versions(tools):
    """Names of Debian's packages with their versions."""
    found = {}
    for package in sorted({PACKAGES[tool] for tool in tools}):
        shown = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=False)
        found[package] = shown.stdout or "not a package"
    return found


def rows(result):
    return [item["row"] for item in result["items"] if "row" in item]


def section(result):
    """A part as Markdown."""
    blocks, open_rows = [], []

    def close():
        if open_rows:
            blocks.append(table(HEAD, [Row(**row).cells() for row in open_rows]))
            open_rows.clear()

    for item in result["items"]:
        if "row" in item:
            open_rows.append(item["row"])
        else:
            close()
            blocks.append(wrapped(item["text"]))
    close()
    tools = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    measured = (f"Measured {result['date']} at commit {result['commit']} on {result['machine']}; load {result['load'][0]:.1f} "
                f"before and {result['load'][1]:.1f} after" + (f"; {tools}." if tools else "."))
    return "\n\n".join([f"## {result['title']}", *blocks, wrapped(measured)]) + "\n"


def wrapped(text):
    """Prose in lines of 120 columns; tables stay as they are."""
    if text.startswith("|"):
        return text
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > 120:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def headlines(results):
    """The short table: the rows that carry a headline."""
    cells = [[row["headline"], f"{row['peer']}: {row['theirs']}" if row["peer"] else "–", row["ours"],
              Row(**row).cells()[4]] for result in results for row in rows(result) if row["headline"]]
    return table(["on the same cards", "peer", "Cardscope", "ratio"], cells)


def between(path, mark, text):
    """Replaces what stands between the marks `mark` and `mark end` of a file."""
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(f"<!-- {mark} -->")
    after = rest.split(f"<!-- {mark} end -->")[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}<!-- {mark} -->\n\n{text}\n\n<!-- {mark} end -->{after}")


def write(results, missing):
    """docs/peers.md, and the README's table. Parts that were never measured are named."""
    parts = [section(result) for result in results]
    if missing:
        parts.append("## Not measured yet\n\n" + "\n".join(f"- {title}" for title in missing) + "\n")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join([INTRODUCTION, *parts]))
    between(README, "peers", headlines(results))
