"""One trace over three processes, as the OpenTelemetry Collector and Jaeger have it.

client → service → PostgreSQL, and through NATS a second service. tools/matrix builds both programs.

KATANA_OTELCOL is the collector of tests/deploy/collector, KATANA_JAEGER Jaeger's all-in-one; without the latter, the
trace is read from the collector's file alone.
"""
import contextlib
import http.client
import json
import os
import subprocess
import time
import urllib.request

import pytest

import program_process
from nats_process import Nats
from postgres_cluster import Cluster
from redis_process import wait_for_port
from server_process import free_port

OTELCOL, JAEGER = os.environ.get("KATANA_OTELCOL"), os.environ.get("KATANA_JAEGER")
pytestmark = pytest.mark.skipif(not OTELCOL, reason="KATANA_OTELCOL is not set: tools/matrix telemetry does it")
SECONDS_MAX = 60
# name → name of its parent, of every span of the trace.
TREE = {"GET /start": None, "GET": "GET /start", "GET /orders": "GET", "find_order": "GET /orders",
        "publish orders.*": "GET /orders", "process orders.*": "publish orders.*", "pack": "process orders.*",
        "find_parcel": "pack"}
# name → the process that recorded it.
OF_PROCESS = {"GET /start": "client", "GET": "client", "GET /orders": "service", "find_order": "service",
              "publish orders.*": "service", "process orders.*": "packer", "pack": "packer", "find_parcel": "packer"}


def wait_until(holds, what):
    """The first true result of holds()."""
    give_up = time.monotonic() + SECONDS_MAX
    while not (found := holds()):
        assert time.monotonic() < give_up, what
        time.sleep(0.05)
    return found


class Server(program_process.Program):
    """One of the three processes."""

    def __init__(self, name, collector, postgres, nats, *settings):
        command = [program_process.built("trace_server")]
        for each in (f"database.url={postgres}", f"bus.url={nats}", "http.port=0", "http.reactors=1",
                     "http.drain_notice=0s", "log.console=text", "telemetry.experimental=true",
                     f"telemetry.service_name={name}", "telemetry.interval=100ms",
                     f"telemetry.endpoint=http://127.0.0.1:{collector}", *settings):
            command += ["--set", each]
        self._start("trace_server", command, env={"PATH": "/usr/bin:/bin"})

    def stop(self):
        """End it as SIGTERM does; it sends the rest."""
        self.send_signal()
        assert self.wait() == 0, self.stderr()

    def get(self, path, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS_MAX)
        connection.request("GET", path, headers=fields)
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        assert reply.status < 300, text
        return text


@contextlib.contextmanager
def running(command, *ports):
    """A program until the end of the block; it listens on the ports first."""
    process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        for port in ports:
            wait_for_port(process, port)
        yield process
    finally:
        process.kill()
        process.wait(SECONDS_MAX)


@pytest.fixture
def jaeger():
    """(port of OTLP, port of queries); None: it is not there."""
    if not JAEGER:
        yield None
        return
    ports = {name: free_port() for name in ("otlp", "grpc", "query", "query_grpc", "admin", "collector",
                                            "collector_grpc")}
    command = [JAEGER, f"--collector.otlp.http.host-port=127.0.0.1:{ports['otlp']}",
               f"--collector.otlp.grpc.host-port=127.0.0.1:{ports['grpc']}",
               f"--query.http-server.host-port=127.0.0.1:{ports['query']}",
               f"--query.grpc-server.host-port=127.0.0.1:{ports['query_grpc']}",
               f"--admin.http.host-port=127.0.0.1:{ports['admin']}",
               f"--collector.http-server.host-port=127.0.0.1:{ports['collector']}",
               f"--collector.grpc-server.host-port=127.0.0.1:{ports['collector_grpc']}"]
    with running(command, ports["otlp"], ports["query"]):
        yield ports["otlp"], ports["query"]


@pytest.fixture
def collector(tmp_path, jaeger):
    """(port of OTLP, its file of traces, its file of metrics)."""
    port, files = free_port(), {name: tmp_path / f"{name}.json" for name in ("traces", "metrics", "logs")}
    exporters = {f"file/{name}": {"path": str(path), "flush_interval": "100ms"} for name, path in files.items()}
    pipelines = {name: {"receivers": ["otlp"], "exporters": [f"file/{name}"]} for name in files}
    if jaeger:
        exporters["otlphttp"] = {"endpoint": f"http://127.0.0.1:{jaeger[0]}"}
        pipelines["traces"]["exporters"].append("otlphttp")
    config = {"receivers": {"otlp": {"protocols": {"http": {"endpoint": f"127.0.0.1:{port}"}}}},
              "exporters": exporters,
              "service": {"pipelines": pipelines, "telemetry": {"metrics": {"level": "none"}}}}
    (tmp_path / "collector.yaml").write_text(json.dumps(config))
    with running([OTELCOL, "--config", f"file:{tmp_path}/collector.yaml"], port):
        yield port, files["traces"], files["metrics"]


def lines_of(path):
    """The complete lines of a file that is being written."""
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def attributes(of):
    return {each["key"]: next(iter(each["value"].values()), None) for each in of.get("attributes", [])}


def spans_of(path):
    """(service, span) of everything that the collector has written."""
    return [(attributes(each["resource"])["service.name"], span) for line in lines_of(path)
            for each in line["resourceSpans"] for scope in each["scopeSpans"] for span in scope["spans"]]


def trace_of(path):
    """name → (service, span) of the trace that begins with GET /start; nothing: it is not complete."""
    spans = spans_of(path)
    roots = [span for _, span in spans if span["name"] == "GET /start"]
    found = {span["name"]: (service, span) for service, span in spans
             if roots and span["traceId"] == roots[0]["traceId"]}
    return found if len(found) >= len(TREE) else None


def test_a_trace_over_three_processes_is_whole(tmp_path, collector, jaeger):
    port, file, metrics = collector
    with Cluster() as cluster, Nats(tmp_path) as nats:
        common = (port, cluster.new_database(), nats.url)
        with Server("packer", *common) as packer, Server("service", *common) as service, \
                Server("client", *common, f"service_url=http://127.0.0.1:{service.port}") as client:
            packer.get("/pack")
            for each in (packer, service, client):
                wait_until(lambda each=each: each.get("/ready"), "not ready")
            # Its subscription reaches the server after that: the first messages may be lost.
            trace = wait_until(lambda: client.get("/start") and trace_of(file), "the trace is not whole")
    names = {span["spanId"]: name for name, (_, span) in trace.items()}
    assert {name: names.get(span.get("parentSpanId")) for name, (_, span) in trace.items()} == TREE
    assert {name: service for name, (service, _) in trace.items()} == OF_PROCESS
    producer = trace["publish orders.*"][1]
    consumer = trace["process orders.*"][1]
    assert [link["spanId"] for link in consumer["links"]] == [producer["spanId"]]
    assert producer["kind"] == 4 and consumer["kind"] == 5
    assert attributes(producer)["messaging.system"] == attributes(consumer)["messaging.system"] == "nats"
    assert attributes(trace["find_order"][1])["db.system.name"] == "postgresql"
    for name, parent in TREE.items():
        if parent:
            child, above = trace[name][1], trace[parent][1]
            assert int(above["startTimeUnixNano"]) <= int(child["startTimeUnixNano"])
            if parent != "publish orders.*":          # its message is handled later
                assert int(child["endTimeUnixNano"]) <= int(above["endTimeUnixNano"])
    names = {metric["name"] for line in lines_of(metrics) for each in line["resourceMetrics"]
             for scope in each["scopeMetrics"] for metric in scope["metrics"]}
    assert {"http.server.request.duration", "http.client.request.duration", "db.client.operation.duration"} <= names
    if jaeger:
        shown_by_jaeger(jaeger[1], trace["GET /start"][1]["traceId"])


def shown_by_jaeger(port, trace):
    """Jaeger has each span of the trace, below the same span."""
    def read():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/traces/{trace}", timeout=SECONDS_MAX) as reply:
                spans = json.load(reply)["data"][0]["spans"]
        except OSError:
            return None
        return spans if len(spans) >= len(TREE) else None

    spans = wait_until(read, "Jaeger does not show the trace")
    names = {span["spanID"]: span["operationName"] for span in spans}
    # Jaeger keeps one reference to a span: the link of "process" to its parent, which is FOLLOWS_FROM.
    parents = {span["operationName"]: next((names[each["spanID"]] for each in span["references"]), None)
               for span in spans}
    assert parents == TREE


# SPDX-License-Identifier: Apache-2.0
