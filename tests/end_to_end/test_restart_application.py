"""Restarts of programs on app::Application: other reactors and listeners, systemd, the sandbox, a database."""
import http.client
import json
import os
import signal
import socket
import subprocess

import httpx

from application_process import Application
from fullstack_process import flags_of
from lineage import Lineage, wait_until
from load import Load
from program_process import built
from server_process import free_port
from test_restart import NOT_RESTARTED, serve_for_a_while


class Notified:
    """The side of systemd for Type=notify: a socket, and the messages on it with their senders."""

    def __init__(self, folder):
        self.path = str(folder / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(20)

    def wait_for(self, text):
        """Return the next message with the text in it."""
        while True:
            message = self.socket.recv(4096).decode()
            if text in message:
                return message

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


class Restarted(Application):
    """An application in the form that Lineage takes."""

    def kill(self):
        """End it at once; also called after its end."""
        self.__exit__()


def write(folder, **http):
    """Write the configuration file and return its path."""
    path = folder / "config.yaml"
    settings = {"http": {"drain_notice": "0s", "drain_timeout": "6s", **http},
                "restart": {"spread": "0s", "idle": "1s"},
                "database": {"url": f"sqlite:{folder}/users.db"}, "greeting": "Hello, World!"}
    path.write_text(json.dumps(settings), encoding="utf-8")
    return str(path)


def client_of(path):
    """Return a client of a Unix socket."""
    return httpx.Client(transport=httpx.HTTPTransport(uds=path), base_url="http://localhost")


def test_reactors_and_listeners_change_and_nobody_is_refused(tmp_path):
    """Two reactors, one, three; a Unix socket stays, one comes, one goes; requests all the time."""
    port, local, more = free_port(), str(tmp_path / "a.sock"), str(tmp_path / "b.sock")
    both = [{"address": f"unix:{local}"}, {"address": f"unix:{more}"}]
    config = write(tmp_path, port=port, reactors=2, listeners=both)
    generations = [{"reactors": 1, "listeners": both[:1]}, {"reactors": 3, "listeners": both},
                   {"reactors": 1, "listeners": both}]
    with Lineage(Restarted(tmp_path, "--config", config, plain=True)) as lineage:
        loads = [Load(port, connections=8, keep_alive=keep) for keep in (True, False)]
        for load in loads:
            load.request = load.request.replace(b"/plaintext", b"/greeting")
        kept = client_of(local)
        try:
            for load in loads:
                load.start()
            for each in generations:
                serve_for_a_while(loads)
                write(tmp_path, port=port, **each)
                assert kept.get("/greeting").text == "Hello, World!"
                lineage.restart()
                assert kept.get("/greeting").text == "Hello, World!"
                lineage.wait_for_end_of(lineage.processes[-2])
                assert os.path.exists(more) == (len(each["listeners"]) == 2)
            serve_for_a_while(loads)
            failed = [each for load in loads for each in load.stop()]
        finally:
            for load in loads:
                load.ending = True
            kept.close()
        assert failed == [], f"{len(failed)} of {sum(load.finished for load in loads)}: {failed[:5]}"
        lineage.end()
        assert not os.path.exists(local)


def test_systemd_follows_the_process_and_hears_of_a_failure(tmp_path):
    """MAINPID before the old process ends, no STOPPING=1 of it; the given socket goes along."""
    with Notified(tmp_path) as systemd, socket.create_server(("127.0.0.1", 0)) as listener:
        variables = {"NOTIFY_SOCKET": systemd.path, "WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1"}
        with Lineage(Restarted(tmp_path, "--set", "restart.idle=100ms", "--set", "restart.spread=0s",
                               listener=listener, **variables)) as lineage:
            assert "X_KATANA_RESTART=possible" in systemd.wait_for("READY=1")
            first = lineage.pid
            successor = lineage.restart()
            assert f"MAINPID={successor}\nREADY=1\n" in systemd.wait_for("MAINPID=")
            lineage.wait_for_end_of(first)
            assert lineage.first.get("/users/7")[1] == "ada"
            while (message := systemd.wait_for("")) != "WATCHDOG=1":     # from the new process: it is watched
                assert "STOPPING=1" not in message
            lineage.end()
            assert "STOPPING=1" in systemd.wait_for("STOPPING=1")


def test_a_configuration_that_is_wrong_leaves_the_old_process(tmp_path):
    """The successor says why it did not start, and the process before says that it goes on."""
    config = write(tmp_path, port=free_port(), reactors=2)
    with Lineage(Restarted(tmp_path, "--config", config, plain=True)) as lineage:
        write(tmp_path, port=free_port(), reactors=-2)
        os.kill(lineage.pid, signal.SIGUSR2)
        wait_until(lambda: NOT_RESTARTED in lineage.first.stderr(), lineage.first.stderr)
        assert "http.reactors" in lineage.first.stderr() and "ended with status 2" in lineage.first.stderr()
        assert lineage.first.get("/users/7")[1] == "ada"
        lineage.end()


class Recorder:
    """A connection to a program that records in its audit log."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=20)

    def record(self, what):
        """Record it; return whether the process that served this drains."""
        self.connection.request("POST", f"/recorded/{what}")
        reply = self.connection.getresponse()
        assert (reply.status, reply.read()) == (204, b"")
        return reply.headers.get("Connection", "").lower() == "close"

    def drains(self):
        """Return whether the process behind the connection drains; nothing is recorded."""
        self.connection.request("GET", "/nothing")
        reply = self.connection.getresponse()
        reply.read()
        return reply.headers.get("Connection", "").lower() == "close"


def recorder_of_the_new(port, old):
    """A connection to the new process; `old` is one to the process that ends.

    The old process accepts until it drains, and for a moment afterwards."""
    wait_until(old.drains, lambda: "the old process does not drain")
    found = []
    wait_until(lambda: found.append(Recorder(port)) or not found[-1].drains(), lambda: "the old process accepts still")
    return found[-1]


def verify(folder):
    """The output of `katana audit verify` for the log and its earlier files."""
    head = (folder / "audit.jsonl.head").read_text(encoding="ascii").strip()
    rotated = sorted(folder.glob("audit.jsonl.[0-9]*"), key=lambda path: int(path.suffix[1:]))
    return subprocess.run([built("katana"), "audit", "verify", "--key-file", folder / "key", "--anchor", head,
                           *rotated, folder / "audit.jsonl"], capture_output=True, text=True, timeout=60, check=False)


def test_old_and_new_process_record_in_turn_in_one_audit_log(tmp_path, engine):
    """The old one drains and records still: each line is there, in its order, in one chain."""
    (tmp_path / "key").write_text("k" * 32 + "\n", encoding="ascii")
    settings = ("audit.file=audit.jsonl", "audit.key_file=key", f"http.engine={engine}", "restart.idle=60s",
                "restart.spread=0s", "http.drain_timeout=3600s", "http.drain_notice=0s")
    expected = []
    with Lineage(Restarted(tmp_path, *flags_of(settings))) as lineage:
        for generation in range(2):
            kept = [Recorder(lineage.first.ready["port"]) for _ in range(3)]
            probe = Recorder(lineage.first.ready["port"])
            assert not probe.drains()
            for number, each in enumerate(kept):
                expected.append(f"before-{generation}-{number}")
                assert not each.record(expected[-1])
            before = lineage.pid
            lineage.restart()
            new = recorder_of_the_new(lineage.first.ready["port"], probe)
            for number, each in enumerate(kept):
                expected += [f"new-{generation}-{number}", f"old-{generation}-{number}"]
                assert not new.record(expected[-2])
                assert each.record(expected[-1]), "it is not the old process"
            new.connection.close()
            lineage.wait_for_end_of(before)
        lineage.end()
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["object"] for line in lines if line["action"] == "thing.change"] == expected
    assert [line["action"] for line in lines].count("audit.opened") == 3
    assert "audit.repaired" not in {line["action"] for line in lines}
    verified = verify(tmp_path)
    assert verified.returncode == 0, verified.stderr


def test_a_restart_with_another_key_of_the_audit_log_leaves_the_old_process(tmp_path):
    """Lines of two keys would be a chain that no key verifies."""
    (tmp_path / "key").write_text("k" * 32 + "\n", encoding="ascii")
    settings = ("audit.file=audit.jsonl", "audit.key_file=key", "restart.idle=100ms", "restart.spread=0s")
    with Lineage(Restarted(tmp_path, *flags_of(settings))) as lineage:
        Recorder(lineage.first.ready["port"]).record("before")
        (tmp_path / "key").write_text("o" * 32 + "\n", encoding="ascii")
        os.kill(lineage.pid, signal.SIGUSR2)
        wait_until(lambda: NOT_RESTARTED in lineage.first.stderr(), lineage.first.stderr)
        assert "the key is another one" in lineage.first.stderr()
        Recorder(lineage.first.ready["port"]).record("still")
        (tmp_path / "key").write_text("k" * 32 + "\n", encoding="ascii")
        lineage.restart()
        lineage.end()
    verified = verify(tmp_path)
    assert verified.returncode == 0, verified.stderr

# SPDX-License-Identifier: Apache-2.0
