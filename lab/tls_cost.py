#!/usr/bin/env python3
"""What TLS costs, beside nginx, in one run.

    tls_cost.py [--build build/bench] [--engine epoll-edge] [--rounds 5] [--seconds 3] [--connections 64]
                [--idle 1000] [--key ec|rsa] [--json FILE]

Each round runs both servers (A B A B …), each in a fresh process with one thread on CPU 0, the client on CPU 1. Both
have the same certificate, ciphers and groups, and answer the same 13 bytes.
    keepalive   wrk -t1 -cN over TLS 1.3: server CPU us and instructions per request
    handshake   openssl s_time -new over TLS 1.2: full handshakes each second, and server CPU us for each
    churn       katana-load --churn -c16 over TLS 1.3: a full handshake, one request, the end; each second and CPU us
    resumed     the same with --tls-resume: handshakes that resume the session of the one before
    idle        N connections over TLS 1.3 that have had one reply: growth of the server's resident memory for each
Rates are those of both programs together: where the client is the limit, the CPU for each handshake says more.
'ratio' is the median over rounds of katana / nginx within a round.
Needs wrk, nginx, openssl and perf, and katana-load of the same build.
"""
import argparse
import contextlib
import json
import pathlib
import re
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time

from katana_lab import LabError, proc
from katana_lab.proc import process_cpu_s, rss_kib, stop, tree

SERVER_CPU, CLIENT_CPU = "0", "1"
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


def command_of(name, port, folder, options):
    """Return the argv of a server."""
    if name == "katana":
        return [proc.built("hello_world_server", options.build), "--port", str(port), "--threads", "1", "--engine",
                options.engine, "--tls-cert", str(folder / "chain.pem"), "--tls-key", str(folder / "key.pem")]
    configuration = folder / "nginx.conf"
    configuration.write_text(NGINX.format(folder=folder, port=port, ciphers=CIPHERS), encoding="utf-8")
    return [proc.tool("nginx"), "-c", str(configuration), "-p", str(folder)]


@contextlib.contextmanager
def running(name, folder, options):
    """A server, warm, and its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(["taskset", "-c", SERVER_CPU, *command_of(name, port, folder, options)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until_up(port)
        yield process, port
    finally:
        stop(process)


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


def wait_until_up(port):
    """Wait until the server answers."""
    deadline = time.monotonic() + 20
    while True:
        try:
            connect(port, client_context()).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise LabError("the server did not answer within 20 s") from None
            time.sleep(0.05)


def on_client(*command):
    """Run a client on its CPU; return what it printed."""
    return subprocess.run(["taskset", "-c", CLIENT_CPU, *command], capture_output=True, text=True, check=False).stdout


def keepalive(process, port, options):
    """CPU and instructions per request."""
    url = f"https://127.0.0.1:{port}/"
    load = [proc.tool("wrk"), "-t1", f"-c{options.connections}", f"-d{options.seconds}s", url]
    on_client(*load[:-2], "-d1s", url)
    cpu = process_cpu_s(process.pid)
    requests = int(re.search(r"(\d+) requests in", on_client(*load))[1])
    result = {"us": 1e6 * (process_cpu_s(process.pid) - cpu) / requests}
    pids = ",".join(map(str, tree(process.pid)))
    perf = [proc.tool("perf"), "stat", "-x", ",", "-e", "instructions:u,instructions:k", "-p", pids, "--"]
    done = subprocess.run([*perf, "taskset", "-c", CLIENT_CPU, *load], capture_output=True, text=True, check=False)
    requests = int(re.search(r"(\d+) requests in", done.stdout)[1])
    for event in ("u", "k"):
        counted = re.search(rf"^(\d+),.*instructions:{event}", done.stderr, re.MULTILINE)
        if counted:
            result[f"instructions_{event}"] = int(counted[1]) / requests
    return result


def handshake(process, port, options):
    """Full handshakes each second, and CPU for each."""
    cpu = process_cpu_s(process.pid)
    said = on_client("openssl", "s_time", "-connect", f"127.0.0.1:{port}", "-new", "-tls1_2", "-time",
                     str(options.seconds))
    count, real_s = re.search(r"(\d+) connections in (\d+) real seconds", said).groups()
    return {"rate": int(count) / int(real_s), "us": 1e6 * (process_cpu_s(process.pid) - cpu) / int(count)}


def churn(process, port, options, *flags):
    """New connections of TLS 1.3 each second, and CPU for each with its one request."""
    cpu = process_cpu_s(process.pid)
    result = json.loads(on_client(proc.built("katana-load", options.build), "--churn", "-c16", "--insecure", *flags,
                                  f"-d{options.seconds}s", "--quiet", "--json", "-", f"https://127.0.0.1:{port}/"))
    found = result["tls"]
    if result["errors"]["total"] or (found["full"] > 16 if flags else found["resumed"]):
        raise LabError(f"errors {result['errors']}, {found['full']} full handshakes, {found['resumed']} resumed")
    return {"rate": found["handshakes_per_s"], "us": 1e6 * (process_cpu_s(process.pid) - cpu) / found["handshakes"]}


def resumed(process, port, options):
    """The same, resumed."""
    return churn(process, port, options, "--tls-resume")


def idle(process, port, options):
    """Resident memory for each idle connection."""
    context = client_context()
    with contextlib.ExitStack() as stack:
        for _ in range(50):
            stack.enter_context(connect(port, context))
        before = rss_kib(process.pid)
        for _ in range(options.idle):
            stack.enter_context(connect(port, context))
        after = rss_kib(process.pid)
    return {"kib": (after - before) / options.idle}


TESTS = {"keepalive": keepalive, "handshake": handshake, "churn": churn, "resumed": resumed, "idle": idle}


def run(options):
    """Return {test: [{server: result} of each round]}."""
    results = {name: [] for name in TESTS}
    with tempfile.TemporaryDirectory(prefix="katana-tls-") as name:
        folder = pathlib.Path(name)
        make_certificate(folder, options.key)
        for number in range(options.rounds):
            for test, measure in TESTS.items():
                one = {}
                for server in ("katana", "nginx"):
                    said = f"\rround {number + 1}/{options.rounds} {test} {server:<10}"
                    print(said, end="", file=sys.stderr, flush=True)
                    with running(server, folder, options) as (process, port):
                        one[server] = measure(process, port, options)
                results[test].append(one)
    print(file=sys.stderr)
    return results


def table(results):
    """Return the Markdown table of medians and ratios."""
    lines = ["| test | figure | katana | nginx | ratio |", "|---|---|---|---|---|"]
    for test, rounds in results.items():
        for figure in rounds[0]["katana"]:
            mine, theirs = ([one[name].get(figure, 0) for one in rounds] for name in ("katana", "nginx"))
            ratios = sorted(a / b for a, b in zip(mine, theirs) if b)
            spread = f"{statistics.median(ratios):.3f} ({ratios[0]:.3f}–{ratios[-1]:.3f})" if ratios else "n/a"
            middle = f"{statistics.median(mine):.2f} | {statistics.median(theirs):.2f}"
            lines.append(f"| {test} | {figure} | {middle} | {spread} |")
    return "\n".join(lines)


def main():
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/bench", type=pathlib.Path)
    parser.add_argument("--engine", default="epoll-edge")
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--seconds", default=3, type=int)
    parser.add_argument("--connections", default=64, type=int)
    parser.add_argument("--idle", default=1000, type=int)
    parser.add_argument("--key", default="ec", choices=("ec", "rsa"))
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    try:
        results = run(options)
    except LabError as error:
        sys.exit(f"tls_cost.py: {error}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    print(table(results))


if __name__ == "__main__":
    main()
