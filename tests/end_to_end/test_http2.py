"""HTTP/2 by prior knowledge on the port of HTTP/1.1: real clients, drain, memory, and the access log."""
import itertools
import json
import re
import socket
import subprocess
import time

import pytest

from server_process import Server

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = bytes(3) + b"\x04" + bytes(5)
SETTINGS_ACK = bytes(3) + b"\x04\x01" + bytes(4)


def run(*command, **more):
    """Run a client; fails when it does."""
    finished = subprocess.run(command, capture_output=True, timeout=60, check=False, **more)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout.decode(errors="replace")


def frames(sock):
    """Yield (type, flags, stream, payload) until the server ends the connection."""
    stream = sock.makefile("rb")
    while len(header := stream.read(9)) == 9:
        payload = stream.read(int.from_bytes(header[:3], "big"))
        yield header[3], header[4], int.from_bytes(header[5:], "big"), payload


def test_curl_speaks_both_versions_on_one_port(server):
    """Whatever the version, the same reply; an upload that is refused early finds its reply."""
    curl = ("curl", "--silent", "--max-time", "20")
    ask = ("--output", "/dev/null", "--write-out", "%{http_version} %{http_code} %{size_download}")
    assert run(*curl, *ask, "--http2-prior-knowledge", server.url("/plaintext")) == "2 200 13"
    assert run(*curl, *ask, "--http1.1", server.url("/plaintext")) == "1.1 200 13"
    # Upgrade: h2c is ignored (RFC 9113 §3.1): the request is answered where it stands.
    assert run(*curl, *ask, "--http2", server.url("/plaintext")) == "1.1 200 13"
    assert run(*curl, *ask, "--http2-prior-knowledge", "--head", server.url("/bytes/1000")) == "2 200 0"
    assert run(*curl, *ask, "--http2-prior-knowledge", server.url("/bytes/3000000")) == "2 200 3000000"
    content = b"0123456789abcdef" * 100_000
    echoed = subprocess.run([*curl, "--http2-prior-knowledge", "--data-binary", "@-", server.url("/echo")],
                            input=content, capture_output=True, timeout=60, check=True).stdout
    assert echoed == content


@pytest.mark.parametrize("tls", [False, True], ids=["cleartext", "tls"])
def test_an_upload_that_is_refused_early_finds_its_reply(engine, tmp_path, tls):
    """Whatever the size and the form of the upload: no reset comes with the reply, which curl 7.88 would drop."""
    sizes = (100_000, 20_000_000)
    for size in sizes:
        (tmp_path / str(size)).write_bytes(bytes(size))
    forms = (["--data-binary", "@{}"],                                      # Expect: 100-continue from 1 MB on
             ["--header", "Expect:", "--data-binary", "@{}"],
             ["--header", "Expect: 100-continue", "--request", "POST", "--upload-file", "{}"],
             ["--header", "Transfer-Encoding: chunked", "--header", "Expect:", "--request", "POST", "--upload-file",
              "{}"])
    with Server(*(["--tls-dev"] if tls else []), engine=engine) as server:
        url = server.url("/plaintext").replace("http:", "https:") if tls else server.url("/plaintext")
        for version in ("--http1.1", "--http2" if tls else "--http2-prior-knowledge"):
            for form, size in itertools.product(forms, sizes):
                upload = [each.format(tmp_path / str(size)) for each in form]
                if version != "--http1.1" and "Transfer-Encoding: chunked" in upload:
                    upload = upload[2:]
                for _ in range(2):
                    status = run("curl", "--silent", "--show-error", "--insecure", "--max-time", "20", version,
                                 "--output", "/dev/null", "--write-out", "%{http_code}", *upload, url)
                    assert status == "405", (version, upload, status)


def test_nghttp_and_h2load_see_no_error(server, tool):
    """nghttp takes several at once; h2load a few thousand, sixteen at a time."""
    output = run(tool("nghttp"), "-nv", server.url("/json"), server.url("/bytes/100000"), server.url("/missing"))
    assert sorted(re.findall(r":status: (\d+)", output)) == ["200", "200", "404"], output
    for path, count in (("/plaintext", 4000), ("/bytes/100000", 200)):
        output = run(tool("h2load"), "-t1", "-c8", "-m16", "-n", str(count), server.url(path))
        assert f"{count} succeeded, 0 failed, 0 errored" in output, output


def test_httpx_asks_for_many_at_once(server):
    """Python's httpx with h2, over one connection."""
    httpx = pytest.importorskip("httpx", reason="httpx is not installed")
    pytest.importorskip("h2", reason="httpx[http2] is not installed")
    with httpx.Client(http1=False, http2=True, timeout=20) as client:
        replies = [client.get(server.url(f"/hello/{name}")) for name in range(20)]
        assert {reply.http_version for reply in replies} == {"HTTP/2"}
        assert [reply.text for reply in replies] == [f"Hello, {name}!" for name in range(20)]
        content = b"x" * 300_000
        assert client.post(server.url("/echo"), content=content).content == content


def test_a_drain_says_goodbye_and_finishes(engine):
    """GOAWAY, then the end; the request in flight is whole."""
    with Server(engine=engine) as server, server.connect() as sock:
        sock.sendall(PREFACE + SETTINGS + SETTINGS_ACK)
        started = frames(sock)
        assert next(started)[0] == 4
        server.send_signal()
        seen = [kind for kind, _, _, _ in started]
        assert seen.count(7) == 2, seen     # one that it will end, and one where it ends
        sock.close()
        assert server.wait() == 0
        assert server.drain_report()["cut_off"] == 0


def test_metrics_and_the_access_log_know_them(tmp_path, engine):
    """The same counters and the same records as for HTTP/1.1, and those that only HTTP/2 has."""
    log = tmp_path / "access.jsonl"
    with Server("--access-log", str(log), engine=engine, threads=1) as server:
        run("curl", "--silent", "--http2-prior-knowledge", server.url("/hello/you"))
        with server.connect() as sock:
            sock.sendall(PREFACE + SETTINGS + (8).to_bytes(3, "big") + b"\x06" + bytes(13))
            sock.sendall(bytes(3) + b"\x06" + bytes(5))             # a PING without its eight bytes
            assert [kind for kind, _, _, _ in frames(sock)][-1] == 7
        metrics = run("curl", "--silent", server.url("/metrics"))
    assert re.search(r'katana_http2_connections_total\{reactor="0"\} 2', metrics), metrics
    assert re.search(r'katana_http2_connection_failures_total\{reactor="0",reason="bad_frame_size"\} 1', metrics)
    records = [json.loads(line) for line in log.read_text().splitlines()]
    assert any("/hello/you" in json.dumps(record) for record in records)


def test_an_idle_connection_costs_little(engine):
    """500 connections that have asked once and are silent: resident memory of each, beyond the first ones'."""
    block = bytes.fromhex("82868401") + bytes([3]) + b"a.b"        # GET / of a.b
    get = len(block).to_bytes(3, "big") + b"\x01\x05" + (1).to_bytes(4, "big") + block

    def open_many(count):
        socks = []
        for _ in range(count):
            sock = server.connect()
            sock.sendall(PREFACE + SETTINGS + SETTINGS_ACK + get)
            for kind, flags, _, _ in frames(sock):
                if kind == 0 and flags & 1:
                    break
            socks.append(sock)
        return socks

    with Server(engine=engine, threads=1) as server:
        kept = open_many(100)
        before = server.status_kib("VmRSS")
        kept += open_many(500)
        each = (server.status_kib("VmRSS") - before) * 1024 / 500
        print(f"an idle connection of HTTP/2 costs {each:.0f} bytes")
        for sock in kept:
            sock.close()
        assert each <= 4096


def test_a_zero_window_stall_of_a_hundred_streams_is_bounded(engine):
    """100 streams of a megabyte each with closed windows: the server holds next to nothing for them."""
    window = (6).to_bytes(3, "big") + b"\x04" + bytes(5) + (4).to_bytes(2, "big") + bytes(4)
    path = b"/bytes/1000000"
    block = b"\x82\x86\x04" + bytes([len(path)]) + path + b"\x01\x03a.b"
    with Server(engine=engine, threads=1) as server, server.connect() as sock:
        before = server.status_kib("VmRSS")
        sock.sendall(PREFACE + window + SETTINGS_ACK)
        for index in range(100):
            sock.sendall(len(block).to_bytes(3, "big") + b"\x01\x05" + (2 * index + 1).to_bytes(4, "big") + block)
        begun = 0
        for kind, _, _, _ in frames(sock):
            begun += kind == 1
            if begun == 100:
                break
        grown = server.status_kib("VmRSS") - before
        print(f"a stall of 100 streams costs {grown} KiB")
        assert grown < 2048


def test_what_dribbles_in_is_served_and_what_stops_is_ended(server):
    """The preface byte by byte."""
    with server.connect() as sock:
        for octet in PREFACE + SETTINGS:
            sock.sendall(bytes([octet]))
            time.sleep(0.001)       # each is then a separate segment; nothing depends on it
        kinds = []
        for kind, flags, _, _ in frames(sock):
            kinds.append((kind, flags))
            if kind == 4 and flags == 1:
                break
        assert kinds[0] == (4, 0)
        sock.shutdown(socket.SHUT_WR)
        assert list(frames(sock)) == []


def test_browsers_are_told_to_come_back_by_https_in_http2_too(engine):
    """Strict-Transport-Security stands in the replies of both versions."""
    with Server("--tls-dev", "--hsts-s", "3600", engine=engine) as server:
        for version in ("--http1.1", "--http2"):
            head = run("curl", "--silent", "--insecure", version, "--max-time", "20", "--output", "/dev/null",
                       "--dump-header", "-", f"https://localhost:{server.port}/plaintext")
            assert "strict-transport-security: max-age=3600" in head.lower(), head

# SPDX-License-Identifier: Apache-2.0
