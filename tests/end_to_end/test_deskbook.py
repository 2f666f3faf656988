"""examples/deskbook: two instances that share PostgreSQL, NATS and Redis."""
import contextlib
import pathlib
import secrets
import threading
import time

import httpx
import pytest

from fullstack_process import QUICK, environment, flags_of
from nats_process import Nats
from program_process import Program, built
from redis_process import SECONDS_MAX, Redis

PROGRAM = "deskbook"
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples/deskbook"
LINES_MAX = 828
ADMINISTRATOR = {"email": "admin@example.org", "password": "password"}
BROWSER = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}


class Deskbook(Program):
    """One instance, and a client of it."""

    def __init__(self, folder, database, nats, redis, key):
        settings = [f"database.url={database}", f"bus.url={nats.url}", f"redis.url={redis.url}", f"photos={folder}",
                    "redis.required=true", f"token_key={key}"]
        command = [built(PROGRAM), "--config", FOLDER / "deskbook.yaml", "--port", "0", *flags_of(QUICK),
                   *flags_of(settings)]
        self._start(PROGRAM, [str(word) for word in command], shared=True, cwd=folder, env=environment())
        self.client = httpx.Client(base_url=self.url(), timeout=60)

    def stop(self):
        """Drain it, and check the exit status."""
        self.client.close()
        self.send_signal()
        assert self.wait() == 0, self.stderr()


@pytest.fixture(name="instances", scope="module")
def two_instances(tmp_path_factory, postgres):
    """Two programs over the same systems."""
    folder = tmp_path_factory.mktemp("deskbook")
    database, key = postgres.new_database(), secrets.token_hex(32)
    with Nats(folder) as nats, Redis(folder) as redis, contextlib.ExitStack() as running:
        yield [running.enter_context(Deskbook(folder, database, nats, redis, key)) for _ in range(2)]


def until(ask, holds):
    """Ask until the reply is right; return it."""
    end = time.monotonic() + SECONDS_MAX
    while not holds(reply := ask()):
        assert time.monotonic() < end, reply.text
        time.sleep(0.02)
    return reply


def token_of(client):
    """Sign in as the first account, which the program makes soon after its start."""
    reply = until(lambda: client.post("/api/tokens", json=ADMINISTRATOR), lambda reply: reply.status_code == 201)
    return {"Authorization": f"Token {reply.json()['token']}"}


def test_sessions_tokens_desks_and_events_are_those_of_all_instances(instances):
    first, second = (instance.client for instance in instances)
    token = token_of(first)
    assert first.post("/api/desks", json={"code": "1-A", "floor": 1}, headers=token).status_code == 201
    assert [desk["code"] for desk in second.get("/api/desks", headers=token).json()["desks"]] == ["1-A"]

    login = first.post("/login", data={**ADMINISTRATOR, "return_to": "/"}, headers=BROWSER)
    assert login.status_code == 303, login.text
    first.cookies.clear()
    cookie = {"Cookie": login.headers["set-cookie"].split(";")[0], **BROWSER}
    assert "Desks of admin@example.org" in second.get("/", headers=cookie).text

    lines, ready = [], threading.Event()

    def read():
        with first.stream("GET", "/api/events?floor=1", headers=token) as events:
            for line in events.iter_lines():
                lines.append(line)
                ready.set()
                if '"desk":"1-A"' in line:
                    return

    reader = threading.Thread(target=read)
    reader.start()
    assert ready.wait(SECONDS_MAX)
    booking = {"desk": 1, "period": {"starts": "2100-01-01T09:00:00Z", "ends": "2100-01-01T12:00:00Z"}}
    made = second.post("/api/bookings", json=booking, headers=token)
    assert made.status_code == 201, made.text
    reader.join(SECONDS_MAX)
    assert any('"desk":"1-A"' in line for line in lines), lines
    assert first.post("/api/bookings", json=booking, headers=token).status_code == 409

    # The other instance forgets the desks that it has, too.
    assert first.patch("/api/desks/1", json={"floor": 2}, headers={**token, "If-Match": '"1"'}).status_code == 200
    until(lambda: second.get("/api/desks", headers=token), lambda reply: reply.json()["desks"][0]["floor"] == 2)
    assert first.post("/logout", headers=cookie).status_code == 303
    assert second.get("/api/bookings", headers=cookie).status_code == 401


def test_the_program_is_as_long_as_its_readme_says_and_no_longer_than_it_was():
    """The limit may fall, but not rise."""
    paths = [*FOLDER.glob("*.cpp"), *FOLDER.glob("*.hpp"), *FOLDER.glob("migrations/*")]
    lines = sum(len(path.read_text().splitlines()) for path in paths if path.name != "deskbook_test.cpp")
    assert f"The program has {lines} lines" in (FOLDER / "README.md").read_text()
    assert lines <= LINES_MAX

# SPDX-License-Identifier: Apache-2.0
