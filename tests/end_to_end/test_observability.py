"""/metrics, /health and /ready of hello_world_server, judged by Prometheus's own parsers and promtool."""
import concurrent.futures
import json
import subprocess

import httpx
import pytest
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

OPEN_METRICS = {"Accept": "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"}


def total(families, name, **labels):
    """The sum of a sample's values over the series that have the labels; fails when there is none."""
    values = [sample.value for family in families for sample in family.samples
              if sample.name == name and labels.items() <= sample.labels.items()]
    assert values, f"no sample {name} {labels}"
    return sum(values)


def scrape(client, url):
    """The families of an OpenMetrics scrape, read by the strict parser."""
    reply = client.get(url, headers=OPEN_METRICS)
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    return list(openmetrics.text_string_to_metric_families(reply.text))


def test_openmetrics_is_accepted_by_the_strict_parser(server):
    """Escapes, order, suffixes, units, buckets and # EOF."""
    with httpx.Client() as client:
        families = {family.name: family for family in scrape(client, server.url("/metrics"))}
    assert families["katana_http_requests"].type == "counter"
    assert families["katana_connections_open"].type == "gauge"
    assert families["katana_reactor_lag_seconds"].type == "histogram"
    assert families["katana_reactor_lag_seconds"].unit == "seconds"
    assert families["process_start_time_seconds"].samples[0].value > 1.7e9


def test_text_is_accepted_by_the_parser_and_by_promtool(server, tool):
    """The default, and what a browser or curl gets."""
    reply = httpx.get(server.url("/metrics"))
    assert reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert total(list(parse_text(reply.text)), "katana_http_requests_total") == 1
    checked = subprocess.run([tool("promtool"), "check", "metrics"], input=reply.content, capture_output=True,
                             timeout=30, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")


def test_requests_are_counted_exactly_over_all_reactors(server):
    """Many connections, so that both reactors have some."""
    with httpx.Client(limits=httpx.Limits(keepalive_expiry=None)) as scraper:  # one connection, however slow the rest
        before = total(scrape(scraper, server.url("/metrics")), "katana_http_requests_total")
        for _ in range(20):
            with httpx.Client() as client:
                for _ in range(5):
                    assert client.get(server.url("/plaintext")).text == "Hello, World!"
        families = scrape(scraper, server.url("/metrics"))
    assert total(families, "katana_http_requests_total") == before + 101
    assert total(families, "katana_connections_accepted_total") == 21
    assert total(families, "katana_reactor_answered") == 2
    assert total(families, "katana_http_refusals_total") == 0


def test_a_refused_request_is_counted(server):
    """A request that the protocol refuses counts as a refusal, not as a request."""
    with httpx.Client() as client:
        assert client.get(server.url("/plaintext"), headers={"Host": "a b"}).status_code == 400
        assert total(scrape(client, server.url("/metrics")), "katana_http_refusals_total") == 1


@pytest.mark.parametrize("path, check, kind", [("/health", "reactors", "liveness"),
                                               ("/ready", "accepting", "readiness")])
def test_a_running_server_is_healthy_and_ready(server, path, check, kind):
    """200, and JSON with every check."""
    reply = httpx.get(server.url(path))
    assert reply.status_code == 200 and reply.headers["content-type"] == "application/json"
    assert reply.headers["cache-control"] == "no-store"
    report = json.loads(reply.text)
    assert report["status"] == "pass"
    assert [(one["name"], one["kind"], one["status"]) for one in report["checks"]] == [(check, kind, "pass")]
    assert report["checks"][0]["duration_ms"] >= 0


def test_scrapes_at_once_are_each_whole(server):
    """Sixteen clients scrape while others ask; none gets half a text."""
    def one(number):
        with httpx.Client() as client:
            for _ in range(10):
                client.get(server.url("/plaintext"))
                scrape(client, server.url("/metrics"))
        return number

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert sorted(pool.map(one, range(16))) == list(range(16))

# SPDX-License-Identifier: Apache-2.0
