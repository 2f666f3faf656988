"""The arena's check: a server that answers as HttpArena wants passes, and each defect of it is found and named."""
import gzip
import http.server
import json
import threading
import urllib.parse

import pytest

from katana_lab.arena import Ports, check, data
from katana_lab.contest import wire

# Each defect of a server, the profile that notices it, and a part of the failure.
DEFECTS = [
    ("html", "baseline", "GET is text/plain"), ("cached", "baseline", "POST of"),
    ("stays open", "baseline", "the connection is closed"), ("newline", "pipelined", "nothing else"),
    ("total", "json", "every field and total"), ("always gzip", "json", "is not compressed"),
    ("never gzip", "json-comp", "is in gzip or br"), ("always gzip", "json-comp", "no Content-Encoding"),
    ("upload", "upload", "17 bytes"), ("short", "static", "a.css is its 2000 bytes"),
    ("no 404", "static", "a missing file is 404"),
]


class Handler(http.server.BaseHTTPRequestHandler):
    """A right server but for `server.defect`."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Log nothing."""

    def answer(self, text, kind="text/plain", status=200, **fields):
        """One reply."""
        body = text if isinstance(text, bytes) else text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def content(self):
        """The request's."""
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        found = b""
        while size := int(self.rfile.readline(), 16):
            found += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return found

    def is_broken(self, name):
        """Whether the server has this defect."""
        return self.server.defect == name

    def do_GET(self):
        """Every profile's."""
        url = urllib.parse.urlsplit(self.path)
        query = {name: int(values[0]) for name, values in urllib.parse.parse_qs(url.query).items()}
        if self.is_broken("stays open"):
            self.close_connection = False
        if url.path == "/pipeline":
            self.answer("ok\n" if self.is_broken("newline") else "ok")
        elif url.path == "/baseline11":
            self.answer(str(query["a"] + query["b"]), "text/html" if self.is_broken("html") else "text/plain")
        elif url.path.startswith("/json/"):
            self.priced(int(url.path.removeprefix("/json/")), query.get("m", 1))
        elif url.path.startswith("/static/"):
            self.file(url.path.removeprefix("/static/"))
        else:
            self.answer("", status=404)

    def priced(self, count, m):
        """Items."""
        factor = 1 if self.is_broken("total") else m
        items = [{**item, "total": item["price"] * item["quantity"] * factor} for item in data.items()[:count]]
        text = json.dumps({"items": items, "count": count}).encode()
        wants = "gzip" in self.headers.get("Accept-Encoding", "") or self.is_broken("always gzip")
        if wants and not self.is_broken("never gzip"):
            return self.answer(gzip.compress(text), "application/json", Content_Encoding="gzip")
        return self.answer(text, "application/json")

    def file(self, name):
        """A file of the folder."""
        path = self.server.folder / "static" / name
        if not path.exists():
            return self.answer("", status=200 if self.is_broken("no 404") else 404)
        content = path.read_bytes()
        kind = {".css": "text/css", ".js": "text/javascript", ".json": "application/json"}.get(path.suffix, "a/b")
        return self.answer(content[:-1] if self.is_broken("short") else content, kind)

    def do_POST(self):
        """Sums and uploads."""
        content = self.content()
        if self.path == "/upload":
            return self.answer("512000" if self.is_broken("upload") else str(len(content)))
        return self.answer("75" if self.is_broken("cached") else str(55 + int(content)))


@pytest.fixture(name="serve")
def fixture_serve(tmp_path, monkeypatch):
    """Start a server with a defect; its check."""
    monkeypatch.setattr(data, "FILES", {"a.css": (2000, 900), "b.webp": (500, None)})
    monkeypatch.setattr(check, "UPLOAD_SIZES", (512_000, 1 << 21))
    monkeypatch.setattr(wire, "PATIENCE_S", 0.3)
    (tmp_path / "static").mkdir()
    for name in data.FILES:
        (tmp_path / "static" / name).write_bytes(data.content_of(name))
    running = []

    def start(defect=""):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.defect, server.folder, server.daemon_threads = defect, tmp_path, True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        running.append(server)
        return check.Check(Ports(server.server_port, 0, 0, 0), tmp_path)

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("profile", ["baseline", "pipelined", "limited-conn", "json", "json-comp", "upload", "static"])
def test_a_server_that_is_right_passes(profile, serve):
    examined = serve()
    assert examined.run(profile) == [] and examined.count > 0


@pytest.mark.parametrize("defect, profile, named", DEFECTS)
def test_a_defect_is_found_and_named(defect, profile, named, serve):
    failures = serve(defect).run(profile)
    assert failures and all(line.startswith(f"{profile}: ") for line in failures)
    assert any(named in line for line in failures), failures


@pytest.mark.parametrize("profile", ["json-tls", "baseline-h2", "static-h2", "baseline-h2c", "json-h2c", "echo-ws"])
def test_nobody_who_listens_is_a_failure(profile, serve):
    examined = serve()
    assert examined.run(profile), profile


def test_all_profiles_are_checked_and_a_port_says_which():
    assert list(check.CHECKS) == list(check.PROFILES)
    assert check.profiles_of(Ports(0, 0, 5, 0)) == ["baseline-h2c", "json-h2c"]
    assert "json-tls" not in check.profiles_of(Ports(1, 0, 0, 0))


@pytest.mark.parametrize("arguments, culprit", [
    ([], "--server NAME"), (["--h1", "1", "--server", "axum"], "--server NAME"),
    (["--h1", "1", "--profiles", "soap"], "'soap'"),
])
def test_wrong_usage_names_what_is_wrong(arguments, culprit, capsys):
    with pytest.raises(SystemExit) as ended:
        check.parse_options(arguments)
    assert ended.value.code == 2 and culprit in capsys.readouterr().err


def test_replies_are_read_by_length_and_in_chunks():
    whole = wire.parse_reply(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n75\r\n1;x=y\r\n!\r\n0\r\n\r\n")
    assert (whole.status, whole.text) == (200, "75!")
    assert wire.parse_reply(b"").status == 0 and wire.parse_reply(b"SSH-2.0\r\n").status == 0

# SPDX-License-Identifier: Apache-2.0
