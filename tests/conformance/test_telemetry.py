"""Traces by OTLP: what a program sends, decoded by the definitions of opentelemetry-proto, field by field.

The program is the first one of docs/guides/telemetry.md; the collector is a thread of this test.
"""
import gzip
import http.client
import http.server
import subprocess
import threading
import time

import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

import program_process

REMOTE_TRACE = "0af7651916cd43dd8448eb211c80319c"
REMOTE_SPAN = "b7ad6b7169203331"
SECONDS_MAX = 30


class Collector(http.server.ThreadingHTTPServer):
    """Keeps each request; answers with what `plan` has next, and then with success."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests, self.plan, self.arrived = [], [], threading.Condition()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def wait_for(self, holds):
        with self.arrived:
            assert self.arrived.wait_for(lambda: holds(self), SECONDS_MAX), f"{len(self.requests)} requests came"

    def spans(self):
        """All spans that it took, with the resource of their request."""
        return [(each.resource, scope.scope, span) for message, status in self.requests if status == 200
                for each in message.resource_spans for scope in each.scope_spans for span in scope.spans]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        message = trace_service_pb2.ExportTraceServiceRequest.FromString(body)
        collector = self.server
        with collector.arrived:
            status, reply = collector.plan.pop(0) if collector.plan else (200, b"")
            collector.requests.append((message, status))
            collector.last = (self.path, dict(self.headers))
            collector.arrived.notify_all()
        if status == 0:                                     # closes in the middle of the reply
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx")
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


class Shop(program_process.Program):
    def __init__(self, collector, tmp_path, variables=(), settings=()):
        command = [program_process.built("telemetry_server")]
        for each in (f"database.url=sqlite:{tmp_path}/shop.db", "http.port=0", "http.reactors=2",
                     "http.drain_notice=0s", "log.console=true", *settings):
            command += ["--set", each]
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_address[1]}",
                       "OTEL_BSP_SCHEDULE_DELAY": "100", "PATH": "/usr/bin:/bin", **dict(variables)}
        self.log = ""
        self._start("shop", command, env=environment)

    def stop(self):
        """End it as SIGTERM does, and keep what it has logged."""
        self.send_signal()
        assert self.wait() == 0, self.stderr()
        self.log = self.stderr()

    def get(self, path, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS_MAX)
        connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in fields.items()})
        reply = connection.getresponse()
        reply.read()
        connection.close()
        return reply.status


def attributes(of):
    """Key to value of attributes, each of which is there once."""
    found = {}
    for each in of.attributes:
        assert each.key not in found, f"{each.key} is there twice"
        found[each.key] = getattr(each.value, each.value.WhichOneof("value"))
    return found


@pytest.fixture(name="collector")
def fixture_collector():
    collector = Collector()
    yield collector
    collector.shutdown()
    collector.server_close()


def test_each_field_of_a_trace_is_what_the_program_did(collector, tmp_path):
    before = time.time_ns()
    variables = {"OTEL_SERVICE_NAME": "till", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=a%20b,team=x",
                 "OTEL_EXPORTER_OTLP_HEADERS": "api-key=se%2Ccret"}
    with Shop(collector, tmp_path, variables) as shop:
        assert shop.get("/price/tea?token=abc&page=2", User_Agent="t\xe9st", tracestate="a=1,b=2",
                        traceparent=f"00-{REMOTE_TRACE}-{REMOTE_SPAN}-03") == 200
        collector.wait_for(lambda self: len(self.spans()) >= 3)
    path, fields = collector.last
    assert path == "/v1/traces"
    assert fields["Content-Type"] == "application/x-protobuf" and fields["api-key"] == "se,cret"
    spans = {span.name: (resource, scope, span) for resource, scope, span in collector.spans()}
    assert set(spans) == {"GET /price/{item}", "price", "SELECT"}
    resource, scope, request = spans["GET /price/{item}"]
    about = attributes(resource)
    assert about["service.name"] == "till" and about["service.version"] == "1.2"
    assert about["deployment.environment.name"] == "a b" and about["team"] == "x"
    assert about["telemetry.sdk.language"] == "cpp" and about["service.instance.id"]
    assert scope.name == "katana"
    assert request.trace_id.hex() == REMOTE_TRACE and request.parent_span_id.hex() == REMOTE_SPAN
    assert request.trace_state == "a=1,b=2"
    assert request.kind == trace_pb2.Span.SPAN_KIND_SERVER
    assert request.flags == 0x303, "sampled, random, of a parent that is remote"
    assert request.status.code == trace_pb2.Status.STATUS_CODE_UNSET
    assert before <= request.start_time_unix_nano <= request.end_time_unix_nano <= time.time_ns()
    found = attributes(request)
    assert found["http.request.method"] == "GET" and found["http.route"] == "/price/{item}"
    assert found["http.response.status_code"] == 200 and found["url.scheme"] == "http"
    assert found["url.path"] == "/price/tea" and found["url.query"] == "token=***&page=2"
    assert found["server.address"] == "127.0.0.1" and found["server.port"] == shop.port
    assert found["client.address"] == "127.0.0.1" and found["network.protocol.version"] == "1.1"
    assert found["user_agent.original"] == "t\ufffdst", "what is no UTF-8"
    own, statement = spans["price"][2], spans["SELECT"][2]
    for child, parent in ((own, request), (statement, own)):
        assert child.trace_id == request.trace_id and child.parent_span_id == parent.span_id
        assert parent.start_time_unix_nano <= child.start_time_unix_nano
        assert child.end_time_unix_nano <= parent.end_time_unix_nano
        assert child.flags & 0x300 == 0x100, "its parent is of this process"
    assert own.kind == trace_pb2.Span.SPAN_KIND_INTERNAL and attributes(own) == {"shop.item": "tea"}
    assert statement.kind == trace_pb2.Span.SPAN_KIND_CLIENT
    assert attributes(statement) == {"db.system.name": "sqlite", "db.query.summary": "SELECT",
                                     "db.query.text": "SELECT 199 AS cents"}


def test_of_many_requests_each_span_comes_once_and_its_ids_are_its_own(collector, tmp_path):
    with Shop(collector, tmp_path, {"OTEL_EXPORTER_OTLP_COMPRESSION": "none"}) as shop:
        for index in range(200):
            assert shop.get(f"/price/{index}") == 200
    requests = [span for _, _, span in collector.spans() if span.kind == trace_pb2.Span.SPAN_KIND_SERVER]
    assert sorted(int(attributes(span)["url.path"].rsplit("/")[-1]) for span in requests) == list(range(200))
    assert len({span.trace_id for span in requests}) == 200
    assert len({span.span_id for _, _, span in collector.spans()}) == len(collector.spans()) == 600


@pytest.mark.parametrize("status", [429, 502, 503, 504, 0])
def test_an_export_that_cannot_be_taken_now_comes_again(collector, tmp_path, status):
    collector.plan = [(status, b"")]
    with Shop(collector, tmp_path) as shop:
        assert shop.get("/price/tea") == 200
        collector.wait_for(lambda self: len(self.requests) >= 2)
        assert collector.requests[0][0].resource_spans[0].scope_spans == \
            collector.requests[1][0].resource_spans[0].scope_spans


@pytest.mark.parametrize("status", [400, 413])
def test_an_export_that_is_refused_does_not(collector, tmp_path, status):
    collector.plan = [(status, b"")]
    with Shop(collector, tmp_path) as shop:
        assert shop.get("/price/tea") == 200
        collector.wait_for(lambda self: len(self.requests) >= 1)
        assert shop.get("/price/tea") == 200
        collector.wait_for(lambda self: len(self.spans()) >= 3)
        command = ["curl", "-s", shop.url("/metrics")]
        metrics = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert 'katana_telemetry_spans_total{outcome="refused"} 3' in metrics
    refused, taken = ([message.resource_spans[0].scope_spans[0].spans[0].trace_id for message, got in collector.requests
                       if (got == 200) == wanted] for wanted in (False, True))
    assert len(refused) == 1 and refused[0] not in taken


def test_a_partial_success_is_counted_and_not_repeated(collector, tmp_path):
    reply = trace_service_pb2.ExportTraceServiceResponse()
    reply.partial_success.rejected_spans = 2
    reply.partial_success.error_message = "too old"
    collector.plan = [(200, reply.SerializeToString())]
    with Shop(collector, tmp_path) as shop:
        assert shop.get("/price/tea") == 200
        collector.wait_for(lambda self: len(self.requests) >= 1)
    assert len(collector.requests) == 1
    assert "2 spans were rejected: too old" in shop.log


def test_without_a_collector_the_program_serves_and_ends(collector, tmp_path):
    with Shop(collector, tmp_path, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}) as shop:
        for _ in range(50):
            assert shop.get("/price/tea") == 200
    assert "spans are not exported" in shop.log and "before the end" in shop.log


def test_a_variable_that_is_wrong_is_logged_and_one_turns_all_off(collector, tmp_path):
    with Shop(collector, tmp_path, {"OTEL_TRACES_SAMPLER": "nonsense"}) as shop:
        assert shop.get("/price/tea") == 200
    assert "OTEL_TRACES_SAMPLER is ignored" in shop.log and len(collector.spans()) == 3
    collector.requests.clear()
    with Shop(collector, tmp_path, {"OTEL_SDK_DISABLED": "true"}) as shop:
        assert shop.get("/price/tea") == 200
    assert not collector.requests

# SPDX-License-Identifier: Apache-2.0
