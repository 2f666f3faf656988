"""The cost of a job of the queue: queued in its own transaction, and done by one process.

    queue_cost.py [--build build/bench] [--rounds 3] [--jobs 20000]

Each round fills the queue with jobs that do nothing, by eight requests at a time, and has a fresh process do all of
them. It does so on an SQLite file, on a PostgreSQL of this run, and by pgbench. pgbench is PostgreSQL's program in C.
It sends the same statements by eight clients, prepared. One transaction has an order and its job; another one claims a
job with SKIP LOCKED and removes it. This is the floor. It claims one at a time, keeps no leases, and does nothing else.
Both databases flush each commit. The program has one reactor. The time of the jobs includes the start of the process.
CPU is user and system, for each job: of the program or of pgbench, and of PostgreSQL's processes. The processes of
pgbench's run end with it, and are not counted. Everything shares this machine's CPUs.
"""
from __future__ import annotations

import http.client
import resource
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from katana_lab import LabError, proc
from katana_lab.costs import harness, postgres

CLIENTS = 8
SUBJECTS = ("SQLite", "PostgreSQL", "pgbench")

QUEUE_SQL = """BEGIN;
INSERT INTO orders (id) VALUES (0);
INSERT INTO katana_queue_jobs (queue, state, priority, rank_us, due_us, until_us, queued_us, attempts, fence, job_key,
key_lasts, payload, failure, worker, request_id)
VALUES ('bench', 0, 0, 0, 0, 0, 0, 0, 0, NULL, 1, '{"id":0}', '', '', '');
COMMIT;
"""
WORK_SQL = """WITH picked AS MATERIALIZED (SELECT id FROM katana_queue_jobs WHERE queue = 'bench' AND state = 0 AND
rank_us <= 1 AND due_us <= 1 ORDER BY rank_us, id LIMIT 1 FOR UPDATE SKIP LOCKED) UPDATE katana_queue_jobs AS j
SET state = 1, until_us = 1, attempts = attempts + 1, fence = fence + 1, worker = 'w' FROM picked WHERE j.id = picked.id
RETURNING j.id AS job, fence \\gset
DELETE FROM katana_queue_jobs WHERE id = :job AND fence = :fence AND state = 1;
"""


class Served:
    """One queue_crash on this database."""

    def __init__(self, options, ports, url, works):
        self.port = next(ports)
        sets = ["http.reactors=1", f"database.url={url}", "log.levels=off", "http.drain_notice=0s",
                f"queue.handlers.nothing.enabled={'true' if works else 'false'}", "queue.handlers.orders.enabled=false"]
        command = [proc.built("queue_crash", options.build), "--port", str(self.port),
                   *(part for each in sets for part in ("--set", each))]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not proc.wait_for(lambda: proc.answers(self.port, "/health"), 20):
            raise LabError("queue_crash did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        proc.stop(self.process)

    def fill(self, jobs):
        """Queue so many, by several requests at a time."""
        failures = []

        def ask(times=jobs // CLIENTS // 100, each=100):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            for _ in range(times):
                connection.request("POST", f"/fill/{each}")
                reply = connection.getresponse()
                reply.read()
                if reply.status != 204:
                    failures.append(reply.status)
        if jobs == 1:
            ask(1, 1)
        threads = [threading.Thread(target=ask) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise LabError(f"/fill answered {failures[0]}")


def spent(pid, server, jobs, work):
    """The cost of `work()` for each job: (jobs a second, µs of the process, µs of PostgreSQL)."""
    first, of_server = proc.usage(pid).cpu_s if pid else 0.0, proc.usage(server.pid).cpu_s if server else 0.0
    began = time.monotonic()
    own = work()
    seconds = time.monotonic() - began
    own = proc.usage(pid).cpu_s - first if pid else own
    return {"rate": jobs / seconds, "us": own / jobs * 1e6,
            "server_us": (proc.usage(server.pid).cpu_s - of_server) / jobs * 1e6 if server else None}


def until_done(count_left):
    """Wait for the queue to be empty."""
    end = time.monotonic() + 300
    while count_left() > 0:
        if time.monotonic() > end:
            raise LabError("jobs are never done")
        time.sleep(0.05)


def of_program(options, ports, url, server, count_left):
    """Fill and work by the program."""
    jobs = options.jobs // (CLIENTS * 100) * CLIENTS * 100
    with Served(options, ports, url, False) as served:
        served.fill(1)  # makes the table, which PostgreSQL lets one do at a time
        queued = spent(served.process.pid, server, jobs, lambda: served.fill(jobs))
    jobs += 1
    if count_left() != jobs:
        raise LabError(f"{count_left()} jobs are there, not {jobs}")
    started = {}

    def work():
        started["served"] = Served(options, ports, url, True)
        until_done(count_left)
        return proc.usage(started["served"].process.pid).cpu_s
    try:
        done = spent(None, server, jobs, work)
    finally:
        if "served" in started:
            started["served"].__exit__()
    return queued, done


def of_pgbench(options, server, url):
    """Fill and work by pgbench, on the tables that the program has made."""
    program = shutil.which("pgbench") or str(max(Path("/usr/lib/postgresql").glob("*/bin/pgbench")))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("queue", QUEUE_SQL), ("work", WORK_SQL)):
            script = Path(folder) / f"{name}.sql"
            script.write_text(text)
            each = options.jobs // CLIENTS
            command = [program, "-n", "-M", "prepared", "-c", str(CLIENTS), "-j", "2", "-t", str(each), "-f",
                       str(script), url]

            def work(command=command):
                before = resource_children()
                ended = subprocess.run(command, capture_output=True, text=True, check=False)
                if ended.returncode:
                    raise LabError(f"pgbench: {ended.stderr[-400:]}")
                return resource_children() - before
            found.append({**spent(None, server, each * CLIENTS, work), "server_us": None})
    left = server.ask("SELECT count(*) FROM katana_queue_jobs WHERE queue = 'bench'", "bench")
    if left != "0":
        raise LabError(f"pgbench has left {left} jobs")
    return found


def resource_children():
    """CPU seconds of children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def rows_of(path):
    """The number of jobs in an SQLite file."""
    database = sqlite3.connect(path, timeout=30)
    try:
        return database.execute("SELECT count(*) FROM katana_queue_jobs").fetchone()[0]
    finally:
        database.close()


def main() -> None:
    """Measure and print."""
    made = harness.parser(__doc__, rounds=3)
    made.add_argument("--jobs", type=int, default=20_000)
    options = made.parse_args()
    ports, rounds = proc.free_port(21500, 65536), []
    for number in range(options.rounds):
        with tempfile.TemporaryDirectory(prefix="katana-queue-") as folder, \
                postgres.cluster(next(ports), settings={"fsync": "on"}) as server:
            file = Path(folder) / "queue.db"
            one = {"SQLite": of_program(options, ports, f"sqlite:{file}", None, lambda: rows_of(file))}
            url = server.url("bench")
            one["PostgreSQL"] = of_program(options, ports, url, server, lambda server=server: int(
                server.ask("SELECT count(*) FROM katana_queue_jobs", "bench")))
            one["pgbench"] = of_pgbench(options, server, url)
            rounds.append(one)
            print(f"round {number + 1} of {options.rounds}", flush=True)
    columns = ["", "jobs/s", "µs of the program", "µs of PostgreSQL"]
    for index, what in enumerate(("queued in a transaction", "done")):
        rows = []
        for subject in SUBJECTS:
            of = [each[subject][index] for each in rounds]
            server_us = [each["server_us"] for each in of if each["server_us"] is not None]
            rows.append([subject, f"{statistics.median(each['rate'] for each in of):,.0f}",
                         f"{statistics.median(each['us'] for each in of):.1f}",
                         f"{statistics.median(server_us):.1f}" if server_us else ""])
        print(f"\n{what}, medians of {options.rounds} rounds of {options.jobs} jobs:\n")
        print("\n".join(harness.markdown(columns, rows)))

# SPDX-License-Identifier: Apache-2.0
