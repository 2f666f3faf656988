"""arena, the entry for HttpArena: its profiles as their validation wants them, its database, wrong flags, its end."""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from program_process import ROOT, built

sys.path.insert(0, str(ROOT / "lab"))
from katana_lab.arena import KNOWN_TO_HTTPARENA, PROFILES, REFERENCES, SCORED, data  # noqa: E402
from katana_lab.contest import tls_probe, wire  # noqa: E402

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
        process.ready = process.stdout.readline()
        yield process, int(re.match(r"arena: listening on https?://127\.0\.0\.1:([0-9]+)", process.ready)[1])
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
                          capture_output=True, timeout=500, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("checks: all passed") == len(PROFILES), done.stdout


def test_the_entry_names_profiles_that_are_known_and_checked():
    """HttpArena stops at a test name that it does not know; every other one is checked here, or needs a database."""
    entry = json.loads((ROOT / "apps/arena/httparena/meta.json").read_text())
    assert set(entry["tests"]) <= KNOWN_TO_HTTPARENA
    assert set(SCORED) | set(REFERENCES) == set(entry["tests"]) - {"async-db", "latency-500k-8cpu"}
    assert entry["type"] in ("flagship", "emerging", "experimental") and entry["mode"] in ("standard", "tuned")
    assert entry["completeness"] == dict.fromkeys(("routing", "middleware", "request", "response"), True)
    flags = (ROOT / "apps/arena/httparena/Containerfile").read_text()
    assert entry["tls_check"] and '"--tls-check", "9000"' in flags


def test_a_certificate_that_is_replaced_is_used_without_a_signal(tmp_path):
    """HttpArena's tls_check: requests across the change are answered, and the new certificate is seen."""
    data.write_certificate(tmp_path)
    first, second = tls_probe.certificate_of(tmp_path / "server.crt"), tmp_path / "second"
    second.mkdir()
    data.write_certificate(second)
    names = {"--tls-check": "0", "--tls-check-cert": str(tmp_path / "server.crt"),
             "--tls-check-key": str(tmp_path / "server.key")}
    with arena("--h1", "0", *(word for pair in names.items() for word in pair)) as (process, _):
        port = int(re.search(r"https://127\.0\.0\.1:([0-9]+)", process.ready)[1])

        def certificate(name="localhost"):
            agreed = tls_probe.handshake(port, tls_probe.context_of(("http/1.1",)), name)
            assert not agreed.why, agreed.why
            return agreed.certificate

        def answers():
            reply = wire.curl(f"https://127.0.0.1:{port}/baseline11?a=1&b=2", "--http1.1")
            return reply.status == 200 and reply.text == "3"

        assert certificate() == certificate(None) == first
        assert all(answers() for _ in range(10))
        for name in ("server.key", "server.crt"):
            (second / name).rename(tmp_path / name)
        wanted = tls_probe.certificate_of(tmp_path / "server.crt")
        assert all(answers() for _ in range(10))
        end = time.monotonic() + 120                             # 30 seconds on a machine that is not busy
        while certificate() != wanted and time.monotonic() < end:
            assert answers()
            time.sleep(0.5)
        assert certificate() == certificate(None) == wanted and all(answers() for _ in range(10))
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def test_without_the_certificate_nobody_listens_for_the_check_of_tls(tmp_path):
    """The file is not there in most of HttpArena's runs."""
    with arena("--h1", "0", "--tls-check", "0", "--tls-check-cert", str(tmp_path / "none")) as (process, _):
        assert "https" not in process.ready


@pytest.mark.parametrize("path, status, text", [
    ("/delay/0", 200, "0"), ("/delay/25001", 400, "25000 ms"), ("/delay/soon", 400, "ms")])
def test_a_delay_is_bounded_and_a_number(path, status, text):
    """A client cannot hold a connection for days."""
    with arena("--h1", "0") as (_, port):
        reply = wire.curl(f"http://127.0.0.1:{port}{path}")
        assert reply.status == status and text in reply.text, reply


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
