"""Restarts of programs on host::Application: other reactors and listeners, systemd, the sandbox, a database."""
import json
import os
import signal
import socket

import httpx

from application_process import Application
from lineage import Lineage, wait_until
from load import Load
from server_process import free_port
from test_restart import NOT_RESTARTED, serve_for_a_while


class Notified:
    """What systemd has for Type=notify: a socket, and what came there with whom it came from."""

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
    """As Lineage wants it."""

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
            while (message := systemd.wait_for("")) != "WATCHDOG=1":     # of the new process: it is watched
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

# SPDX-License-Identifier: Apache-2.0
