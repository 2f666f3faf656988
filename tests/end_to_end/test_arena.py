"""arena, the entry for HttpArena: its profiles as their validation wants them, its database, wrong flags, its end."""
import contextlib
import json
import os
import re
import signal
import subprocess
import urllib.error
import urllib.request

import pytest

from program_process import ROOT, built

TABLE = """CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL,
  price INTEGER NOT NULL, quantity INTEGER NOT NULL, active BOOLEAN NOT NULL, tags JSONB NOT NULL,
  rating_score INTEGER NOT NULL, rating_count INTEGER NOT NULL);
INSERT INTO items
  SELECT n, 'Kit ' || n, (ARRAY['electronics', 'tools'])[1 + n % 2], n % 100, n, n % 3 = 0, '["new"]', 5, 6
  FROM generate_series(1, 1000) n;"""


@contextlib.contextmanager
def arena(*flags, **environment):
    """Start the server, yield the process and the first port of its ready line, and kill the remaining process."""
    process = subprocess.Popen([built("arena"), "--address", "127.0.0.1", "--threads", "2", *flags], text=True,
                               stdout=subprocess.PIPE, env={**os.environ, **environment})
    try:
        line = process.stdout.readline()
        yield process, int(re.match(r"arena: listening on https?://127\.0\.0\.1:([0-9]+)", line)[1])
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def ask(port, path, method="GET", value=None):
    """Return status, X-Cache and the value of the reply."""
    content = None if value is None else json.dumps(value).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", content, {"Content-Type": "application/json"},
                                     method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.status, reply.headers["X-Cache"], json.load(reply)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, None, json.load(error)


def test_every_profile_passes_their_validation():
    """The laboratory's check starts it with files, data and certificates that are made for it."""
    build = os.environ.get("KATANA_BUILD", "build/release")
    done = subprocess.run([ROOT / "lab/arena/check", "--server", "katana", "--build", build], cwd=ROOT, text=True,
                          capture_output=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("checks: all passed") == 13, done.stdout


def test_rows_of_the_table_and_the_cache_in_front_of_them(postgres):
    """The requests of the database profiles. SIGTERM ends the program in order, although the database has threads."""
    url = postgres.new_database()
    postgres.ask(TABLE, url)
    with arena("--h1", "0", DATABASE_URL=url, DATABASE_MAX_CONN="8") as (process, port):
        status, _, found = ask(port, "/async-db?min=10&max=11&limit=7")
        assert status == 200 and found["count"] == len(found["items"]) == 7
        assert {item["price"] for item in found["items"]} <= {10, 11}
        assert found["items"][0]["tags"] == ["new"] and found["items"][0]["rating"] == {"score": 5, "count": 6}
        assert ask(port, "/async-db?min=9999&max=9999") == (200, None, {"items": [], "count": 0})
        assert [ask(port, "/crud/items/00042")[1] for _ in range(2)] == ["MISS", "HIT"]
        assert ask(port, "/crud/items/999999")[0] == 404
        status, _, listed = ask(port, "/crud/items?category=tools&page=02&limit=3")
        assert status == 200 and [item["id"] for item in listed["items"]] == [7, 9, 11] and listed["page"] == 2
        fields = {"name": "Box", "category": "tools", "price": 3, "quantity": 4}
        assert ask(port, "/crud/items/42", "PUT", fields) == (200, None, fields)
        assert ask(port, "/crud/items/999999", "PUT", fields)[0] == 404
        status, cache, item = ask(port, "/crud/items/42")
        assert (status, cache, item["name"]) == (200, "MISS", "Box")
        assert ask(port, "/crud/items", "POST", {"id": 200001, **fields})[0] == 201
        assert ask(port, "/crud/items/200001")[2]["tags"] == ["bench"]
        assert ask(port, "/crud/items", "POST", fields)[0] == 422
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def test_without_a_database_there_are_no_items():
    """The profile says so: an empty page, not an error."""
    with arena("--h1", "0", DATABASE_URL="postgres://nobody@127.0.0.1:1/none") as (_, port):
        assert ask(port, "/async-db?min=10&max=50&limit=5") == (200, None, {"items": [], "count": 0})


@pytest.mark.parametrize("flags, status, words", [
    ((), 2, "--h2c"), (("--tls", "0"), 2, "--cert"), (("--h1", "0", "--dataset", "none.json"), 1, "'none.json'"),
    (("--h1", "0", "--static", "no/such/folder"), 1, "no/such/folder"), (("--h1", "99999"), 2, "99999")])
def test_a_wrong_flag_is_named(flags, status, words):
    """On one line of standard error."""
    done = subprocess.run([built("arena"), *flags], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == status and words in done.stderr and done.stderr.count("\n") == 1, done.stderr

# SPDX-License-Identifier: Apache-2.0
