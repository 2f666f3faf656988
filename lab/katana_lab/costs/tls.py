"""The cost of TLS, beside nginx, in one run.

    tls_cost.py [--build build/bench] [--engine epoll-edge] [--rounds 5] [--seconds 3] [--connections 64]
                [--idle 1000] [--key ec|rsa] [--json FILE]

Each round runs both servers (A B A B …), each in a fresh process with one thread on CPU 0, the client on CPU 1. Both
have the same certificate, ciphers and groups, and answer the same 13 bytes.
    keepalive   wrk -t1 -cN over TLS 1.3: server CPU us and instructions per request
    handshake   openssl s_time -new over TLS 1.2: full handshakes each second, and server CPU us for each
    churn       katana-load --churn -c16 over TLS 1.3: a full handshake, one request, the end; each second and CPU us
    resumed     the same with --tls-resume: handshakes that resume the session of the one before
    idle        N connections over TLS 1.3 that have had one reply: growth of the server's resident memory, each.
Rates are those of both programs together. Where the client is the limit, the CPU for each handshake says more.
'ratio' is the median over rounds of katana / nginx within a round.
Needs wrk, nginx, openssl and perf, and katana-load of the same build.
"""
from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile

from katana_lab import LabError, proc
from katana_lab.costs import harness
from katana_lab.drivers import Job

SERVERS = ("katana", "nginx")
CIPHERS = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256"
NGINX = """daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log /dev/null;
events {{ worker_connections 16384; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 3600s; default_type text/plain;
  server {{
    listen 127.0.0.1:{port} ssl backlog=4096;
    ssl_certificate {folder}/chain.pem; ssl_certificate_key {folder}/key.pem;
    ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers {ciphers}; ssl_prefer_server_ciphers on;
    ssl_ecdh_curve X25519:P-256:P-384;
    ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384;
    ssl_session_cache off;
    location / {{ return 200 "Hello, World!"; }}
  }}
}}
"""


def make_certificate(folder, kind):
    """Write chain.pem and key.pem."""
    key = ["-newkey", "rsa:2048"] if kind == "rsa" else ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    subprocess.run(["openssl", "req", "-x509", *key, "-nodes", "-days", "30", "-subj", "/CN=localhost", "-keyout",
                    folder / "key.pem", "-out", folder / "chain.pem"], check=True, capture_output=True)


def serving(name, folder, options, ports):
    """A server that has answered."""
    if name == "katana":
        command = harness.own_server(options.build, options.engine, "--tls-cert", str(folder / "chain.pem"),
                                     "--tls-key", str(folder / "key.pem"))
    else:
        def command(port, _):
            configuration = folder / "nginx.conf"
            configuration.write_text(NGINX.format(folder=folder, port=port, ciphers=CIPHERS), encoding="utf-8")
            return [proc.tool("nginx"), "-c", str(configuration), "-p", str(folder)]
    return harness.serving(name, command, ports, answers_tls)


def client_context():
    """TLS 1.3, HTTP/1.1, without a look at the certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["http/1.1"])
    return context


def connect(port, context):
    """A connection that has had one reply."""
    sock = context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=10))
    sock.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    data = b""
    while not data.endswith(b"Hello, World!"):
        data += sock.recv(4096)
    return sock


def answers_tls(port, process, log):
    """Wait until the server answers."""
    def answers():
        try:
            connect(port, client_context()).close()
        except OSError:
            return process.poll() is not None
        return True

    if not proc.wait_for(answers, 20) or process.poll() is not None:
        raise LabError(f"the server did not answer within 20 s: {proc.read(log).strip()}")


def job_of(server, options, **others):
    """A load of this server over TLS."""
    return Job(server.port, options.build, "/", scheme="https", seconds=options.seconds, **others)


def keepalive(server, options):
    """CPU and instructions per request."""
    job = job_of(server, options, connections=options.connections)
    harness.drive("wrk", dataclasses.replace(job, seconds=1), [harness.CLIENT_CPU])
    figures, _ = harness.measure_load(server.pid, "wrk", job)
    counted = harness.count_events(server.pid, "wrk", job, ("instructions:u", "instructions:k"), server.work)
    return {"us": figures["us"], **{name.replace(":", "_"): value for name, value in counted.items()}}


def handshake(server, options):
    """Full handshakes each second, and CPU for each."""
    figures, _ = harness.measure_load(server.pid, "tls_handshakes", job_of(server, options))
    return {"rate": figures["rate"], "us": figures["us"]}


def churn(server, options, *flags):
    """New connections of TLS 1.3 each second, and CPU for each with its one request."""
    figures, done = harness.measure_load(server.pid, "churn", job_of(server, options, connections=16,
                                                                     flags=("--insecure", *flags)))
    found = done.told["tls"]
    if done.errors or (found["full"] > 16 if flags else found["resumed"]):
        raise LabError(f"errors {done.told['errors']}, {found['full']} full handshakes, {found['resumed']} resumed")
    return {"rate": found["handshakes_per_s"], "us": 1e6 * figures["cpu_s"] / found["handshakes"]}


def resumed(server, options):
    """The same, resumed."""
    return churn(server, options, "--tls-resume")


def idle(server, options):
    """Resident memory for each idle connection."""
    context = client_context()
    with contextlib.ExitStack() as stack:
        def add(count):
            for _ in range(count):
                stack.enter_context(connect(server.port, context))

        return {"kib": harness.growth(server.pid, "VmRSS", add, options.idle, 50)}


TESTS = {"keepalive": keepalive, "handshake": handshake, "churn": churn, "resumed": resumed, "idle": idle}


def run(options):
    """Return {test: [{server: result} of each round]}."""
    results, ports = {name: [] for name in TESTS}, proc.free_port()
    with tempfile.TemporaryDirectory(prefix="katana-tls-") as name:
        folder = pathlib.Path(name)
        make_certificate(folder, options.key)
        for number in range(options.rounds):
            for test, measure in TESTS.items():
                one = {}
                for server in SERVERS:
                    said = f"\rround {number + 1}/{options.rounds} {test} {server:<10}"
                    print(said, end="", file=sys.stderr, flush=True)
                    with serving(server, folder, options, ports) as running:
                        one[server] = measure(running, options)
                results[test].append(one)
    print(file=sys.stderr)
    return results


def table(results):
    """Return the Markdown table of medians and ratios."""
    rows = []
    for test, rounds in results.items():
        for figure in rounds[0]["katana"]:
            middle = [f"{statistics.median(one[name].get(figure, 0) for one in rounds):.2f}" for name in SERVERS]
            rows.append((test, figure, *middle, harness.spread(harness.ratios(rounds, *SERVERS, figure), 3)))
    return harness.markdown(("test", "figure", *SERVERS, "ratio"), rows)


def main() -> None:
    """Measure, and print the table."""
    parser = harness.parser(__doc__, 5, 3, 64)
    parser.add_argument("--engine", default="epoll-edge")
    parser.add_argument("--idle", default=1000, type=int, help="idle connections to weigh")
    parser.add_argument("--key", default="ec", choices=("ec", "rsa"))
    options = parser.parse_args()
    harness.need("wrk", "nginx", "openssl", "perf")
    results = run(options)
    lines = table(results)
    print("\n".join(lines))
    harness.write(options, lines, results)

# SPDX-License-Identifier: Apache-2.0
