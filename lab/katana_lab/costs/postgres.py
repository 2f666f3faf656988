"""The cost of a point read of PostgreSQL for its client, beside libpq alone and clients in other languages, in one run.

    postgres_cost.py [--build build/bench] [--rounds 5] [--seconds 3] [--callers 64] [--connections 1]
                     [--clients katana,libpq_pipeline,…] [--json FILE] [--markdown FILE]

Each round runs every client once (A B C A B C …), on CPU 0. A separate PostgreSQL on CPU 1 serves this run over its
Unix socket. `--callers` reads are in flight, each `SELECT id, name, email, age FROM users WHERE id = $1`, prepared.
Each row is decoded and its id checked.
    katana          the framework: coroutines on one reactor, Database::query_one
    libpq_pipeline  libpq and poll() alone, a pipeline that is kept full, a sync for each statement
    libpq_blocking  a thread for each connection that executes one statement after another (--blocking-connections)
    go_pgx          pgx 5 with its pool        rust_tokio_postgres  tokio-postgres, one thread
    python_asyncpg  asyncpg with its pool
'rate' is the reads each second. Where PostgreSQL's CPU is the limit, it says how well a client feeds it. 'us' is the
client's CPU for each read. Ratios are medians over rounds of katana / other within a round. pgx and asyncpg have a
statement in flight for each connection. They get --blocking-connections, too. Needs PostgreSQL's server (package
postgresql). It builds the rivals that it can, and names the others.
"""
from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pwd
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from katana_lab import LAB, ROOT, LabError, proc
from katana_lab.costs import harness
from katana_lab.peers import search_path

SOURCES, OUT = LAB / "postgres", ROOT / "build/postgres"
PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
ROWS = 10_000
SCHEMA = f"""CREATE TABLE users (id BIGINT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, age INT);
INSERT INTO users SELECT n, 'Name ' || n, 'user' || n || '@example.org', 18 + n % 60 FROM generate_series(1, {ROWS}) n;
VACUUM ANALYZE users;"""
SETTINGS = {"fsync": "off", "shared_buffers": "64MB", "max_connections": "120", "autovacuum": "off", "jit": "off"}


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A PostgreSQL of this run: the folder of its Unix socket, and its port."""

    folder: Path
    port: int
    pid: int

    def answers(self) -> bool:
        """Whether the server takes connections."""
        return self._psql("SELECT 1", "postgres").returncode == 0

    def run(self, sql: str, database: str) -> None:
        """Run statements; LabError with the reason."""
        if (done := self._psql(sql, database)).returncode:
            raise LabError(f"PostgreSQL: {done.stderr.strip()}")

    def ask(self, sql: str, database: str) -> str:
        """The first value of a statement; LabError with the reason."""
        if (done := self._psql(sql, database)).returncode:
            raise LabError(f"PostgreSQL: {done.stderr.strip()}")
        return done.stdout.strip()

    def url(self, database: str) -> str:
        """For programs."""
        return f"postgresql://katana@/{database}?host={self.folder}&port={self.port}"

    def _psql(self, sql: str, database: str) -> subprocess.CompletedProcess:
        command = [PROGRAMS[-1] / "psql", "-q", "-A", "-t", "-h", self.folder, "-p", str(self.port), "-U", "katana",
                   "-v", "ON_ERROR_STOP=1", database]
        return subprocess.run(command, input=sql, capture_output=True, text=True, check=False)


def as_other_user(command: list[str]) -> list[str]:
    """PostgreSQL refuses to run as root."""
    other = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
    return [*other, *command]


@contextlib.contextmanager
def cluster(port: int, more: str = "", settings: dict[str, str] | None = None) -> Iterator[Cluster]:
    """A server on the CPU of clients, with the table, and `more` SQL done; gone afterwards."""
    if not PROGRAMS:
        raise LabError("there is no PostgreSQL server here: apt-get install postgresql")
    with tempfile.TemporaryDirectory(prefix="katana-postgres-") as made:
        folder = Path(made)
        if os.geteuid() == 0:
            user = pwd.getpwnam("nobody")
            os.chown(folder, user.pw_uid, user.pw_gid)
        initdb = [str(PROGRAMS[-1] / "initdb"), "-D", f"{folder}/data", "-U", "katana", "-A", "trust", "-E", "UTF8",
                  "--no-locale", "-N"]
        done = subprocess.run(as_other_user(initdb), capture_output=True, text=True, check=False)
        if done.returncode:
            raise LabError(f"initdb: {done.stderr.strip()}")
        chosen = [f"-c{key}={value}" for key, value in {**SETTINGS, **(settings or {})}.items()]
        command = [str(PROGRAMS[-1] / "postgres"), "-D", f"{made}/data", "-k", made, "-h", "", "-p", str(port)]
        process = proc.start(as_other_user([*command, *chosen]), [harness.CLIENT_CPU], Path(f"{made}-said"))
        try:
            server = Cluster(folder, port, process.pid)
            if not proc.wait_for(lambda: server.answers() or process.poll() is not None, 30) or not server.answers():
                raise LabError(f"PostgreSQL did not start: {proc.read(f'{made}-said').strip()}")
            server.run("CREATE DATABASE bench", "postgres")
            server.run(SCHEMA + more, "bench")
            yield server
        finally:
            proc.stop(process, 20)
            Path(f"{made}-said").unlink(missing_ok=True)


# ---- clients -------------------------------------------------------------------------------------

def own(name: str) -> Callable:
    """A client of postgres_point_reads."""
    def command(options, server):
        connections = options.blocking_connections if name == "libpq_blocking" else options.connections
        return [proc.built("postgres_point_reads", options.build), "--client", name, "--folder", str(server.folder),
                "--port", str(server.port), "--callers", str(options.callers), "--connections", str(connections),
                "--seconds", str(options.seconds), "--rows", str(ROWS)]
    return command


def rival(program: list[str], one_each: bool) -> Callable:
    """A client in another language; `one_each`: it has one statement in flight for each connection."""
    def command(options, server):
        connections = options.blocking_connections if one_each else options.connections
        return [*program, str(server.folder), str(server.port), str(options.callers), str(connections),
                str(options.seconds), str(ROWS)]
    return command


CLIENTS = {
    "katana": own("katana"), "libpq_pipeline": own("libpq_pipeline"), "libpq_blocking": own("libpq_blocking"),
    "go_pgx": rival([str(OUT / "go_pgx/go_pgx")], True),
    "rust_tokio_postgres": rival([str(OUT / "rust_tokio_postgres/release/rust_tokio_postgres")], False),
    "python_asyncpg": rival([sys.executable, str(SOURCES / "python_asyncpg/main.py")], True),
}
BUILDS = {
    "go_pgx": ["go", "build", "-trimpath", "-o", str(OUT / "go_pgx/go_pgx"), "."],
    "rust_tokio_postgres": ["cargo", "build", "--release", "--locked", "--quiet", "--target-dir",
                            str(OUT / "rust_tokio_postgres")],
    "python_asyncpg": [sys.executable, "-c", "import asyncpg"],
}
REMEDIES = {"go_pgx": "install Go 1.22 or newer", "rust_tokio_postgres": "install Rust 1.75 or newer",
            "python_asyncpg": "install it: .venv/bin/pip install asyncpg"}


def why_not(name: str) -> str:
    """Build a rival; return the reason why it cannot be built, or nothing."""
    command = BUILDS.get(name)
    if command is None:
        return ""
    if shutil.which(command[0], path=search_path()) is None:
        return f"{command[0]} is missing: {REMEDIES[name]}"
    done = subprocess.run(command, cwd=SOURCES / name, env={**os.environ, "PATH": search_path(), "CGO_ENABLED": "0"},
                          capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{done.stderr.strip().splitlines()[-1]}: {REMEDIES[name]}"


def measure(name: str, options, server: Cluster) -> dict:
    """Run one client once; return its reads, and the CPU of client and server."""
    begin, busy = time.monotonic(), proc.cpu_busy_s(harness.CLIENT_CPU)
    command = ["taskset", "-c", str(harness.SERVER_CPU), *CLIENTS[name](options, server)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60 + options.seconds,
                          env={**os.environ, "GOMAXPROCS": "1"})
    busy = (proc.cpu_busy_s(harness.CLIENT_CPU) - busy) / (time.monotonic() - begin)
    if done.returncode:
        raise LabError(f"{name}: {done.stderr.strip() or f'exit status {done.returncode}'}")
    said = json.loads(done.stdout)
    return {"rate": said["queries"] / said["elapsed_s"], "us": 1e6 * said["cpu_s"] / max(said["queries"], 1),
            "busy": said["cpu_s"] / said["elapsed_s"], "server_cpu": busy}


def table(rounds: harness.Rounds, names: list[str]) -> list[str]:
    """The Markdown table of medians and ratios."""
    rows = []
    for name in names:
        results = [one[name] for one in rounds]
        busy = [harness.median(results, figure, ".0f", 100) + " %" for figure in ("busy", "server_cpu")]
        rows.append((name, f"{statistics.median(one['rate'] for one in results):,.0f}", harness.median(results, "us"),
                     *busy, *(harness.spread(harness.ratios(rounds, "katana", name, each)) for each in ("rate", "us"))))
    columns = ("client", "reads/s", "us", "CPU 0", "CPU 1", "katana's rate / its", "katana's us / its")
    return harness.markdown(columns, rows)


def main() -> None:
    """Measure, and print the table."""
    parser = harness.parser(__doc__, 5, 3.0, 1)
    parser.add_argument("--callers", type=harness.at_least_one(int), default=64, help="reads in flight; default 64")
    parser.add_argument("--blocking-connections", type=harness.at_least_one(int), default=None,
                        help="of clients with one statement in flight for each; default: as --connections")
    parser.add_argument("--clients", default=",".join(CLIENTS), help="default: all")
    options = parser.parse_args()
    options.blocking_connections = options.blocking_connections or options.connections
    names = harness.known(parser, "client", options.clients, list(CLIENTS))
    harness.need("setpriv")
    OUT.mkdir(parents=True, exist_ok=True)
    for name in list(names):
        if reason := why_not(name):
            print(f"{name} is left out: {reason}", file=sys.stderr)
            names.remove(name)
    with cluster(next(proc.free_port())) as server:
        rounds = harness.in_rounds(options.rounds, names, lambda name: measure(name, options, server), "postgres")
    lines = table(rounds, names)
    print("\n".join(lines))
    harness.write(options, lines, rounds)

# SPDX-License-Identifier: Apache-2.0
