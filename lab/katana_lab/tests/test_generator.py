"""The adapter to katana-load: flags, recorded JSON and logs, histograms without loss."""
import json
import stat

import pytest
from hdrh.histogram import HdrHistogram

from katana_lab import LabError, generator
from katana_lab.files import parse, read_json
from katana_lab.generator import LoadReport
from katana_lab.models import Load
from workbench import FIXTURES


def test_a_recorded_result_is_understood():
    report = parse(LoadReport, read_json(FIXTURES / "load.json"), "load.json")
    assert report.requests == 1000 and report.latency_us.samples == 1000
    assert report.error_classes == {}
    assert 0 < report.generator.lag_p99_us < 20_000 and not report.void


def test_errors_are_counted_by_class_and_their_sum_is_no_class():
    data = read_json(FIXTURES / "load.json")
    data["errors"].update(reset=3, wrong_status=2, total=5)
    assert parse(LoadReport, data, "x").error_classes == {"reset": 3, "wrong_status": 2}


def test_the_intervals_of_a_recorded_log_add_up_to_the_result():
    report = read_json(FIXTURES / "load.json")
    intervals = generator.read_log(FIXTURES / "load.hdr")
    merged = generator.merge([one.histogram for one in intervals])
    assert len(intervals) == 5 and sum(one.count for one in intervals) == report["requests"]
    assert all(one.end_s - one.start_s == pytest.approx(0.1, abs=0.002) for one in intervals)
    figures = generator.percentiles_us(merged)
    for name, key in (("latency_p50_us", "p50"), ("latency_p99_us", "p99"), ("latency_max_us", "max")):
        assert figures[name] == pytest.approx(report["latency_us"][key], rel=2e-3)


def test_a_histogram_survives_its_text_without_loss():
    histogram = generator.merge([])
    for value in (1, 999, 123_456, 987_654_321):
        histogram.record_value(value)
    again = generator.decode(generator.encode(histogram))
    for percentile in (0, 25, 50, 75, 100):
        assert again.get_value_at_percentile(percentile) == histogram.get_value_at_percentile(percentile)
    assert again.get_total_count() == 4


def test_percentiles_are_those_of_the_values():
    histogram = HdrHistogram(generator.LOWEST, generator.HIGHEST, generator.DIGITS)
    for milliseconds in range(1, 1001):
        histogram.record_value(milliseconds * 1_000_000)
    figures = generator.percentiles_us(histogram)
    assert figures["latency_p50_us"] == pytest.approx(500_000, rel=2e-3)
    assert figures["latency_p999_us"] == pytest.approx(999_000, rel=2e-3)
    assert figures["latency_iqr_us"] == pytest.approx(500_000, rel=5e-3)
    assert generator.percentiles_us(generator.merge([])) == {"latency_samples": 0.0}


def test_the_spectrum_ends_at_the_slowest_request():
    histogram = generator.merge([])
    for value in range(1, 2001):
        histogram.record_value(1000 * value)
    points = generator.spectrum(histogram)
    assert points[-1] == (1 / 2000, pytest.approx(2000, rel=2e-3))
    assert all(a[1] <= b[1] for a, b in zip(points, points[1:], strict=False))


@pytest.mark.parametrize("size", [0, 30, 100, 219, 231, 400, 2000, 15_999])
def test_filler_headers_add_exactly_so_many_bytes(size):
    headers = generator.filler_headers(size)
    assert sum(len(name) + len(value) + 4 for name, value in headers.items()) == size


def test_every_parameter_of_a_load_becomes_a_flag():
    load = Load(connections=7, threads=2, rate_per_s=500, requests_per_connection=3, method="POST", body="x",
                headers={"A": "b"}, header_bytes=50, response_bytes=10)
    text = " ".join(generator.arguments(load, 80, 1.5))
    for part in ("-t 2", "-c 7", "-d 1.5s", "-R 500", "--churn=3", "--method POST", "--body x", "--header A: b",
                 "X-Filler-0", "http://127.0.0.1:80/bytes/10"):
        assert part in text
    assert "-t 3 -c 4" in " ".join(generator.arguments(Load(connections=4), 80, 1, cpus=3))
    assert "-t 2 -c 2" in " ".join(generator.arguments(Load(connections=2), 80, 1, cpus=8))
    assert "--pipeline 4" in " ".join(generator.arguments(Load(pipeline=4), 80, 1))
    assert "--http2 --streams 4" in " ".join(generator.arguments(Load(protocol="http2", pipeline=4), 80, 1))
    assert "--websocket --message-bytes 9" in " ".join(
        generator.arguments(Load(protocol="websocket", message_bytes=9), 80, 1))


def program(tmp_path, body):
    """A generator that does what a shell script says."""
    path = tmp_path / "generator"
    path.write_text("#!/bin/sh\n" + body, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_generator_that_writes_nothing_is_an_error_with_its_last_words(tmp_path):
    with pytest.raises(LabError, match="wrote no result: it hurts"):
        generator.run(program(tmp_path, "echo it hurts >&2; exit 1\n"), Load(), 1, 1, [0])


def test_a_generator_that_hangs_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(generator, "GRACE_S", 0.1)
    with pytest.raises(LabError, match="wrote no result"):
        generator.run(program(tmp_path, "exec sleep 60\n"), Load(), 1, 0.1, [0])


def test_a_result_that_lacks_a_key_is_refused_by_name(tmp_path):
    data = read_json(FIXTURES / "load.json")
    del data["requests"]
    (tmp_path / "result.json").write_text(json.dumps(data))
    body = f'while [ "$1" != --json ]; do shift; done; cp {tmp_path}/result.json "$2"\n'
    with pytest.raises(LabError, match="the JSON of katana-load: requests"):
        generator.run(program(tmp_path, body), Load(), 1, 1, [0])


def test_a_file_that_is_no_log_is_refused(tmp_path):
    path = tmp_path / "x.hdr"
    path.write_text("0.0,0.1,1.0,HISTFgarbage\n")
    with pytest.raises(LabError, match="x.hdr is no HdrHistogram log"):
        generator.read_log(path)

# SPDX-License-Identifier: Apache-2.0
