"""From exec to the first 200, by part, and by the number of systems.

    lab/startup.py [--rounds 15] [--build build/bench] [--markdown FILE]
    lab/startup.py [--rounds 15] --program 'build/release/application_server' [--program …]

Without --program it starts fullstack as it is shipped. One start has an empty folder (it makes its database and applies
the migrations), one has the folder of a former start. Then it starts e2e_benchmarks --serve with the first 1 to 7
systems. Every round starts each of them once. Parts that do not need one another overlap. Exit status 1 when the median
start of fullstack with an empty folder takes longer than 60 ms.
"""
from __future__ import annotations

import re
import shlex
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from katana_lab import LabError, proc
from katana_lab.costs import harness
from katana_lab.heading import made_by

SYSTEMS = ("network", "thread", "log", "database", "metrics", "registry", "configuration")
TOTAL = "exec to the first 200"
LIMIT_MS = 60
PORTS = proc.free_port()
# The output of a program about its start: a metric, or a line before it is ready.
PART = re.compile(r'^(?:katana_startup_seconds\{part="(?P<part>[^"]+)"\} (?P<s>\S+)|phase (?P<phase>\S+) (?P<ms>\S+))$',
                  re.MULTILINE)


def get(port, path):
    """Return the reply to a request; nothing while no program listens."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: startup\r\nConnection: close\r\n\r\n".encode())
            text = b""
            while piece := client.recv(65536):
                text += piece
            return text.decode()
    except ConnectionError:
        return ""


def start_once(command, folder):
    """Start a program in a folder, and return milliseconds by part."""
    port = next(PORTS)
    arguments = [part.replace("{port}", str(port)).replace("{folder}", str(folder)) for part in command]
    with tempfile.TemporaryFile("w+") as output:
        began = time.perf_counter()
        process = subprocess.Popen(arguments, cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.DEVNULL)
        try:
            while not (reply := get(port, "/health")):
                if process.poll() is not None:
                    raise LabError(f"`{shlex.join(arguments)}` ended with {process.returncode}")
            first = (time.perf_counter() - began) * 1e3
            if not reply.startswith("HTTP/1.1 200 "):
                raise LabError(f"GET /health: {reply.splitlines()[0]}")
            metrics = get(port, "/metrics")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        output.seek(0)
        said = output.read()
    parts = {found["part"] or found["phase"]: float(found["s"]) * 1e3 if found["s"] else float(found["ms"])
             for found in PART.finditer(metrics + "\n" + said)}
    return {**parts, TOTAL: first}


class Subject:
    """A program, how it is started, and what that took. A `kept` folder is that of every start."""

    def __init__(self, name, command, kept=False):
        self.name = name
        self.command = [str(Path(command[0]).resolve()), *command[1:]]
        if not Path(self.command[0]).exists():
            raise LabError(f"{self.command[0]} is missing: cmake --preset bench && cmake --build --preset bench"
                           " --target fullstack e2e_benchmarks (or name another with --program)")
        self.folder = tempfile.TemporaryDirectory() if kept else None
        self.starts = []
        if kept:
            start_once(self.command, self.folder.name)

    def start(self):
        """One start more."""
        if self.folder is not None:
            self.starts.append(start_once(self.command, self.folder.name))
            return
        with tempfile.TemporaryDirectory() as folder:
            self.starts.append(start_once(self.command, folder))

    def median(self, part):
        """The median of all starts; nothing for a part that it does not have."""
        values = [start[part] for start in self.starts if part in start]
        return statistics.median(values) if values else None


def table_by_part(subject):
    """Return a table of one program: a row for each part."""
    lines = ["", f"## {subject.name}: {len(subject.starts)} starts", "", "| part | median ms | least | most |",
             "|---|---|---|---|"]
    for part in subject.starts[0]:
        values = [start[part] for start in subject.starts]
        lines.append(f"| {part} | {statistics.median(values):.2f} | {min(values):.2f} | {max(values):.2f} |")
    return lines


def table_by_systems(subjects):
    """Return one table: a row for each number of systems, a column for each part."""
    parts = [part for part in subjects[-1].starts[0] if part != TOTAL]
    lines = ["", f"## By the number of systems: {len(subjects[0].starts)} starts, median ms", "",
             f"| systems | the last of them | {TOTAL} | " + " | ".join(parts) + " |", "|" + "---|" * (len(parts) + 3)]
    for count, subject in enumerate(subjects, 1):
        cells = [subject.median(part) for part in parts]
        lines.append(f"| {count} | {SYSTEMS[count - 1]} | {subject.median(TOTAL):.2f} | "
                     + " | ".join("" if cell is None else f"{cell:.2f}" for cell in cells) + " |")
    return lines


def main() -> int:
    """Run, print, and return the exit status."""
    parser = harness.parser(__doc__, 15, files=("markdown",))
    parser.add_argument("--program", action="append", default=[], metavar="COMMAND",
                        help="instead: a program on app::Application, with flags")
    options = parser.parse_args()
    programs, by_systems = [], []
    if options.program:
        for command in map(shlex.split, options.program):
            programs.append(Subject(Path(command[0]).name, [*command, "--port", "{port}"]))
    else:
        full = [str(options.build / "fullstack"), "--port", "{port}", "--set", "http.drain_notice=0s"]
        programs = [Subject("fullstack, an empty folder", full), Subject("fullstack, started again", full, kept=True)]
        served = [str(options.build / "e2e_benchmarks"), "--serve"]
        by_systems = [Subject(f"{count} systems", [*served, f"systems={count}", "port={port}", "folder={folder}"])
                      for count in range(1, len(SYSTEMS) + 1)]
    for _ in range(options.rounds):
        for subject in programs + by_systems:
            subject.start()
    lines = ["# From exec to the first reply", "", made_by("lab/startup.py"), "",
             f"The clock runs from fork() to the end of the first reply to `GET /health`. Limit: {LIMIT_MS} ms."]
    for subject in programs:
        lines += table_by_part(subject)
    if by_systems:
        lines += table_by_systems(by_systems)
    print("\n".join(lines))
    harness.write(options, lines, None)
    if not options.program and programs[0].median(TOTAL) > LIMIT_MS:
        print(f"startup: {programs[0].median(TOTAL):.1f} ms are more than {LIMIT_MS}", file=sys.stderr)
        return 1
    return 0

# SPDX-License-Identifier: Apache-2.0
