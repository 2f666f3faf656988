#!/usr/bin/env python3
"""What each configuration template of fullstack gains and costs, beside the defaults.

    lab/templates.py [--rounds 5] [--seconds 2] [--build build/bench] [--markdown FILE] [--write]

Rounds, A B C D A B C D: each starts fullstack with the defaults or a template (apps/fullstack/config) on CPU 0, with
200,000 users in its database, which is more than the default cache of 8 MiB holds, and asks it from CPU 1:

    one user   GET /api/users/{n}, any of them, 64 connections that ask again at once: CPU time, system calls
    a page     GET /api/users?limit=100&after={n}, the same
    a write    POST /api/data, 64 connections: acknowledged writes a second, and how long the slowest 1 % take
    paced      GET /api/users/{n}, 2,000 a second whatever comes back: latency from the intended time

Ratios are medians over the rounds of (template / defaults) within a round, with the smallest and the largest: they
mean the same elsewhere. Rates and latencies are this machine's. One reactor each, so that a template is compared and
not a number of CPUs. Needs perf for system calls; without it they are n/a.
"""
import argparse
import json
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from katana_lab import ROOT, LabError, proc      # lab/katana_lab; these need no more than Python itself
from katana_lab.heading import made_by, replace_between

CONFIG = ROOT / "apps/fullstack/config"
DEFAULTS = "defaults"
TEMPLATES = ("high_throughput", "database_heavy", "low_latency")
SERVER_CPU, CLIENT_CPU = 0, 1
USERS = 200_000
PATHS = 5_000                    # different ones, sent in turn
JSON_TYPE = ("--header", "Content-Type: application/json")
DOCUMENT = '{"sensor":"roof","celsius":21.5,"ok":true}'
# What is asked: flags of katana-load, the path (with a number, when it has a place for one), and what is shown.
LOADS = {
    "one user": (("-c", "64"), "/api/users/{}", ("cpu_us", "calls")),
    "a page": (("-c", "64"), "/api/users?limit=100&after={}", ("cpu_us", "calls")),
    "a write": (("-c", "64", "--method", "POST", *JSON_TYPE, "--body", DOCUMENT), "/api/data",
                ("cpu_us", "rate", "p99_us")),
    "paced": (("-c", "16", "-R", "2000"), "/api/users/{}", ("cpu_us", "p50_us", "p99_us")),
}
TITLES = {"cpu_us": "CPU µs", "calls": "system calls", "rate": "a second", "p50_us": "p50 µs", "p99_us": "p99 µs",
          "rss_mib": "RSS MiB"}


def command_of(name, folder, port, build):
    """The program with a template, its files in a folder of its own."""
    sets = ["http.reactors=1", "http.drain_notice=0s", f"database.path={folder}/katana.db", "log.console=false",
            f"log.file={folder}/app.log"]
    config = [] if name == DEFAULTS else ["--config", str(CONFIG / f"{name}.yaml")]
    return [proc.built("fullstack", build), *config, "--port", str(port),
            *(part for each in sets for part in ("--set", each))]


def make_database(folder, options, ports):
    """A database with the users, made once: the program makes the tables, and the rows come from outside."""
    port = next(ports)
    process = proc.start(command_of(DEFAULTS, folder, port, options.build), [SERVER_CPU], folder / "said")
    try:
        proc.wait_until_up(DEFAULTS, port, "/health", process, log=folder / "said")
    finally:
        proc.stop(process, 10)
    database = sqlite3.connect(folder / "katana.db")
    with database:
        database.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
                         "INSERT INTO users (name, email) SELECT 'user ' || i, 'user' || i || '@example.org' FROM n",
                         (USERS,))
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return folder / "katana.db"


def target_of(path, port, folder):
    """The flags that say what is asked for: one path, or a file of many; the same in every run."""
    base = f"http://127.0.0.1:{port}"
    if "{}" not in path:
        return [base + path]
    numbers = random.Random(1)
    file = folder / "paths"
    file.write_text("".join(path.format(numbers.randint(1, USERS)) + "\n" for _ in range(PATHS)), encoding="ascii")
    return ["--urls", str(file), base + path.format(1)]


def counted(command, pid, folder):
    """Run a load under perf; return how many system calls the server made meanwhile, or None."""
    perf = shutil.which("perf")
    if perf is None:
        subprocess.run(command, check=True)
        return None
    out = folder / "perf"
    subprocess.run([perf, "stat", "-x", ",", "-o", str(out), "-e", "raw_syscalls:sys_enter", "-p", str(pid), "--",
                    *command], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = re.search(r"^(\d+),", proc.read(out), re.MULTILINE)
    return int(found[1]) if found else None


def ask(load, pid, port, folder, options):
    """One load; return its figures."""
    flags, path, _ = LOADS[load]
    out = folder / "load.json"
    out.unlink(missing_ok=True)
    command = [proc.tool("taskset"), "-c", str(CLIENT_CPU), proc.built("katana-load", options.build), "-t", "1", *flags,
               "-d", f"{options.seconds:g}s", "--json", str(out), "--quiet", *target_of(path, port, folder)]
    before = proc.usage(pid)
    calls = counted(command, pid, folder)
    after = proc.usage(pid)
    if not out.exists():
        raise LabError(f"`{' '.join(command)}` wrote no result")
    said = json.loads(out.read_text(encoding="utf-8"))
    wrong = {name: count for name, count in said.get("errors", {}).items() if count}
    if wrong or not said["requests"]:
        raise LabError(f"{load}: {said['requests']} requests, and errors: {wrong}")
    each = said["requests"]
    return {"cpu_us": (after.cpu_s - before.cpu_s) * 1e6 / each, "rate": said["rate_per_s"],
            "calls": None if calls is None else calls / each,
            "p50_us": said["latency_us"]["p50"], "p99_us": said["latency_us"]["p99"], "rss_mib": after.rss_kib / 1024}


def visit(name, database, options, ports):
    """One subject in one round: {load: figures}."""
    with tempfile.TemporaryDirectory(prefix="katana-templates-") as made:
        folder, port = Path(made), next(ports)
        shutil.copy(database, folder)
        process = proc.start(command_of(name, folder, port, options.build), [SERVER_CPU], folder / "said")
        try:
            proc.wait_until_up(name, port, "/health", process, log=folder / "said")
            return {load: ask(load, process.pid, port, folder, options) for load in LOADS}
        finally:
            proc.stop(process, 10)


def ratio(rounds, name, load, figure):
    """'0.86 (0.84–0.90)' of the defaults' within each round; 'n/a' where it was not counted."""
    found = [each[name][load][figure] / each[DEFAULTS][load][figure] for each in rounds
             if each[name][load][figure] and each[DEFAULTS][load][figure]]
    if not found:
        return "n/a"
    return f"{statistics.median(found):.2f} ({min(found):.2f}–{max(found):.2f})"


def value(rounds, name, load, figure):
    """The median of the rounds."""
    found = [each[name][load][figure] for each in rounds if each[name][load][figure] is not None]
    if not found:
        return "n/a"
    middle = statistics.median(found)
    return f"{middle:,.0f}" if middle >= 100 else f"{middle:.2f}"


def table(rounds):
    """Rows are figures, columns the subjects."""
    lines = ["", "| | " + DEFAULTS + " | " + " | ".join(f"{name} / {DEFAULTS}" for name in TEMPLATES) + " |",
             "|" + "---|" * (len(TEMPLATES) + 2)]
    rows = [(load, figure) for load, (_, _, figures) in LOADS.items() for figure in figures]
    for load, figure in [*rows, ("paced", "rss_mib")]:
        title = f"{load}: {TITLES[figure]}" if figure != "rss_mib" else TITLES[figure]
        cells = [ratio(rounds, name, load, figure) for name in TEMPLATES]
        lines.append(f"| {title} | {value(rounds, DEFAULTS, load, figure)} | " + " | ".join(cells) + " |")
    return lines


def effects(rounds):
    """One sentence for each template's own file: what it was measured to do to each load."""
    for name in TEMPLATES:
        yield name, [f"# {load}: {TITLES[figures[0]]} × {ratio(rounds, name, load, figures[0])}"
                     + "".join(f", {TITLES[figure]} × {ratio(rounds, name, load, figure)}" for figure in figures[1:])
                     for load, (_, _, figures) in LOADS.items()]


def note_in(path, lines):
    """Replace what was measured on top of a template."""
    begin, end = "# Measured beside the defaults (lab/templates.py; a ratio below 1 is less):", "# --"
    text = path.read_text(encoding="utf-8")
    if begin not in text or f"\n{end}\n" not in text:
        raise LabError(f"{path} has no place for what was measured: a line `{begin}` and, behind it, `{end}`")
    before, rest = text.split(begin)
    after = rest.split(f"\n{end}\n", 1)[1]
    path.write_text(before + "\n".join([begin, *lines, end]) + "\n" + after, encoding="utf-8")


def parse_options():
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2, help="of each load")
    parser.add_argument("--build", type=Path, default=ROOT / "build/bench", help="where the built programs are")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there, too")
    parser.add_argument("--write", action="store_true", help="put what was measured into the templates, and the table "
                        "into docs/guides/fullstack.md")
    return parser.parse_args()


def main():
    """Run, print, write."""
    options = parse_options()
    ports, rounds = proc.free_port(), []
    with tempfile.TemporaryDirectory(prefix="katana-templates-") as made:
        database = make_database(Path(made), options, ports)
        for number in range(options.rounds):
            rounds.append({})
            for name in (DEFAULTS, *TEMPLATES):
                print(f"round {number + 1} of {options.rounds}: {name}", file=sys.stderr, flush=True)
                rounds[-1][name] = visit(name, database, options, ports)
    origin = made_by("lab/templates.py")
    lines = ["# What the configuration templates do", "", origin, *table(rounds)]
    print("\n".join(lines))
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if options.write:
        replace_between(ROOT / "docs/guides/fullstack.md", "templates", [origin, *table(rounds), ""])
        for name, noted in effects(rounds):
            note_in(CONFIG / f"{name}.yaml", noted)


if __name__ == "__main__":
    try:
        main()
    except LabError as error:
        sys.exit(f"templates.py: {error}")
