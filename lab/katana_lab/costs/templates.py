"""The gain and the cost of each configuration template of fullstack, beside the defaults.

    lab/templates.py [--rounds 5] [--seconds 2] [--build build/bench] [--markdown FILE] [--write]

Rounds, A B C D A B C D: each starts fullstack with the defaults or a template (apps/fullstack/config) on CPU 0. Its
database has 200,000 users, which is more than the default cache of 8 MiB holds. The load comes from CPU 1:

    one user   GET /api/users/{n}, any of them, 64 connections that ask again at once: CPU time, system calls
    a page     GET /api/users?limit=100&after={n}, the same
    a write    POST /api/data, 64 connections: acknowledged writes a second, and how long the slowest 1 % take
    paced      GET /api/users/{n}, 2,000 a second whatever comes back: latency from the intended time

Ratios are medians over the rounds of (template / defaults) within a round, with the smallest and the largest: they are
valid on other machines. Rates and latencies are this machine's. Each run has one reactor: it compares templates, not
numbers of CPUs. Needs perf for system calls; without it they are n/a.
"""
from __future__ import annotations

import random
import shutil
import sqlite3
import statistics
import tempfile
from pathlib import Path

from katana_lab import ROOT, LabError, proc
from katana_lab.costs import harness
from katana_lab.drivers import Job
from katana_lab.heading import made_by, replace_between

CONFIG = ROOT / "apps/fullstack/config"
DEFAULTS = "defaults"
TEMPLATES = ("high_throughput", "database_heavy", "low_latency")
USERS = 200_000
PATHS = 5_000                    # different ones, sent in turn
JSON_TYPE = ("--header", "Content-Type: application/json")
DOCUMENT = '{"sensor":"roof","celsius":21.5,"ok":true}'
# Each load: flags of katana-load, the path (with a number, when it has a place for one), and the columns of the table.
LOADS = {
    "one user": (("-c", "64"), "/api/users/{}", ("cpu_us", "calls")),
    "a page": (("-c", "64"), "/api/users?limit=100&after={}", ("cpu_us", "calls")),
    "a write": (("-c", "64", "--method", "POST", *JSON_TYPE, "--body", DOCUMENT), "/api/data",
                ("cpu_us", "rate", "p99_us")),
    "paced": (("-c", "16", "-R", "2000"), "/api/users/{}", ("cpu_us", "p50_us", "p99_us")),
}
TITLES = {"cpu_us": "CPU µs", "calls": "system calls", "rate": "a second", "p50_us": "p50 µs", "p99_us": "p99 µs",
          "rss_mib": "RSS MiB"}


def serving(name, ports, build, copied=None, database="{work}/katana.db"):
    """The program with a template, its files in its own folder; a copy of a database among them, or elsewhere."""
    program = proc.built("fullstack", build)
    config = [] if name == DEFAULTS else ["--config", str(CONFIG / f"{name}.yaml")]

    def command(port, work):
        if copied is not None:
            shutil.copy(copied, work)
        sets = ["http.reactors=1", "http.drain_notice=0s", f"database.url=sqlite:{database.format(work=work)}",
                "log.console=false", f"log.file={work}/app.log"]
        return [program, *config, "--port", str(port), *(part for each in sets for part in ("--set", each))]

    return harness.serving(name, command, ports, "/health", patience_s=10)


def make_database(folder, options, ports):
    """A database with the users, made once: the program makes the tables, and the rows come from outside."""
    with serving(DEFAULTS, ports, options.build, database=str(folder / "katana.db")):
        pass
    database = sqlite3.connect(folder / "katana.db")
    with database:
        database.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
                         "INSERT INTO users (name, email) SELECT 'user ' || i, 'user' || i || '@example.org' FROM n",
                         (USERS,))
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return folder / "katana.db"


def paths_of(path, folder):
    """The flags for the paths of requests: none, or a file of many paths; the same in every run."""
    if "{}" not in path:
        return ()
    numbers = random.Random(1)
    file = folder / "paths"
    file.write_text("".join(path.format(numbers.randint(1, USERS)) + "\n" for _ in range(PATHS)), encoding="ascii")
    return ("--urls", str(file))


def ask(load, server, options):
    """One load; return its figures."""
    flags, path, _ = LOADS[load]
    job = Job(server.port, options.build, path.format(1), connections=int(flags[1]), seconds=options.seconds,
              flags=(*flags[2:], *paths_of(path, server.work)))
    figures, done = harness.measure_load(server.pid, "katana-load", job)
    if done.errors or not done.requests:
        raise LabError(f"{load}: {done.requests} requests, and errors: {done.told['errors']}")
    calls = harness.count_events(server.pid, "katana-load", job, [harness.CALLS], server.work) if shutil.which(
        "perf") else {}
    latency = done.told["latency_us"]
    return {"cpu_us": figures["us"], "rate": figures["rate"], "calls": calls.get(harness.CALLS),
            "p50_us": latency["p50"], "p99_us": latency["p99"], "rss_mib": figures["rss_kib"] / 1024}


def visit(name, database, options, ports):
    """One subject in one round: {load: figures}."""
    with serving(name, ports, options.build, database) as server:
        return {load: ask(load, server, options) for load in LOADS}


def by_load(rounds, load):
    """The rounds of one load."""
    return [{name: figures[load] for name, figures in one.items()} for one in rounds]


def ratio(rounds, name, load, figure):
    """'0.86 (0.84–0.90)' of the defaults' within each round; 'n/a' where it was not counted."""
    return harness.spread(harness.ratios(by_load(rounds, load), name, DEFAULTS, figure))


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
    """One sentence for each template's own file: its measured effect on each load."""
    for name in TEMPLATES:
        yield name, [f"# {load}: {TITLES[figures[0]]} × {ratio(rounds, name, load, figures[0])}"
                     + "".join(f", {TITLES[figure]} × {ratio(rounds, name, load, figure)}" for figure in figures[1:])
                     for load, (_, _, figures) in LOADS.items()]


def note_in(path, lines):
    """Replace the measured figures at the top of a template."""
    begin, end = "# Measured beside the defaults (lab/templates.py; a ratio below 1 is less):", "# --"
    text = path.read_text(encoding="utf-8")
    if begin not in text or f"\n{end}\n" not in text:
        raise LabError(f"{path} has no place for what was measured: a line `{begin}` and, behind it, `{end}`")
    before, rest = text.split(begin)
    after = rest.split(f"\n{end}\n", 1)[1]
    path.write_text(before + "\n".join([begin, *lines, end]) + "\n" + after, encoding="utf-8")


def main() -> None:
    """Run, print, write."""
    parser = harness.parser(__doc__, 5, 2.0, files=("markdown",))
    parser.add_argument("--write", action="store_true", help="put what was measured into the templates, and the table "
                        "into docs/guides/fullstack.md")
    options = parser.parse_args()
    harness.need()
    ports = proc.free_port()
    with tempfile.TemporaryDirectory(prefix="katana-templates-") as made:
        database = make_database(Path(made), options, ports)
        rounds = harness.in_rounds(options.rounds, (DEFAULTS, *TEMPLATES),
                                   lambda name: visit(name, database, options, ports), "templates")
    origin = made_by("lab/templates.py")
    lines = ["# What the configuration templates do", "", origin, *table(rounds)]
    print("\n".join(lines))
    harness.write(options, lines, rounds)
    if options.write:
        replace_between(ROOT / "docs/guides/fullstack.md", "templates", [origin, *table(rounds), ""])
        for name, noted in effects(rounds):
            note_in(CONFIG / f"{name}.yaml", noted)

# SPDX-License-Identifier: Apache-2.0
