"""Measure what telemetry adds to a request: KATANA beside axum with tracing-opentelemetry and Go with its SDK.

    telemetry_cost.py [--by cpu|instructions] [--build build/release] [--rivals FOLDER] [--connections 16]
                      [--rounds 500 2500] [--pairs 5] [--markdown FILE]

Each server answers GET /health on keep-alive connections. Variants:
    off     without telemetry
    1 %     a span for one request of a hundred
    all     a span for each request: recorded, encoded and sent
    gzip    the same, compressed
A thread of this command is the collector. Each figure covers all threads of the server, its exporter too. After the
load the command waits until the last batch has been sent.
    cpu            CPU time (schedstat) of the long load, behind the short one, divided by its requests
    instructions   under callgrind, for a short and for a long load: other programs do not change them. Not of Go, which
                   Valgrind cannot run.

The variants run in turn (A B C A B C …). The table has the median, and the smallest and the largest figure.
The second table has the CPU time of an export of the metrics. The process makes many exports, without a request.

--rivals is the folder with the programs net_http and axum; without it KATANA is alone. lab/telemetry/rivals has their
sources: `go build ./net_http`, and `cargo build --release` in axum.
"""
from __future__ import annotations

import argparse
import dataclasses
import http.client
import http.server
import re
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from katana_lab import ROOT
from katana_lab.costs import harness, instructions
from katana_lab.heading import made_by

VARIANTS = ("off", "1 %", "all", "gzip")
COLUMNS = ("server", "variant", "{} per request", "added", "ratio to off", "bytes sent per request")
UNITS = {"cpu": "CPU ns", "instructions": "instructions"}
SENT_AFTER_S = 7  # OpenTelemetry's batches leave after 5 s
RATIOS = {"1 %": "0.01", "all": "1", "gzip": "1"}


class Collector(http.server.ThreadingHTTPServer):
    """Accepts every export, and counts bytes."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Accept)
        self.received = self.requests = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """A server that ends resets its connections."""

    @property
    def url(self):
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class Accept(http.server.BaseHTTPRequestHandler):
    """200 without a body."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Take one export."""
        self.server.received += self.read_content()
        self.server.requests += 1
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def read_content(self):
        """Read the content, and return its bytes."""
        if self.headers.get("Transfer-Encoding") != "chunked":
            return len(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        read = 0
        while size := int(self.rfile.readline().split(b";")[0], 16):
            read += len(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return read

    def log_message(self, *_):
        """Print nothing."""


@dataclasses.dataclass
class Options:
    """The options of instructions.count()."""

    server: str
    connections: int
    path: str = "/health"
    content: str | None = None
    by: str = "file"


def katana(build, variant, collector):
    """The command of KATANA: spans alone, as the rivals have them."""
    sets = ["http.port=0", "http.reactors=1", "http.drain_notice=0s", "database.url=sqlite:{folder}/shop.db",
            "log.console=off", "requests.access_log=false", "telemetry.metrics.enabled=false",
            "telemetry.logs.enabled=false", f"telemetry.endpoint={collector.url}",
            f"telemetry.ratio={RATIOS.get(variant, '0')}", f"telemetry.enabled={str(variant != 'off').lower()}",
            f"telemetry.compression={'gzip' if variant == 'gzip' else 'none'}"]
    return " ".join([f"{build}/telemetry_server", *(f"--set {each}" for each in sets)])


def rival(program, variant, collector):
    """The command of a rival."""
    how = "" if variant == "off" else f" --collector {collector.url} --ratio {RATIOS[variant]}"
    how += " --gzip" if variant == "gzip" else ""
    return f"{program} --port 0{how}"


def measure(command, options, collector):
    """The figures of one request."""
    if options.by == "cpu":
        return measure_cpu(command, options, collector)
    counted, sent = [], []
    for rounds in options.rounds:
        before = collector.received
        costs, requests = instructions.count(Options(command, options.connections), rounds)
        counted.append((sum(costs.values()), requests))
        sent.append(collector.received - before)
    (small, few), (large, many) = counted
    return {"cost": (large - small) / (many - few), "bytes": (sent[1] - sent[0]) / (many - few)}


def measure_cpu(command, options, collector):
    """The same in CPU nanoseconds; the short load makes everything warm."""
    with tempfile.TemporaryDirectory() as folder:
        with subprocess.Popen(command.replace("{folder}", folder).split(), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as process:
            port = instructions.ready_port(process)
            short, long = options.rounds
            instructions.load(port, "/health", options.connections, short)
            time.sleep(SENT_AFTER_S)
            before, received = cpu_s(process), collector.received
            requests = instructions.load(port, "/health", options.connections, long)
            time.sleep(SENT_AFTER_S)
            used, sent = cpu_s(process) - before, collector.received - received
            process.send_signal(signal.SIGTERM)
    return {"cost": used / requests * 1e9, "bytes": sent / requests}


def cpu_s(process):
    """The CPU seconds of all threads of a process so far."""
    return sum(int(each.read_text(encoding="ascii").split()[0]) for each in
               Path(f"/proc/{process.pid}/task").glob("*/schedstat")) / 1e9


def sent_points(port):
    """How many points of metrics the program has sent."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    return float(re.search(r'katana_telemetry_metrics_total\{outcome="sent"\} (\S+)', text)[1])


def measure_export(build, collector, exports=50):
    """The points, CPU microseconds and bytes of one export of the metrics."""
    with tempfile.TemporaryDirectory() as folder:
        command = katana(build, "off", collector).replace("{folder}", folder).split()
        command += ["--set", "telemetry.enabled=true", "--set", "telemetry.traces=false", "--set",
                    "telemetry.metrics.enabled=true", "--set", "telemetry.metrics.interval=100ms",
                    "--set", "log.console=text"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        port = next(int(found[1]) for line in process.stderr if (found := re.search(r"listening on \S+:(\d+)", line)))
        sent_points(port)
        time.sleep(1)
        requests, received, points, begun = collector.requests, collector.received, sent_points(port), cpu_s(process)
        while collector.requests < requests + exports:
            time.sleep(0.05)
        used, done = cpu_s(process) - begun, collector.requests - requests
        result = {"points": (sent_points(port) - points) / done, "us": used / done * 1e6,
                  "bytes": (collector.received - received) / done}
        process.send_signal(signal.SIGTERM)
        process.communicate()
        return result


def rows(rounds, server):
    """The lines of the table of one server."""
    found = []
    for variant in VARIANTS:
        name = f"{server} {variant}"
        each = [one[name]["cost"] for one in rounds]
        added = [one[name]["cost"] - one[f"{server} off"]["cost"] for one in rounds]
        ratio = [one[name]["cost"] / one[f"{server} off"]["cost"] for one in rounds]
        sent = statistics.median(one[name]["bytes"] for one in rounds)
        found.append((server, variant, harness.spread(each, 0), harness.spread(added, 0) if variant != "off" else "",
                      harness.spread(ratio, 3) if variant != "off" else "", f"{sent:.0f}"))
    return found


def parse_options():
    """The options, complete."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--by", choices=tuple(UNITS), default="cpu")
    add("--build", type=Path, default=ROOT / "build/release")
    add("--rivals", type=Path, metavar="FOLDER", help="with the programs net_http and axum")
    add("--connections", type=int, default=16)
    add("--rounds", type=int, nargs=2, default=(500, 2500), metavar=("SHORT", "LONG"))
    add("--pairs", type=int, default=5, help="how often each variant runs")
    add("--markdown", type=Path, metavar="FILE", help="write the table there, too")
    return parser.parse_args()


def main() -> None:
    """Measure, print, write."""
    options, collector = parse_options(), Collector()
    servers = ["katana"] + ([name for name in ("axum", "net_http") if (options.rivals / name).exists()]
                            if options.rivals else [])

    def one(name):
        server, variant = name.split(" ", 1)
        command = katana(options.build, variant, collector) if server == "katana" else \
            rival(options.rivals / server, variant, collector)
        return measure(command, options, collector)

    names = [f"{server} {variant}" for server in servers for variant in VARIANTS]
    rounds = harness.in_rounds(options.pairs, names, one, "telemetry")
    lines = ["# What telemetry adds to a request", "", made_by("lab/telemetry_cost.py"), "",
             *harness.markdown([each.format(UNITS[options.by]) for each in COLUMNS],
                               [row for server in servers for row in rows(rounds, server)])]
    taken = [measure_export(options.build, collector) for _ in range(options.pairs)]
    lines += ["", *harness.markdown(
        ("points of an export", "CPU µs", "bytes sent", "µs for 1,000 points"),
        [(harness.spread([each["points"] for each in taken], 0), harness.spread([each["us"] for each in taken], 0),
          harness.spread([each["bytes"] for each in taken], 0),
          harness.spread([1000 * each["us"] / each["points"] for each in taken], 0))])]
    print("\n".join(lines))
    if options.markdown:
        options.markdown.write_text("\n".join([*lines, ""]), encoding="utf-8")

# SPDX-License-Identifier: Apache-2.0
