"""Two programs that work one job queue are killed and restarted while clients queue; PostgreSQL's server is, too.

The ledger: each committed order is counted at least once, one that was rolled back never. An order that is counted in
the job's transaction is counted exactly once. A job that was counted twice was claimed twice, and each claim has a
separate fence. Jobs that always fail are dead letters. KATANA_CRASHES=300 is the long form.
"""
import http.client
import json
import os
import random
import sqlite3
import subprocess
import threading
import time

import pytest
from fullstack_process import environment
from postgres_cluster import Cluster
from program_process import Program, built

CRASHES = int(os.environ.get("KATANA_CRASHES", "8"))
CLIENTS = 4
POISON = 13


class Worker(Program):
    """One queue_crash."""

    def __init__(self, url):
        command = [built("queue_crash"), "--port", "0", "--database", url]
        for each in ("http.reactors=1", "database.wait_max=500ms", "database.durability=normal", "log.levels=off",
                     "http.drain_notice=0s", "http.drain_timeout=3s", "http.drain_idle=0s",
                     "database.connections_max=6"):
            command += ["--set", each]
        self._start("queue_crash", command, env=environment())


class Lite:
    """An SQLite file, as Cluster is asked."""

    def __init__(self, folder):
        self.path = folder / "queue.db"

    def url(self):
        """Return the URL for a program."""
        return f"sqlite:{self.path}"

    def rows(self, statement):
        """Run a statement and return its rows, each a list of texts."""
        database = sqlite3.connect(self.path, timeout=30)
        try:
            return [[str(value) for value in row] for row in database.execute(statement)]
        finally:
            database.close()


class Clients:
    """Threads that post orders, each id once, to any of the workers, and note the replies."""

    def __init__(self):
        self.ports, self.answers, self.ends = [], {}, False
        self.committed, self._ids, self._lock = 0, 0, threading.Lock()
        self.threads = [threading.Thread(target=self._work) for _ in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def _next(self):
        with self._lock:
            self._ids += 1
            return self._ids

    def _work(self):
        while not self.ends:
            ports = list(self.ports)
            if not ports:
                time.sleep(0.002)
                continue
            self._talk(http.client.HTTPConnection("127.0.0.1", random.choice(ports), timeout=30))

    def _talk(self, connection):
        try:
            connection.connect()
            for _ in range(5):
                number = self._next()
                self.answers[number] = "no reply"
                connection.request("POST", f"/orders/{number}")
                reply = connection.getresponse()
                self.answers[number] = reply.read().decode()
                with self._lock:
                    self.committed += self.answers[number] == "committed"
                time.sleep(0.002)
        except (OSError, http.client.HTTPException):
            time.sleep(0.002)
        finally:
            connection.close()

    def wait_for_more(self):
        """Some more orders are committed."""
        end, before = time.monotonic() + 60, self.committed
        while self.committed < before + CLIENTS:
            assert time.monotonic() < end, f"nothing is committed; {list(self.answers.values())[-20:]}"
            time.sleep(0.002)

    def stop(self):
        """End the threads."""
        self.ends = True
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive(), "a request was never answered"


def wait_until_done(store):
    """Wait until no job waits or runs any more."""
    end = time.monotonic() + 60
    while True:
        left = store.rows("SELECT state, count(*) FROM katana_queue_jobs WHERE state < 2 GROUP BY state")
        if not left:
            return
        assert time.monotonic() < end, f"jobs are never done: {left}"
        time.sleep(0.05)


def check(store, answers):
    """Compare what clients were answered with the ledger; return how many jobs were counted more than once."""
    orders = {int(number) for number, in store.rows("SELECT id FROM orders")}
    once = [int(number) for number, in store.rows("SELECT id FROM once")]
    counted = {}
    for number, fence in store.rows("SELECT id, fence FROM counted"):
        counted.setdefault(int(number), []).append(int(fence))
    begun = {}
    for number, fence in store.rows("SELECT id, fence FROM attempts"):
        begun.setdefault(int(number), []).append(int(fence))
    assert len(once) == len(set(once)), "what is counted in the job's transaction is there twice"
    for number, answer in answers.items():
        if answer == "committed":
            assert number in orders, f"order {number} was committed and is lost"
        if answer == "rolled back":
            assert number not in orders and number not in begun, f"order {number} was rolled back and has a job"
    for number in orders:
        done = number in once or number in counted
        assert done == (number != POISON), f"the job of order {number} is not what it has to be: {begun.get(number)}"
    for number, fences in begun.items():
        assert number in orders, f"a job of order {number}, which is not there"
        assert len(fences) == len(set(fences)), f"two attempts at order {number} had one fence: {fences}"
    for number, fences in counted.items():
        assert set(fences) <= set(begun[number]) and len(fences) == len(set(fences)), f"order {number}: {fences}"
    dead = store.rows("SELECT state, attempts FROM katana_queue_jobs")
    assert dead == [["3", "6"]], f"one dead letter, after six attempts: {dead}"
    return sum(len(fences) - 1 for fences in counted.values())


def tool(store, *arguments, status=0):
    """Return what `katana queue` prints."""
    ended = subprocess.run([built("katana"), "queue", *map(str, arguments), "--database", store.url()],
                           capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == status, ended
    return ended.stderr if status else ended.stdout


def check_tool(store):
    """The dead letter is shown, waits again and is removed, by the tool and without a worker."""
    (queue, number), = store.rows("SELECT queue, id FROM katana_queue_jobs")
    assert tool(store, "list").splitlines()[1].split()[:5] == [queue, "0", "0", "0", "1"]
    job = json.loads(tool(store, "show", queue))
    assert (job["id"], job["state"], job["attempts"], job["payload"]) == (int(number), "dead", 6, ""), job
    assert str(POISON) in json.loads(tool(store, "show", queue, "--payload"))["payload"]
    assert tool(store, "show", queue, "--after", number) == ""
    assert f"'{queue}' has no dead letter 99999" in tool(store, "retry", queue, 99999, status=1)
    assert "--all" in tool(store, "retry", queue, status=2)
    assert "1 jobs" in tool(store, "retry", queue, number)
    assert tool(store, "show", queue) == "" and tool(store, "list").split()[-5] == "1"
    assert "0 jobs" in tool(store, "retry", queue, "--all")
    assert "1 jobs" in tool(store, "drop", queue, number)
    assert number in tool(store, "drop", queue, number, status=1)
    assert store.rows("SELECT id FROM katana_queue_jobs") == []


def run(store, cluster, seed):
    """Kill for CRASHES times; return what check() does, the orders and the kinds of ends."""
    chance, ends = random.Random(seed), {}
    clients, workers = Clients(), [Worker(store.url())]
    workers.append(Worker(store.url()))
    try:
        clients.ports = [worker.port for worker in workers]
        while POISON not in clients.answers:
            clients.wait_for_more()
        for _ in range(CRASHES):
            clients.wait_for_more()
            time.sleep(chance.random() * 0.1)  # the moment is the point
            how = chance.choice(["kill", "kill", "drain"] + (["server"] if cluster else []))
            ends[how] = ends.get(how, 0) + 1
            if how == "server":
                cluster.kill()
                cluster.start()
                continue
            index = chance.randrange(2)
            worker = workers[index]
            clients.ports = [workers[1 - index].port]
            if how == "kill":
                worker.kill()
            else:
                worker.send_signal(15)
                assert worker.wait() == 0
            workers[index] = Worker(store.url())
            clients.ports = [each.port for each in workers]
        clients.wait_for_more()
        clients.stop()
        wait_until_done(store)
        twice = check(store, clients.answers)
        for worker in workers:
            worker.kill()
        check_tool(store)
        return twice, len(clients.answers), ends
    finally:
        clients.ends = True
        for worker in workers:
            worker.kill()


def tell(what, seed, outcome):
    """Print what a run was."""
    twice, orders, ends = outcome
    print(f"{what}: seed {seed}, {orders} orders, ends {ends}, counted more than once: {twice}")


@pytest.mark.timeout(180 + 10 * CRASHES)
def test_killed_workers_on_sqlite_lose_no_job_and_keep_the_ledger(tmp_path):
    """Two processes share the file."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    tell("sqlite", seed, run(Lite(tmp_path), None, seed))


@pytest.mark.timeout(180 + 10 * CRASHES)
def test_killed_workers_and_servers_of_postgres_lose_no_job_and_keep_the_ledger():
    """The server is killed as well, in the middle of claims and commits."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    with Cluster() as cluster:
        tell("postgres", seed, run(cluster, cluster, seed))

# SPDX-License-Identifier: Apache-2.0
