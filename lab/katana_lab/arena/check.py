"""Whether a server answers as HttpArena's validation wants it, profile by profile; exit status 1 with every failure.

    lab/arena/check --h1 8080 --h1-tls 8081 --h2c 8082 --tls 8443 [--profiles baseline,async,…] [--data FOLDER]
    lab/arena/check --server NAME[,NAME…]     # starts each of these servers itself, and checks the profiles that it has

The checks are the same for all servers. Requests of nine shapes are cut at every byte. TLS ports are asked for what is
forbidden. A file and its compressed siblings are replaced while they are served. A server also has to close after
`Connection: close`, as HttpArena's documents say, and answer sixteen requests of one write in order. It has to send a
file's exact bytes, not only as many. Needs curl with brotli.
"""
from __future__ import annotations

import argparse
import contextlib
import os
import random
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from katana_lab import ROOT
from katana_lab.arena import DATA, PROFILES, Ports, data
from katana_lab.arena.loads import LOADS
from katana_lab.contest import check as contest_check
from katana_lab.contest import tls_probe, wire
from katana_lab.contest.wire import BINARY, CLOSE, TEXT, Reply, WebSocket, curl

SCRIPT_KINDS = ("application/javascript", "text/javascript")
KINDS = {".css": ("text/css",), ".js": SCRIPT_KINDS, ".json": ("application/json",)}
UPLOAD_SIZES = (512_000, 2 << 20, 10 << 20, 20 << 20)
ECHO_SIZES = (1, 1024, 10_240, 102_400)
MISSING = "/static/no-such-file.txt"
REPLACED = "reset.css"
REPLACEMENT_SEEN_S = 2.0
OVERLAPPING = 32
DELAY_MS_MAX = 2000                      # for a delay of 10 ms, on a busy machine


class Check(contest_check.Check):
    """One server under test, by profiles."""

    def __init__(self, ports: Ports, folder: Path = DATA):
        super().__init__()
        self.h1 = f"http://127.0.0.1:{ports.h1}"
        self.h1_tls = f"https://127.0.0.1:{ports.h1_tls}"
        self.h2c = f"http://127.0.0.1:{ports.h2c}"
        self.tls = f"https://127.0.0.1:{ports.tls}"
        self.ports, self.folder = ports, folder
        self.items = {item["id"]: item for item in data.items()}

    def expect_text(self, what: str, reply: Reply, text: str) -> None:
        """200 and exactly this text as text/plain."""
        self.expect(f"{what} is '{text}'", reply.status == 200 and reply.text == text,
                    f"{reply.status} '{reply.text}'")
        self.expect(f"{what} is text/plain", reply.kind == "text/plain", f"'{reply.kind}'")

    def expect_items(self, what: str, reply: Reply, count: int, m: int) -> None:
        """The first `count` items, whole, with their totals."""
        answer = reply.json()
        got = answer.get("items", [])
        self.expect(f"{what} has {count} items", reply.status == 200 and answer.get("count") == count == len(got),
                    f"{reply.status}, count {answer.get('count')}, {len(got)} items")
        self.expect(f"{what} is application/json", reply.kind == "application/json", f"'{reply.kind}'")
        wanted = [{**self.items[number], "total": self.items[number]["price"] * self.items[number]["quantity"] * m}
                  for number in range(1, count + 1)]
        wrong = next((f"item {index + 1} {one}" for index, (one, right) in enumerate(zip(got, wanted, strict=False))
                      if one != right), "")
        self.expect(f"{what} has every field and total", not wrong, wrong)

    def run(self, profile: str) -> list[str]:
        """The failures of a profile."""
        before, self.scope = len(self.failures), f"{profile}: "
        self.attempt("all", lambda: CHECKS[profile](self))
        return self.failures[before:]


def baseline(check: Check) -> None:
    """Sums by GET and POST, in pieces and closed."""
    url = f"{check.h1}/baseline11?a=13&b=42"
    check.expect_text("GET", curl(url), "55")
    check.expect_text("POST of 20", curl(url, body=b"20"), "75")
    check.expect_text("POST of 20 in a chunk", curl(url, "-H", "Transfer-Encoding: chunked", body=b"20"), "75")
    a, b = random.randint(100, 9999), random.randint(100, 9999)
    check.expect_text(f"GET of {a} and {b}", curl(f"{check.h1}/baseline11?a={a}&b={b}"), str(a + b))
    for third in random.sample(range(100, 9999), 2):
        check.expect_text(f"POST of {third}", curl(url, body=str(third).encode()), str(55 + third))
    host = f"Host: 127.0.0.1:{check.ports.h1}\r\n".encode()
    get, close = b"GET /baseline11?a=13&b=42 HTTP/1.1\r\n", b"Connection: close\r\n"
    post = b"POST /baseline11?a=13&b=42 HTTP/1.1\r\n"
    for what, pieces, wanted in (
            ("inside of the request line", [get[:9], get[9:] + host + close + b"\r\n"], "55"),
            ("after each line", [get, host, close, b"\r\n"], "55"),
            ("between head and body", [post + host + close + b"Content-Length: 2\r\n\r\n", b"20"], "75"),
            ("inside of the body", [post + host + close + b"Content-Length: 2\r\n\r\n2", b"0"], "75"),
            ("in the load's own chunk", [post + host + close + b"Transfer-Encoding: chunked\r\n\r\n",
                                         b"2\r\n20\r\n0\r\n\r\n"], "75")):
        reply, closed = wire.in_pieces(check.ports.h1, pieces)
        check.expect(f"in pieces, {what}, is '{wanted}'", reply.status == 200 and reply.text == wanted,
                     f"{reply.status} '{reply.text}'")
        check.expect(f"in pieces, {what}, the connection is closed", closed, "an open connection")


    for what, request, wanted in _shapes(host):
        wrong = wire.cut_everywhere(check.ports.h1, request, wanted)
        check.expect(f"{what} cut at every byte is '{wanted}'", not wrong, "; ".join(wrong[:3]))


def _shapes(host: bytes) -> list[tuple[str, bytes, str]]:
    """The nine requests that are cut, each of which ends its connection."""
    get, post = b"GET /baseline11?a=13&b=42 HTTP/1.1\r\n", b"POST /baseline11?a=13&b=42 HTTP/1.1\r\n"
    end = b"Connection: close\r\n\r\n"
    length, chunked = b"Content-Length: 2\r\n", b"Transfer-Encoding: chunked\r\n"
    one, two = b"2\r\n20\r\n0\r\n\r\n", b"1\r\n2\r\n1\r\n0\r\n0\r\n\r\n"
    more = b"User-Agent: check\r\nAccept: */*\r\n"
    return [("a GET", get + host + end, "55"),
            ("a GET with lower-case names", get + (host + end).lower(), "55"),
            ("a GET with more fields", get + host + more + end, "55"),
            ("a POST", post + host + length + end + b"20", "75"),
            ("a POST with lower-case names", post + (host + length + end).lower() + b"20", "75"),
            ("a POST in a chunk", post + host + chunked + end + one, "75"),
            ("a POST in a chunk with lower-case names", post + (host + chunked + end).lower() + one, "75"),
            ("a POST in two chunks", post + host + chunked + end + two, "75"),
            ("a POST with more fields", post + host + more + length + end + b"20", "75")]


def delayed(check: Check) -> None:
    """Replies that wait, and do not wait for one another."""
    def ask(ms: int) -> tuple[Reply, float]:
        begun = time.monotonic()
        return curl(f"{check.h1}/delay/{ms}"), 1000 * (time.monotonic() - begun)

    def fetched(ms: int) -> tuple[str, float]:
        begun = time.monotonic()
        with urllib.request.urlopen(f"{check.h1}/delay/{ms}", timeout=20) as reply:
            return reply.read().decode(), 1000 * (time.monotonic() - begun)

    def quickest(ms: int) -> tuple[Reply, float]:
        return min((ask(ms) for _ in range(3)), key=lambda found: found[1])

    for ms in (0, 10, random.randint(10, 90)):
        reply, took_ms = quickest(ms)
        check.expect_text(f"/delay/{ms}", reply, str(ms))
        check.expect(f"/delay/{ms} takes at least its time and at most {DELAY_MS_MAX} ms",
                     0.9 * ms <= took_ms <= DELAY_MS_MAX + ms, f"{took_ms:.0f} ms")
    short, long = quickest(10)[1], quickest(500)[1]
    check.expect("500 ms take at least 300 ms longer than 10", long - short >= 300, f"{long:.0f} and {short:.0f} ms")
    delays = [100 + 10 * number for number in range(OVERLAPPING)]
    begun = time.monotonic()
    with ThreadPoolExecutor(OVERLAPPING) as pool:               # not by curl: so many programs take longer to start
        found = list(pool.map(fetched, delays))
    took_ms = 1000 * (time.monotonic() - begun)
    right = all(text == str(ms) and took >= 0.9 * ms for ms, (text, took) in zip(delays, found, strict=True))
    check.expect(f"{OVERLAPPING} at once have their own delays", right, [text for text, _ in found])
    check.expect(f"{OVERLAPPING} at once overlap", took_ms < sum(delays) / 2, f"{took_ms:.0f} ms in all")


def paced(check: Check) -> None:
    """The request of both latency profiles."""
    check.expect_text("the request of the load", curl(f"{check.h1}/baseline11?a=1&b=2"), "3")


def limited(check: Check) -> None:
    """Ten requests on a connection, and then another connection."""
    request = f"GET /baseline11?a=13&b=42 HTTP/1.1\r\nHost: 127.0.0.1:{check.ports.h1}\r\n\r\n".encode()
    for turn in ("first", "second"):
        bodies = wire.pipelined(check.ports.h1, request, 10)
        check.expect(f"ten requests of the {turn} connection", [one.strip() for one in bodies] == [b"55"] * 10, bodies)


def pipelined(check: Check) -> None:
    """'ok', alone and sixteen in one write."""
    reply = curl(f"{check.h1}/pipeline")
    check.expect_text("GET /pipeline", reply, "ok")
    check.expect("the body is ok and nothing else", reply.body == b"ok", reply.body)
    request = f"GET /pipeline HTTP/1.1\r\nHost: 127.0.0.1:{check.ports.h1}\r\n\r\n".encode()
    bodies = wire.pipelined(check.ports.h1, request, 16)
    check.expect("sixteen requests in one write are answered", bodies == [b"ok"] * 16, f"{len(bodies)} answers")


def json_plain(check: Check) -> None:
    """Items with totals, uncompressed."""
    for count, m in ((12, 3), (22, 7), (31, 2), (50, 5)):
        reply = curl(f"{check.h1}/json/{count}?m={m}")
        check.expect_items(f"/json/{count}?m={m}", reply, count, m)
        check.expect(f"/json/{count}?m={m} is not compressed", "content-encoding" not in reply.fields, reply.fields)
    check.expect_items("/json/5 without m", curl(f"{check.h1}/json/5"), 5, 1)


def json_compressed(check: Check) -> None:
    """The same in gzip or br."""
    for count, m in ((25, 3), (40, 7), (50, 2)):
        what = f"/json/{count}?m={m}"
        reply = curl(f"{check.h1}{what}", "--compressed", "-H", "Accept-Encoding: gzip, br")
        check.expect(f"{what} is in gzip or br", reply.fields.get("content-encoding") in ("gzip", "br"), reply.fields)
        check.expect_items(what, reply, count, m)
    plain = curl(f"{check.h1}/json/25?m=3")
    check.expect("without Accept-Encoding there is no Content-Encoding", plain.status == 200
                 and "content-encoding" not in plain.fields, plain.fields)


def json_tls(check: Check) -> None:
    """The same over TLS, in HTTP/1.1."""
    _probe_tls(check, check.ports.h1_tls, "http/1.1", with_old=True)
    for count, m in ((7, 2), (23, 11), (50, 1)):
        reply = curl(f"{check.h1_tls}/json/{count}?m={m}", "--http1.1")
        check.expect(f"/json/{count}?m={m} is HTTP/1.1", reply.version == "HTTP/1.1", reply.version or reply.text)
        check.expect_items(f"/json/{count}?m={m}", reply, count, m)


def _probe_tls(check: Check, port: int, protocol: str, with_old: bool = False) -> None:
    """The certificate that was given, TLS 1.3, no protocol that was not offered, and nothing that is forbidden."""
    agreed = tls_probe.handshake(port, tls_probe.context_of((protocol,)))
    check.expect("a handshake succeeds", not agreed.why, agreed.why)
    check.expect("it is TLS 1.3", agreed.version == "TLSv1.3", agreed.version)
    check.expect("its cipher is one of TLS 1.3", agreed.cipher in tls_probe.TLS13_CIPHERS, agreed.cipher)
    check.expect(f"ALPN chooses {protocol}", agreed.protocol == protocol, agreed.protocol)
    check.expect("the certificate is the one given",
                 agreed.certificate == tls_probe.certificate_of(check.folder / "server.crt"), "another")
    other = tls_probe.handshake(port, tls_probe.context_of(("unknown/1",)))
    check.expect("no protocol is chosen that was not offered", other.protocol in (None, "unknown/1"), other.protocol)
    for what, context in tls_probe.forbidden() if with_old else ():
        agreed = tls_probe.handshake(port, context)
        check.expect(f"{what} is refused", bool(agreed.why), f"{agreed.version} {agreed.cipher}")


def eight_gbit(check: Check) -> None:
    """Contents that come back over TLS."""
    _probe_tls(check, check.ports.h1_tls, "http/1.1")
    url, kind = f"{check.h1_tls}/echo", "application/octet-stream"
    chunked = ("-H", "Transfer-Encoding: chunked")
    for size, flags in (*((size, ()) for size in ECHO_SIZES), *((size, chunked) for size in ECHO_SIZES[2:])):
        content = os.urandom(size)
        reply = curl(url, "--http1.1", *flags, "-H", f"Content-Type: {kind}", body=content)
        how = f"{size} bytes in chunks" if flags else f"{size} bytes"
        check.expect(f"{how} come back", reply.status == 200 and reply.body == content,
                     f"{reply.status}, {len(reply.body)} bytes")
        check.expect(f"{how} come back as {kind}", reply.kind == kind, f"'{reply.kind}'")
    empty = curl(url, "--http1.1", "-H", f"Content-Type: {kind}", body=b"")
    check.expect("an empty content is 200", empty.status == 200, empty.status or empty.text)


def static_tls(check: Check) -> None:
    """The files over TLS, and a file that is replaced while it is served."""
    _probe_tls(check, check.ports.h1_tls, "http/1.1")
    _files(check, check.h1_tls)
    for what, replaced in (("replaced", True), ("put back", False)):
        with _replaced(check.folder / "static") if replaced else contextlib.nullcontext():
            for encoding in ("identity", "br", "gzip"):
                seen = _follows(check, encoding)
                check.expect(f"{REPLACED} is seen as it was {what}, in {encoding}", seen, "the former bytes")


@contextlib.contextmanager
def _replaced(folder: Path) -> Iterator[None]:
    """REPLACED and its siblings with other bytes of equal length for the block; each change is a rename."""
    paths = [path for path in (folder / REPLACED, folder / f"{REPLACED}.br", folder / f"{REPLACED}.gz")
             if path.exists()]
    former = {path: path.read_bytes() for path in paths}

    def put(path: Path, content: bytes) -> None:
        beside = path.with_name(f".{path.name}.new")
        beside.write_bytes(content)
        beside.rename(path)

    for path, content in former.items():
        put(path, bytes(255 - octet for octet in content))
    try:
        yield
    finally:
        for path, content in former.items():
            put(path, content)


def _follows(check: Check, encoding: str) -> bool:
    """Whether the file on the disk is what comes, soon enough."""
    siblings = {"br": ".br", "gzip": ".gz", "": ""}

    def is_right() -> bool:
        reply = curl(f"{check.h1_tls}/static/{REPLACED}", "--http1.1", "-H", f"Accept-Encoding: {encoding}")
        suffix = siblings.get(reply.fields.get("content-encoding", ""))
        path = check.folder / "static" / f"{REPLACED}{suffix}"
        return suffix is not None and path.exists() and reply.body == path.read_bytes()

    end = time.monotonic() + REPLACEMENT_SEEN_S
    while not (found := is_right()) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def upload(check: Check) -> None:
    """Check the number of received bytes; curl asks 100-continue for the large ones."""
    for content in (b"Hello, HttpArena!", os.urandom(48), *(os.urandom(size) for size in UPLOAD_SIZES)):
        reply = curl(f"{check.h1}/upload", body=content)
        check.expect(f"{len(content)} bytes", reply.status == 200 and reply.text == str(len(content)),
                     f"{reply.status} '{reply.text}'")


def static(check: Check) -> None:
    """All twenty files, with and without compression, and one that is not there."""
    _files(check, check.h1)


def _files(check: Check, base: str) -> None:
    for name in data.FILES:
        content = (check.folder / "static" / name).read_bytes()
        plain = curl(f"{base}/static/{name}", "--http1.1")
        check.expect(f"{name} is its {len(content)} bytes", plain.status == 200 and plain.body == content,
                     f"{plain.status}, {len(plain.body)} bytes")
        kinds = KINDS.get(Path(name).suffix)
        check.expect(f"{name} is {kinds}", kinds is None or plain.kind in kinds, f"'{plain.kind}'")
        packed = curl(f"{base}/static/{name}", "--http1.1", "--compressed")
        check.expect(f"{name} decodes to its {len(content)} bytes", packed.status == 200 and packed.body == content,
                     f"{packed.status}, {len(packed.body)} bytes of {packed.fields.get('content-encoding')}")
    gone = curl(f"{base}{MISSING}", "--http1.1")
    check.expect("a missing file is 404", gone.status == 404, gone.status or gone.text)


def baseline_h2(check: Check) -> None:
    """Sums in HTTP/2 over TLS."""
    _probe_tls(check, check.ports.tls, "h2", with_old=True)
    _sums(check, check.tls, "--http2")


def baseline_h2c(check: Check) -> None:
    """Sums in HTTP/2 by prior knowledge, and nothing for HTTP/1.1."""
    _sums(check, check.h2c, "--http2-prior-knowledge")
    _refuses_http1(check, "/baseline2?a=1&b=1")


def _sums(check: Check, base: str, flag: str) -> None:
    a, b = random.randint(100, 9999), random.randint(100, 9999)
    for first, second in ((13, 42), (a, b)):
        reply = curl(f"{base}/baseline2?a={first}&b={second}", flag)
        check.expect("the protocol is HTTP/2", reply.version == "HTTP/2", reply.version or reply.text)
        check.expect_text(f"{first} and {second}", reply, str(first + second))


def _refuses_http1(check: Check, path: str) -> None:
    reply = curl(f"{check.h2c}{path}", "--http1.1", "--max-time", "5")
    check.expect("HTTP/1.1 gets anything but 200", reply.status != 200, reply.status)


def static_h2(check: Check) -> None:
    """Files in HTTP/2."""
    for name in ("reset.css", "app.js", "manifest.json"):
        reply = curl(f"{check.tls}/static/{name}", "--http2", "--compressed")
        check.expect("the protocol is HTTP/2", reply.version == "HTTP/2", reply.version or reply.text)
        check.expect(f"{name} is {KINDS[Path(name).suffix]}", reply.kind in KINDS[Path(name).suffix], f"'{reply.kind}'")
        content = (check.folder / "static" / name).read_bytes()
        check.expect(f"{name} is its {len(content)} bytes", reply.body == content, f"{len(reply.body)} bytes")
    gone = curl(f"{check.tls}{MISSING}", "--http2")
    check.expect("a missing file is 404", gone.status == 404, gone.status or gone.text)


def json_h2c(check: Check) -> None:
    """Items in HTTP/2 by prior knowledge."""
    for count, m in ((12, 3), (22, 7), (31, 2), (50, 5)):
        reply = curl(f"{check.h2c}/json/{count}?m={m}", "--http2-prior-knowledge")
        check.expect("the protocol is HTTP/2", reply.version == "HTTP/2", reply.version or reply.text)
        check.expect_items(f"/json/{count}?m={m}", reply, count, m)
    _refuses_http1(check, "/json/1?m=1")


def echo(check: Check) -> None:
    """WebSocket: the handshake, messages, the end, and a request that is none."""
    for what in ("a connection", "another connection afterwards"):
        client = WebSocket(check.ports.h1)
        try:
            check.expect(f"{what}: 101", client.status_line.startswith("HTTP/1.1 101"), client.status_line)
            if not client.status_line.startswith("HTTP/1.1 101"):
                return
            accept = client.fields.get("sec-websocket-accept")
            check.expect(f"{what}: Sec-WebSocket-Accept", accept == client.wanted_accept, accept)
            texts = [f"message {number}".encode() for number in range(5)]
            for message in ((TEXT, b"hello"), (BINARY, os.urandom(256))):
                client.send(*message)
                check.expect(f"{what}: {len(message[1])} bytes come back", (got := client.receive()) == message, got)
            for text in texts:
                client.send(TEXT, text)
            got = [client.receive() for _ in texts]
            check.expect(f"{what}: five texts in order", got == [(TEXT, text) for text in texts], got)
            client.send(CLOSE, (1000).to_bytes(2, "big"))
            opcode, payload = client.receive()
            check.expect(f"{what}: it is closed with 1000", (opcode, payload[:2]) == (CLOSE, b"\x03\xe8"),
                         (opcode, payload))
        finally:
            client.close()
    request = f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{check.ports.h1}\r\nConnection: close\r\n\r\n".encode()
    reply, closed = wire.in_pieces(check.ports.h1, [request])
    check.expect("a GET without Upgrade is 4xx, or closed", 400 <= reply.status < 500 or (not reply.status and closed),
                 reply.status)


CHECKS: dict[str, Callable[[Check], None]] = {
    "baseline": baseline, "limited-conn": limited, "async": delayed, "latency-10k": paced, "latency-1m": paced,
    "json-comp": json_compressed, "json-tls": json_tls, "8gbit": eight_gbit, "baseline-h2": baseline_h2,
    "static-h2": static_h2, "baseline-h2c": baseline_h2c, "json-h2c": json_h2c, "echo-ws": echo,
    "echo-ws-pipeline": echo, "echo-ws-limited": echo, "pipelined": pipelined, "static-tls": static_tls,
    "json": json_plain, "upload": upload, "static": static,
}


def listening(port: int) -> bool:
    """Whether a program listens on the port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    """The flags."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("h1", "h1-tls", "h2c", "tls"):
        parser.add_argument(f"--{name}", type=int, default=0, metavar="PORT")
    parser.add_argument("--server", default="", metavar="NAME,…", help="start these servers of the arena")
    parser.add_argument("--profiles", default="", metavar="NAME,…", help="default: those that the server has")
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER", help=f"default {DATA}")
    parser.add_argument("--build", type=Path, default=ROOT / "build/bench", metavar="FOLDER",
                        help="where KATANA's own server is; default build/bench")
    options = parser.parse_args(arguments)
    options.profiles = [name for name in options.profiles.split(",") if name]
    for name in options.profiles:
        if name not in PROFILES:
            parser.error(f"unknown profile '{name}'; known: {', '.join(PROFILES)}")
    if bool(options.server) == bool(options.h1 or options.h1_tls or options.h2c or options.tls):
        parser.error("give the ports of a server that runs (--h1 …), or --server NAME to start one")
    return options


def report(name: str, check: Check, profiles: list[str]) -> bool:
    """Run and print; whether all was right."""
    for profile in profiles:
        before = check.count
        failed = check.run(profile)
        contest_check.say(f"{name} {profile}", f"{check.count - before} checks", failed)
    return not check.failures


def profiles_of(ports: Ports) -> list[str]:
    """The profiles whose port was given."""
    return [name for name in PROFILES if getattr(ports, LOADS[name].port)]


def main() -> int:
    """Check; the exit status."""
    from katana_lab.arena import servers                         # it needs more packages than the check does
    options = parse_options()
    data.prepare(options.data)
    if not options.server:
        ports = Ports(options.h1, options.h1_tls, options.h2c, options.tls)
        return 0 if report("server", Check(ports, options.data), options.profiles or profiles_of(ports)) else 1
    right = True
    for server in servers.chosen(options.server):
        with servers.running(server, options.data, options.build) as (_, ports):
            profiles = [name for name in server.profiles if name in (options.profiles or PROFILES)]
            right = report(server.name, Check(ports, options.data), profiles) and right
    return 0 if right else 1

# SPDX-License-Identifier: Apache-2.0
