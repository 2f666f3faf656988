"""Real clients: curl, httpx, wrk, ab, and pipelining over plain sockets."""
import json
import re
import subprocess

import httpx

from raw_client import Reader, request

MIB = 1 << 20
RSS_GROWTH_KIB_MAX = 32 * 1024


def run(*command, seconds=120, **options):
    """Run a client to its end; fails unless it exits 0. Returns the CompletedProcess."""
    result = subprocess.run(command, capture_output=True, timeout=seconds, check=False, **options)
    assert result.returncode == 0, (command, result.returncode, result.stderr[-2000:])
    return result


def curl(tool, *arguments, **options):
    """Run curl and return the CompletedProcess."""
    return run(tool("curl"), "-sS", "--max-time", "60", *arguments, **options)


# ---- curl ----------------------------------------------------------------------------------------

def test_curl_gets_every_route(server, tool):
    """Statuses, contents and types of the contract."""
    for path, status, kind, content in (
            ("/", 200, "text/plain", b"Hello, World!"),
            ("/plaintext", 200, "text/plain", b"Hello, World!"),
            ("/json", 200, "application/json", b'{"message":"Hello, World!"}'),
            ("/hello/katana", 200, None, b"Hello, katana!"),
            ("/hello/a%20b", 200, None, None),
            ("/bytes/0", 200, None, b""),
            ("/nowhere", 404, None, None),
            ("/plaintext/more", 404, None, None)):
        output = curl(tool, "-w", "\n%{http_code}|%{http_version}|%{content_type}", server.url(path)).stdout
        body, _, facts = output.rpartition(b"\n")
        code, version, kind_seen = facts.decode().split("|")
        assert (int(code), version) == (status, "1.1"), (path, facts)
        assert content is None or body == content, (path, body)
        assert kind is None or kind_seen.split(";")[0] == kind, (path, facts)


def test_json_is_json(server, tool):
    """Parsed, not compared."""
    assert json.loads(curl(tool, server.url("/json")).stdout) == {"message": "Hello, World!"}


def test_curl_head_has_the_length_of_get(server, tool):
    """-I twice on one connection. (curl skips content that should not be there; the corpus does not.)"""
    urls = [argument for path in ("/plaintext", "/json") for argument in ("-o", "/dev/null", server.url(path))]
    form = "%{http_code} %{num_connects} %header{content-length}\n"
    assert curl(tool, "-I", "-w", form, *urls).stdout == b"200 1 13\n200 0 27\n"


def test_curl_http10_is_answered_in_full(server, tool):
    """--http1.0: no chunks, whatever the size."""
    for path, size in (("/plaintext", 13), ("/bytes/100000", 100000)):
        form = "%{http_code} %{size_download} %header{transfer-encoding}"
        output = curl(tool, "--http1.0", "-o", "/dev/null", "-w", form, server.url(path)).stdout
        assert output == f"200 {size} ".encode()


def test_curl_several_urls_share_one_connection(server, tool):
    """curl says how many connections it opened."""
    paths = ("/", "/json", "/nowhere", "/echo")
    urls = [argument for path in paths for argument in ("-o", "/dev/null", server.url(path))]
    output = curl(tool, "-w", "%{num_connects} ", *urls).stdout
    assert output == b"1 0 0 0 "


def test_curl_upload_waits_for_100_and_comes_back_byte_for_byte(server, tool, tmp_path):
    """2 MiB to /echo with Expect: 100-continue."""
    content = bytes(range(256)) * (2 * MIB // 256)
    sent, received = tmp_path / "sent", tmp_path / "received"
    sent.write_bytes(content)
    result = curl(tool, "-v", "-H", "Expect: 100-continue", "--expect100-timeout", "30",
                  "-H", "Content-Type: application/octet-stream", "--data-binary", f"@{sent}", "-o", str(received),
                  server.url("/echo"))
    conversation = result.stderr.decode("latin-1")
    assert "< HTTP/1.1 100" in conversation and "< HTTP/1.1 200" in conversation
    assert received.read_bytes() == content


def test_curl_chunked_upload_comes_back_byte_for_byte(server, tool):
    """3 MiB of unknown length through /echo, by PUT."""
    content = bytes(reversed(range(256))) * (3 * MIB // 256)
    output = curl(tool, "-T", "-", "-H", "Transfer-Encoding: chunked", server.url("/echo"), input=content).stdout
    assert output == content


def test_curl_large_upload_that_nobody_asked_for_is_answered(server, tool, tmp_path):
    """4 MiB to a handler that wants none: the reply arrives, not a reset."""
    sent = tmp_path / "sent"
    sent.write_bytes(bytes(4 * MIB))
    for path, status in (("/plaintext", (b"200", b"413")), ("/nowhere", (b"404",))):
        output = curl(tool, "-X", "GET", "-H", "Expect:", "--data-binary", f"@{sent}", "-o", "/dev/null",
                      "-w", "%{http_code}", server.url(path)).stdout
        assert output in status


def test_bytes_streams_what_was_asked_for_in_bounded_memory(server, tool):
    """0, 1 and 100 MB; the peak resident size grows by less than 32 MiB."""
    form = ("-o", "/dev/null", "-w", "%{http_code} %{size_download}")
    for size in (0, 1):
        assert curl(tool, *form, server.url(f"/bytes/{size}")).stdout == f"200 {size}".encode()
    before = server.status_kib("VmHWM")
    assert curl(tool, *form, server.url("/bytes/100000000")).stdout == b"200 100000000"
    growth = server.status_kib("VmHWM") - before
    assert growth < RSS_GROWTH_KIB_MAX, f"{growth} KiB more for 100 MB"


def test_a_slow_reader_of_a_large_upload_keeps_memory_bounded(server, tool, tmp_path):
    """/echo of 64 MiB at 32 MiB/s: the server does not read in more than the client reads back."""
    sent = tmp_path / "sent"
    sent.write_bytes(bytes(64 * MIB))
    before = server.status_kib("VmHWM")
    output = curl(tool, "--limit-rate", "32M", "--data-binary", f"@{sent}", "-o", "/dev/null", "-w", "%{size_download}",
                  server.url("/echo")).stdout
    growth = server.status_kib("VmHWM") - before
    assert output == str(64 * MIB).encode()
    assert growth < RSS_GROWTH_KIB_MAX, f"{growth} KiB more for 64 MiB"


# ---- httpx and plain sockets ---------------------------------------------------------------------

def test_httpx_keeps_one_connection(server):
    """A hundred requests, one client port."""
    ports = set()
    with httpx.Client(base_url=server.url(""), timeout=20) as client:
        for index in range(100):
            response = client.get(f"/hello/n{index}")
            assert (response.status_code, response.text) == (200, f"Hello, n{index}!")
            ports.add(response.extensions["network_stream"].get_extra_info("client_addr"))
        assert client.post("/echo", content=b"\x00\xff" * 1000).content == b"\x00\xff" * 1000
        assert client.request("PURGE", "/echo", content=b"any method").content == b"any method"
        assert client.delete("/json").status_code == 405
    assert len(ports) == 1


def test_httpx_streams_a_generator(server):
    """Chunked request content as it is produced."""
    pieces = [bytes([index]) * 5000 for index in range(100)]
    with httpx.Client(timeout=20) as client:
        assert client.post(server.url("/echo"), content=iter(pieces)).content == b"".join(pieces)


def test_pipelined_requests_are_answered_in_order(server):
    """Two hundred on one socket, in one send."""
    with server.connect() as sock:
        sock.sendall(b"".join(request(f"/hello/n{index}") for index in range(200)))
        reader = Reader(sock)
        assert [reader.reply().body.decode() for _ in range(200)] == [f"Hello, n{index}!" for index in range(200)]
        assert not reader.data


def test_pipelined_requests_of_many_kinds_are_answered_in_order(server):
    """Streams, content, errors and plain replies mixed, sent without waiting."""
    with server.connect(timeout=30) as sock:
        sock.sendall((request("/bytes/200000") + request("/echo", "POST", content=b"x" * 50000) + request("/nowhere")
                      + request("/json", "DELETE") + request("/bytes/0") + request()) * 5)
        reader = Reader(sock)
        for _ in range(5):
            seen = [(reply.status, len(reply.body)) for reply in (reader.reply() for _ in range(6))]
            assert [status for status, _ in seen] == [200, 200, 404, 405, 200, 200]
            assert [size for status, size in seen if status == 200] == [200000, 50000, 0, 13]


# ---- load generators -----------------------------------------------------------------------------

def assert_wrk_clean(output):
    """No socket errors, no status outside 2xx and 3xx, and some requests."""
    assert "Socket errors" not in output and "Non-2xx" not in output, output
    assert int(re.search(r"(\d+) requests in", output).group(1)) > 1000, output


def test_wrk_at_64_and_1000_connections_sees_no_error(server, tool):
    """Two seconds each."""
    for connections in (64, 1000):
        wrk = (tool("wrk"), "-t1", f"-c{connections}", "-d2s", "--timeout", "20s")
        assert_wrk_clean(run(*wrk, server.url("/plaintext")).stdout.decode())


def test_ab_completes_with_and_without_keep_alive(server, tool):
    """HTTP/1.0: ab hangs or fails when keep-alive is not confirmed."""
    for flags, kept in (([], 0), (["-k"], 2000)):
        output = run(tool("ab"), "-q", "-n", "2000", "-c", "8", *flags, server.url("/plaintext")).stdout.decode()
        assert re.search(r"Complete requests: +2000\n", output), output
        assert re.search(r"Failed requests: +0\n", output), output
        assert "Non-2xx" not in output, output
        if kept:
            assert re.search(rf"Keep-Alive requests: +{kept}\n", output), output

# SPDX-License-Identifier: Apache-2.0
