"""A program whose outside systems are away, or hang: what /ready says of each, its end and its restart meanwhile."""
import contextlib
import json
import pathlib
import re
import signal
import socket
import subprocess
import time

import pytest

from application_process import Application, SECONDS_MAX
from fullstack_process import QUICK, environment, flags_of
from lineage import Lineage
from nats_process import Nats
from program_process import ROOT, built, stop_report
from redis_process import Redis
from server_process import free_port

# No test waits for it: an end that waits for an outside system does not come.
LONG = "3600s"
GUIDE = ROOT / "docs" / "guides" / "application.md"


def until(holds, what=lambda: "it did not come true"):
    """Wait until `holds()`."""
    end = time.monotonic() + SECONDS_MAX
    while not holds():
        assert time.monotonic() < end, what()
        time.sleep(0.02)


@contextlib.contextmanager
def server_that(kind):
    """Give the port of a server that refuses connections, or takes them and never answers."""
    if kind == "refuses":
        yield free_port()
        return
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        yield silent.getsockname()[1]


def with_everything(folder, redis, bus, **more):
    """Return an Application that uses all outside systems that it can."""
    settings = {"redis.url": f"redis://127.0.0.1:{redis}", "cache.redis.url": f"redis://127.0.0.1:{redis}",
                "cache.second_level": "redis", "sessions.store": "redis", "sessions.secure": "false",
                "sessions.cookie_name": "session", "http.rate_limit.enabled": "true", "http.rate_limit.shared": "true",
                "http.rate_limit.per_second": "1000", "bus.url": f"nats://127.0.0.1:{bus}", "log.levels": "info",
                "redis.reconnect_max": "100ms", "cache.redis.reconnect_max": "100ms", "bus.reconnect_max": "100ms",
                "http.drain_timeout": LONG,
                **{key.replace("__", "."): value for key, value in more.items()}}
    folder.mkdir(exist_ok=True)
    return Restarted(folder, *flags_of(f"{key}={value}" for key, value in settings.items()))


class Restarted(Application):
    """An application in the form that Lineage takes."""

    def kill(self):
        """End it at once; also called after its end."""
        self.__exit__()


def checks_of(app):
    """Return the status of /ready, and its checks by name."""
    status, text, _ = app.get("/ready")
    report = json.loads(text)
    return status, report["status"], {check["name"]: check for check in report["checks"]}


def rows_of_the_guide():
    """Return the names of checks in the table of the guide."""
    table = GUIDE.read_text(encoding="utf-8").split("| check | exists with |")[1].split("\n\n")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE))


def test_ready_names_each_part_that_is_configured_and_why_it_is_away(tmp_path):
    """Each check is a row of the guide's table; those that are not required are warnings."""
    nowhere = free_port()
    full = {"log__file": "/dev/full"} if pathlib.Path("/dev/full").exists() else {}
    full["audit__file"] = str(tmp_path / "audit.jsonl")
    upstream = json.dumps({"billing": {"url": f"http://127.0.0.1:{nowhere}/health"}})
    with with_everything(tmp_path / "a", nowhere, nowhere, **full) as app:
        away = {"redis", "cache redis", "bus", *(["log"] if "log__file" in full else [])}
        until(lambda: all(checks_of(app)[2][name]["status"] == "fail" for name in away), lambda: checks_of(app))
        status, overall, checks = checks_of(app)
        assert (status, overall) == (200, "warn")
        assert {name for name, check in checks.items() if check["status"] != "pass"} == away
        assert all(check["detail"] for name, check in checks.items() if name in away), checks
        named = {re.sub(r"^(pool|upstream|job) .*", r"\1 NAME", name) for name in checks}
        # The others are parts that this program cannot have.
        assert rows_of_the_guide() - named == {"upstream NAME", "queue notifications", "auth keys", "job NAME"}
        assert named <= rows_of_the_guide()
        app.end()
    with with_everything(tmp_path / "b", nowhere, nowhere, redis__required="true", bus__required="true",
                         monitor__upstreams=upstream) as app:
        until(lambda: checks_of(app)[2]["upstream billing"]["status"] == "fail", lambda: checks_of(app))
        assert checks_of(app)[:2] == (503, "fail")
        app.end()


@pytest.mark.parametrize("kind", ["refuses", "hangs"])
def test_a_program_whose_outside_systems_are_away_ends_when_it_is_told(tmp_path, kind):
    """SIGTERM: requests that wait for Redis are answered, and nothing waits for what does not come."""
    with server_that(kind) as redis, server_that(kind) as bus, \
            with_everything(tmp_path, redis, bus, redis__timeout="500ms") as app, app.connect() as waiting:
        waiting.sendall(b"GET /visits HTTP/1.1\r\nHost: localhost\r\n\r\n")
        app.send_signal(signal.SIGTERM)
        reply = waiting.makefile("rb").read()
        assert not reply or b" 503 " in reply.split(b"\r\n")[0], reply
        assert app.end(None) == 0, app.stderr()


@pytest.mark.parametrize("kind", ["refuses", "hangs"])
@pytest.mark.parametrize("moment", ["while it starts", "while it serves and waits"])
def test_a_program_that_awaits_its_database_ends_when_it_is_told(tmp_path, kind, moment):
    """SIGTERM before the database has come: an end in order, with a report, status 0."""
    with server_that(kind) as port:
        command = [built("fullstack"), "--port", "0", *flags_of(QUICK), "--set", f"http.drain_timeout={LONG}", "--set",
                   f"database.url=postgresql://nobody@127.0.0.1:{port}/shop", "--set", f"database.start_wait={LONG}"]
        with open(tmp_path / "stderr", "w", encoding="utf-8") as stderr:
            process = subprocess.Popen(command, cwd=tmp_path, env=environment(), stdin=subprocess.DEVNULL, text=True,
                                       stdout=subprocess.DEVNULL, stderr=stderr)
        try:
            # Signals are blocked, and so kept for the program, before it looks for its database.
            mark = "serving on" if "serves" in moment else None
            until(lambda: mark in (tmp_path / "stderr").read_text(encoding="utf-8") if mark else keeps_sigterm(process),
                  (tmp_path / "stderr").read_text)
            process.send_signal(signal.SIGTERM)
            assert process.wait(SECONDS_MAX) == 0, (tmp_path / "stderr").read_text(encoding="utf-8")
        finally:
            process.kill()
            process.wait()
        assert stop_report((tmp_path / "stderr").read_text(encoding="utf-8"))["requests"] == 0


def keeps_sigterm(process):
    """Whether the process blocks SIGTERM."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    return int(re.search(r"^SigBlk:\s+(\S+)$", status, re.MULTILINE)[1], 16) & 1 << (signal.SIGTERM - 1)


def test_a_restart_while_everything_is_away_serves_and_uses_what_comes_back(tmp_path):
    """SIGUSR2 during an outage: the successor serves, and goes on with Redis and the bus once they are there."""
    redis, bus = free_port(), free_port()
    with Lineage(with_everything(tmp_path / "a", redis, bus, restart__spread="0s", restart__idle="100ms")) as lineage:
        before = lineage.pid
        lineage.restart()
        lineage.wait_for_end_of(before)
        app = lineage.first
        assert app.get("/cached/7")[1] == "ada"
        assert app.get("/visits")[0] == 503
        with Redis(tmp_path, port=redis), Nats(tmp_path, port=bus):
            until(lambda: checks_of(app)[1] == "pass", lambda: checks_of(app))
            assert app.get("/visits")[:2] == (200, "1")
        lineage.end()


def test_a_redis_that_hangs_loses_its_clients_or_its_data_is_used_again(tmp_path):
    """SIGSTOP for longer than all timeouts, CLIENT KILL, and a restart without data: what needs it recovers."""
    with Redis(tmp_path) as redis, Nats(tmp_path) as bus, \
            with_everything(tmp_path / "a", redis.port, bus.port, redis__timeout="200ms", redis__stalled_after="500ms",
                            cache__redis__stalled_after="500ms", redis__wait_while_down="0s") as app:
        def is_ready():
            return checks_of(app)[1] == "pass"
        until(is_ready, lambda: checks_of(app))
        cookie = app.get("/visits")[2]["Set-Cookie"].split(";")[0]
        assert app.get("/cached/7")[1] == "ada"
        redis.pause()
        assert app.get("/visits", Cookie=cookie)[0] == 503
        assert app.get("/greeting")[0] == 200, "limits are counted here"
        assert app.get("/cached/8")[0] == 404, "what is cached is loaded"
        until(lambda: checks_of(app)[2]["redis"]["status"] == "fail", lambda: checks_of(app))
        redis.pause(False)
        until(is_ready, lambda: checks_of(app))
        assert app.get("/visits", Cookie=cookie)[:2] == (200, "2")
        redis.ask("CLIENT", "KILL", "TYPE", "normal")
        until(lambda: app.get("/visits", Cookie=cookie)[:2] == (200, "3"), lambda: checks_of(app))
        until(is_ready, lambda: checks_of(app))
        redis.kill()
        redis.start()
        # The session is gone with the data, and the visitor gets another one.
        until(lambda: app.get("/visits", Cookie=cookie)[:2] == (200, "1"), lambda: checks_of(app))
        until(lambda: app.get("/forget/7")[0] == 204, lambda: checks_of(app))
        assert app.get("/cached/7")[1] == "ada"
        app.end()

# SPDX-License-Identifier: Apache-2.0
