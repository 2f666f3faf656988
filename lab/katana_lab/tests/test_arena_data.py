"""The arena's data: HttpArena's sizes and ranges, the same bytes each time, and what a load is made of."""
import gzip
import json
import zlib

import pytest

from katana_lab import arena, drivers
from katana_lab.arena import data, loads

SMALL = [name for name, (size, _) in data.FILES.items() if size <= 30_000]
# HttpArena's compact bodies of the seven count/m pairs.
BODIES = dict(zip(loads.PAIRS, (203, 888, 1695, 2556, 4190, 6707, 8397), strict=True))


def test_the_data_set_has_httparenas_shape_and_ranges():
    items = data.items()
    assert [item["id"] for item in items] == list(range(1, 51))
    for item in items:
        assert len(item["name"]) <= 12 and item["category"] in data.CATEGORIES and isinstance(item["active"], bool)
        assert 2 <= item["price"] <= 496 and 4 <= item["quantity"] <= 97 and 1 <= len(set(item["tags"])) <= 4
        assert 1 <= item["rating"]["score"] <= 50 and 5 <= item["rating"]["count"] <= 489


@pytest.mark.parametrize("pair", loads.PAIRS[2:])
def test_bodies_are_about_as_large_as_theirs(pair):
    count, m = pair
    items = [{**item, "total": item["price"] * item["quantity"] * m} for item in data.items()[:count]]
    assert len(json.dumps({"items": items, "count": count}, separators=(",", ":"))) == pytest.approx(
        BODIES[pair], rel=0.05)


@pytest.mark.parametrize("name", SMALL)
def test_a_file_has_exactly_its_size_and_compresses_as_theirs_does(name):
    size, zipped = data.FILES[name]
    content = data.content_of(name)
    assert len(content) == size and content == data.content_of(name)
    if zipped is not None:
        assert len(zlib.compress(content, 9)) == pytest.approx(zipped, rel=0.1)


def test_a_load_names_its_file_and_closes_without_a_word(tmp_path):
    job = loads.LOADS["limited-conn"].job("limited-conn", arena.Ports(1, 2, 3, 4), tmp_path, tmp_path, 8, 1.0)
    assert job.url == "http://127.0.0.1:1/" and job.connections == 8
    assert job.flags[-3:] == ("--churn=10", "--reset", "--unannounced")
    sent = [json.loads(line) for line in (tmp_path / "loads" / "limited-conn").read_text().splitlines()]
    assert [one["method"] for one in sent] == ["GET", "POST", "POST"]
    assert sent[1]["fields"] == {} and sent[2]["content"] == "2\r\n20\r\n0\r\n\r\n"


@pytest.mark.parametrize("profile, url, flag", [
    ("json-tls", "https://127.0.0.1:2/", "--insecure"), ("baseline-h2", "https://127.0.0.1:4/", "--insecure"),
    ("json-h2c", "http://127.0.0.1:3/", "--urls"), ("echo-ws", "http://127.0.0.1:1/ws", "hello"),
])
def test_a_load_goes_to_its_port(profile, url, flag, tmp_path):
    job = loads.LOADS[profile].job(profile, arena.Ports(1, 2, 3, 4), tmp_path, tmp_path, 8, 1.0)
    assert job.url == url and flag in job.flags


def test_http2_by_h2load_has_the_same_paths_and_its_own_flags(tmp_path, monkeypatch):
    monkeypatch.setattr(drivers.proc, "tool", lambda name: name)
    load = loads.LOADS["json-h2c"].by_h2load()
    job = load.job("json-h2c", arena.Ports(1, 2, 3, 4), tmp_path, tmp_path, 8, 1.5)
    assert drivers.DRIVERS[load.driver].command(job) == [
        "h2load", "-t1", "-c8", "-m32", "-D", "1.5", "-i", str(tmp_path / "loads" / "json-h2c"), "-B",
        "http://127.0.0.1:3/"]
    assert (tmp_path / "loads" / "json-h2c").read_text().split() == list(loads.PRICED)
    assert loads.LOADS["json"].by_h2load() is loads.LOADS["json"]
    done = drivers.DRIVERS[load.driver].read("""finished in 1.51s, 28420.00 req/s, 97.30MB/s
requests: 42630 total, 42700 started, 42630 done, 42628 succeeded, 2 failed, 2 errored, 0 timeout
status codes: 42628 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 146.00MB (153092096) total, 1.02MB (1071230) headers (space savings 92.00%), 144.60MB (151626240) data
""")
    assert (done.requests, done.rate_per_s, done.errors, done.told) == (42628, 28420.0, 2, {"bytes": 153092096})


def test_every_profile_has_a_load_and_connections_for_one_thread():
    assert tuple(loads.LOADS) == arena.PROFILES
    assert loads.LOADS["echo-ws"].connections() == [8, 64, 256]
    assert loads.LOADS["upload"].connections() == [1, 4]               # never none
    assert loads.LOADS["echo-ws"].connections(1) == [512, 4096, 16384]


def test_prepare_makes_everything_once(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(data, "write_files", lambda folder: made.append(folder))
    monkeypatch.setattr(data, "write_certificate", made.append)
    for _ in range(2):
        assert data.prepare(tmp_path) == tmp_path
    assert made == [tmp_path / "static", tmp_path]
    assert json.loads((tmp_path / "dataset.json").read_text()) == data.items()


def test_siblings_of_texts_only(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "FILES", {"a.css": (100, 60), "b.webp": (50, None)})
    monkeypatch.setattr(data.proc, "tool", lambda name: "true")
    data.write_files(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.css", "a.css.gz", "b.webp"]
    assert gzip.decompress((tmp_path / "a.css.gz").read_bytes()) == (tmp_path / "a.css").read_bytes()

# SPDX-License-Identifier: Apache-2.0
