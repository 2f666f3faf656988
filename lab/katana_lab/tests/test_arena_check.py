"""The arena's check: a server that answers as HttpArena wants passes, and each defect of it is found and named."""
import gzip
import http.server
import json
import shutil
import socket
import ssl
import threading
import time
import urllib.parse
import warnings

import pytest

from katana_lab.arena import Ports, check, data
from katana_lab.arena.loads import LOADS
from katana_lab.contest import wire

# Each defect of a server, the profile that notices it, and a part of the failure.
DEFECTS = [
    ("html", "baseline", "GET is text/plain"), ("cached", "baseline", "POST of"),
    ("stays open", "baseline", "the connection is closed"), ("newline", "pipelined", "nothing else"),
    ("total", "json", "every field and total"), ("always gzip", "json", "is not compressed"),
    ("never gzip", "json-comp", "is in gzip or br"), ("always gzip", "json-comp", "no Content-Encoding"),
    ("upload", "upload", "17 bytes"), ("short", "static", "a.css is its 2000 bytes"),
    ("no 404", "static", "a missing file is 404"), ("early", "async", "have their own delays"),
    ("one at a time", "async", "overlap"),
    ("upper case only", "baseline", "with lower-case names cut at every byte"), ("whole only", "baseline", "a GET cut"),
    ("length only", "8gbit", "10240 bytes come back"), ("cached file", "static-tls", "as it was replaced"),
    ("old tls", "json-tls", "TLS 1.0 is refused"), ("old tls", "json-tls", "it is TLS 1.3"),
    ("other certificate", "json-tls", "the certificate is the one given"),
    ("anonymous", "json-tls", "aNULL is refused"),
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

    def is_refused(self):
        """Whether this server does not know what came."""
        return (self.is_broken("upper case only") and "host" in self.headers.keys()) or self.has_come_in_pieces

    def handle_one_request(self):
        """Look at what has come, before it is read."""
        self.has_come_in_pieces = False
        if self.is_broken("whole only"):
            self.has_come_in_pieces = b"\r\n\r\n" not in self.connection.recv(4096, socket.MSG_PEEK)
        super().handle_one_request()

    def delayed(self, ms):
        """A reply that waits."""
        if self.is_broken("one at a time"):
            with self.server.turn:
                time.sleep(ms / 1000)
        elif not self.is_broken("early"):
            time.sleep(ms / 1000)
        self.answer(str(ms))

    def do_GET(self):
        """Every profile's."""
        if self.is_refused():
            return self.answer("", status=400)
        url = urllib.parse.urlsplit(self.path)
        query = {name: int(values[0]) for name, values in urllib.parse.parse_qs(url.query).items()}
        if self.is_broken("stays open"):
            self.close_connection = False
        if url.path == "/pipeline":
            self.answer("ok\n" if self.is_broken("newline") else "ok")
        elif url.path == "/baseline11":
            self.answer(str(query["a"] + query["b"]), "text/html" if self.is_broken("html") else "text/plain")
        elif url.path.startswith("/delay/"):
            self.delayed(int(url.path.removeprefix("/delay/")))
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
        content = self.server.kept.setdefault(name, path.read_bytes()) if self.is_broken("cached file") \
            else path.read_bytes()
        kind = {".css": "text/css", ".js": "text/javascript", ".json": "application/json"}.get(path.suffix, "a/b")
        return self.answer(content[:-1] if self.is_broken("short") else content, kind)

    def do_POST(self):
        """Sums and uploads."""
        content = self.content()
        if self.is_refused():
            return self.answer("", status=400)
        if self.path == "/echo":
            return self.answer(bytes(len(content)) if self.is_broken("length only") else content,
                               "application/octet-stream")
        if self.path == "/upload":
            return self.answer("512000" if self.is_broken("upload") else str(len(content)))
        return self.answer("75" if self.is_broken("cached") else str(55 + int(content)))


class Server(http.server.ThreadingHTTPServer):
    """A thread for each connection, and room for all that wait for theirs."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.turn, self.kept = threading.Lock(), {}

    def handle_error(self, *_):
        """A handshake that was refused is what the check asked for."""


def context_of(defect, folder):
    """The TLS of a server, which agrees to what is forbidden if that is its defect."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if defect == "other certificate":
        folder = folder / "other"
    context.load_cert_chain(folder / "server.crt", folder / "server.key")
    context.set_alpn_protocols(["http/1.1"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        if defect == "old tls":
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_2
        elif defect == "anonymous":
            context.set_ciphers("ALL:aNULL:@SECLEVEL=0")
    return context


@pytest.fixture(scope="module", name="certificates")
def fixture_certificates(tmp_path_factory):
    """A folder with a certificate, and another one in `other`."""
    folder = tmp_path_factory.mktemp("certificates")
    (folder / "other").mkdir()
    for each in (folder, folder / "other"):
        data.write_certificate(each)
    return folder


@pytest.fixture(name="serve")
def fixture_serve(tmp_path, monkeypatch, certificates):
    """Start a server with a defect; its check."""
    monkeypatch.setattr(data, "FILES", {"a.css": (2000, 900), "b.webp": (500, None)})
    monkeypatch.setattr(check, "REPLACED", "a.css")
    monkeypatch.setattr(check, "REPLACEMENT_SEEN_S", 0.3)
    monkeypatch.setattr(check, "UPLOAD_SIZES", (512_000, 1 << 21))
    monkeypatch.setattr(wire, "PATIENCE_S", 10.0)
    monkeypatch.setattr(wire, "CUT_GAP_S", 0.05)
    shapes = check._shapes
    monkeypatch.setattr(check, "_shapes", lambda host: shapes(host)[:2])     # this server is slow
    (tmp_path / "static").mkdir()
    for name in data.FILES:
        (tmp_path / "static" / name).write_bytes(data.content_of(name))
    shutil.copytree(certificates, tmp_path, dirs_exist_ok=True)
    running = []

    def listen(defect, secure):
        server = Server(("127.0.0.1", 0), Handler)
        server.defect, server.folder = defect, tmp_path
        if secure:
            server.socket = context_of(defect, tmp_path).wrap_socket(server.socket, server_side=True,
                                                                     do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        running.append(server)
        return server.server_port

    def start(defect=""):
        if defect == "one at a time":
            monkeypatch.setattr(check, "OVERLAPPING", 8)
        if defect == "stays open":                               # nothing ends its connections
            monkeypatch.setattr(wire, "PATIENCE_S", 0.2)
            monkeypatch.setattr(check, "_shapes", lambda host: [])
        return check.Check(Ports(listen(defect, False), listen(defect, True), 0, 0), tmp_path)

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("profile", ["baseline", "pipelined", "limited-conn", "async", "latency-10k", "json",
                                     "json-comp", "upload", "static", "8gbit", "static-tls", "json-tls"])
def test_a_server_that_is_right_passes(profile, serve):
    examined = serve()
    assert examined.run(profile) == [] and examined.count > 0


@pytest.mark.parametrize("defect, profile, named", DEFECTS)
def test_a_defect_is_found_and_named(defect, profile, named, serve):
    failures = serve(defect).run(profile)
    assert failures and all(line.startswith(f"{profile}: ") for line in failures)
    assert any(named in line for line in failures), failures


@pytest.mark.parametrize("profile", ["baseline-h2", "static-h2", "baseline-h2c", "json-h2c", "echo-ws",
                                     "echo-ws-limited"])
def test_nobody_who_listens_is_a_failure(profile, serve):
    examined = serve()
    assert examined.run(profile), profile


def test_all_profiles_are_checked_and_a_port_says_which():
    assert list(check.CHECKS) == list(check.PROFILES) == list(LOADS)
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
