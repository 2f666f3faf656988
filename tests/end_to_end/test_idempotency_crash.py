"""Two programs with idempotency keys in one SQLite file are killed and restarted while clients send orders.

A client sends its order with a key until it is answered, often leaves before it is, and sends it again to another
program. Each order whose reply is kept in its transaction is there exactly once, with the same reply each time. Each
other order is there at least once. Each key has one reply in the end. KATANA_CRASHES=300 is the long form.
"""
import http.client
import os
import random
import sqlite3
import threading
import time

import pytest
from fullstack_process import environment
from program_process import Program, built

CRASHES = int(os.environ.get("KATANA_CRASHES", "6"))
CLIENTS = 8
LOOSE_EVERY = 4         # orders whose reply the middleware keeps
ANSWER_SECONDS_MAX = 60


class Shop(Program):
    """One idempotency_crash."""

    def __init__(self, path):
        command = [built("idempotency_crash"), "--port", "0", "--database", f"sqlite:{path}"]
        for each in ("http.reactors=1", "database.wait_max=2s", "database.durability=normal", "log.levels=off",
                     "http.drain_notice=0s", "http.drain_timeout=3s", "http.drain_idle=0s", "idempotency.enabled=true",
                     "idempotency.store=database", "idempotency.scope=everyone", "idempotency.required=true",
                     "http.handler_timeout=1s", "idempotency.store_timeout=300ms"):
            command += ["--set", each]
        self._start("idempotency_crash", command, env=environment())


class Clients:
    """Threads that send orders, each with its own key, and note whatever they are answered."""

    def __init__(self, seed):
        self.ports, self.ends, self.failure = [], False, None
        self.replies, self.statuses, self.left, self.answered = {}, {}, 0, 0
        self._numbers, self._lock = 0, threading.Lock()
        self.threads = [threading.Thread(target=self._work, args=(random.Random(seed + index),))
                        for index in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def _work(self, chance):
        try:
            while not self.ends and self.failure is None:
                with self._lock:
                    self._numbers += 1
                    number = self._numbers
                self._order(chance, number)
        except BaseException as error:  # pylint: disable=broad-exception-caught  # told by the main thread
            self.failure = error

    def _order(self, chance, number):
        """Send one until it is answered; then once more, whose reply is the same."""
        end = time.monotonic() + ANSWER_SECONDS_MAX
        replies = self.replies.setdefault(number, [])
        while not replies or chance.random() < 0.3:
            assert time.monotonic() < end, f"order {number} is never answered; {self.statuses}"
            if self._send(chance, number) != "answered":
                time.sleep(chance.random() * 0.1)
        with self._lock:
            self.answered += 1

    def _send(self, chance, number):
        """Return "answered" for a reply of the order."""
        ports = list(self.ports)
        if not ports:
            return "down"
        leaves = chance.random() < 0.2
        connection = http.client.HTTPConnection("127.0.0.1", chance.choice(ports), timeout=30)
        try:
            path = f"/loose/{number}" if number % LOOSE_EVERY == 0 else f"/orders/{number}"
            connection.request("POST", path, headers={"Idempotency-Key": f'"key-{number}"'})
            if leaves:
                time.sleep(chance.random() * 0.03)  # in the middle of it
                with self._lock:
                    self.left += 1
                return "left"
            reply = connection.getresponse()
            content = reply.read().decode()
        except (OSError, http.client.HTTPException):
            return "cut off"
        finally:
            connection.close()
        with self._lock:
            what = "repeated" if reply.getheader("Idempotent-Replayed") == "true" else reply.status
            self.statuses[what] = self.statuses.get(what, 0) + 1
        if reply.status != 201:
            assert reply.status in (409, 500, 503), f"order {number}: {reply.status} {content}"
            return "refused"
        self.replies[number].append(content)
        return "answered"

    def wait_for_more(self, count=CLIENTS):
        """Some more orders are answered."""
        end, before = time.monotonic() + ANSWER_SECONDS_MAX, self.answered
        while self.answered < before + count and self.failure is None:
            assert time.monotonic() < end, f"nothing is answered; {self.statuses}"
            time.sleep(0.002)

    def stop(self):
        """End the threads, each when its order is answered."""
        self.ends = True
        for thread in self.threads:
            thread.join(ANSWER_SECONDS_MAX + 30)
            assert not thread.is_alive(), "a request was never answered"
        if self.failure is not None:
            raise self.failure


def count(path, statement):
    """Return the number that a statement asks for."""
    database = sqlite3.connect(path, timeout=30)
    try:
        return database.execute(statement).fetchone()[0]
    finally:
        database.close()


def wait_until_kept(path):
    """No key is without its reply: those of clients that left are answered as well."""
    end = time.monotonic() + 30
    while open_keys := count(path, "SELECT count(*) FROM katana_idempotency WHERE reply = ''"):
        assert time.monotonic() < end, f"{open_keys} keys never have a reply"
        time.sleep(0.05)


def check(path, replies):
    """Compare what clients were answered with the ledger; return how many orders were carried out more than once."""
    database = sqlite3.connect(path, timeout=30)
    try:
        rows = list(database.execute("SELECT number, id FROM orders"))
    finally:
        database.close()
    orders = {}
    for number, row in rows:
        orders.setdefault(number, []).append(str(row))
    assert set(orders) == set(replies), "orders that nobody sent, or that are lost"
    for number, said in replies.items():
        assert said and set(said) <= set(orders[number]), f"order {number}: {said} of the rows {orders[number]}"
        if number % LOOSE_EVERY:    # otherwise a handler that outlives its lease gets its own row as the answer
            assert len(set(said)) == 1, f"the key of order {number} has several replies: {said}"
            assert len(orders[number]) == 1, f"order {number} was carried out {len(orders[number])} times"
    keys = count(path, "SELECT count(*) FROM katana_idempotency")
    assert keys == len(replies), f"{keys} keys of {len(replies)} orders"
    return sum(len(each) - 1 for each in orders.values())


def crash(path, clients, chance):
    """Kill one of two for CRASHES times."""
    shops = [Shop(path), Shop(path)]
    try:
        clients.ports = [shop.port for shop in shops]
        clients.wait_for_more(2 * CLIENTS)
        for _ in range(CRASHES):
            clients.wait_for_more()
            time.sleep(chance.random() * 0.05)  # the moment is the point
            index = chance.randrange(2)
            clients.ports = [shops[1 - index].port]
            shops[index].kill()
            shops[index] = Shop(path)
            clients.ports = [shop.port for shop in shops]
        clients.wait_for_more()
        clients.stop()
        wait_until_kept(path)
    finally:
        clients.ends = True
        for shop in shops:
            shop.kill()


@pytest.mark.timeout(180 + 10 * CRASHES)
def test_killed_programs_carry_no_order_out_twice_and_answer_each_key(tmp_path):
    """Two processes share the file."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    path = tmp_path / "keys.db"
    clients = Clients(seed)
    crash(path, clients, random.Random(seed))
    twice = check(path, clients.replies)
    print(f"{CRASHES} kills, {len(clients.replies)} orders, clients left {clients.left} times; answers "
          f"{clients.statuses}; carried out more than once, where that is allowed: {twice}")
    assert clients.statuses.get("repeated", 0) > 0 and clients.left > 0

# SPDX-License-Identifier: Apache-2.0
