"""A program on PostgreSQL, its server, or both are killed at any moment while clients write.

Acknowledged rows are there, once and whole; refused rows are not; no row is there twice. Processes are killed, not the
machine. The kernel keeps all that the server has written: the server need not flush. To flush the whole folder at each
start takes 2 s. KATANA_CRASHES=1000 is the long form.
"""
import http.client
import os
import random
import threading
import time

import pytest
from fullstack_process import environment
from postgres_cluster import Cluster
from program_process import Program, built

CRASHES = int(os.environ.get("KATANA_CRASHES", "20"))
CLIENTS = 6


class Server(Program):
    """One postgres_crash."""

    def __init__(self, url):
        command = [built("postgres_crash"), "--port", "0", "--database", url]
        for each in ("http.reactors=2", "database.connections_max=4", "database.wait_max=200ms", "log.levels=error"):
            command += ["--set", each]
        self._start("postgres_crash", command, env=environment())


class Clients:
    """Threads that post ids, each once, and note the replies."""

    def __init__(self):
        self.port, self.answers, self.ends = None, {}, False
        self.written = 0  # how many ids were acknowledged so far
        self._ids, self._lock = 0, threading.Lock()
        self.threads = [threading.Thread(target=self._work) for _ in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def _next(self):
        with self._lock:
            self._ids += 1
            return self._ids

    def _work(self):
        while not self.ends:
            port = self.port
            if port is None:
                time.sleep(0.001)
                continue
            self._talk(http.client.HTTPConnection("127.0.0.1", port, timeout=30))

    # Until the connection is lost: an id whose reply did not come may be written, or not.
    def _talk(self, connection):
        try:
            connection.connect()
        except OSError:
            time.sleep(0.001)
            return
        try:
            while not self.ends:
                number = self._next()
                self.answers[number] = "no reply"
                connection.request("POST", f"/rows/{number}")
                reply = connection.getresponse()
                self.answers[number] = reply.read().decode()
                if reply.status == 201:
                    with self._lock:
                        self.written += 1
        except (OSError, http.client.HTTPException):
            return
        finally:
            connection.close()

    def wait_for_more(self):
        """Some more writes are acknowledged: the program and its server work again. Returns how long that took."""
        began, before = time.monotonic(), self.written
        while self.written < before + CLIENTS:
            assert time.monotonic() < began + 60, f"no write was acknowledged; {list(self.answers.values())[-20:]}"
            time.sleep(0.002)
        return time.monotonic() - began

    def stop(self):
        """End the threads."""
        self.ends = True
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive(), "a request was never answered"


def check(cluster, answers):
    """Compare the replies with the rows; return how often each reply was given."""
    parts = {int(number): int(count) for number, count, in cluster.rows("SELECT id, count(*) FROM rows GROUP BY id")}
    doubled = cluster.rows("SELECT id, part FROM rows GROUP BY id, part HAVING count(*) > 1")
    assert not doubled, f"written twice: {doubled[:10]}"
    tally = {}
    for number, answer in answers.items():
        tally[answer] = tally.get(answer, 0) + 1
        there, whole = parts.get(number, 0), 3 if number % 3 == 0 else 1
        assert there in (0, whole), f"id {number} is there in part: {there} of {whole}; the reply was {answer!r}"
        if answer == "written":
            assert there, f"id {number} was acknowledged and is lost"
        elif answer not in ("no reply", "unknown outcome"):
            assert not there, f"id {number} was refused ({answer}) and is there"
    return tally


@pytest.mark.timeout(120 + 10 * CRASHES)
def test_killed_programs_and_servers_lose_and_double_nothing():
    """At each crash the program, its server or both are killed, in the middle of writes."""
    seed = random.randrange(1 << 32)
    chance, again = random.Random(seed), []
    print(f"seed {seed}")
    with Cluster() as cluster:
        cluster.ask("CREATE TABLE rows (id BIGINT NOT NULL, part INT NOT NULL)")
        clients, server = Clients(), Server(cluster.url())
        clients.port = server.port
        try:
            for _ in range(CRASHES):
                clients.wait_for_more()
                time.sleep(chance.random() * 0.1)  # the moment is the point
                killed = chance.choice(["program", "server", "both"])
                if killed != "server":
                    server.kill()
                if killed != "program":
                    cluster.kill()
                    cluster.start()
                if killed != "server":
                    server = Server(cluster.url())
                    clients.port = server.port
                again.append(clients.wait_for_more())
        finally:
            clients.stop()
            server.kill()
        tally = check(cluster, clients.answers)
    assert tally["written"] >= CRASHES * CLIENTS
    print(f"{CRASHES} crashes: {tally}; writes again after {1000 * sum(again) / len(again):.0f} ms on average, "
          f"{1000 * max(again):.0f} ms at most")

# SPDX-License-Identifier: Apache-2.0
