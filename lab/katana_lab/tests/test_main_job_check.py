"""main_job's check: a server that does its duties passes, and each defect of one is found and named."""
import http.server
import json
import os
import threading
import urllib.parse
from pathlib import Path

import pytest

from katana_lab import ROOT, UsageError
from katana_lab.main_job import check, servers

BUILD = ROOT / Path(os.environ.get("KATANA_BUILD", "build/bench"))
# Each defect of a server, and a part of the failure.
DEFECTS = [
    ("no status", "GET /health is 200 with a status"), ("200 for unknown", "GET of an unknown user is 404"),
    ("text for unknown", "GET of an unknown user is 404 with an object"), ("any id", "what is no number is refused"),
    ("offset", "the page after"), ("no next", "the page after 0"), ("any limit", "a page of 1000 is refused"),
    ("200 for POST", "POST of reads0@example.org is 201"), ("no Location", "has its Location"),
    ("twice", "POST of an email that is taken is 409"), ("bytes", "POST of writes@example.org"),
    ("any name", "POST with a name of 101 is refused"), ("any email", "POST with an email without @ is refused"),
    ("closes", "a connection stays"), ("trims", "GET of a user is 200"),
]


class Handler(http.server.BaseHTTPRequestHandler):
    """A right server but for `server.defect`."""

    protocol_version = "HTTP/1.1"
    wbufsize = 65536                     # a reply in one segment: none waits for an acknowledgement

    def log_message(self, *_):
        """Log nothing."""

    def has(self, defect):
        """Whether the server has this defect."""
        return self.server.defect == defect

    def answer(self, status, value, kind="application/json", **fields):
        """One reply."""
        body = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.has("closes"):
            self.send_header("Connection", "close")
        for name, content in fields.items():
            self.send_header(name, content)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status):
        """With an object."""
        self.answer(status, {"error": "no"})

    def do_GET(self):
        """The three reads."""
        url = urllib.parse.urlsplit(self.path)
        query = {name: int(values[0]) for name, values in urllib.parse.parse_qs(url.query).items()}
        if url.path == "/health":
            self.answer(200, {} if self.has("no status") else {"status": "pass"})
        elif url.path == "/users":
            self.page(query.get("after", 0), query.get("limit", 20))
        else:
            self.find(url.path.removeprefix("/users/"))

    def find(self, text):
        """One user."""
        if not text.isdigit() and not self.has("any id"):
            return self.refuse(400)
        user = self.server.users.get(int(text) if text.isdigit() else 1)
        if user is None and self.has("text for unknown"):
            return self.answer(404, "no such user", "text/plain")
        if user is None:
            return self.refuse(200 if self.has("200 for unknown") else 404)
        return self.answer(200, {**user, "name": user["name"].replace(" ", "")} if self.has("trims") else user)

    def page(self, after, limit):
        """Users by id."""
        if not 1 <= limit <= 100 and not self.has("any limit"):
            return self.refuse(422)
        numbers = [number for number in sorted(self.server.users) if number > after - self.has("offset")]
        chosen = numbers[:limit]
        next_ = chosen[-1] if len(numbers) > limit and not self.has("no next") else None
        return self.answer(200, {"users": [self.server.users[number] for number in chosen], "next": next_})

    def do_POST(self):
        """Add a user."""
        if self.server.gone:
            self.close_connection = True
            return None
        try:
            given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name, email = given["name"], given["email"]
        except (ValueError, KeyError, TypeError):
            return self.refuse(422)
        length = len(name.encode() if self.has("bytes") else name)
        is_name = 1 <= length <= 100 or self.has("any name")
        is_email = "@" in email and len(email) <= 200 or self.has("any email")
        if not is_name or not is_email:
            return self.refuse(422)
        if any(user["email"] == email for user in self.server.users.values()) and not self.has("twice"):
            return self.refuse(409)
        number = len(self.server.users) + 1
        self.server.users[number] = {"id": number, "name": name, "email": email}
        location = {} if self.has("no Location") else {"Location": f"/users/{number}"}
        return self.answer(200 if self.has("200 for POST") else 201, self.server.users[number], **location)


@pytest.fixture(name="serve")
def fixture_serve():
    """Start a server with a defect; its port."""
    running = []

    def start(defect=""):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.defect, server.users, server.gone, server.daemon_threads = defect, {}, False, True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        running.append(server)
        return server.server_port

    start.running = running
    yield start
    for server in running:
        server.shutdown()
        server.server_close()


def test_a_server_that_does_its_duties_passes(serve):
    done = check.examine(serve())
    assert done.failures == [] and done.count > 100


@pytest.mark.parametrize("defect, named", DEFECTS)
def test_a_defect_is_found_and_named(defect, named, serve):
    failures = check.examine(serve(defect)).failures
    assert any(named in line for line in failures), failures


def test_nobody_who_listens_is_a_failure_of_each_check():
    assert len(check.examine(1).failures) == len(check.CHECKS)


def test_a_server_that_forgets_what_it_acknowledged_is_found(serve, monkeypatch, tmp_path):
    """The one that is asked afterwards has another table."""
    ports = iter([serve(), serve()])

    class Forgetful:
        """Stands for servers.running()."""

        def __init__(self, *_):
            self.started = servers.Started(0, next(ports), 1.0)

        def __enter__(self):
            return self.started

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(servers, "running", Forgetful)
    monkeypatch.setattr(check.proc, "tree", lambda pid: setattr(serve.running[0], "gone", True) or [])
    acknowledged, failures = check.kill(servers.SERVERS["katana"], tmp_path, tmp_path / "users.db")
    assert acknowledged >= check.WRITES_MIN and "acknowledged before kill -9" in failures[0]


def test_an_unknown_server_is_refused_with_those_that_are_known():
    with pytest.raises(UsageError, match="unknown server 'iis'; known: katana, katana_logged, net_http"):
        servers.chosen("axum,iis")


def test_a_server_that_is_not_built_says_how_it_would_be(tmp_path, monkeypatch):
    assert "--target main_job" in servers.SERVERS["katana"].missing(tmp_path)
    monkeypatch.setattr(servers.CONTEST, "out", tmp_path)
    assert "lab/main_job/rivals/build axum" in servers.SERVERS["axum"].missing(tmp_path) or "is missing: install" in \
        servers.SERVERS["axum"].missing(tmp_path)


@pytest.mark.skipif(not (BUILD / "main_job").exists(), reason="this build has no main_job (KATANA_BUILD names one)")
def test_katanas_own_server_does_its_duties():
    what, failures = check.check_server(servers.SERVERS["katana"], BUILD)
    assert failures == [] and "acknowledged before kill -9" in what

# SPDX-License-Identifier: Apache-2.0
