"""Traces, metrics and logs by OTLP, decoded by the definitions of opentelemetry-proto, field by field.

The program is the first one of docs/guides/telemetry.md; the collector is a thread of this test.
"""
import base64
import gzip
import http.client
import http.server
import signal
import subprocess
import threading
import time
import urllib.parse

import pytest
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.metrics.v1 import metrics_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

import program_process

REMOTE_TRACE = "0af7651916cd43dd8448eb211c80319c"
REMOTE_SPAN = "b7ad6b7169203331"
SECONDS_MAX = 30
SLOW = -1


MESSAGES = {"/v1/traces": trace_service_pb2.ExportTraceServiceRequest,
            "/v1/metrics": metrics_service_pb2.ExportMetricsServiceRequest,
            "/v1/logs": logs_service_pb2.ExportLogsServiceRequest}


class Collector(http.server.ThreadingHTTPServer):
    """Keeps each request; answers those of traces with what `plan` has next, and then with success."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests, self.plan, self.arrived = [], [], threading.Condition()
        self.metrics_requests, self.logs_requests, self.hurry = [], [], threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def wait_for(self, holds):
        with self.arrived:
            assert self.arrived.wait_for(lambda: holds(self), SECONDS_MAX), f"{len(self.requests)} requests came"

    def spans(self):
        """All spans that it took, with the resource of their request."""
        return [(each.resource, scope.scope, span) for message, status in self.requests if status == 200
                for each in message.resource_spans for scope in each.scope_spans for span in scope.spans]

    def log_records(self):
        """All records that it took, in their order."""
        return [record for message in self.logs_requests for each in message.resource_logs
                for scope in each.scope_logs for record in scope.log_records]

    def metrics(self):
        """The metrics of the last export, by name."""
        found = {}
        for each in self.metrics_requests[-1].resource_metrics:
            for scope in each.scope_metrics:
                assert scope.scope.name == "katana" and scope.schema_url.endswith("1.45.0")
                for metric in scope.metrics:
                    assert metric.name not in found, f"{metric.name} is there twice"
                    found[metric.name] = metric
        return found


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        path = urllib.parse.urlsplit(self.path).path        # the whole URL, where this is a proxy
        message = MESSAGES[path].FromString(body)
        collector, status, reply = self.server, 200, b""
        with collector.arrived:
            if path == "/v1/traces":
                status, reply = collector.plan.pop(0) if collector.plan else (200, b"")
                collector.requests.append((message, status))
                collector.last = (self.path, dict(self.headers))
            elif path == "/v1/metrics":
                collector.metrics_requests.append(message)
            else:
                collector.logs_requests.append(message)
            collector.arrived.notify_all()
        if status == 0:                                     # closes in the middle of the reply
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx")
            self.close_connection = True
            return
        if status == SLOW:                                  # a byte a second, until it is let go
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
            while not collector.hurry.wait(1):
                self.wfile.write(b"x")
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


class Shop(program_process.Program):
    def __init__(self, collector, tmp_path, variables=(), settings=(), config=None):
        command = [program_process.built("telemetry_server")]
        if config:
            command += ["--config", str(config)]
        for each in (f"database.url=sqlite:{tmp_path}/shop.db", "http.port=0", "http.reactors=2",
                     "http.drain_notice=0s", "log.console=true", *settings):
            command += ["--set", each]
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_address[1]}",
                       "OTEL_BSP_SCHEDULE_DELAY": "100", "PATH": "/usr/bin:/bin", **dict(variables)}
        self.log = ""
        self._start("shop", command, env=environment)

    def stop(self):
        """End it as SIGTERM does, and keep its log."""
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


def test_migrations_of_the_start_are_spans_with_their_own_times(collector, tmp_path):
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "0001_first.sql").write_text("CREATE TABLE a (b INT);")
    (folder / "0002_second.sql").write_text("CREATE TABLE c (d INT);")
    shop = Shop(collector, tmp_path, settings=[f"database.migrations={folder}"])
    collector.wait_for(lambda it: len(it.spans()) >= 3)
    shop.stop()
    spans = [span for _, _, span in collector.spans()]
    (whole,) = [span for span in spans if span.name == "migrations"]
    files = sorted((span for span in spans if span.name == "migration"), key=lambda span: span.start_time_unix_nano)
    assert attributes(whole) == {"db.system.name": "sqlite", "katana.migrations.applied": 2}
    assert [attributes(each)["katana.migration.file"] for each in files] == ["0001_first.sql", "0002_second.sql"]
    for each in files:
        assert (each.trace_id, each.parent_span_id) == (whole.trace_id, whole.span_id)
        assert whole.start_time_unix_nano <= each.start_time_unix_nano <= each.end_time_unix_nano
        assert each.end_time_unix_nano <= whole.end_time_unix_nano
    assert "migration 0002_second.sql was applied in" in shop.log


def test_listed_baggage_is_an_attribute_and_a_variable_turns_it_off(collector, tmp_path):
    for propagators, expected in (("tracecontext,baggage", {"tenant": "a b"}), ("tracecontext", {})):
        collector.requests.clear()
        shop = Shop(collector, tmp_path, variables=[("OTEL_PROPAGATORS", propagators)],
                    settings=["telemetry.baggage=[tenant]"])
        assert shop.get("/price/tea", baggage="tenant=a%20b,secret=x") == 200
        collector.wait_for(lambda it: any(span.name == "GET /price/{item}" for _, _, span in it.spans()))
        shop.stop()
        (request,) = [span for _, _, span in collector.spans() if span.name == "GET /price/{item}"]
        found = attributes(request)
        assert {key: found[key] for key in ("tenant", "secret") if key in found} == expected


@pytest.mark.parametrize("variable, coding", [("", None), ("none", None), ("gzip", "gzip")])
def test_of_many_requests_each_span_comes_once_and_its_ids_are_its_own(collector, tmp_path, variable, coding):
    with Shop(collector, tmp_path, {"OTEL_EXPORTER_OTLP_COMPRESSION": variable}) as shop:
        for index in range(200):
            assert shop.get(f"/price/{index}") == 200
    assert collector.last[1].get("Content-Encoding") == coding, "by default not on the way within this machine"
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


def test_a_slow_collector_holds_up_no_request_and_gets_the_spans_again(collector, tmp_path):
    collector.plan = [(SLOW, b"")]
    with Shop(collector, tmp_path) as shop:
        assert shop.get("/price/0") == 200
        collector.wait_for(lambda self: self.requests)
        for index in range(1, 100):                         # each has its reply while the export goes on
            assert shop.get(f"/price/{index}") == 200
        assert [status for _, status in collector.requests] == [SLOW]
        collector.hurry.set()
        collector.wait_for(lambda self: len(self.spans()) == 300)


def test_a_reply_that_is_no_protobuf_is_told_and_the_spans_are_not_sent_again(collector, tmp_path):
    collector.plan = [(200, b"\xff\xff\xff")]
    with Shop(collector, tmp_path) as shop:
        assert shop.get("/price/tea") == 200
        collector.wait_for(lambda self: self.requests)
    assert len(collector.requests) == 1
    assert "spans were taken, with a warning: its reply is malformed" in shop.log


def test_a_warning_of_a_collector_that_took_all_is_told(collector, tmp_path):
    reply = trace_service_pb2.ExportTraceServiceResponse()
    reply.partial_success.error_message = "an attribute is deprecated"
    collector.plan = [(200, reply.SerializeToString())]
    with Shop(collector, tmp_path) as shop:
        assert shop.get("/price/tea") == 200
        collector.wait_for(lambda self: self.requests)
    assert len(collector.requests) == 1
    assert "spans were taken, with a warning: an attribute is deprecated" in shop.log


def test_without_a_collector_the_program_serves_and_ends(collector, tmp_path):
    with Shop(collector, tmp_path, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}) as shop:
        for _ in range(50):
            assert shop.get("/price/tea") == 200
    assert "spans are not exported" in shop.log and "before the end" in shop.log


def test_a_variable_that_is_wrong_is_logged_and_one_turns_all_off(collector, tmp_path):
    with Shop(collector, tmp_path, {"OTEL_TRACES_SAMPLER": "nonsense"}) as shop:
        assert shop.get("/price/tea") == 200
    assert "OTEL_TRACES_SAMPLER is ignored" in shop.log and len(collector.spans()) == 3
    for each in (collector.requests, collector.metrics_requests, collector.logs_requests):
        each.clear()
    with Shop(collector, tmp_path, {"OTEL_SDK_DISABLED": "true"}) as shop:
        assert shop.get("/price/tea") == 200
    assert not collector.requests and not collector.metrics_requests and not collector.logs_requests


def points_of(metric):
    return getattr(metric, metric.WhichOneof("data")).data_points


def scraped(shop):
    """Name and labels of each sample of /metrics, to its value."""
    command = ["curl", "-s", shop.url("/metrics")]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {name: float(value) for name, value in
            (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))}


def test_metrics_are_those_of_the_registry(collector, tmp_path):
    before = time.time_ns()
    with Shop(collector, tmp_path, {"OTEL_METRIC_EXPORT_INTERVAL": "200"}) as shop:
        for _ in range(7):
            assert shop.get("/price/tea") == 200
        samples = scraped(shop)
        seen = len(collector.metrics_requests)
        collector.wait_for(lambda self: len(self.metrics_requests) >= seen + 2)
        metrics = collector.metrics()
    about = attributes(collector.metrics_requests[-1].resource_metrics[0].resource)
    assert about["service.name"] == "shop" and about["service.instance.id"]
    routes = metrics["katana_http_route_requests"]
    assert routes.sum.is_monotonic
    assert routes.sum.aggregation_temporality == metrics_pb2.AGGREGATION_TEMPORALITY_CUMULATIVE
    price = [each for each in routes.sum.data_points
             if attributes(each).get("route") == "/price/{item}" and attributes(each)["status"] == "2xx"]
    assert [each.as_int for each in price] == [7] and attributes(price[0])["method"] == "GET"
    assert before <= price[0].start_time_unix_nano < price[0].time_unix_nano <= time.time_ns()
    durations = metrics["katana_http_route_duration_seconds"]
    assert durations.unit == "s" and durations.description
    found = [each for each in durations.exponential_histogram.data_points
             if attributes(each).get("route") == "/price/{item}"]
    assert len(found) == 1 and found[0].count == 7 and found[0].sum > 0
    assert found[0].zero_count + sum(found[0].positive.bucket_counts) == 7
    base = 2 ** 2 ** -found[0].scale
    lowest, highest = base ** found[0].positive.offset, base ** (found[0].positive.offset +
                                                                 len(found[0].positive.bucket_counts))
    assert lowest * 7 * 0.9 <= found[0].sum <= highest * 7 * 1.1
    # Every sample without labels that a scrape has, but those that the exporter itself moves.
    missing = [name for name in samples if "{" not in name and name.removesuffix("_total") not in metrics
               and not name.endswith(("_sum", "_count"))]
    assert not missing, missing
    gauge = metrics["katana_database_usable"].gauge.data_points
    assert [each.as_double for each in gauge] == [1] and not gauge[0].start_time_unix_nano
    for metric in metrics.values():
        series = [tuple(sorted(attributes(each).items())) for each in points_of(metric)]
        assert series and len(set(series)) == len(series), metric.name


def test_deltas_add_up_to_what_the_program_has_counted_and_the_end_sends_the_last(collector, tmp_path):
    variables = {"OTEL_METRIC_EXPORT_INTERVAL": "100",
                 "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "delta",
                 "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION": "explicit_bucket_histogram"}
    with Shop(collector, tmp_path, variables) as shop:
        for index in range(60):
            assert shop.get(f"/price/{index}") == 200
            if index % 20 == 0:
                seen = len(collector.metrics_requests)
                collector.wait_for(lambda self, seen=seen: len(self.metrics_requests) > seen)
    counted, observed = 0, 0
    ends = []
    for message in collector.metrics_requests:
        for metric in (metric for each in message.resource_metrics for scope in each.scope_metrics
                       for metric in scope.metrics):
            for point in points_of(metric):
                if attributes(point).get("route") != "/price/{item}":
                    continue
                if metric.name == "katana_http_route_requests":
                    assert metric.sum.aggregation_temporality == metrics_pb2.AGGREGATION_TEMPORALITY_DELTA
                    counted += point.as_int
                    assert not ends or point.start_time_unix_nano >= ends[-1]
                    ends.append(point.time_unix_nano)
                elif metric.name == "katana_http_route_duration_seconds":
                    assert len(point.bucket_counts) == len(point.explicit_bounds) + 1
                    assert sum(point.bucket_counts) == point.count
                    observed += point.count
    assert counted == observed == 60


def test_log_records_have_the_ids_of_their_request(collector, tmp_path):
    before = time.time_ns()
    with Shop(collector, tmp_path) as shop:
        assert shop.get("/price/tea", traceparent=f"00-{REMOTE_TRACE}-{REMOTE_SPAN}-01") == 200
        collector.wait_for(lambda self: any(each.trace_id.hex() == REMOTE_TRACE for each in self.log_records()))
    records = collector.log_records()
    bodies = [each.body.string_value for each in records]
    assert any(body.startswith("listening on") for body in bodies)
    assert any(body.startswith("SIGTERM received") for body in bodies), "the end of the log is sent, too"
    access = next(each for each in records if each.trace_id.hex() == REMOTE_TRACE)
    found = attributes(access)
    assert found["status"] == 200 and found["logger"] and "trace_id" not in found
    assert access.severity_number == logs_pb2.SEVERITY_NUMBER_INFO and access.severity_text == "info"
    assert before <= access.time_unix_nano <= time.time_ns()
    request = next(span for _, _, span in collector.spans() if span.kind == trace_pb2.Span.SPAN_KIND_SERVER)
    assert access.span_id == request.span_id
    for each in records:
        attributes(each)                                    # no key twice


@pytest.mark.parametrize("signal", ["TRACES", "METRICS", "LOGS"])
def test_each_signal_can_be_turned_off_alone(collector, tmp_path, signal):
    with Shop(collector, tmp_path, {f"OTEL_{signal}_EXPORTER": "none"}) as shop:
        assert shop.get("/price/tea") == 200
    sent = {"TRACES": bool(collector.requests), "METRICS": bool(collector.metrics_requests),
            "LOGS": bool(collector.logs_requests)}
    assert sent == {name: name != signal for name in sent}


def price_durations(collector):
    """The points of the durations of /price/{item} in the last export."""
    found = collector.metrics().get("katana_http_route_duration_seconds")
    points = found.exponential_histogram.data_points if found else []
    return [each for each in points if attributes(each).get("route") == "/price/{item}"]


def test_exemplars_refer_to_new_traces_after_a_reload(collector, tmp_path):
    settings = tmp_path / "shop.yaml"
    settings.write_text("log: {levels: info}\n")
    with Shop(collector, tmp_path, {"OTEL_METRIC_EXPORT_INTERVAL": "200"}, config=settings) as shop:
        for round_number, levels in enumerate(("info", "warn")):
            if round_number:
                settings.write_text(f"log: {{levels: {levels}}}\n")
                shop.send_signal(signal.SIGHUP)
                collector.wait_for(lambda self: any(
                    "configuration" in each.body.string_value for each in self.log_records()[known:]))
            trace = f"{round_number + 1:032x}"
            assert shop.get("/price/tea", traceparent=f"00-{trace}-{REMOTE_SPAN}-01") == 200
            collector.wait_for(lambda self, wanted=trace: self.metrics_requests and any(
                exemplar.trace_id.hex() == wanted for point in price_durations(self) for exemplar in point.exemplars))
            known = len(collector.log_records())


def test_spans_metrics_and_records_leave_the_sandbox(collector, tmp_path):
    with Shop(collector, tmp_path, settings=["process.sandbox=on"]) as shop:
        assert shop.get("/price/tea") == 200
        collector.wait_for(lambda self: any(span.name == "GET /price/{item}" for _, _, span in self.spans()))
    assert collector.metrics_requests and collector.log_records()
    assert "refused" not in shop.log, shop.log


def test_exports_go_through_the_proxy_of_the_environment(collector, tmp_path):
    proxy = f"http://ada:se%3Acret@127.0.0.1:{collector.server_address[1]}"
    with Shop(collector, tmp_path, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector.example:4318",
                                    "http_proxy": proxy, "no_proxy": "other.example"}) as shop:
        assert shop.get("/price/tea") == 200
        collector.wait_for(lambda self: self.spans())
    path, headers = collector.last
    assert path == "http://collector.example:4318/v1/traces" and headers["Host"] == "collector.example:4318"
    assert headers["Proxy-Authorization"] == "Basic " + base64.b64encode(b"ada:se:cret").decode()


def test_what_is_printed_and_not_served_is_not_sent(collector, tmp_path):
    command = [program_process.built("telemetry_server"), "--print-routes",
               "--set", f"database.url=sqlite:{tmp_path}/a.db"]
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_address[1]}"}
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert not collector.metrics_requests and not collector.requests

# SPDX-License-Identifier: Apache-2.0
