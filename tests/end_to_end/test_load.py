"""katana-load as a program, against servers whose latency, loss and malice are known.

Figures are checked by counts wherever that is possible. The share of slow or lost requests follows from arithmetic. The
delay that a busy machine adds to the others does not.
"""
import contextlib
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import httpx
import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from program_process import ROOT
from server_process import Server, free_port

BUILD = pathlib.Path(os.environ.get("KATANA_BUILD", ROOT / "build" / "release"))
GENERATOR = str(BUILD / "katana-load")
NS_MAX = 3_600_000_000_000
# The rounding of a value that was sorted into a bucket of three digits.
ROUNDING = 1.001


def load(*arguments, timeout=60):
    """Run katana-load to its end."""
    return subprocess.run([GENERATOR, *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                          check=False)


def load_json(*arguments, timeout=60):
    """Run katana-load and return its JSON; any exit status."""
    result = load(*arguments, "--quiet", "--json", "-", timeout=timeout)
    return json.loads(result.stdout)


def wait_until_up(port):
    """Wait until a program listens."""
    for _ in range(500):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.01)
    raise TimeoutError(f"nobody listens on {port}")


@contextlib.contextmanager
def delay_server(**options):
    """Yield the URL of a server with known delays, and a function that ends it and returns its measurements."""
    port = free_port()
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    process = subprocess.Popen([str(BUILD / "delay_server"), str(port), *arguments], stdout=subprocess.PIPE, text=True)

    def report():
        process.terminate()
        return json.loads(process.communicate(timeout=10)[0])

    try:
        wait_until_up(port)
        yield f"http://127.0.0.1:{port}/", report
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def fake_server(serve):
    """Yield the URL of a server that calls `serve(connection)` in a thread for each connection."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    connections = []

    def serve_one(connection):
        with connection, contextlib.suppress(OSError):
            serve(connection)

    def accept():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                connections.append(connection)
                threading.Thread(target=serve_one, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


# ---- figures ---------------------------------------------------------------------------------------------------------

def test_latency_is_what_the_server_took_and_never_less():
    """With the same requests in both, no percentile of the client's may be below the server's own."""
    with delay_server(delay_us=2000, slow_every=100, slow_us=300_000) as (url, report):
        result = load_json("-c", 8, "-n", 1000, url)
        server = report()
    latency = result["latency_us"]
    assert result["requests"] == server["served"] == latency["samples"] == 1000
    for name in ("p50", "p99", "p999", "max"):
        assert latency[name] * ROUNDING >= server["delay_us"][name], name
    # Ten of the thousand were slow: the 990th was not, the 991st was.
    assert 2000 <= latency["p50"] <= latency["p99"] < 300_000 <= latency["p999"]


def test_every_lost_request_is_an_error_and_no_success():
    """Each 50th is never answered."""
    with delay_server(lose_every=50) as (url, report):
        result = load_json("-c", 4, "-n", 1000, url)
        server = report()
    assert server["lost"] == result["errors"]["closed_early"] == result["errors"]["total"] == 20
    assert server["served"] == result["requests"] == result["latency_us"]["samples"] == 980
    assert result["sent"] == 1000 and result["in_flight_at_end"] == 0
    assert 4 < result["connections"]["opened"] <= 4 + 20


def test_open_loop_shows_the_stall_that_a_closed_loop_omits():
    """The server stands still for a second. At 500/s, 500 requests are due in it, and the k-th of them waits at least 1
    s - k·2 ms. In all there are 1,500 requests: the 150th slowest takes 0.7 s and the 15th slowest 0.97 s."""
    with delay_server(stall_at=500, stall_ms=1000) as (url, _):
        result = load_json("-R", 500, "-d", "3s", "-c", 20, url)
    latency, schedule = result["latency_us"], result["schedule"]
    assert schedule["due"] == 1500 and result["requests"] == latency["samples"] == 1500 - schedule["unsent"] >= 1400
    assert latency["p90"] >= 696_000
    assert latency["p99"] >= 966_000
    assert latency["max"] >= 996_000
    assert schedule["held_back"] >= 400
    with delay_server(stall_at=500, stall_ms=1000) as (url, _):
        closed = load_json("-c", 1, "-n", 1500, url)
    assert closed["latency_us"]["max"] >= 1_000_000 and closed["latency_us"]["p99"] < 500_000


def test_constant_and_random_arrivals_and_ramps_send_what_their_integral_says():
    """To the request; for random arrivals within four standard deviations."""
    with delay_server() as (url, _):
        def due(*arguments):
            result = load_json("-c", 100, *arguments, url)
            assert result["sent"] == result["requests"] == result["schedule"]["due"] - result["schedule"]["unsent"] > 0
            return result["schedule"]["due"]

        assert due("-R", 1000, "-d", "500ms", "-t", 2) == 500
        assert due("--ramp", "400ms:1000,200ms:1000") == 400
        assert due("-R", 1000, "-d", "500ms", "--burst", 50) == 500
        assert abs(due("-R", 2000, "-d", "500ms", "--poisson") - 1000) <= 4 * 1000 ** 0.5


def test_warm_up_is_left_out():
    """Requests of the warm-up are not in the figures, and are marked in the log."""
    with delay_server() as (url, report):
        result = load_json("-R", 500, "--warmup", "200ms", "-d", "400ms", "-c", 50, url)
        assert report()["served"] == result["requests"] + result["warmup_requests"]
    assert result["schedule"]["due"] == 200 and result["warmup_requests"] == 100
    assert [row["warmup"] for row in result["intervals"]].count(True) >= 1


def test_url_list_method_header_and_body_are_sent(tmp_path):
    """In turn, on one connection."""
    seen = []

    def serve(connection):
        with connection.makefile("rb") as stream:
            for line in stream:
                head = b"".join(iter(stream.readline, b"\r\n"))
                length = re.search(rb"Content-Length: (\d+)", head)
                seen.append((line.split()[0], line.split()[1], b"X-A: b" in head,
                             stream.read(int(length[1])) if length else b""))
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    (tmp_path / "body").write_bytes(b"\0some octets")
    (tmp_path / "urls").write_text("/one\nPUT /two\n", encoding="ascii")
    with fake_server(serve) as url:
        result = load_json("-c", 1, "-n", 3, "-m", "POST", "-H", "X-A: b", "--body", f"@{tmp_path}/body",
                           "--urls", tmp_path / "urls", url)
    assert result["requests"] == 3
    assert seen == [(b"POST", b"/one", True, b"\0some octets"), (b"PUT", b"/two", True, b"\0some octets"),
                    (b"POST", b"/one", True, b"\0some octets")]


# ---- the log ---------------------------------------------------------------------------------------------------------

def merged_log(*paths):
    """Return all intervals of all logs as one histogram, as the public package reads them."""
    whole = HdrHistogram(1, NS_MAX, 3)
    for path in paths:
        reader = HistogramLogReader(str(path), whole)
        while reader.add_next_interval_histogram():
            continue
        reader.close()
    return whole


def assert_same(histogram, latency):
    """The percentiles of the JSON are those of the log, to the bucket."""
    assert histogram.get_total_count() == latency["samples"]
    for name, percent in (("p50", 50), ("p90", 90), ("p99", 99), ("p999", 99.9)):
        in_log = min(histogram.get_value_at_percentile(percent), round(latency["max"] * 1000))
        assert in_log == round(latency[name] * 1000), name
    assert histogram.get_max_value() == histogram.get_highest_equivalent_value(round(latency["max"] * 1000))


def test_public_tools_read_the_log_and_merge_it_without_loss(tmp_path):
    """The log of a run says what its JSON does; two logs together have the counts of both."""
    with delay_server(delay_us=300, slow_every=7, slow_us=5000) as (url, _):
        results = [load_json("-c", 2, "-n", 1000, "--interval", "50ms", "--hdr", tmp_path / str(index), url)
                   for index in range(2)]
    logs = [tmp_path / "0", tmp_path / "1"]
    for log, result in zip(logs, results, strict=True):
        assert_same(merged_log(log), result["latency_us"])
        assert len(result["intervals"]) >= 5
    both, parts = merged_log(*logs), [merged_log(log) for log in logs]
    assert both.get_total_count() == 2000
    for value in (item.value_iterated_to for item in both.get_recorded_iterator()):
        assert both.get_count_at_value(value) == sum(part.get_count_at_value(value) for part in parts)


# ---- hostile servers -------------------------------------------------------------------------------------------------

def endless(begin, more):
    """Return a server that begins a reply and never ends it."""
    def serve(connection):
        connection.recv(65536)
        connection.sendall(begin)
        while True:
            connection.sendall(more)
    return serve


@pytest.mark.parametrize("begin, more, error", [
    (b"HTTP/1.1 200 OK\r\n", b"X: " + 990 * b"x" + b"\r\n", "malformed"),
    (b"HTTP/1.1 200 OK\r\nX: ", 1000 * b"x", "malformed"),
    (b"HTTP/1.1 200 OK\r\n\r\n", 60_000 * b"x", "response_timeout"),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"3\r\nabc\r\n", "response_timeout"),
], ids=["endless head", "endless line", "endless content", "endless chunks"])
def test_a_server_that_never_ends_neither_hangs_it_nor_grows_it(begin, more, error):
    """Time and memory stay bounded, and every request ends as an error."""
    with fake_server(endless(begin, more)) as url:
        result = load_json("-c", 20, "-d", "1s", "--timeout", "500ms", url, timeout=20)
    assert result["requests"] == 0 and result["sent"] == result["errors"][error] == result["errors"]["total"] >= 20
    assert result["generator"]["rss_kib_max"] * 1024 <= result["generator"]["memory_bytes_max"] + (16 << 20)


def test_a_port_that_nobody_listens_on_is_exit_1_and_one_line(tmp_path):
    """And the JSON says how often."""
    result = load("-c", 3, "--quiet", "--json", tmp_path / "out", f"http://127.0.0.1:{free_port()}/")
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.count("\n") == 1 and "3 connect_refused" in result.stderr
    assert json.loads((tmp_path / "out").read_text())["errors"]["connect_refused"] == 3


# ---- the generator itself --------------------------------------------------------------------------------------------

def test_a_rate_beyond_its_means_is_told_with_what_was_never_sent():
    """Void if the generator was the limit, a note if the server was: which of them is the machine's choice."""
    with delay_server() as (url, _):
        result = load_json("-R", 5_000_000, "-d", "500ms", "-c", 4, url)
    assert any("were due and never sent" in sentence for sentence in result["void_reasons"] + result["notes"])
    assert result["requests"] < 2_500_000


def test_a_generator_that_was_stopped_for_a_while_voids_its_result(tmp_path):
    """SIGSTOP for 400 ms: it did not keep its schedule, and knows. --strict makes that a failure."""
    out = tmp_path / "out"
    served = threading.Event()

    def serve(connection):
        while connection.recv(1 << 16):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            served.set()

    with fake_server(serve) as url:
        process = subprocess.Popen([GENERATOR, "-R", "200", "-d", "1500ms", "--strict", "--json", str(out), url],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert served.wait(60)
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.4)     # the time that it stands still
        process.send_signal(signal.SIGCONT)
        printed, errors = process.communicate(timeout=20)
    assert process.returncode == 1 and "the result is void" in errors and "VOID" in printed
    result = json.loads(out.read_text())
    assert result["void"] and any("stood still" in reason for reason in result["void_reasons"])
    assert result["generator"]["stall_max_us"] >= 300_000
    assert result["generator"]["send_lag_us"]["max"] >= 300_000
    assert result["schedule"]["due"] == 300


def test_an_idle_generator_is_not_saturated():
    """The generator's own processor time is the usage of the process."""
    with delay_server(delay_us=1000) as (url, _):
        result = load_json("-R", 50, "-d", "1s", url)
    generator = result["generator"]
    assert 0 < generator["cpu_share"] < 0.5
    assert generator["send_lag_us"]["samples"] == result["requests"] == result["sent"] > 40
    assert len(generator["threads"]) == 1


# ---- the program -----------------------------------------------------------------------------------------------------

def test_an_interrupt_still_prints_the_result(tmp_path):
    """Exit 0, and the JSON says that it was interrupted."""
    out = tmp_path / "out"
    with delay_server(delay_us=500) as (url, _):
        process = subprocess.Popen([GENERATOR, "-d", "30s", "--json", str(out), url], stdout=subprocess.PIPE, text=True)
        process.stdout.readline()                   # the first interval is over
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=10)
    assert process.returncode == 0 and "interrupted" in text and "requests    " in text
    result = json.loads(out.read_text())
    assert result["interrupted"] and result["requests"] > 0 and result["errors"]["total"] == 0
    assert result["sent"] == result["requests"] + result["in_flight_at_end"]


def test_pipes_get_plain_lines_and_terminals_a_view():
    """A terminal's view is redrawn; nothing of that reaches a pipe."""
    with delay_server() as (url, _):
        arguments = ("-R", "100", "-d", "400ms", "--interval", "100ms", url)
        plain = load(*arguments).stdout
        ours, its = pty.openpty()
        process = subprocess.Popen([GENERATOR, *arguments], stdout=its)
        os.close(its)
        shown = b""
        with contextlib.suppress(OSError):          # EIO: the other side is closed
            while piece := os.read(ours, 4096):
                shown += piece
        os.close(ours)
        assert process.wait(timeout=10) == 0
    assert "\x1b" not in plain and plain.count("/s  p50") >= 3
    assert b"\x1b[" in shown and b"latency p50" in shown and b"connections" in shown


def test_quiet_with_a_file_prints_nothing(tmp_path):
    """Without a file it prints the summary alone."""
    with delay_server() as (url, _):
        silent = load("-n", 10, "--quiet", "--json", tmp_path / "out", url)
        summary = load("-n", 10, "--quiet", url)
    assert silent.returncode == 0 and silent.stdout == silent.stderr == ""
    assert summary.stdout.startswith("GET http://") and "errors      none" in summary.stdout


@pytest.mark.parametrize("arguments, culprit", [
    ([], "url"),
    (["--no-such-flag", "http://a/"], "--no-such-flag"),
    (["-c", "0", "http://a/"], "0"),
    (["-d", "soon", "http://a/"], "soon"),
    (["-R", "fast", "http://a/"], "fast"),
    (["--ramp", "1s", "http://a/"], "1s"),
    (["--insecure", "http://a/"], "https://"),
    (["--insecure", "--ca", "x", "https://a/"], "--ca"),
    (["--ca", "/no/such/file", "https://127.0.0.1:1/"], "/no/such/file"),
    (["--streams", "4", "http://a/"], "--http2"),
    (["--http2", "--pipeline", "4", "http://a/"], "--streams"),
    (["http://a:b/"], "http://a:b/"),
    (["--header", "nonsense", "http://127.0.0.1:1/"], "nonsense"),
    (["--urls", "/no/such/file", "http://127.0.0.1:1/"], "/no/such/file"),
])
def test_wrong_usage_is_exit_2_and_one_line_that_names_it(arguments, culprit):
    """Nothing on standard output."""
    result = load(*arguments)
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.startswith("katana-load: ") and result.stderr.count("\n") == 1 and culprit in result.stderr


def test_help_names_every_flag_and_version_has_a_number():
    """On standard output, exit 0."""
    text = load("--help")
    assert text.returncode == 0 and text.stderr == ""
    for name in ("--threads", "--connections", "--duration", "--rate", "--ramp", "--poisson", "--burst", "--pipeline",
                 "--http2", "--streams", "--churn", "--insecure", "--ca", "--tls-resume",
                 "--method", "--header", "--body", "--urls", "--warmup", "--json",
                 "--hdr", "--quiet",
                 "--expect-status", "--expect-length", "--expect-body", "--timeout", "--strict", "--pin"):
        assert name in text.stdout, name
    assert re.fullmatch(r"katana-load \d+\.\d+\.\d+\n", load("--version").stdout)


# ---- simple_benchmark ------------------------------------------------------------------------------------------------

BENCHMARK = str(BUILD / "benchmark" / "simple_benchmark")


def test_simple_benchmark_writes_what_it_prints(tmp_path):
    """One command, one report: every section, every row with its samples, no errors."""
    with Server() as server:
        result = subprocess.run([BENCHMARK, str(server.port), str(tmp_path / "report.md"), "--quick"],
                                capture_output=True, text=True, timeout=90, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout == (tmp_path / "report.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (.*)$", result.stdout, re.M)
    assert titles == ["Throughput", "Core latency", "Scaling", "Fan-out", "Churn", "Header sizes",
                      "What limits these figures"]
    rows = [line.split(" | ") for line in result.stdout.splitlines() if line.startswith("| ") and "load" not in line]
    assert len(rows) == 19
    for row in rows:
        assert int(row[7]) > 0 and row[8] == "0", row
    assert "hello_world_server (1 process)" in result.stdout
    assert re.search(r"^- machine: \d+ CPUs, ", result.stdout, re.M)


def test_simple_benchmark_without_a_server_is_exit_1_and_without_a_port_exit_2():
    """One line each."""
    for arguments, status, culprit in ([str(free_port())], 1, "connect_refused"), ([], 2, "port"), (["x"], 2, "x"):
        result = subprocess.run([BENCHMARK, *arguments], capture_output=True, text=True, timeout=30, check=False)
        assert result.returncode == status and result.stdout == ""
        assert result.stderr.count("\n") == 1 and culprit in result.stderr


# ---- HTTP/2 ----------------------------------------------------------------------------------------------------------

def test_http2_requests_are_counted_as_those_of_http1_are():
    """Every one with its status and content, by both loops; the server has seen the same number."""
    with Server() as server:
        many = ("--http2", "-c", 4, "--streams", 16, "--expect-status", "200")
        closed = load_json(*many, "-n", 5000, "--expect-body", "Hello, World!", server.url("/plaintext"))
        opened = load_json(*many, "-R", 500, "-d", "400ms", server.url("/json"))
        large = load_json(*many, "-n", 40, "--expect-length", 300_000, server.url("/bytes/300000"))
        posted = load_json(*many, "-n", 50, "-m", "POST", "--body", "x" * 70_000, "--expect-body", "x" * 70_000,
                           server.url("/echo"))
        missing = load_json(*many, "-n", 10, server.url("/nothing"))
    assert closed["requests"] == closed["sent"] == closed["statuses"]["200"] == 5000 and closed["errors"]["total"] == 0
    assert closed["content_bytes"] == 13 * 5000 and closed["connections"]["opened"] == 4
    assert closed["parameters"]["protocol"] == "h2c" and closed["parameters"]["streams"] == 16
    assert opened["requests"] == opened["schedule"]["due"] - opened["schedule"]["unsent"]
    assert opened["schedule"]["due"] == 200 and opened["errors"]["total"] == 0
    assert large["requests"] == 40 and posted["requests"] == 50
    assert missing["requests"] == 0 and missing["errors"]["wrong_status"] == 10


@pytest.mark.skipif(shutil.which("nghttpd") is None, reason="nghttpd is missing: apt-get install nghttp2-server")
def test_http2_load_of_a_server_that_compresses_with_its_table(tmp_path):
    """nghttpd indexes its fields: the same block has another meaning after a change of the table."""
    (tmp_path / "small").write_bytes(b"small")
    (tmp_path / "large").write_bytes(b"x" * 200_000)
    (tmp_path / "urls").write_text("/small\n/large\n/small\n/none\n", encoding="ascii")
    port = free_port()
    process = subprocess.Popen(["nghttpd", "--no-tls", "-d", str(tmp_path), str(port)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        wait_until_up(port)
        result = load_json("--http2", "-c", 2, "--streams", 8, "-n", 400, "--urls", tmp_path / "urls",
                           "--expect-status", "200,404", f"http://127.0.0.1:{port}/")
    finally:
        process.kill()
        process.wait()
    assert result["requests"] == 400 and result["errors"]["total"] == 0
    assert result["statuses"] == {"200": 300, "404": 100}


# ---- TLS -------------------------------------------------------------------------------------------------------------

def metric(text, name):
    """Return the sum of a metric over its labels."""
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if re.match(name + r"[ {]", line))


def secure_metrics(server):
    """The metrics of a server with an untrusted certificate."""
    return httpx.get(server.url("/metrics").replace("http://", "https://"), verify=False, timeout=10).text


@pytest.mark.parametrize("protocol", ["http/1.1", "h2"])
def test_a_server_with_a_certificate_of_its_own_is_loaded_with_one_flag(protocol):
    """And server and generator have counted the same handshakes, full and resumed."""
    flags = ("--insecure", "--strict", *(("--http2", "--streams", 8) if protocol == "h2" else ()))
    with Server("--tls-dev") as server:
        url = server.url("/plaintext").replace("http://", "https://")
        kept = load_json(*flags, "-c", 4, "-n", 2000, "--expect-body", "Hello, World!", url)
        before = secure_metrics(server)
        churned = load_json(*flags, "-c", 2, "-n", 100, "--churn=2", url)
        between = secure_metrics(server)
        resumed = load_json(*flags, "-c", 2, "-n", 100, "--churn=2", "--tls-resume", url)
        after = secure_metrics(server)
        refused = load("-c", 3, "--quiet", *flags[1:], url)
    assert kept["requests"] == 2000 and kept["errors"]["total"] == 0 and kept["parameters"]["protocol"] == protocol
    assert kept["tls"]["handshakes"] == kept["tls"]["full"] == kept["connections"]["opened"] == 4
    assert kept["tls"]["agreed"].startswith("TLS 1.3, ") and kept["tls"]["agreed"].endswith(protocol)
    assert churned["tls"]["full"] == churned["tls"]["handshakes"] == churned["tls"]["handshake_us"]["samples"] >= 50
    assert resumed["tls"]["full"] == 2 and resumed["tls"]["resumed"] >= 48
    for result, first, last in (churned, before, between), (resumed, between, after):
        for name, count in ("handshakes", result["tls"]["handshakes"]), ("resumptions", result["tls"]["resumed"]):
            made = metric(last, f"katana_tls_{name}_total") - metric(first, f"katana_tls_{name}_total")
            # The connection of this scrape, and the two connections that were under way at the end.
            assert abs(made - count) <= 3, name
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1
    assert "3 handshake_failed (the certificate of '127.0.0.1' is refused: self-signed" in refused.stderr


NGINX = """daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ }}
http {{
  access_log off;
  server {{
    listen 127.0.0.1:{port} ssl{http2};
    ssl_certificate {folder}/chain.pem; ssl_certificate_key {folder}/key.pem;
    location / {{ return 200 "Hello, World!"; }}
  }}
}}
"""


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
@pytest.mark.parametrize("http2", ["", " http2"], ids=["http/1.1", "h2"])
def test_nginx_is_loaded_over_tls_and_its_certificate_can_be_verified(tmp_path, http2):
    """An external server: its certificate as the authority, full and resumed; unavailable figures are reported as
    such."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                    "-keyout", tmp_path / "key.pem", "-out", tmp_path / "chain.pem"], check=True, capture_output=True)
    port = free_port()
    (tmp_path / "nginx.conf").write_text(NGINX.format(folder=tmp_path, port=port, http2=http2), encoding="ascii")
    process = subprocess.Popen(["nginx", "-c", tmp_path / "nginx.conf", "-p", tmp_path])
    try:
        wait_until_up(port)
        flags = ("--ca", tmp_path / "chain.pem", "-c", 2, "-n", 100, "--expect-body", "Hello, World!")
        url = f"https://127.0.0.1:{port}/"
        asked = ("--http2", "--streams", 4) if http2 else ()
        kept = load_json(*flags, *asked, url)
        resumed = load_json(*flags, *asked, "--churn=5", "--tls-resume", url)
        other = load("-c", 2, "--quiet", "--insecure", "--http2", url)
    finally:
        process.terminate()
        process.wait(10)
    for result in kept, resumed:
        assert result["requests"] == 100 and result["errors"]["total"] == 0
    assert kept["tls"]["full"] == kept["tls"]["handshakes"] == 2
    assert resumed["tls"]["full"] == 2 and resumed["tls"]["resumed"] >= 18
    if not http2:
        assert other.returncode == 1 and "the server chose 'http/1.1' and not HTTP/2" in other.stderr

# SPDX-License-Identifier: Apache-2.0
