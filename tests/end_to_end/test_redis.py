"""Instances of a program that share a Redis: sessions, limits, a cache; and what an outage of it is to their users."""
import json
import re
import signal
import time

import pytest

from application_process import Application, SECONDS_MAX
from redis_process import Redis

SHARED = {"sessions.store": "redis", "sessions.secure": "false", "sessions.cookie_name": "session",
          "http.rate_limit.enabled": "true", "http.rate_limit.shared": "true", "http.rate_limit.per_second": "0.01",
          "http.rate_limit.burst": "300", "cache.second_level": "redis", "redis.required": "true",
          "redis.reconnect_max": "200ms", "log.levels": "info"}


def start(folder, redis, **more):
    """Return a running instance in its own folder; `more` are settings, with _ for the dots of their keys."""
    folder.mkdir(exist_ok=True)
    settings = {**SHARED, "redis.url": redis.url, **{key.replace("__", "."): value for key, value in more.items()}}
    return Application(folder, *(flag for key, value in settings.items() for flag in ("--set", f"{key}={value}")))


def until(holds, what):
    """Wait until `holds()`."""
    end = time.monotonic() + SECONDS_MAX
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def ready(app):
    """Return the status of /ready, and of its check of Redis."""
    status, text, _ = app.get("/ready")
    checks = {check["name"]: check["status"] for check in json.loads(text)["checks"]}
    return status, checks["redis"]


def metric(app, name):
    """Return the value of a metric without labels but that of the client, or of the cache."""
    found = re.search(rf"^{name}(?:{{[^}}]*}})? ([0-9.e+-]+)$", app.get("/metrics")[1], re.MULTILINE)
    assert found, name
    return float(found[1])


@pytest.fixture(name="redis")
def a_redis(tmp_path):
    """A server."""
    with Redis(tmp_path) as server:
        yield server


def test_a_session_of_one_instance_is_one_of_the_other(tmp_path, redis):
    """The cookie is valid at both, and each sees the other's data."""
    with start(tmp_path / "a", redis) as one, start(tmp_path / "b", redis) as other:
        status, text, fields = one.get("/visits")
        assert (status, text) == (200, "1")
        cookie = fields["Set-Cookie"].split(";")[0]
        assert other.get("/visits", Cookie=cookie)[1] == "2"
        assert one.get("/visits", Cookie=cookie)[1] == "3"
        assert metric(one, "katana_redis_commands_total") >= 3
        assert ready(one) == (200, "pass")


def test_a_burst_is_one_for_all_instances_and_most_requests_ask_nobody(tmp_path, redis):
    """Two instances admit a burst together; the commands are a fraction of the requests."""
    more = {"http__rate_limit__burst": "60", "http__rate_limit__lease": "10", "sessions__store": "off",
            "cache__second_level": "none"}
    with start(tmp_path / "a", redis, **more) as one, start(tmp_path / "b", redis, **more) as other:
        served = [app.get("/greeting")[0] for _ in range(60) for app in (one, other)].count(200)
        assert 60 - 20 <= served <= 60      # tokens that an instance has leased and not spent when the burst is used up
        status, _, fields = one.get("/greeting")
        assert status == 429 and int(fields["Retry-After"]) > 1
        assert int(redis.ask("EXISTS", "katana:rate:127.0.0.1")) == 1
        commands = sum(int(re.search(r"calls=(\d+)", line)[1]) for line in redis.ask("INFO", "commandstats").split("\n")
                       if line.startswith(("cmdstat_evalsha:", "cmdstat_eval:")))
        assert commands < 40, "of 121 requests"


def test_what_one_instance_loaded_the_other_finds_and_forgets_with_it(tmp_path, redis):
    """A value comes from Redis; a removal at one instance is seen by the other at once, without its ttl."""
    with start(tmp_path / "a", redis) as one, start(tmp_path / "b", redis) as other:
        for app in (one, other):     # the first call connects, and with that it listens
            assert app.get("/cached/8")[0] == 404
        until(lambda: int(redis.ask("CLIENT", "LIST").count("flags=tB")) == 2, "two instances listen")
        assert one.get("/cached/7")[1] == "ada"
        until(lambda: len(redis.ask("KEYS", "katana:cache:names:*").split()) >= 1, "it is written")
        loads = metric(other, "katana_cache_loads_total")
        assert other.get("/cached/7")[1] == "ada"
        hits = metric(other, "katana_cache_second_level_hits_total")
        assert hits >= 1 and metric(other, "katana_cache_loads_total") <= loads + 1
        before = metric(other, "katana_cache_entries")
        assert one.get("/forget/7")[0] == 204
        until(lambda: metric(other, "katana_cache_entries") < before, "the other forgets it")


def test_an_outage_is_told_and_costs_no_more_than_it_must(tmp_path, redis):
    """Sessions fail with 503, caches load, limits are counted alone; and all is as before when Redis is back."""
    with start(tmp_path / "a", redis, redis__wait_while_down="0s") as app:
        cookie = app.get("/visits")[2]["Set-Cookie"].split(";")[0]
        until(lambda: ready(app) == (200, "pass"), "it is ready")
        redis.kill()
        assert "the server closed the connection" in app.wait_for_log("is not usable")
        until(lambda: ready(app) == (503, "fail"), "it is not ready")
        assert app.get("/visits", Cookie=cookie)[0] == 503
        assert app.get("/cached/7")[:2] == (200, "ada")
        assert app.get("/greeting")[0] == 200
        assert metric(app, "katana_redis_connections") == 0
        redis.start()
        app.wait_for_log("is usable again after")
        until(lambda: ready(app) == (200, "pass"), "it is ready again")
        assert app.get("/visits")[1] == "1"
        assert metric(app, "katana_redis_connections_lost_total") >= 1
        assert app.end() == 0


def test_a_limit_may_be_one_that_serves_nobody_whom_it_cannot_count(tmp_path, redis):
    """The limit is set to refuse clients that it cannot count."""
    with start(tmp_path / "a", redis, http__rate_limit__when_unknown="refuse", http__rate_limit__lease="1",
               redis__wait_while_down="0s") as app:
        assert app.get("/greeting")[0] == 200
        redis.kill()
        status, _, fields = app.get("/greeting")
        assert (status, fields["Retry-After"]) == (503, "1")


def test_a_password_that_changed_is_read_again_at_sighup(tmp_path):
    """The server gets another password; connections that are made anew have it once the file is read again."""
    secret = tmp_path / "password"
    secret.write_text("first\n", encoding="utf-8")
    secret.chmod(0o600)
    with Redis(tmp_path, "--requirepass", "first") as redis, \
            start(tmp_path / "a", redis, redis__password_file=str(secret), redis__wait_while_down="0s") as app:
        until(lambda: ready(app) == (200, "pass"), "it is ready")
        redis.kill()
        redis.flags[redis.flags.index("first")] = "second"
        redis.start()
        app.wait_for_log("is still not usable: Redis at .*: Redis refuses user and password: WRONGPASS")
        until(lambda: "WRONGPASS" in app.get("/ready")[1], "the check says why")
        secret.write_text("second\n", encoding="utf-8")
        app.send_signal(signal.SIGHUP)
        app.wait_for_log("is usable again after")
        until(lambda: ready(app) == (200, "pass"), "it is ready again")
        assert "second" not in app.stderr()


def test_the_sandbox_lets_it_connect_and_read_the_password_again(tmp_path):
    """With process.sandbox on: connections at any time, and the file behind the start."""
    folder = tmp_path / "secrets"
    folder.mkdir()
    secret = folder / "password"
    secret.write_text("first\n", encoding="utf-8")
    secret.chmod(0o600)
    with Redis(tmp_path, "--requirepass", "first") as redis, \
            start(tmp_path / "a", redis, redis__password_file=str(secret), process__sandbox="on") as app:
        until(lambda: ready(app) == (200, "pass"), "it is ready")
        redis.kill()
        until(lambda: ready(app) == (503, "fail"), "it is not ready")
        redis.start()
        app.send_signal(signal.SIGHUP)
        until(lambda: ready(app) == (200, "pass"), "it is ready again")
        assert "present password stays" not in app.stderr()

# SPDX-License-Identifier: Apache-2.0
